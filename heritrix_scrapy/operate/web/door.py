"""How many may be connected at once, and how long may somebody take for the greeting of TLS?

Connections are counted from the moment on at which they are accepted, so that those who say nothing, not even the
greeting, take no more files from the crawl than are theirs. One that is too many is closed at once.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

#: Connections at once, those included that are still greeting; and connections that wait to be accepted.
CONNECTIONS: Final = 400
BACKLOG: Final = 128
#: Seconds that the greeting of TLS may take, and the farewell.
GREETING: Final = 10.0
FAREWELL: Final = 5.0
#: Seconds to wait when this process has no files left.
NO_FILES: Final = 1.0

_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Door:
    """Listens, and hands who comes to a server. ``make``: a protocol for one connection; ``inside``: how many have one
    now; ``tls``: None for none."""

    def __init__(
        self,
        make: Callable[[], asyncio.Protocol],
        inside: Callable[[], int],
        tls: ssl.SSLContext | None,
        *,
        most: int = CONNECTIONS,
        greeting: float = GREETING,
    ) -> None:
        self._make, self._inside, self._tls = make, inside, tls
        self._most, self._greeting = most, greeting
        self._listeners: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []
        self._greeted: set[asyncio.Task[None]] = set()
        #: Connections that were one too many.
        self.turned_away = 0

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where it listens."""
        return [(str(name[0]), int(name[1])) for name in (each.getsockname() for each in self._listeners)]

    async def open(self, host: str | None, port: int) -> None:
        """Listen on every address of a host; None: on all interfaces. Raises OSError."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        places = list(dict.fromkeys((family, place) for family, _, _, _, place in found))
        listeners, missing = listening(places)
        if not listeners:
            raise missing or OSError(errno.EADDRNOTAVAIL, f"{host} has no address")
        self._listeners += listeners
        self._accepting += [asyncio.ensure_future(self._accept(each)) for each in listeners]

    async def close(self) -> None:
        """Listen no more; who is greeting has to go, who is inside stays."""
        tasks = [*self._accepting, *self._greeted]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for listener in self._listeners:
            listener.close()
        self._accepting, self._listeners = [], []

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError as error:
                # that of one who has gone again is forgotten
                if error.errno in _NO_FILES:
                    logger.warning("a connection to the page cannot be accepted: %s", error.strerror)
                    await asyncio.sleep(NO_FILES)
                continue
            if self._inside() + len(self._greeted) >= self._most:
                self.turned_away += 1
                connection.close()
                # others have their turn, however many come
                await asyncio.sleep(0)
                continue
            task = asyncio.ensure_future(self._greet(connection))
            self._greeted.add(task)
            task.add_done_callback(self._greeted.discard)

    async def _greet(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        timed = {} if self._tls is None else {"ssl_handshake_timeout": self._greeting, "ssl_shutdown_timeout": FAREWELL}
        try:
            connection.setblocking(False)
            await loop.connect_accepted_socket(self._make, connection, ssl=self._tls, **timed)
        except OSError:
            # no TLS, none in time, or gone
            with suppress(OSError):
                connection.close()


def listening(places: Sequence[tuple[int, tuple[object, ...]]]) -> tuple[list[socket.socket], OSError | None]:
    """Sockets that listen on addresses, by family; of those that this machine does not have only the error. Raises
    OSError for one that is taken."""
    made: list[socket.socket] = []
    missing: OSError | None = None
    for family, place in places:
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            missing = error
            continue
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(place)
            listener.listen(BACKLOG)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            missing = error
            if error.errno != errno.EADDRNOTAVAIL:
                for each in made:
                    each.close()
                raise
        else:
            made.append(listener)
    return made, missing
