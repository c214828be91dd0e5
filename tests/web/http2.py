"""A server on loopback that speaks HTTP/2 over TLS and says what a script tells it, frame by frame."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import h2.config
import h2.connection
import h2.events

if TYPE_CHECKING:
    from collections.abc import Callable

    Script = Callable[["Http2Server", "h2.connection.H2Connection", int], None]

TLS = Path(__file__).parent / "tls"


class Http2Server:
    """``script(server, protocol, stream)`` is called when a request is whole. What came stands in ``requests`` (headers
    with pseudo-headers, body); ``connections`` counts connections, ``plain`` holds the requests in HTTP/1.1, which
    get a short answer."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[tuple[dict[bytes, bytes], bytes]] = []
        self.connections = 0
        self.plain: list[bytes] = []
        self.port = 0
        self.hang_up = False

    async def __aenter__(self) -> Self:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
        context.set_alpn_protocols(["h2", "http/1.1"])
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()

    def url(self, path: str = "/") -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2":
                await self._http2(reader, writer)
            else:
                self.plain.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nplain")
        writer.close()

    async def _http2(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        config = h2.config.H2Configuration(
            client_side=False, header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False
        )
        protocol = h2.connection.H2Connection(config)
        protocol.initiate_connection()
        writer.write(protocol.data_to_send())
        heads: dict[int, dict[bytes, bytes]] = {}
        bodies: dict[int, bytes] = {}
        while data := await reader.read(65536):
            for event in protocol.receive_data(data):
                stream: Any = getattr(event, "stream_id", None)
                if isinstance(event, h2.events.RequestReceived):
                    heads[stream], bodies[stream] = dict(event.headers), b""
                elif isinstance(event, h2.events.DataReceived):
                    bodies[stream] += event.data
                    protocol.acknowledge_received_data(event.flow_controlled_length, stream)
                elif isinstance(event, h2.events.StreamEnded):
                    self.requests.append((heads[stream], bodies[stream]))
                    self.script(self, protocol, stream)
            writer.write(protocol.data_to_send())
            await writer.drain()
            if self.hang_up:
                return
