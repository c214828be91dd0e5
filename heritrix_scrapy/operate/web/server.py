"""How are the parts put together to a server, and how does it listen? In an asyncio loop that runs already."""

from __future__ import annotations

import asyncio
import logging
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from heritrix_scrapy.operate.web import door, guard, login, pages
from heritrix_scrapy.operate.web.context import Context
from heritrix_scrapy.operate.web.dispatch import dispatch
from heritrix_scrapy.operate.web.ui import names, routes

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

logger = logging.getLogger(__name__)

#: What aiohttp has to say of connections.
strangers = logging.getLogger(f"{__name__}.connections")

CONTEXT: Final = web.AppKey("context", Context)

#: Seconds that a connection may be idle, or may take for the head of a request.
KEEPALIVE: Final = 30.0
#: Seconds that answers under way get at the end.
SHUTDOWN: Final = 3.0


def prepare() -> None:
    """Make what is made once, so that nobody waits for it later: a crawl's own loop has no time for it."""
    pages.prepare()
    names.names()


def application(context: Context) -> web.Application:
    """The application. Further pages are routes below ``/ui``, added before it is run."""
    app = web.Application(middlewares=[guard.guard(context)], logger=logger)
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


def briefly(record: logging.LogRecord) -> bool:
    """What a stranger has sent that is no HTTP, and that somebody has gone, is nothing that went wrong here: a line for
    those who look for it, in place of a traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError):
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        record.msg, record.args = "a connection was given up: %s", (type(error).__name__,)
        record.exc_info = record.exc_text = None
    return True


strangers.addFilter(briefly)


class Connection(web.RequestHandler):
    """One connection. What is no HTTP at all is answered before there is a request that the middleware could see: with
    the same headers as everything else."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        response = super().handle_error(request, status, exc, message)
        guard.careful_headers(response)
        return response


class Server:
    """A listening server. ``keepalive``: seconds that a connection may be idle; ``most``: connections at once."""

    def __init__(self, app: web.Application, *, keepalive: float = KEEPALIVE, most: int = door.CONNECTIONS) -> None:
        context: Context = app[CONTEXT]
        # whatever no other route has taken
        app.router.add_route("*", "/{path:.*}", _bound(context, dispatch))
        self._runner = web.AppRunner(
            app,
            shutdown_timeout=SHUTDOWN,
            handle_signals=False,
        )
        self._keepalive, self._most = keepalive, most
        self.door: door.Door | None = None
        self.addresses: list[tuple[str, int]] = []

    async def start(self, hosts: Sequence[str | None], port: int, tls: ssl.SSLContext | None) -> None:
        """Listen on each of the hosts; None: on all interfaces. Raises OSError."""
        await self._runner.setup()
        server = self._runner.server
        assert server is not None
        loop = asyncio.get_running_loop()

        def connection() -> Connection:
            kept = self._keepalive
            return Connection(server, loop=loop, keepalive_timeout=kept, access_log=None, logger=strangers)  # type: ignore[arg-type]

        self.door = door.Door(connection, lambda: len(server.connections), tls, most=self._most)
        try:
            for host in hosts:
                await self.door.open(host, port)
        except OSError:
            await self.close()
            raise
        self.addresses = self.door.addresses

    async def close(self) -> None:
        """Let go of the ports and of everyone connected."""
        if self.door is not None:
            await self.door.close()
        await self._runner.cleanup()
