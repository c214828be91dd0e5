"""Which of several crawlers does a URI belong to, and is it this one?

A crawl split over machines: each of them names the crawler of a queue alike, keeps what is its own and writes the
rest to diversion files for the others. URIs are mapped as candidates, once the scope has taken them, and again before
the fetch, where seeds and spiders' Requests are met (Heritrix: CrawlMapper, HashCrawlMapper, LexicalCrawlMapper; spec
22.1).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Protocol

from heritrix_scrapy.frontier.fingerprint import fp64
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.uri.domain import assignment_level
from heritrix_scrapy.uri.java_regex import translate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.frontier.diversion import Diversions
    from heritrix_scrapy.model.crawluri import CrawlURI

NAMES = ("Hash", "Lexical")

#: A crawler's name is part of a file's.
_NAME = re.compile(r"[\w.-]+", re.ASCII)


class CrawlMapper(Protocol):
    """Names the crawler of a queue."""

    def crawler_of(self, class_key: str) -> str: ...


class HashCrawlMapper:
    """Crawlers 0 to ``crawlers - 1`` by a hash of the queue's name: of its registered domain; of what ``prefix`` finds
    in it; or of the whole of it."""

    def __init__(self, crawlers: int, *, by_domain: bool = True, prefix: str = "", strict: bool = False) -> None:
        self._crawlers = crawlers
        self._by_domain = by_domain
        self._prefix = re.compile(translate(prefix)) if prefix and not by_domain else None
        self._strict = strict

    def crawler_of(self, class_key: str) -> str:
        if self._by_domain:
            class_key = assignment_level(class_key, strict=self._strict)
        elif self._prefix is not None and (found := self._prefix.search(class_key)):
            class_key = found.group()
        return str(abs(fp64(class_key)) % self._crawlers)


class LexicalCrawlMapper:
    """The crawler of the first key of a map at or after the queue's name; after the last one, of the first."""

    def __init__(self, entries: dict[str, str]) -> None:
        self._keys = sorted(entries)
        self._crawlers = [entries[key] for key in self._keys]

    def crawler_of(self, class_key: str) -> str:
        place = bisect_left(self._keys, class_key)
        return self._crawlers[place if place < len(self._keys) else 0]


def parse_map(lines: Iterable[str]) -> dict[str, str]:
    """The map of a ``LexicalCrawlMapper``: a key and a crawler on each line, ``#`` begins a comment. Raises
    ConfigurationError for another line, and for a map without any."""
    entries: dict[str, str] = {}
    for line in lines:
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not _NAME.fullmatch(words[1]):
            raise ConfigurationError("HERITRIX_MAP_PATH", line, "expected a key and the name of a crawler on each line")
        entries[words[0]] = words[1]
    if not entries:
        raise ConfigurationError("HERITRIX_MAP_PATH", "", "there is no line in the map")
    return entries


def named(view: Any) -> CrawlMapper | None:
    """The mapper that the settings name, or None. Raises ConfigurationError."""
    written: str = view.crawl_mapper
    if not written:
        return None
    name = written.rpartition(".")[2].replace("CrawlMapper", "")
    local: str = view.local_name
    if name == "Hash":
        if local not in map(str, range(view.crawler_count)):
            raise ConfigurationError(
                "HERITRIX_LOCAL_NAME", local, f"expected this crawler's number, 0 to {view.crawler_count - 1}"
            )
        try:
            return HashCrawlMapper(
                view.crawler_count,
                by_domain=view.use_public_suffixes_regex,
                prefix=view.reduce_prefix_regex,
                strict=view.strict_uri_fixup,
            )
        except (re.error, ValueError) as error:
            raise ConfigurationError(
                "HERITRIX_REDUCE_PREFIX_REGEX", view.reduce_prefix_regex, f"expected a regular expression: {error}"
            ) from None
    if name == "Lexical":
        entries = parse_map(view.map_path)
        if local not in entries.values():
            crawlers = ", ".join(sorted(set(entries.values())))
            raise ConfigurationError("HERITRIX_LOCAL_NAME", local, f"expected a crawler of the map: {crawlers}")
        return LexicalCrawlMapper(entries)
    raise ConfigurationError("HERITRIX_CRAWL_MAPPER", written, f"expected one of {', '.join(NAMES)}")


class Diverter:
    """Sends away what belongs to another crawler. ``class_key``: the queue a URI would wait in, or waits in;
    ``outlinks``: whether a link may be mapped before the scope is asked (``HERITRIX_OUTLINK_RULE``)."""

    def __init__(
        self,
        mapper: CrawlMapper,
        diversions: Diversions,
        class_key: Callable[[CrawlURI], str],
        *,
        outlinks: Callable[[CrawlURI], bool] | None = None,
    ) -> None:
        self._mapper = mapper
        self._diversions = diversions
        self._class_key = class_key
        self._outlinks = outlinks

    def divert(self, curi: CrawlURI) -> str | None:
        """The crawler that a URI was sent to; None when it stays, or was fetched already. It ends as -5002."""
        if curi.status > 0 or not curi.settings.check_uri:
            return None
        return self._send(curi)

    def divert_outlink(self, curi: CrawlURI) -> bool:
        """Whether a link was sent away before the scope has seen it."""
        if not curi.settings.check_outlinks or (self._outlinks is not None and not self._outlinks(curi)):
            return False
        return self._send(curi) is not None

    def _send(self, curi: CrawlURI) -> str | None:
        class_key = curi.class_key or self._class_key(curi)
        target = self._mapper.crawler_of(class_key)
        if target == self._diversions.local:
            return None
        self._diversions.write(target, class_key, curi)
        return target

    def take_count(self) -> int:
        """How many lines were written since the last call."""
        count, self._diversions.lines = self._diversions.lines, 0
        return count
