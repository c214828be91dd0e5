"""What does a WARC record cost, beside warcio's own writer and the compression that neither can do without?

    python -m benchmarks.archive [--seconds N] [--sizes BYTES ...]

For bodies of 10 KB, 1 MB and 10 MB of text with the redundancy of web pages: CPU microseconds of one response
record and of a group (response, request, metadata), MB/s, and the size of the file; ours, warcio's as it comes,
and ``isal`` alone at our level. Ours holds what a crawl does: recorded as it came, spooled to disk where it is
large, both digests. Ratios are ours to warcio's, the median of rounds in which the two take turns; the last line is
one JSON object with them.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from isal import isal_zlib
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from heritrix_scrapy.archive.alone import Crawler, warcinfo
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.records import Form, group
from heritrix_scrapy.archive.warcfile import LEVEL, WarcFiles
from heritrix_scrapy.archive.writer import record_id
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUNDS = 7
SIZES = (10_000, 1_000_000, 10_000_000)
URI = "http://www.example.com/a/page.html"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: x\r\n\r\n"
REQUEST = b"GET /a/page.html HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: Mozilla/5.0 (compatible)\r\n\r\n"
LINKS = [Outlink(f"http://www.example.com/page-{number}.html", "L", "a/@href") for number in range(20)]


def body(size: int) -> bytes:
    """Text that deflate takes down to about a third, as pages do."""
    source = random.Random(size)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(2000)]
    out: list[str] = []
    length = 0
    while length < size:
        piece = f"<p class={source.choice(words)}>" + " ".join(source.choices(words, k=30)) + "</p>\n"
        out.append(piece)
        length += len(piece)
    return "".join(out).encode()[:size]


def ours(data: bytes, files: WarcFiles, form: Form) -> Callable[[], None]:
    def write() -> None:
        curi = CrawlURI(URI, path="L", via="http://www.example.com/")
        curi.status, curi.began_ms, curi.ended_ms = 200, 1308849128574, 1308849128600
        curi.server_ip, curi.content_type, curi.http_version = "192.0.2.1", "text/html", "HTTP/1.1"
        curi.recorder = recorder = Recorder()
        recorder.request.append(REQUEST)
        recorder.response.append(HEAD)
        recorder.response.append(data)
        recorder.body_at = len(HEAD)
        curi.digest = recorder.body_digest
        curi.outlinks = LINKS
        files.append(group(curi, form, record_id, warcinfo_id=files.prepare()))
        recorder.close()

    return write


def theirs(data: bytes, file: Any, whole: bool) -> Callable[[], None]:
    writer = WARCWriter(file, gzip=True, warc_version="1.1")
    more = {"WARC-IP-Address": "192.0.2.1"}
    links = "".join(f"outlink: {uri} {hop} {context}\r\n" for uri, hop, context in LINKS).encode()

    def write() -> None:
        status = StatusAndHeaders(
            "200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Server", "x")], protocol="HTTP/1.1"
        )
        writer.write_record(
            writer.create_warc_record(
                URI, "response", payload=io.BytesIO(data), http_headers=status, warc_headers_dict=dict(more)
            )
        )
        if whole:
            asked = StatusAndHeaders(
                "GET /a/page.html HTTP/1.1",
                [("Host", "www.example.com"), ("User-Agent", "Mozilla/5.0 (compatible)")],
                is_http_request=True,
            )
            writer.write_record(writer.create_warc_record(URI, "request", http_headers=asked))
            writer.write_record(
                writer.create_warc_record(
                    URI, "metadata", payload=io.BytesIO(links), warc_content_type="application/warc-fields"
                )
            )

    return write


def floor(data: bytes, file: Any) -> Callable[[], None]:
    return lambda: file.write(isal_zlib.compress(HEAD + data, LEVEL, 31)) and None


def measured(writes: Sequence[Callable[[], None]], seconds: float) -> list[list[float]]:
    """CPU microseconds of one call of each, in ``ROUNDS`` rounds that take turns: what else the machine does meets
    all of them alike. Each gets ``seconds`` in all."""
    spent: list[list[float]] = [[] for _ in writes]
    for _ in range(ROUNDS):
        for write, row in zip(writes, spent, strict=True):
            times, began = 0, time.process_time()
            while (used := time.process_time() - began) < seconds / ROUNDS or not times:
                write()
                times += 1
            row.append(used / times * 1e6)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="bytes of the bodies")
    parser.add_argument("--seconds", type=float, default=1.5, help="CPU seconds for each number (1.5)")
    arguments = parser.parse_args()
    seconds = arguments.seconds
    ratios: dict[str, float] = {}
    print(f"{'':28}{'ours':>12}{'warcio':>12}{'floor':>12}{'ratio':>8}{'MB/s':>8}{'size':>8}")
    for size in arguments.sizes:
        data = body(size)
        for title, whole in (("response", False), ("group", True)):
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder)
                names = FileNames(machine=Machine("h", "", 1), now_ms=lambda: 1)
                form = Form(requests=whole, metadata=whole)
                files = WarcFiles(
                    lambda at=place: at,
                    names,
                    lambda name, how=form: warcinfo(Crawler("b"), how, name, 1, record_id()),
                    limit=-1,
                )
                files.prepare()
                with (place / "theirs").open("wb") as other, (place / "floor").open("wb") as plain:
                    write, peer = ours(data, files, form), theirs(data, other, whole)
                    write()  # the first call pays for what is made once
                    rounds = measured((write, peer, floor(data, plain)), seconds)
                    mine, peers, least = map(median, rounds)
                    ratio = median(one / other for one, other in zip(rounds[0], rounds[1], strict=True))
                    before = files._position, other.tell()
                    write()
                    peer()
                    grown = (files._position - before[0]) / (other.tell() - before[1])
                files.close()
            ratios[f"{title}_{size // 1000}_kb"] = round(ratio, 3)
            print(
                f"{title:9} of {size / 1000:>8.0f} KB    {mine:>9.0f} µs{peers:>9.0f} µs{least:>9.0f} µs"
                f"{ratio:>8.1%}{size / mine:>8.0f}{grown - 1:>+8.0%}"
            )
    print(json.dumps({"ratio": next(iter(ratios.values())), **ratios}))


if __name__ == "__main__":
    main()
