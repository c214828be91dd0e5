"""Which odd answers does Scrapy's own handler give, and which are archived?

``python -m benchmarks.exchanges``

Plays every exchange of ``tests/web/exchanges.py`` to Scrapy's handler and to ours, each exchange on a port of its own.
*usable*: the handler gives a Response with the server's status and the whole entity, where there is one. *exact*: the
bytes that the server sent from its final status line on are all there, in their order: ours from the recorder,
Scrapy's as its Response can be written down. The last line is one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from tests.web.exchanges import EXCHANGES, SO_FAR, Exchange
from tests.web.play import Player

ANSWERS = {name: each for name, each in EXCHANGES.items() if each.status > 0}


def entity(exchange: Exchange) -> bytes:
    """The body as it was sent, without chunk framing where that is told, for exchanges that are not cut."""
    if exchange.entity is not None:
        return exchange.entity
    assert exchange.recorded is not None
    for end in (b"\r\n\r\n", b"\n\n", b"\n\r\n"):
        if end in exchange.recorded:
            return exchange.recorded.partition(end)[2]
    return exchange.recorded


async def ours(exchange: Exchange) -> tuple[bool, bool]:
    from heritrix_scrapy.model.crawluri import CrawlURI
    from tests.fetch.loopback import fetch, handler_of, make_crawler

    async with Player(exchange) as player, handler_of(make_crawler(**exchange.settings)) as handler:
        curi = CrawlURI(player.url)
        await fetch(handler, player.url, internal=True, curi=curi, method=exchange.method)
        sent = bytes(player.sent)
    kept = curi.recorder.response.read() if curi.recorder is not None else b""
    exact = sent.startswith(kept) if exchange.recorded == SO_FAR else kept == exchange.recorded
    return curi.status == exchange.status, exact


async def stock(exchange: Exchange, crawler: Any, handler: Any) -> tuple[bool, bool]:
    from scrapy import Request

    async with Player(exchange) as player:
        meta = {"download_timeout": 3, "download_fail_on_dataloss": False}
        try:
            response = await handler.download_request(Request(player.url, method=exchange.method, meta=meta))
        except Exception:
            return False, False
    if exchange.recorded == SO_FAR:
        return False, False
    head = b"HTTP/1.1 %d OK\r\n" % response.status + response.headers.to_string() + b"\r\n\r\n"
    whole = exchange.method == "HEAD" or response.body == entity(exchange)
    return response.status == exchange.status and whole, head + response.body == exchange.recorded


async def compare() -> dict[str, Any]:
    from scrapy.utils.misc import build_from_crawler, load_object
    from scrapy.utils.test import get_crawler

    crawler = get_crawler(settings_dict={"LOG_LEVEL": "CRITICAL", "DOWNLOAD_MAXSIZE": 1 << 22})
    crawler.spider = crawler._create_spider("bench")
    handler = build_from_crawler(load_object(crawler.settings.getwithbase("DOWNLOAD_HANDLERS")["http"]), crawler)
    counts = {"exchanges": len(ANSWERS), "ours_usable": 0, "ours_exact": 0, "scrapy_usable": 0, "scrapy_exact": 0}
    for name, exchange in ANSWERS.items():
        row = (*await ours(exchange), *await stock(exchange, crawler, handler))
        for key, good in zip(list(counts)[1:], row, strict=True):
            counts[key] += good
        print(
            f"{name:32} ours {'usable' if row[0] else '-':7}{'exact' if row[1] else '-':6} "
            f"scrapy {'usable' if row[2] else '-':7}{'exact' if row[3] else '-'}",
            flush=True,
        )
    return counts


def main() -> int:
    from scrapy.utils.reactor import install_reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor

    held: list[asyncio.Task[dict[str, Any]]] = []

    def start() -> None:
        held.append(asyncio.ensure_future(compare()))
        held[0].add_done_callback(lambda _: reactor.stop())  # type: ignore[attr-defined]

    reactor.callWhenRunning(start)  # type: ignore[attr-defined]
    reactor.run()  # type: ignore[attr-defined]
    counts = held[0].result()
    print(json.dumps(counts))
    return int(counts["ours_exact"] < counts["exchanges"])


if __name__ == "__main__":
    sys.exit(main())
