"""How do declared sites become listening sockets?

One address per host (Linux has all of 127/8; elsewhere they share 127.0.0.1), one HTTP and one TLS port for
all. A request is answered by the host its Host header names, whatever address it came to; an unknown name
by the first host of that address.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import ssl
import struct
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.web.declare import Declaration, Request, Site, answer, choose, fill_in, route
from tests.web.dns import Answers, DnsServer
from tests.web.log import Exchange, Log

if TYPE_CHECKING:
    from collections.abc import Mapping

TLS = Path(__file__).parent / "tls"


def read_site(site: Site | Path | str) -> dict[str, Any]:
    """A site given as a mapping, or as a JSON file (of hosts, or of an object with ``hosts``)."""
    if isinstance(site, (str, Path)):
        site = json.loads(Path(site).read_text(encoding="utf-8"))
    hosts = site.get("hosts", site)
    return {name.lower(): declared for name, declared in hosts.items()}


def address(number: int) -> str:
    """The loopback address of the host with this number."""
    return f"127.0.{1 + number // 250}.{1 + number % 250}" if sys.platform == "linux" else "127.0.0.1"


class Web:
    """The web of the given sites. *log*: file for one JSON line per request; *generation*: see ``gens``; *port*,
    *tls_port*: where to listen, 0 for any free port."""

    def __init__(
        self,
        *sites: Site | Path | str,
        log: Path | str | None = None,
        generation: int = 1,
        port: int = 0,
        tls_port: int = 0,
    ) -> None:
        self.hosts: dict[str, Declaration] = {}
        for site in sites:
            self.hosts.update(read_site(site))
        self.generation = generation
        self.log = Log(log)
        self.port, self.tls_port = port, tls_port
        self._counts: Counter[tuple[str, str]] = Counter()
        self._connections = 0
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.StreamWriter] = set()
        self._dns = DnsServer(Answers(self.host), self._note_question)
        for number, (name, declared) in enumerate(self.hosts.items()):
            ips = declared.get("ips") or [declared.get("ip") or address(number)]
            self.hosts[name] = {**declared, "ips": ips}

    # ---- what a test asks

    @property
    def dns(self) -> str:
        """``host:port`` for HERITRIX_DNS_SERVERS."""
        return f"127.0.0.1:{self._dns.port}"

    @property
    def requests(self) -> list[Exchange]:
        """HTTP and HTTPS requests, in order of arrival."""
        return [exchange for exchange in self.log.exchanges if exchange.kind != "dns"]

    @property
    def questions(self) -> list[Exchange]:
        """DNS questions, in order of arrival."""
        return [exchange for exchange in self.log.exchanges if exchange.kind == "dns"]

    @property
    def log_path(self) -> Path | None:
        return self.log.path

    def url(self, host: str, path: str = "/", *, tls: bool = False) -> str:
        return self._origin("https" if tls else "http", host) + path

    def filled(self, text: str) -> str:
        """*text* with its placeholders replaced, as the sites' own texts are."""
        return str(fill_in(text, self._placeholder))

    def asked(self, host: str) -> list[str]:
        """``METHOD target`` of every request that named this host."""
        return [f"{e.method} {e.target}" for e in self.requests if re.sub(r":\d*$", "", e.host or "") == host]

    def ports(self) -> dict[str, Any]:
        """What another process needs to know."""
        return {"port": self.port, "tls_port": self.tls_port, "dns": self.dns, "hosts": sorted(self.hosts)}

    def host(self, name: str) -> Declaration | None:
        """The declaration of a name: its own, or that of the nearest ``*.`` above it."""
        name = name.lower().rstrip(".")
        labels = name.split(".")
        for candidate in [name, *("*." + ".".join(labels[cut:]) for cut in range(1, len(labels)))]:
            if candidate in self.hosts:
                return self.hosts[candidate]
        return None

    # ---- start and stop

    async def __aenter__(self) -> Self:
        await self._dns.start()
        plain: dict[str, Declaration] = {}
        for declared in self.hosts.values():
            if declared.get("listen", True) and not declared.get("cname"):
                for ip in declared["ips"]:
                    plain.setdefault(ip, declared)
        secure = {ip: declared for ip, declared in plain.items() if declared.get("tls") != "off"}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
        self.port = await self._listen(plain, None, self.port)
        self.tls_port = await self._listen(secure, context, self.tls_port)
        for name, declared in self.hosts.items():
            self.hosts[name] = fill_in(declared, self._placeholder)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._dns.stop()
        for server in self._servers:
            server.close()
        for writer in list(self._open):
            writer.transport.abort()
        self.log.close()

    async def _listen(self, places: Mapping[str, Declaration], context: ssl.SSLContext | None, wanted: int) -> int:
        """Open one port, the same on all addresses: *wanted*, or with 0 any that is free."""
        for _ in range(50):
            opened: list[asyncio.Server] = []
            port = wanted
            try:
                for ip, declared in places.items():
                    fault = declared.get("tls") if context else None
                    opened.append(
                        await asyncio.start_server(
                            lambda r, w, ip=ip, fault=fault: self._client(r, w, ip, context is not None, fault),
                            ip,
                            port,
                            ssl=None if fault in ("plain", "reset", "stall") else context,
                            backlog=256,
                            limit=1 << 20,
                        )
                    )
                    port = opened[0].sockets[0].getsockname()[1]
            except OSError:
                for server in opened:
                    server.close()
                continue
            self._servers += opened
            return port
        raise OSError("no port is free on all addresses")

    def _origin(self, scheme: str, host: str) -> str:
        return f"{scheme}://{host}:{self.tls_port if scheme == 'https' else self.port}"

    def _placeholder(self, name: str) -> str:
        scheme, _, host = name.partition(":")
        if host:
            return self._origin(scheme, host)
        return {"PORT": str(self.port), "TLS_PORT": str(self.tls_port)}[name]

    # ---- serving

    def _note_question(self, name: str, kind: str, over: str) -> None:
        self.log.note("dns", name, type=kind, over=over)

    async def _client(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ip: str,
        tls: bool,
        fault: str | None,
    ) -> None:
        self._open.add(writer)
        self._connections += 1
        connection = self._connections
        try:
            if fault == "stall":
                await reader.read()
            elif fault == "reset":
                reset(writer)
            elif fault == "plain":
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            else:
                while await self._exchange(reader, writer, ip, tls, connection):
                    pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open.discard(writer)
            with contextlib.suppress(OSError):
                writer.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ip: str, tls: bool, connection: int
    ) -> bool:
        """Read one request and play its answer; true when the connection serves another one."""
        raw = await reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"(?im)^content-length:[ \t]*(\d+)", raw)
        if size:
            raw += await reader.readexactly(int(size[1]))
        request = Request.parse(raw)
        exchange = self.log.note(
            "https" if tls else "http",
            request.headers.get("host"),
            address=ip,
            port=self.tls_port if tls else self.port,
            connection=connection,
            method=request.method,
            target=request.target,
            raw=raw,
        )
        host = self.host(request.host)
        if host is None:
            host = next(declared for declared in self.hosts.values() if ip in declared["ips"])
        if "cname" in host and "routes" not in host:
            host = self.host(host["cname"]) or host
        declared, match = route(host, request)
        key = (request.host, request.target)
        self._counts[key] += 1
        if callable(declared):
            declared = fill_in(declared(request), self._placeholder)
        chosen = choose(declared, request, self._counts[key], self.generation)
        for step, *value in answer(chosen, request, match):
            if step == "send":
                # One write a step: how the client's reads fall must not depend on timing.
                writer.write(value[0])
                exchange.sent += value[0]
                await writer.drain()
            elif step == "sleep":
                await asyncio.sleep(value[0])
            elif step == "endless":
                while True:
                    writer.write(value[0])
                    await writer.drain()
            elif step == "hold":
                await reader.read()
            elif step == "reset":
                reset(writer)
        return step == "keep"


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
