"""Where in the frontier is this URI: in process, in its queue at which place, or among those for later?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.frontier import formats, keys
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model.crawluri import unpack
from heritrix_scrapy.model.errors import UnpackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.model.crawluri import CrawlURI


class Finding(Work):
    """Looks for one URI, which was prepared: in its queue, row by row, then among those to be fetched again.

    ``found``: it, or one of the same canonical form, as it waits; ``place``: from 1; ``due_ms``: when it is to be
    fetched again; ``running``: whether it is handed out.
    """

    name = "why"
    steers = False

    def __init__(self, frontier: Frontier, curi: CrawlURI, canonicalise: Callable[[str], str]) -> None:
        self.found: CrawlURI | None = None
        self.place = 0
        self.due_ms = 0
        self.seen = curi.canonical in frontier.seen
        self._frontier = frontier
        self._curi = curi
        self._canonicalise = canonicalise
        self._queue = frontier.queue(curi.class_key)
        self.running = next((each for each in frontier.in_process() if self._is_it(each)), None)
        self._at = keys.FUTURE if self._queue is None else self._queue.prefix
        self._later = self._queue is None

    def run(self, enough: Callable[[], bool]) -> bool:
        if self.running is not None:
            return True
        return (self._later or self._look_in_queue(enough)) and self._look_later(enough)

    def answer(self) -> dict[str, Any]:
        told: dict[str, Any] = {"seen": self.seen}
        if self.running is not None:
            told["in_process"] = described(self.running)
        elif self.found is not None:
            told["queued"] = described(self.found)
            if self.due_ms:
                told["queued"]["due"] = formats.moment(self.due_ms)
            else:
                told["queued"]["place"] = self.place
        return told

    def _look_in_queue(self, enough: Callable[[], bool]) -> bool:
        queue = self._queue
        assert queue is not None
        in_process = queue.current[0] if queue.current is not None else None
        for number, (key, row) in enumerate(self._frontier.ledger.range(self._at, keys.after(queue.prefix))):
            if number and number % 64 == 0 and enough():
                self._at = key
                return False
            if key == in_process:
                continue
            self.place += 1
            try:
                curi = self._frontier.unpack(queue, key, row)
            except UnpackError:
                continue
            if self._is_it(curi):
                self.found = curi
                break
        self._later, self._at = True, keys.FUTURE
        return True

    def _look_later(self, enough: Callable[[], bool]) -> bool:
        if self.found is not None:
            return True
        for number, (key, row) in enumerate(self._frontier.ledger.range(self._at, keys.after(keys.FUTURE))):
            if number and number % 64 == 0 and enough():
                self._at = key
                return False
            try:
                curi = unpack(msgspec.msgpack.decode(row, type=tuple[str, bytes, bytes])[2])
            except (msgspec.MsgspecError, UnpackError):
                continue
            if self._is_it(curi):
                self.found, self.due_ms = curi, int.from_bytes(key[1:9], "big")
                break
        return True

    def _is_it(self, curi: CrawlURI) -> bool:
        return curi.uri == self._curi.uri or self._canonicalise(curi.uri) == self._curi.canonical


def described(curi: CrawlURI) -> dict[str, Any]:
    """What is known of a URI that is not finished."""
    return {
        "uri": curi.uri,
        "path": curi.path,
        "via": curi.via,
        "seed": curi.seed,
        "attempts": curi.attempts,
        "annotations": list(curi.annotations),
    }
