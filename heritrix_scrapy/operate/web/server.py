"""How are the parts put together to a server, and how does it listen? In an asyncio loop that runs already."""

from __future__ import annotations

import logging
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from heritrix_scrapy.operate.web import guard, login
from heritrix_scrapy.operate.web.context import Context
from heritrix_scrapy.operate.web.dispatch import dispatch
from heritrix_scrapy.operate.web.forms import FORM
from heritrix_scrapy.operate.web.ui import routes

if TYPE_CHECKING:
    import asyncio
    import ssl
    from collections.abc import Sequence

logger = logging.getLogger(__name__)

CONTEXT: Final = web.AppKey("context", Context)

#: Seconds that a connection may be idle, or may take for the head of a request.
KEEPALIVE: Final = 30.0
#: Connections at once.
CONNECTIONS: Final = 400
#: Seconds that answers under way get at the end.
SHUTDOWN: Final = 3.0


def application(context: Context) -> web.Application:
    """The application. Further pages are routes below ``/ui``, added before it is run."""
    app = web.Application(middlewares=[guard.guard(context)], client_max_size=FORM, logger=logger)
    app[CONTEXT] = context
    app.on_response_prepare.append(guard.careful)
    app.router.add_get(guard.LOGIN, _bound(context, login.show))
    app.router.add_post(guard.LOGIN, _bound(context, login.enter))
    app.router.add_post(login.LOGOUT, _bound(context, login.leave))
    routes.add(app, context)
    app.router.add_static("/ui/static", Path(str(files("heritrix_scrapy.operate.web").joinpath("static"))))
    return app


def _bound(context: Context, resource: Any) -> Any:
    async def handler(request: web.Request) -> web.StreamResponse:
        response: web.StreamResponse = await resource(context, request)
        return response

    return handler


class Server:
    """A listening server."""

    def __init__(self, app: web.Application, *, keepalive: float = KEEPALIVE) -> None:
        context: Context = app[CONTEXT]
        # whatever no other route has taken
        app.router.add_route("*", "/{path:.*}", _bound(context, dispatch))
        self._runner = web.AppRunner(
            app, keepalive_timeout=keepalive, shutdown_timeout=SHUTDOWN, access_log=None, handle_signals=False
        )
        self.addresses: list[tuple[str, int]] = []

    async def start(self, hosts: Sequence[str | None], port: int, tls: ssl.SSLContext | None) -> None:
        """Listen on each of the hosts; None: on all interfaces. Raises OSError."""
        await self._runner.setup()
        assert self._runner.server is not None
        keep_few(self._runner.server)
        for host in hosts:
            site = web.TCPSite(self._runner, host, port, ssl_context=tls, backlog=128)
            await site.start()
        for address in self._runner.addresses:
            self.addresses.append((str(address[0]), int(address[1])))

    async def close(self) -> None:
        """Let go of the ports and of everyone connected."""
        await self._runner.cleanup()


def keep_few(server: web.Server, most: int = CONNECTIONS) -> None:
    """Have a server close each connection that is one too many."""
    made = server.connection_made

    def connected(handler: Any, transport: asyncio.Transport) -> None:
        made(handler, transport)
        if len(server.connections) > most:
            transport.abort()

    server.connection_made = connected  # type: ignore[method-assign]
