"""What is counted of a host, a server, a queue and a source alike (Heritrix: FetchStats, CrawledBytesHistotable)?

The counters are a plain list, ``Counts``: each end of a URI adds to four such, and adding to an entry of a list costs a
fifth of adding to an attribute. Its order is that of the stores' rows. ``Tally`` has them by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, overload

from heritrix_scrapy.model.status import ROBOTS_PRECLUDED, Disposition

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

NEVER: Final = -1

#: In the order of the list.
FIELDS: Final = (
    "scheduled",
    "successes",
    "failures",
    "disregards",
    "responses",
    "robots_denials",
    "success_bytes",
    "total_bytes",
    "nonresponses",
    "last_success_ms",
    # bytes and number of answers, by what was new in them
    "novel_bytes",
    "novel_urls",
    "dup_by_hash_bytes",
    "dup_by_hash_urls",
    "not_modified_bytes",
    "not_modified_urls",
    "other_dup_bytes",
    "other_dup_urls",
    "warc_novel_bytes",
    "warc_novel_urls",
    "since",
)

#: One entry for each of ``FIELDS``: numbers, and last what they were when quotas began anew, by name, or None.
Counts = list[Any]

_START: Final = [NEVER if name == "last_success_ms" else None if name == "since" else 0 for name in FIELDS]

# looking a member up in its enumeration costs more than counting
_SUCCESS, _DISREGARDED = Disposition.SUCCESS, Disposition.DISREGARDED

#: Class of bytes → place of its bytes and of its URIs.
_CLASSES: Final = {
    name.removesuffix("_bytes"): (place, place + 1)
    for place, name in enumerate(FIELDS)
    if name.endswith("_bytes") and name not in ("success_bytes", "total_bytes")
}
SCHEDULED, NONRESPONSES = map(FIELDS.index, ("scheduled", "nonresponses"))


def nothing() -> Counts:
    """Counters of what has not happened yet."""
    return _START.copy()


class _Count:
    """A counter of a Tally by its name."""

    def __init__(self, name: str) -> None:
        self._place = FIELDS.index(name)

    @overload
    def __get__(self, tally: None, owner: type) -> Self: ...
    @overload
    def __get__(self, tally: Tally, owner: type) -> int: ...
    def __get__(self, tally: Tally | None, owner: type) -> int | Self:
        return self if tally is None else tally.counts[self._place]

    def __set__(self, tally: Tally, value: int) -> None:
        tally.counts[self._place] = value


class Tally:
    """The counters by name, to be read and set. Made for a look: what keeps them has the list."""

    __slots__ = ("counts",)

    scheduled = _Count("scheduled")
    successes = _Count("successes")
    failures = _Count("failures")
    disregards = _Count("disregards")
    responses = _Count("responses")
    robots_denials = _Count("robots_denials")
    success_bytes = _Count("success_bytes")
    total_bytes = _Count("total_bytes")
    nonresponses = _Count("nonresponses")
    last_success_ms = _Count("last_success_ms")
    novel_bytes = _Count("novel_bytes")
    novel_urls = _Count("novel_urls")
    dup_by_hash_bytes = _Count("dup_by_hash_bytes")
    dup_by_hash_urls = _Count("dup_by_hash_urls")
    not_modified_bytes = _Count("not_modified_bytes")
    not_modified_urls = _Count("not_modified_urls")
    other_dup_bytes = _Count("other_dup_bytes")
    other_dup_urls = _Count("other_dup_urls")
    warc_novel_bytes = _Count("warc_novel_bytes")
    warc_novel_urls = _Count("warc_novel_urls")

    def __init__(self, counts: Counts | None = None, **named: Any) -> None:
        """``counts``: a list that somebody keeps, which is looked into; ``named``: values to begin with."""
        self.counts: Counts = nothing() if counts is None else counts
        for name, value in named.items():
            setattr(self, name, value)

    @property
    def since(self) -> dict[str, int] | None:
        """What the counters were when an operator had quotas begin anew, by name."""
        found: dict[str, int] | None = self.counts[-1]
        return found

    @property
    def finishes(self) -> int:
        """URIs that succeeded or failed (Heritrix: getRecordedFinishes)."""
        return self.successes + self.failures

    @property
    def remaining(self) -> int:
        """URIs that were queued and have not come to their end."""
        return self.scheduled - self.successes - self.failures - self.disregards

    def spent(self, name: str) -> int:
        """A counter since quotas began anew."""
        count: int = getattr(self, name)
        return count if self.since is None else count - self.since.get(name, 0)

    def begin_anew(self) -> None:
        """Have quotas count from now on."""
        self.counts[-1] = {name: getattr(self, name) for name in FIELDS if name not in ("since", "last_success_ms")}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = [
            f"{name}={each!r}" for name, each, none in zip(FIELDS, self.counts, _START, strict=True) if each != none
        ]
        return f"Tally({', '.join(told)})"


def tally_end(
    tallies: Iterable[Counts],
    disposition: Disposition,
    code: int,
    size: int,
    now_ms: int,
    kind: str = "novel",
    warc_novel: tuple[int, int] = (0, 0),
) -> None:
    """Count a final disposition of what all of these stand for (Heritrix: FetchStats.tally). ``kind``: what its bytes
    count as; ``warc_novel``: bytes and records that the WARC has of it and had not before.

    Places are written as numbers, see ``FIELDS``: 1 is ``successes``.
    """
    bytes_ = size if size > 0 else 0
    written, records = warc_novel
    of_bytes, of_urls = _CLASSES[kind]
    if disposition is _SUCCESS and code > 0 and records:
        # what nearly all come to: the same as below without a look at each
        for counts in tallies:
            counts[of_bytes] += bytes_
            counts[of_urls] += 1
            counts[1] += 1
            counts[4] += 1
            counts[6] += size
            counts[7] += size
            counts[9] = now_ms
            counts[18] += written
            counts[19] += records
        return
    for counts in tallies:
        if code > 0:
            counts[of_bytes] += bytes_
            counts[of_urls] += 1
            if records:
                counts[18] += written
                counts[19] += records
        if disposition is _SUCCESS:
            counts[1] += 1
            counts[4] += 1
            counts[6] += size
            counts[7] += size
            counts[9] = now_ms
        elif disposition is _DISREGARDED:
            counts[3] += 1
            counts[5] += code == ROBOTS_PRECLUDED
        else:
            counts[2] += 1
            if code <= 0:
                counts[8] += 1
            else:
                counts[4] += 1
                counts[7] += size
