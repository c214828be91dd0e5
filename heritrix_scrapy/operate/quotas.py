"""How much may be fetched of one host, server, queue or source?

``HERITRIX_QUOTAS``: entries that stand for Heritrix's QuotaEnforcer, HostQuotaEnforcer and SourceQuotaEnforcer
(spec/frontier 23.2). An entry is parsed once; then the counters of a URI's host, server, queue and source go in, and
the annotation of the quota that is used up comes out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.model.tally import Tally

SETTING: Final = "HERITRIX_QUOTAS"

#: Where in the life of a URI a quota is looked at.
PLACES: Final = ("before_preselector", "after_preconditions", "candidate")

#: Heritrix asks for the server first, then for the host, then for the group, which is the queue.
SCOPES: Final = ("server", "host", "group")

#: Counter of a quota → field of the Tally, and how much of it is one.
COUNTERS: Final = {
    "fetch_successes": ("successes", 1),
    "success_kb": ("success_bytes", 1024),
    "fetch_responses": ("responses", 1),
    "all_kb": ("total_bytes", 1024),
    "novel_kb": ("novel_bytes", 1024),
    "novel_urls": ("novel_urls", 1),
}

#: Key of Heritrix's statistics of a host or source → field of the Tally.
STATISTICS: Final = {
    "totalScheduled": "scheduled",
    "fetchSuccesses": "successes",
    "fetchFailures": "failures",
    "fetchDisregards": "disregards",
    "fetchResponses": "responses",
    "robotsDenials": "robots_denials",
    "successBytes": "success_bytes",
    "totalBytes": "total_bytes",
    "fetchNonResponses": "nonresponses",
    "novel": "novel_bytes",
    "novelCount": "novel_urls",
    "dupByHash": "dup_by_hash_bytes",
    "dupByHashCount": "dup_by_hash_urls",
    "notModified": "not_modified_bytes",
    "notModifiedCount": "not_modified_urls",
    "otherDup": "other_dup_bytes",
    "otherDupCount": "other_dup_urls",
    "warcNovelContentBytes": "warc_novel_bytes",
    "warcNovelUrls": "warc_novel_urls",
}


class Bound(NamedTuple):
    """One number: at most ``most`` times ``unit`` of a field of the Tally of ``scope``."""

    annotation: str
    scope: str
    field: str
    unit: int
    most: int


@dataclass(frozen=True, slots=True)
class Quota:
    """One entry. ``force_retire``: the queue is retired and the URI stays in it, else the URI ends as -5003;
    ``host``, ``source_tag``: only URIs of that host, or that came from that seed; ``should_process``: a rule."""

    at: str
    bounds: tuple[Bound, ...]
    force_retire: bool = False
    host: str | None = None
    subdomains: bool = False
    source_tag: str | None = None
    should_process: Any = None

    def concerns(self, host: str, source_tag: str | None) -> bool:
        """Whether it is for a URI of that host that came from that seed."""
        if self.source_tag is not None and self.source_tag != source_tag:
            return False
        return self.host is None or host == self.host or (self.subdomains and host.endswith("." + self.host))

    def used_up(self, tallies: Mapping[str, Tally]) -> str | None:
        """Annotation of the first number that is reached; None while there is room. ``tallies``: by scope."""
        for bound in self.bounds:
            tally = tallies.get(bound.scope)
            if tally is not None and tally.spent(bound.field) // bound.unit >= bound.most:
                return bound.annotation
        return None


def camel(name: str) -> str:
    """``hostMaxNovelKb`` of ``host_max_novel_kb``."""
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


NUMBERS: Final = {f"{scope}_max_{counter}": (scope, counter) for scope in SCOPES for counter in COUNTERS}
WORDS: Final = ("at", "should_process", "id", "enabled")


def parse(entries: Any) -> list[Quota]:
    """The quotas of a setting's value. Raises ConfigurationError for an entry that stands for nothing."""
    return [_entry(each) for each in entries if each.get("enabled", True)]


def _entry(entry: Mapping[str, Any]) -> Quota:
    at = entry.get("at", PLACES[0])
    if at not in PLACES:
        raise ConfigurationError(SETTING, entry, f"at is {at!r}, expected one of {', '.join(PLACES)}")
    known = (*WORDS, *_kind(entry))
    for name in entry:
        if name not in known:
            raise ConfigurationError(SETTING, entry, f"no property {name!r}; there are: {', '.join(known)}")
    if "quotas" not in entry:
        return Quota(
            at,
            tuple(
                Bound(f"Q:{camel(name)}", scope, *COUNTERS[counter], _number(entry, name, entry[name]))
                for name, (scope, counter) in NUMBERS.items()
                if name in entry and _number(entry, name, entry[name]) >= 0
            ),
            force_retire=bool(entry.get("force_retire", True)),
            should_process=entry.get("should_process"),
        )
    scope = "host" if "host" in entry else "source"
    return Quota(
        at,
        tuple(
            Bound(f"{scope}Quota:{key}", scope, STATISTICS[key], 1, _number(entry, key, most))
            for key, most in _statistics(entry).items()
        ),
        host=entry.get("host"),
        subdomains=bool(entry.get("apply_to_subdomains", False)),
        source_tag=entry.get("source_tag"),
        should_process=entry.get("should_process"),
    )


def _kind(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Properties that an entry of its kind may have."""
    if "quotas" not in entry:
        return (*NUMBERS, "force_retire")
    if "host" in entry:
        return ("quotas", "host", "apply_to_subdomains")
    if "source_tag" in entry:
        return ("quotas", "source_tag")
    raise ConfigurationError(SETTING, entry, "quotas are for a host or for a source_tag")


def _statistics(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    quotas = entry["quotas"]
    if isinstance(quotas, dict) and set(quotas) == {"map"}:
        quotas = quotas["map"]
    if not isinstance(quotas, dict) or not set(quotas) <= set(STATISTICS):
        raise ConfigurationError(SETTING, entry, f"quotas is a mapping of {', '.join(STATISTICS)}")
    return quotas


def _number(entry: Mapping[str, Any], name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise ConfigurationError(SETTING, entry, f"{name} is {value!r}, expected a whole number") from None
