"""What does an answer's X-Robots-Tag header forbid?

The header says what a robots meta tag says, for documents of any kind; a directive may be meant for one crawler
(``otherbot: nofollow``). There is no standard beyond what the search engines wrote down about it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.fetch.robots_rules import product_token
from heritrix_scrapy.settings.agent import user_agent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.model.crawluri import CrawlURI

_FOR = re.compile(r"\s*([\w.-]+)\s*:(.*)", re.DOTALL)
#: Directives that have a colon of their own.
VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def directives(values: Iterable[str], token: str) -> set[str]:
    """The directives, in lower case, that are for all or for the crawler of this product token."""
    found: set[str] = set()
    for value in values:
        match = _FOR.match(value)
        if match is not None and match[1].lower() not in VALUED:
            if match[1].lower() != token.lower():
                continue
            value = match[2]
        found.update(part.strip().lower() for part in value.split(","))
    return found


def says_nofollow(curi: CrawlURI, view: Any) -> bool:
    """Whether an answer's head forbids to follow its links."""
    return not {"nofollow", "none"}.isdisjoint(_of_head(curi, view))


def says_noindex(curi: CrawlURI, view: Any) -> bool:
    """Whether an answer forbids, in its head or in its robots meta tag, to keep it in an index."""
    said = _of_head(curi, view)
    if curi.meta_robots is not None:
        said = said | {part.strip().lower() for part in curi.meta_robots.split(",")}
    return not {"noindex", "none"}.isdisjoint(said)


def _of_head(curi: CrawlURI, view: Any) -> set[str]:
    values = [value.decode("latin-1") for name, value in curi.headers if name.lower() == b"x-robots-tag"]
    if not values:
        return set()
    return directives(values, product_token(view.robots_user_agent or user_agent(view)))
