"""What does an exchange cost, beside Scrapy's own handler?

``python -m benchmarks.fetch [--rounds 5] [--scale 1.0]``

One server in a process of its own, and one process for each side and row: it asks the handler for the same URL again
and again, the handler alone, no engine, and measures its own CPU time (user + system). Ours records both
directions, digests, and stamps. Rows: bodies of 1, 10, 100 KB and 10 MB, with connections kept on both sides and with
``Connection: close`` on both; a 2 GB body is fetched by ours alone, for its memory. The last line is one JSON object;
exit status 1 when at 10 KB ours takes more than 60 % of Scrapy's with connections kept, or 40 % with close, or more
than 150 MB for 2 GB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # also when run as a file

KB, MB = 1000, 1_000_000
#: Name, bytes of the body, fetches a measurement.
ROWS: list[tuple[str, int, int]] = [
    ("1 KB", KB, 1500),
    ("10 KB", 10 * KB, 1500),
    ("100 KB", 100 * KB, 600),
    ("10 MB", 10 * MB, 15),
]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: bench\r\nDate: Tue, 01 Dec 2026 00:00:00 GMT\r\n"
WARM_UP = 100
TARGETS = {("10 KB", "kept"): 0.60, ("10 KB", "close"): 0.40}
LARGE = 2_000_000_000
LARGE_MB = 150
AT_ONCE = 8


class Says(asyncio.Protocol):
    """Answers ``/size`` with so many bytes, in the cheapest way there is."""

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            size = int(head.split(b" ", 2)[1][1:])
            close = b"connection: close" in head.lower()
            last = b"Connection: close\r\n\r\n" if close else b"\r\n"
            self.transport.write(HEAD + b"Content-Length: %d\r\n" % size + last)
            if size > 10 * MB:
                self.task = asyncio.ensure_future(self.much(size))
                return
            self.transport.write(b"x" * size)
            if close:
                self.transport.close()

    async def much(self, size: int) -> None:
        piece = b"x" * MB
        for _ in range(size // MB):
            while self.transport.get_write_buffer_size() > 4 * MB:
                await asyncio.sleep(0.001)
            self.transport.write(piece)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Says, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def measure(side: str, url: str, close: bool, count: int) -> None:
    """Runs in a process of its own; prints CPU µs a fetch, and the peak of memory in MB."""
    from scrapy.utils.reactor import install_reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor

    outcome: dict[str, float] = {}

    async def work() -> None:
        from scrapy import Request
        from scrapy.utils.misc import build_from_crawler, load_object
        from scrapy.utils.test import get_crawler

        settings: dict[str, Any] = {"LOG_LEVEL": "ERROR", "DOWNLOAD_MAXSIZE": 0, "DOWNLOAD_WARNSIZE": 0}
        crawler = get_crawler(settings_dict=settings)
        crawler.spider = crawler._create_spider("bench")
        meta: dict[str, Any] = {}
        if side == "ours":
            from heritrix_scrapy.crawl import Crawl
            from heritrix_scrapy.fetch.http_handler import HttpDownloadHandler as Handler
            from heritrix_scrapy.model.crawluri import CrawlURI
            from heritrix_scrapy.requests import bind
            from heritrix_scrapy.settings import Settings, default_view

            view = default_view(send_connection_close=close, operator_contact_url="http://operator.example/contact")
            Crawl.of(crawler).settings = Settings(view)
            handler: Any = Handler.from_crawler(crawler)
            meta["heritrix"] = "internal"
        else:
            path = crawler.settings.getwithbase("DOWNLOAD_HANDLERS")["http"]
            handler = build_from_crawler(load_object(path), crawler)
        headers = {"Connection": "close"} if close else {}

        async def fetch() -> None:
            request = Request(url, meta=dict(meta), headers=headers)
            if side == "ours":
                curi = CrawlURI(url)
                bind(request, curi)
                await handler.download_request(request)
                curi.recorder.close()  # as the end of a URI does
            else:
                response = await handler.download_request(request)
                assert response.status == 200

        async def batch(number: int) -> None:
            left = iter(range(number))

            async def one() -> None:
                for _ in left:
                    await fetch()

            await asyncio.gather(*(one() for _ in range(min(AT_ONCE, number))))

        if count > 1:
            await batch(min(WARM_UP, count))
        before = time.process_time()
        await batch(count)
        outcome["cpu_us"] = (time.process_time() - before) / count * 1e6
        outcome["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000

    def start() -> None:
        task = asyncio.ensure_future(work())
        task.add_done_callback(lambda _: reactor.stop())  # type: ignore[attr-defined]
        outcome["task"] = task  # type: ignore[assignment]

    reactor.callWhenRunning(start)  # type: ignore[attr-defined]
    reactor.run()  # type: ignore[attr-defined]
    outcome.pop("task").result()  # type: ignore[attr-defined]
    print(json.dumps(outcome))


def run(side: str, port: int, size: int, close: bool, count: int) -> dict[str, float]:
    asked = [side, f"http://127.0.0.1:{port}/{size}", str(int(close)), str(count)]
    command = [sys.executable, "-m", "benchmarks.fetch", "--measure", *asked]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**__import__("os").environ, "TMPDIR": folder},
        )
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fetch", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the fetches of each row")
    parser.add_argument("--rows", default="", help="only these, by name, with commas between")
    parser.add_argument("--no-large", action="store_true", help="without the 2 GB body")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        asyncio.run(serve())
        return 0
    if args.measure:
        side, url, close, count = args.measure
        measure(side, url, close == "1", int(count))
        return 0
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.fetch", "--serve"], stdout=subprocess.PIPE, cwd=ROOT)
    found: dict[str, Any] = {}
    failed = []
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        wanted = {name.strip() for name in args.rows.split(",") if name.strip()}
        for name, size, fetches in ROWS:
            if wanted and name not in wanted:
                continue
            count = max(int(fetches * args.scale), 5)
            for way in ("kept", "close"):
                pairs = []
                for _ in range(args.rounds):
                    ours = run("ours", port, size, way == "close", count)["cpu_us"]
                    scrapy = run("scrapy", port, size, way == "close", count)["cpu_us"]
                    pairs.append((ours, scrapy))
                ratio = statistics.median(ours / scrapy for ours, scrapy in pairs)
                row = {
                    "ratio": round(ratio, 3),
                    "ours_cpu_us": round(statistics.median(pair[0] for pair in pairs)),
                    "scrapy_cpu_us": round(statistics.median(pair[1] for pair in pairs)),
                }
                found[f"{name}, {way}"] = row
                print(f"{name:>7} {way:6} {row}", flush=True)
                if ratio > TARGETS.get((name, way), 1e9):
                    failed.append(f"{name}, {way}")
        if not args.no_large:
            peak = run("ours", port, LARGE, False, 1)["peak_mb"]
            found["2 GB, peak MB"] = round(peak)
            if peak > LARGE_MB:
                failed.append("2 GB")
    finally:
        server.terminate()
        server.wait()
    print(json.dumps({**found, "failed": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
