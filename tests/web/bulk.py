"""N pages of one size with links on M hosts, from a process that costs little: the other side of benchmarks.

``python -m tests.web.bulk --hosts M --pages N --links 20 --size 10240 [--log FILE] [--ready FILE] [--robots
allow]``

Page k is ``http://hK.bulk.test:PORT/p/k.html`` on host k mod M. Its links are the same on every run: the
next pages of a tree whose root is page 0, so that all N are reachable, then pages already linked elsewhere.
The name server answers every ``*.bulk.test`` with 127.0.0.1. HTTP/1.1 with Content-Length and keep-alive;
one write a response, heads and bodies are made once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tests.web.dns import Answers, DnsServer
from tests.web.ready import announce

if TYPE_CHECKING:
    from collections.abc import Mapping

DOMAIN = "bulk.test"
WORDS = b"the quick crawler keeps every byte that a server sends and forgets no page of it ; "

ROBOTS = {
    "allow": (200, b"User-agent: *\nDisallow:\n"),
    "none": (404, b"no robots here\n"),
    "deny": (200, b"User-agent: *\nDisallow: /\n"),
}


def host_name(number: int) -> str:
    return f"h{number}.{DOMAIN}"


def targets(page: int, pages: int, links: int) -> list[int]:
    """The pages that *page* links to: half the links lead down the tree, the rest to known pages."""
    down = max(1, links // 2)
    first = page * down + 1
    fresh = [number for number in range(first, first + down) if number < pages]
    known, step = [], 0
    while len(fresh) + len(known) < min(links, pages):
        number = (page * 7919 + step * 104729 + 1) % pages
        step += 1
        if number not in fresh and number not in known:
            known.append(number)
        elif step > 4 * links:
            break
    return fresh + known


def page_body(page: int, hosts: int, pages: int, links: int, size: int, port: int) -> bytes:
    """HTML of exactly *size* bytes (or more, when the links alone need more)."""
    head = (f'<!DOCTYPE html>\n<html><head><title>Page {page}</title><meta charset="utf-8"></head><body>\n').encode()
    anchors = [
        f'<p><a href="http://{host_name(number % hosts)}:{port}/p/{number}.html">Page {number}</a> '.encode()
        for number in targets(page, pages, links)
    ]
    tail = b"</body></html>\n"
    space = size - len(head) - len(tail) - sum(map(len, anchors)) - 5 * max(1, len(anchors))
    each = max(0, space // max(1, len(anchors)))
    text = (WORDS * (each // len(WORDS) + 1))[:each]
    body = head + b"".join(anchor + text + b"</p>\n" for anchor in anchors)
    rest = size - len(body) - len(tail)
    return body + b" " * max(0, rest) + tail


def response(status: int, kind: str, body: bytes) -> bytes:
    phrase = {200: "OK", 404: "Not Found"}[status]
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Bulk:
    """The answers by (host, target), made when first asked for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.port = 0
        self.log: BinaryIO | None = open(args.log, "ab", buffering=0) if args.log else None  # noqa: SIM115
        status, text = ROBOTS[args.robots]
        self._robots = response(status, "text/plain", text)
        self._missing = response(404, "text/html", b"<p>No such page.\n")
        self._kept: dict[bytes, bytes] = {}

    def answer(self, target: bytes) -> bytes:
        kept = self._kept.get(target)
        if kept is None:
            kept = self._made(target)
            if self.args.keep:
                self._kept[target] = kept
        return kept

    def _made(self, target: bytes) -> bytes:
        if target == b"/robots.txt":
            return self._robots
        number = target.removeprefix(b"/p/").removesuffix(b".html")
        if not number.isdigit() or int(number) >= self.args.pages:
            return self._missing
        args = self.args
        body = page_body(int(number), args.hosts, args.pages, args.links, args.size, self.port)
        return response(200, "text/html", body)


class Connection(asyncio.Protocol):
    """Requests without a body, one after the other."""

    __slots__ = ("_bulk", "_rest", "_transport")

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                break
            head, data = data[:end], data[end + 4 :]
            line = head[: head.find(b"\r\n")]
            method, _, rest = line.partition(b" ")
            target, _, version = rest.partition(b" ")
            lowered = head.lower()
            if self._bulk.log:
                at = lowered.find(b"\r\nhost:")
                host = head[at + 7 : head.find(b"\r\n", at + 7) if head.find(b"\r\n", at + 7) > 0 else None]
                row = {
                    "time": time.time(),
                    "kind": "http",
                    "host": host.strip().decode("latin-1"),
                    "method": method.decode("latin-1"),
                    "target": target.decode("latin-1"),
                }
                self._bulk.log.write(json.dumps(row).encode() + b"\n")
            self._transport.write(self._bulk.answer(target))
            if b"\r\nconnection: close" in lowered or (
                version == b"HTTP/1.0" and b"\r\nconnection: keep-alive" not in lowered
            ):
                self._transport.close()
                break
        self._rest = data


async def serve(args: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    bulk = Bulk(args)

    def lookup(name: str) -> Mapping[str, Any] | None:
        return {"ips": ["127.0.0.1"]} if name.endswith("." + DOMAIN) else None

    names = DnsServer(Answers(lookup), lambda name, kind, over: None)
    await names.start()
    server = await loop.create_server(lambda: Connection(bulk), "127.0.0.1", args.port, backlog=1024)
    bulk.port = server.sockets[0].getsockname()[1]
    seed = f"http://{host_name(0)}:{bulk.port}/p/0.html"
    announce({"port": bulk.port, "dns": f"127.0.0.1:{names.port}", "seed": seed}, args.ready)
    await stop.wait()
    await names.stop()
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.web.bulk", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--links", type=int, default=20)
    parser.add_argument("--size", type=int, default=10240, help="bytes of one page")
    parser.add_argument("--robots", choices=sorted(ROBOTS), default="allow")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="file that gets one JSON line per request")
    parser.add_argument("--ready", type=Path, help="file that gets port, dns and seed as JSON")
    parser.add_argument("--no-keep", dest="keep", action="store_false", help="make each page anew when asked for")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
