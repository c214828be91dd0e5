"""Which line of a robots.txt forbids a URI?

Found by asking the rules themselves: the line that still forbids it when every other ``Disallow`` is left out, the
longest where there are several. So it is right under each reading of the file.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from heritrix_scrapy.fetch.robots_rules import rules_of
from heritrix_scrapy.model.crawluri import path_query_of

_DISALLOW = re.compile(r"^\s*disallow\s*:\s*([^#]*)", re.IGNORECASE)

#: What stands in place of the others: an empty one would allow everything, none might end the group.
NEVER = "Disallow: /%00%01/never"

#: Lines that are tried, those with the longest patterns first.
TRIED = 200


class Line(NamedTuple):
    """``number``: from 1."""

    number: int
    text: str


def forbidding(text: str, uri: str, agent: str, standard: str = "rfc9309") -> Line | None:
    """The line that forbids ``uri`` to ``agent``; None when it is allowed, or no single line does."""
    if rules_of(text, standard).allows(agent, uri):
        return None
    lines = text.splitlines()
    patterns = {number: found[1].strip() for number, line in enumerate(lines) if (found := _DISALLOW.match(line))}
    path = unquote(path_query_of(uri.partition("://")[2]))
    candidates = [
        number for number, pattern in patterns.items() if path.startswith(unquote(re.split(r"[*$]", pattern)[0]))
    ]
    candidates.sort(key=lambda number: -len(patterns[number]))
    for number in candidates[:TRIED]:
        alone = [line if at == number or at not in patterns else NEVER for at, line in enumerate(lines)]
        if not rules_of("\n".join(alone), standard).allows(agent, uri):
            return Line(number + 1, lines[number].strip())
    return None
