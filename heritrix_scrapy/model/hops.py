"""Which step led from one URI to the next, and how is a path of such steps written?

A hop path is one letter a step from the seed. Only the last 50 letters are kept; what was dropped is
counted in front, as ``7+LLL...`` (Heritrix: CrawlURI.extendHopsPath).
"""

from __future__ import annotations

from typing import NamedTuple

NAVLINK = "L"
EMBED = "E"
SUBMIT = "S"
REFER = "R"
SPECULATIVE = "X"
PREREQ = "P"
INFERRED = "I"
MANIFEST = "M"

HOPS: dict[str, str] = {
    NAVLINK: "a link a reader would follow",
    EMBED: "a part of the page it stands in",
    SUBMIT: "the target of a form",
    REFER: "a redirect",
    SPECULATIVE: "a guess from a script or another text",
    PREREQ: "what must be fetched first: an address, robots.txt, a login",
    INFERRED: "not written in the page, but implied by it",
    MANIFEST: "an entry of a site map",
}

MAX_SHOWN = 50


class HopCounts(NamedTuple):
    """``all``: length of the whole path; ``link``: L hops shown; ``embed``: hops since the last L;
    ``trans``: hops since the last L or M."""

    all: int
    link: int
    embed: int
    trans: int


def extend(path: str, hop: str) -> str:
    """The path one hop further (Heritrix: CrawlURI.extendHopsPath)."""
    if len(path) < MAX_SHOWN:
        return path + hop
    dropped, plus, shown = path.partition("+")
    if not plus:
        return f"1+{path[1:]}{hop}"
    return f"{int(dropped) + 1}+{shown[1:]}{hop}"


def length(path: str) -> int:
    """Hops in a path, the dropped ones included (Heritrix: CrawlURI.getHopCount)."""
    if len(path) <= MAX_SHOWN:
        return len(path)
    dropped, _, shown = path.partition("+")
    return int(dropped) + len(shown) if dropped.isdigit() else len(path)


def trans(path: str) -> int:
    """Hops since the last L or M (Heritrix: CrawlURI.getTransHops)."""
    return len(path) - 1 - max(path.rfind(NAVLINK), path.rfind(MANIFEST), path.find("+"))


def counts(path: str) -> HopCounts:
    """All four counts at once."""
    return HopCounts(
        length(path),
        path.count(NAVLINK),
        len(path) - 1 - max(path.rfind(NAVLINK), path.find("+")),
        trans(path),
    )
