"""Which statistics grow with the crawl, and where do they lie?

Seeds and source tags may be millions, so they are rows beside those of the hosts, written with the batch of the URI
that changed them: after a crash they still equal the log. What is kept in memory is what the next batch writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.model import status
from heritrix_scrapy.model.logins import without_login
from heritrix_scrapy.model.status import Disposition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI

#: What the keys of all rows here begin with; the byte behind says what a row is.
PREFIX = b"hR"
SEED = PREFIX + b"s"
SOURCE_HOST = PREFIX + b"u"
COUNTERS = PREFIX + b"c"
COURSE = PREFIX + b"p"

#: Statuses whose Location is a seed's redirect.
REDIRECTS = frozenset({301, 302, 303, 307, 308})

#: Rows that are remembered as they stand in the store, so that the next change of them reads nothing.
KEPT = 10_000

#: Disposition → what is said of a seed.
SAID = {
    Disposition.SUCCESS: "Seed successfully crawled",
    Disposition.DISREGARDED: "Seed was disregarded",
    Disposition.FAILURE: "Failed to crawl seed",
}
RETRIED = "Failed to crawl seed, will retry"


class Seed(msgspec.Struct, array_like=True, omit_defaults=True):
    """A seed. ``code`` 0: not tried yet; ``redirect``: where its last answer leads (Heritrix: SeedRecord)."""

    code: int = 0
    said: str = ""
    redirect: str | None = None


class Moment(msgspec.Struct, array_like=True):
    """The crawl at one time, for plots. ``ran_ms``: how long it had run, pauses left out."""

    ran_ms: int
    discovered: int
    queued: int
    downloaded: int
    failed: int
    size: int


#: Moments that are kept; beyond, every other one goes, and the next are taken half as often.
MOMENTS = 720


class Course(msgspec.Struct):
    """How the crawl went. One moment is kept of so many that are ``offered``."""

    every: int = 1
    offered: int = 0
    moments: list[Moment] = []

    def offer(self, moment: Moment) -> None:
        """Take down a moment, if it is its turn."""
        if self.offered % self.every == 0:
            self.moments.append(moment)
            if len(self.moments) > MOMENTS:
                self.every *= 2
                self.moments = self.moments[::2]
        self.offered += 1


def redirect_of(curi: CrawlURI) -> str | None:
    """Where the answer of a seed leads; None when it is no redirect (Heritrix: SeedRecord.fillWith)."""
    if curi.status not in REDIRECTS:
        return None
    target = next((link.uri for link in reversed(curi.outlinks) if link.context.lower() == "location:"), None)
    if target is not None and getattr(curi.settings, "profile", "") != "heritrix":
        return without_login(target)
    return target


class Figures:
    """Reads and changes the rows. ``get``, ``walk``: the store's ``get`` and ``range``."""

    def __init__(
        self,
        get: Callable[[bytes], bytes | None],
        walk: Callable[[bytes, bytes], Iterable[tuple[bytes, bytes]]],
    ) -> None:
        self._get = get
        self._walk = walk
        self._changed: dict[bytes, Seed | int] = {}
        self._kept: dict[bytes, Seed | int] = {}
        self._counters: dict[str, int] | None = None
        #: What parts counted since it was added to the rest, and since somebody took it as news.
        self._gathered: dict[str, int] = {}
        self._news: dict[str, int] = {}
        #: Extractor → links and URIs that it found them in, of what is gathered.
        self._found: dict[str, list[int]] = {}
        self._course: Course | None = None
        self._dirty = False
        self._course_dirty = False

    # -- what happens --------------------------------------------------------------------------------------

    def seed_added(self, uri: str) -> None:
        """A seed was announced; one that is known keeps what is known of it."""
        key = SEED + _encode(uri)
        if key not in self._changed and key not in self._kept and self._get(key) is None:
            self._changed[key] = Seed()

    def finished(self, curi: CrawlURI, host: str, *, seeds: bool = True, sources: bool = True) -> None:
        """A URI came to its end. ``host``: the name that it is counted under."""
        tag, changed = curi.source_tag, self._changed
        if curi.seed and seeds:
            end = status.disposition(curi.status, credential_pending=curi.credential_pending)
            changed[SEED + _encode(curi.uri)] = Seed(curi.status, SAID[end], redirect_of(curi))
        if tag and sources and status.succeeded(curi.status, credential_pending=curi.credential_pending):
            key = SOURCE_HOST + f"{tag}\0{host}".encode("utf-8", "surrogatepass")
            known: Any = changed.get(key) or self._kept.get(key) or self._read(key)
            changed[key] = 1 if known is None else known + 1

    def retried(self, curi: CrawlURI) -> None:
        """A try of a seed failed and another follows."""
        if curi.seed:
            code = 0 if curi.status == status.DEFERRED else curi.status
            self._changed[SEED + _encode(curi.uri)] = Seed(code, RETRIED)

    def count(self, counters: Mapping[str, int]) -> None:
        """Add to the counters of parts: ``warc/...``, ``step/...``."""
        gathered = self._gathered
        for name, count in counters.items():
            gathered[name] = gathered.get(name, 0) + count

    def extracted(self, found: Mapping[str, int]) -> None:
        """Extractors read a URI: their names, and how many links each found; ``extractor/NAME/links``, ``.../uris``."""
        for name, links in found.items():
            sums = self._found.get(name)
            if sums is None:
                self._found[name] = [links, 1]
            else:
                sums[0] += links
                sums[1] += 1

    def take_down(self, moment: Moment) -> None:
        """Remember a moment for the plot."""
        self.course().offer(moment)
        self._course_dirty = True

    # -- what is known -------------------------------------------------------------------------------------

    def counters(self) -> dict[str, int]:
        """The counters of parts, over the whole crawl."""
        if self._counters is None:
            row = self._get(COUNTERS)
            self._counters = {} if row is None else msgspec.msgpack.decode(row, type=dict[str, int])
        gathered = self._gathered
        if self._found:
            for name, (links, uris) in self._found.items():
                add(gathered, {f"extractor/{name}/links": links, f"extractor/{name}/uris": uris})
            self._found.clear()
        if gathered:
            add(self._counters, gathered)
            add(self._news, gathered)
            gathered.clear()
            self._dirty = True
        return self._counters

    def take_news(self) -> Mapping[str, int]:
        """What parts counted since this was asked last."""
        self.counters()
        news, self._news = self._news, {}
        return news

    def course(self) -> Course:
        """How the crawl went so far."""
        if self._course is None:
            row = self._get(COURSE)
            self._course = Course() if row is None else msgspec.msgpack.decode(row, type=Course)
        return self._course

    def seeds(self) -> Iterator[tuple[str, Seed]]:
        """Every seed."""
        for key, value in self._rows(SEED):
            if isinstance(value, Seed):
                yield _decode(key), value

    def source_hosts(self) -> Iterator[tuple[str, str, int]]:
        """(source tag, host, successes), in the order of the tags."""
        for key, value in self._rows(SOURCE_HOST):
            tag, _, host = _decode(key).rpartition("\0")
            if isinstance(value, int):
                yield tag, host, value

    # -- rows ----------------------------------------------------------------------------------------------

    def drain(self) -> list[tuple[bytes, bytes]]:
        """Rows changed since the last call, for the write batch."""
        self.counters()
        rows = list(zip(self._changed, map(_encoder.encode, self._changed.values()), strict=True))
        if len(self._kept) > KEPT:
            self._kept.clear()
        self._kept.update(self._changed)
        self._changed.clear()
        if self._dirty:
            rows.append((COUNTERS, _encoder.encode(self._counters)))
        if self._course_dirty:
            rows.append((COURSE, _encoder.encode(self._course)))
        self._dirty = self._course_dirty = False
        return rows

    def _read(self, key: bytes) -> Seed | int | None:
        row = self._get(key)
        return None if row is None else _unpack(key, row)

    def _rows(self, prefix: bytes) -> Iterator[tuple[bytes, Seed | int]]:
        """All of a kind as they will stand, in the order of their keys."""
        own = {key: value for key, value in list(self._changed.items()) if key.startswith(prefix)}
        waiting = sorted(own, reverse=True)
        for key, row in self._walk(prefix, prefix[:-1] + bytes([prefix[-1] + 1])):
            while waiting and waiting[-1] < key:
                first = waiting.pop()
                yield first, own[first]
            if waiting and waiting[-1] == key:
                yield key, own[waiting.pop()]
            else:
                yield key, _unpack(key, row)
        while waiting:
            first = waiting.pop()
            yield first, own[first]


def add(counters: dict[str, int], more: Mapping[str, int]) -> None:
    """Add counters to others. ``Counter.update`` takes twice as long for as few as these are."""
    for name, count in more.items():
        counters[name] = counters.get(name, 0) + count


_encoder = msgspec.msgpack.Encoder()


def _unpack(key: bytes, row: bytes) -> Seed | int:
    if key.startswith(SEED):
        return msgspec.msgpack.decode(row, type=Seed)
    return msgspec.msgpack.decode(row, type=int)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(key: bytes) -> str:
    return key[len(SEED) :].decode("utf-8", "surrogatepass")
