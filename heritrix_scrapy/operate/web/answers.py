"""How does the server answer: pages, models, errors, redirects?"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from heritrix_scrapy.model.version import VERSION
from heritrix_scrapy.operate.web import accept, markup
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.flash import COOKIE, Message, cookie_of
from heritrix_scrapy.operate.web.pages import drawn, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heritrix_scrapy.operate.web.context import Context

#: The version of Heritrix whose API this is, with ours behind it.
API_VERSION: Final = f"3.13.0+heritrix-scrapy.{VERSION}"

_HOST: Final = re.compile(r"[A-Za-z0-9.\-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")

VARY: Final = "Accept-Charset, Accept-Encoding, Accept-Language, Accept"


class Failed(Exception):
    """The request comes to nothing. ``status``: of the answer; ``cause``: a sentence."""

    def __init__(self, status: int, cause: str = "") -> None:
        super().__init__(cause or str(status))
        self.status, self.cause = status, cause


NOT_FOUND: Final = 404


def not_found() -> Failed:
    return Failed(NOT_FOUND)


def base(request: web.Request) -> str:
    """``https://host:port`` as the client wrote it."""
    host = request.headers.get("Host", "")
    scheme = request[ASKED].scheme
    return f"{scheme}://{host if _HOST.fullmatch(host) else 'localhost'}"


def wanted(request: web.Request) -> str:
    """HTML, XML or JSON."""
    return accept.chosen(request.headers.get("Accept"))


def answer(
    context: Context,
    request: web.Request,
    root: str,
    model: Mapping[str, Any],
    template: str,
    **more: Any,
) -> web.Response:
    """A model in the form that the client wants; ``template``: of its page."""
    headers = {"Vary": VARY, "Accept-Ranges": "bytes"}
    form = wanted(request)
    if request.method == "HEAD":
        return web.Response(headers={**headers, "Content-Type": form})
    if form == accept.HTML:
        return page(context, request, template, model=model, **more)
    text = markup.to_json(model) if form == accept.JSON else markup.xml(root, model)
    return web.Response(text=text, content_type=form, charset="utf-8", headers=headers)


class Page(web.Response):
    """A page that is drawn last, in several turns of the loop: see ``pages.drawn``."""

    def __init__(self, template: str, values: Mapping[str, Any], status: int) -> None:
        headers = {"Vary": VARY, "Accept-Ranges": "bytes"}
        super().__init__(status=status, content_type="text/html", charset="utf-8", headers=headers)
        self._template, self._values = template, values

    async def draw(self) -> None:
        """Fill the page in, after a turn of others: what it shows was just asked for."""
        await asyncio.sleep(0)
        self.text = await drawn(self._template, **self._values)


def page(context: Context, request: web.Request, template: str, /, *, status: int = 200, **values: Any) -> Page:
    """An HTML page; messages that wait for the client are shown."""
    messages = context.flashes.pick(request.cookies.get(COOKIE)) if request.method == "GET" else []
    session = request[ASKED].session
    more = {
        "messages": messages,
        "version": API_VERSION,
        "csrf": session.csrf if session is not None else "",
        "user": request[ASKED].user,
    }
    return Page(template, {**more, **values}, status)


def redirect(
    context: Context, request: web.Request, target: str, messages: Sequence[Message] = (), *, status: int = 303
) -> web.Response:
    """Answer with another address: a path, or a whole one. ``messages``: are shown with the next page."""
    where = target if "://" in target else base(request) + target
    made = web.Response(status=status, headers={"Location": where, "Accept-Ranges": "bytes"})
    if messages:
        value = cookie_of(request.cookies.get(COOKIE), [context.flashes.drop(each) for each in messages])
        made.set_cookie(
            COOKIE, value, path="/", httponly=True, samesite="Lax", secure=base(request).startswith("https")
        )
    return made


def itself(request: web.Request) -> str:
    """The request's own address, without host."""
    return request.raw_path if request.raw_path.startswith("/") else request.path_qs


#: What is said of a status without a cause.
WORDS: Final = {401: "nobody has logged in", 404: "not found", 405: "method not allowed"}


def error(
    request: web.Request,
    status: int,
    cause: str = "",
    *,
    template: str = "error.html",
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """The page of an error, or its words as JSON. ``headers``: more than every such answer has."""
    if wanted(request) == accept.JSON:
        words = {"status": status, "error": cause or WORDS.get(status, "an error occurred")}
        return web.Response(status=status, text=markup.to_json(words), content_type="application/json", headers=headers)
    # a person is led on from where there is nothing
    home = "/ui" if request.path.startswith("/ui") and status != 429 else ""
    text = render(template, status=status, cause=cause, home=home)
    return web.Response(
        text=text, status=status, content_type="text/html", headers=RANGES if headers is None else headers
    )


RANGES: Final = {"Accept-Ranges": "bytes"}
NOT_KEPT: Final = {"Cache-Control": "must-revalidate,no-cache,no-store"}


def ambiguous(request: web.Request, reason: str) -> web.Response:
    """The answer to a path that may mean more than one."""
    return error(request, 400, reason, template="ambiguous.html", headers=NOT_KEPT)
