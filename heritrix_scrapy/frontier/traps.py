"""Does a URI look like one step of an endless stair?

A calendar that always knows a next month has pages that differ from the page that named them in nothing but their
numbers. No limit of hops stops that soon; a queue's budget does, and then it is worth a word.
"""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d+", re.ASCII)


def looks_endless(uri: str, via: str | None) -> bool:
    """Whether a URI and where it was found differ in their numbers only."""
    return via is not None and uri != via and _NUMBERS.sub("0", uri) == _NUMBERS.sub("0", via)
