"""How does a person with a browser log in and out?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heritrix_scrapy.operate.web import answers, forms
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.delay import Crowded
from heritrix_scrapy.operate.web.guard import LOGIN, crowded, in_turn
from heritrix_scrapy.operate.web.sessions import COOKIE

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context

HOME: Final = "/ui"
LOGOUT: Final = "/logout"


async def show(context: Context, request: web.Request) -> web.StreamResponse:
    """The form."""
    return answers.page(context, request, "login.html", wrong=False)


async def enter(context: Context, request: web.Request) -> web.StreamResponse:
    """Begin a session, if name and password are right."""
    said, address = await forms.fields(request, forms.LOGIN), request[ASKED].address
    try:
        await in_turn(context, address)
    except Crowded as error:
        return crowded(request, error)
    account = context.gate.password(said.get("user", ""), said.get("password", ""))
    if account is None:
        context.delays.failed(address, context.now())
        return answers.page(context, request, "login.html", status=401, wrong=True)
    context.delays.right(address)
    token, _ = context.sessions.begin(account)
    response = answers.redirect(context, request, HOME)
    secure = answers.base(request).startswith("https")
    response.set_cookie(COOKIE, token, path="/", httponly=True, samesite="Strict", secure=secure)
    return response


async def leave(context: Context, request: web.Request) -> web.StreamResponse:
    """End the session."""
    session = request[ASKED].session
    if session is not None:
        context.sessions.end(session)
    response = answers.redirect(context, request, LOGIN)
    response.del_cookie(COOKIE, path="/")
    return response
