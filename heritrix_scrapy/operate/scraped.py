"""How does Prometheus come to a crawl's numbers? A small HTTP server that answers one path, and nothing else.

It is off unless ``HERITRIX_METRICS`` says where it listens. A name in the Host header is refused that is none of this
machine's own, so that no page in a browser reads the numbers through a name that it has bound to a loopback address.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPBACK = "127.0.0.1"
#: Bytes of a request's head, and seconds that it may take.
LONGEST = 16 * 1024
PATIENCE = 10.0

_PLACE = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+):)?(?P<port>\d{1,5})")


def place(value: str, setting: str = "HERITRIX_METRICS") -> tuple[str, int]:
    """Host and port that a setting names. Raises ConfigurationError."""
    found = _PLACE.fullmatch(value.strip())
    if found is None or int(found["port"]) > 65535:
        raise ConfigurationError(setting, value, "expected a port, or host:port")
    return (found["host"] or LOOPBACK).strip("[]"), int(found["port"])


class MetricsServer:
    """``text()``: content type and body of the answer. ``address``: where it listens, once it does."""

    def __init__(self, host: str, port: int, text: Callable[[], tuple[str, str]]) -> None:
        self._host, self._port, self._text = host, port, text
        self._server: asyncio.Server | None = None
        self.address = ""

    async def start(self) -> None:
        """Raises OSError."""
        self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=LONGEST)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.address = f"http://[{host}]:{port}/metrics" if ":" in host else f"http://{host}:{port}/metrics"

    async def close(self) -> None:
        """Let go of the port."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            writer.write(self._answer(head.decode("latin-1")))
            await asyncio.wait_for(writer.drain(), PATIENCE)
        except asyncio.LimitOverrunError:
            writer.write(answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            """Nobody is there to be answered."""
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    def _answer(self, head: str) -> bytes:
        first, *fields = head.rstrip("\r\n").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return answer(HTTPStatus.BAD_REQUEST)
        method, target, _ = words
        hosts = [value.strip() for name, _, value in (each.partition(":") for each in fields) if name.lower() == "host"]
        if len(hosts) > 1 or not all(map(self._ours, hosts)):
            return answer(HTTPStatus.FORBIDDEN)
        if target.partition("?")[0] != "/metrics":
            return answer(HTTPStatus.NOT_FOUND)
        if method not in ("GET", "HEAD"):
            return answer(HTTPStatus.METHOD_NOT_ALLOWED)
        kind, text = self._text()
        return answer(HTTPStatus.OK, kind, text, head=method == "HEAD")

    def _ours(self, host: str) -> bool:
        """Whether a Host header names this machine as an address, as ``localhost`` or as the setting has it."""
        name = re.sub(r":\d*\Z", "", host).strip("[]").lower()
        if name in ("localhost", self._host.lower()):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def answer(status: HTTPStatus, kind: str = "text/plain; charset=utf-8", text: str = "", *, head: bool = False) -> bytes:
    """A whole response, after which the connection ends."""
    body = (text or f"{status.value} {status.phrase}\n").encode()
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if head else body)
