"""What was asked of the web, in order: kept in memory, and as JSON lines on request.

A line is written and flushed when the request is read, before it is answered: it stands even when the
client is killed a moment later.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Exchange:
    """One request (or DNS question) and what was sent for it."""

    n: int
    time: float  # seconds since the epoch
    kind: str  # http, https, dns
    host: str | None  # Host header as sent; of a DNS question its name
    address: str = ""
    port: int = 0
    connection: int = 0  # requests of one connection share it
    method: str = ""
    target: str = ""
    raw: bytes = b""  # the request, head and body
    over: str = ""  # DNS: udp or tcp
    type: str = ""  # DNS: A, AAAA ...
    sent: bytearray = field(default_factory=bytearray)

    def row(self) -> dict[str, Any]:
        """The JSON line, with the names that the golden comparer reads."""
        if self.kind == "dns":
            return {
                "n": self.n,
                "time": self.time,
                "kind": "dns",
                "transport": self.over,
                "name": self.host,
                "type": self.type,
            }
        return {
            "n": self.n,
            "time": self.time,
            "kind": self.kind,
            "address": self.address,
            "port": self.port,
            "connection": self.connection,
            "host": self.host,
            "method": self.method,
            "target": self.target,
            "raw": self.raw.decode("latin-1"),
        }


class Log:
    """Numbered exchanges; *path*: file that gets one JSON line each."""

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path else None
        self.exchanges: list[Exchange] = []
        self._file = open(self.path, "a", buffering=1, encoding="utf-8") if self.path else None  # noqa: SIM115

    def note(self, kind: str, host: str | None, **facts: Any) -> Exchange:
        exchange = Exchange(len(self.exchanges) + 1, time.time(), kind, host, **facts)
        self.exchanges.append(exchange)
        if self._file:
            self._file.write(json.dumps(exchange.row()) + "\n")
        return exchange

    def close(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
