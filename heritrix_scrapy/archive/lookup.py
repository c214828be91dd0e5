"""What do others know of earlier captures: a CDX server, or the index or crawl log of another crawl?

``CdxServer`` is asked for one URI at a time before it is fetched (Heritrix: WbmPersistLoadProcessor); ``preload``
reads whole files at the start.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import re
import urllib.request
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPException
from typing import TYPE_CHECKING

from heritrix_scrapy.archive import cdx
from heritrix_scrapy.archive.cdx import Capture

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from pathlib import Path

logger = logging.getLogger(__name__)

#: Bytes of an answer that are read; a server that is asked for one line gives less.
ANSWER = 1 << 20
#: Seconds between two attempts.
PAUSE = 5
#: URIs without an earlier capture that are remembered, so that they are not asked for twice.
MISSES = 100_000

_CLOCK = re.compile(r"(\d{17})\+\d+\Z", re.ASCII)


class CdxServer:
    """``template``: ``$u`` is the URI, ``$s`` the earliest date; ``timeout`` in seconds; ``attempts``: how often an
    address is asked for; ``headers``: sent along; ``read``: gets an address; ``wait``: lets seconds pass."""

    def __init__(
        self,
        template: str,
        *,
        timeout: float = 10,
        range_seconds: int = cdx.RANGE_SECONDS,
        attempts: int = 3,
        headers: Mapping[str, str] | None = None,
        now_ms: Callable[[], int],
        read: Callable[[str, float], str] | None = None,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._template, self._timeout, self._range, self._now_ms = template, timeout, range_seconds, now_ms
        self._attempts, self._wait = attempts, wait
        self._read = read or partial(fetched, headers=headers or {})
        self._down = False
        self._misses: dict[str, None] = {}
        self._told = False
        #: Look-ups, and those that failed, since the counters were last taken.
        self.asked = self.failed = 0

    async def latest(self, uri: str) -> Capture | None:
        """The last capture that is no revisit; None when there is none, or the server does not answer."""
        if uri in self._misses:
            return None
        address = cdx.query_url(self._template, uri, self._now_ms(), self._range)
        self.asked += 1
        text = await self._answer(address)
        if text is None:
            self.failed += 1
            return None
        found = [capture for line in text.splitlines() if (capture := cdx.read(line)) and not capture.revisit]
        if found:
            return max(found, key=lambda capture: capture.ms)
        if len(self._misses) >= MISSES:
            self._misses.pop(next(iter(self._misses)))
        self._misses[uri] = None
        return None

    async def _answer(self, address: str) -> str | None:
        """What the server says; while it is down it is asked once each time, else as often as is allowed."""
        for left in range(0 if self._down else self._attempts - 1, -1, -1):
            try:
                text = await asyncio.to_thread(self._read, address, self._timeout)
            except (OSError, ValueError, HTTPException) as error:
                if not left:
                    self._down = True
                    if not self._told:
                        self._told = True
                        logger.warning("the CDX server does not answer, the crawl goes on: %s: %s", address, error)
                    return None
                await self._wait(PAUSE)
            else:
                self._down = False
                return text
        return None


def fetched(address: str, timeout: float, headers: Mapping[str, str] | None = None) -> str:
    """What stands at an address. Raises OSError, ValueError and HTTPException."""
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"expected an http address, not {address!r}")
    request = urllib.request.Request(address, headers=dict(headers or {}))
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return bytes(answer.read(ANSWER)).decode("utf-8", "replace")


def preload(path: Path) -> Iterator[Capture]:
    """The captures that a CDX or CDXJ file or a crawl log tells of, gzipped or not. Raises OSError."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (
        gzip.open(path, "rt", encoding="utf-8", errors="replace")
        if packed
        else path.open(encoding="utf-8", errors="replace") as lines
    ):
        for line in lines:
            capture = of_log(line) if line[4:5] == "-" and line[10:11] == "T" else cdx.read(line)
            if capture is not None:
                yield capture


def of_log(line: str) -> Capture | None:
    """The capture that a line of a crawl log tells of; None when nothing was fetched."""
    columns = line.split(None, 11)
    if len(columns) < 11 or not columns[1].isdigit():
        return None
    clock = _CLOCK.match(columns[8])
    if clock is None or ":" not in columns[9]:
        return None
    try:
        when = datetime.strptime(clock[1][:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    ms = int(when.timestamp()) * 1000 + int(clock[1][14:])
    notes = columns[11] if len(columns) > 11 else ""
    return Capture(columns[3], ms, columns[9], int(columns[1]), columns[6], revisit="duplicate:" in notes)
