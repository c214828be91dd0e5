"""Who may do what they ask for? The middleware before every resource.

In this order: a path that means one thing; a login, by digest, basic or a session's cookie; for anything but looking,
a page of our own as its origin, the session's token, and a role that may steer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from aiohttp import web

from heritrix_scrapy.operate.web import answers, forms, paths
from heritrix_scrapy.operate.web.asked import ASKED, Asked
from heritrix_scrapy.operate.web.auth import LOOKING, OPERATOR
from heritrix_scrapy.operate.web.delay import Crowded
from heritrix_scrapy.operate.web.sessions import COOKIE, CSRF_FIELD, CSRF_HEADER, genuine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp.typedefs import Middleware

    from heritrix_scrapy.operate.web.auth import Account
    from heritrix_scrapy.operate.web.context import Context

logger = logging.getLogger(__name__)

#: Where a browser logs in, without a login.
LOGIN: Final = "/login"
#: What the page of the login needs.
STATIC: Final = "/ui/static/"
OPEN: Final = frozenset({LOGIN, f"{STATIC}page.css", f"{STATIC}icon.svg"})

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SAFE: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": POLICY,
}


def guard(context: Context) -> Middleware:
    """The middleware."""

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        try:
            response = await judged(context, request, handler)
            if isinstance(response, answers.Page):
                await response.draw()
            # to be sent in a turn of its own
            await asyncio.sleep(0)
        except answers.Failed as failed:
            response = answers.error(request, failed.status, failed.cause)
        except web.HTTPException as failed:
            if failed.status < 400:
                raise
            response = answers.error(request, failed.status, failed.reason if failed.status == 413 else "")
        except (asyncio.CancelledError, ConnectionError):
            raise
        except TimeoutError:
            response = answers.error(request, 408, "the request's body did not come")
        except web.RequestPayloadError:
            response = answers.error(request, 400, "the request's body is not what its head says")
        except SystemExit as error:
            # a mistake in settings: what ends a crawl's process ends only the request here
            response = answers.error(request, 500, str(error))
        except Exception as error:
            logger.exception("%s %s failed", request.method, request.raw_path)
            response = answers.error(request, 500, f"{type(error).__name__}: {error}")
        return response

    return middleware


async def careful(request: web.Request, response: web.StreamResponse) -> None:
    """Give every answer the headers of a careful server; called before its first byte is sent."""
    careful_headers(response, kept=request.path.startswith(STATIC))


def careful_headers(response: web.StreamResponse, *, kept: bool = False) -> None:
    """The headers. ``kept``: it is the same for everybody, and may be kept by who has it; anything else is for one who
    has logged in, and not there any more after that."""
    for name, value in SAFE.items():
        response.headers.setdefault(name, value)
    if not kept:
        response.headers.setdefault("Cache-Control", "no-store")
    response.headers["Server"] = "heritrix_scrapy"


async def judged(
    context: Context, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """The answer to a request of somebody who may ask for it."""
    request[ASKED] = Asked(scheme=request.scheme)
    try:
        target = paths.origin(request.raw_path)
        request[ASKED].segments = paths.segments(paths.absolute(target))
    except paths.Ambiguous as error:
        return answers.ambiguous(request, str(error))
    proxied(context, request)
    if target.partition("?")[0] in OPEN:
        if request.method not in LOOKING and foreign(request):
            raise answers.Failed(403, "the request comes from another site's page")
        return await handler(request)
    account, refusal = await known(context, request)
    if account is None:
        return refusal or unknown(context, request)
    request[ASKED].user, request[ASKED].role = account.user, account.role
    # whatever is asked for begins with a turn of its own
    await asyncio.sleep(0)
    if request.method not in LOOKING:
        if foreign(request):
            raise answers.Failed(403, "the request comes from another site's page")
        session = request[ASKED].session
        if session is not None and not genuine(session, await token(request)):
            raise answers.Failed(403, "the form is not of this session; load its page again")
        if account.role != OPERATOR:
            raise answers.Failed(403, f"{account.user} may look, and not steer")
        try:
            return await handler(request)
        finally:
            context.drawings.forget()
    return await handler(request)


async def known(context: Context, request: web.Request) -> tuple[Account | None, web.Response | None]:
    """Whose request it is; or the answer to one that is nobody's, where it needs a special one."""
    header = request.headers.get("Authorization")
    if header is None:
        session = context.sessions.of(request.cookies.get(COOKIE))
        if session is None:
            return None, None
        request[ASKED].session = session
        return session.account, None
    address = request[ASKED].address
    try:
        await in_turn(context, address)
    except Crowded as error:
        return None, crowded(request, error)
    verdict = context.gate.judge(request.method, header, paths.origin(request.raw_path))
    if verdict.account is not None:
        context.delays.right(address)
        return verdict.account, None
    if verdict.failed:
        context.delays.failed(address, context.now())
        logger.warning("a wrong login from %s", address)
    return None, unknown(context, request, stale=verdict.stale)


async def in_turn(context: Context, address: str) -> None:
    """Wait until an attempt from an address may be looked at. Raises Crowded."""
    seconds = context.delays.wait(address, context.now())
    if seconds > 0:
        try:
            await context.sleep(seconds)
        finally:
            context.delays.turn(address)


def crowded(request: web.Request, error: Crowded) -> web.Response:
    """The answer to who has tried too often."""
    return answers.error(request, 429, str(error), headers={"Retry-After": str(max(int(error.seconds), 1))})


def unknown(context: Context, request: web.Request, *, stale: bool = False) -> web.Response:
    """The answer to who has not said who they are. A person with a browser is shown a form."""
    if request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate":
        return answers.redirect(context, request, LOGIN)
    response = answers.error(request, 401, template="unauthorized.html", headers={})
    for challenge in context.gate.challenges(stale=stale):
        response.headers.add("WWW-Authenticate", challenge)
    return response


def proxied(context: Context, request: web.Request) -> None:
    """Find out the client's address and scheme, by a proxy's word where it is one of ours."""
    peer = request.remote or "local"
    request[ASKED].address = peer
    if peer in context.proxies:
        # the last one is what our proxy has seen, be it in a header of its own or behind what the client has sent
        if named := _last(request, "X-Forwarded-For"):
            request[ASKED].address = named[:64]
        if (scheme := _last(request, "X-Forwarded-Proto").lower()) in ("http", "https"):
            request[ASKED].scheme = scheme


def _last(request: web.Request, name: str) -> str:
    return request.headers.getall(name, [""])[-1].rpartition(",")[2].strip()


def foreign(request: web.Request) -> bool:
    """Whether a browser says that another site's page sent it."""
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return True
    origin = request.headers.get("Origin") or request.headers.get("Referer")
    if not origin:
        return False
    with contextlib.suppress(ValueError):
        split = urlsplit(origin)
        return f"{split.scheme}://{split.netloc}".lower() != answers.base(request).lower()
    return True


async def token(request: web.Request) -> str | None:
    """The CSRF token that came with a request."""
    if header := request.headers.get(CSRF_HEADER):
        return header
    return (await forms.fields(request)).get(CSRF_FIELD)
