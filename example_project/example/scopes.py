"""A scope of the project's own, in the way of Heritrix 1.x: by a fixed formula, of which it changes one part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.scope import HostScope

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI


class WithBlogs(HostScope):
    """The seeds' hosts, and blogs that they link to, wherever those are."""

    def additional_focus_accepts(self, curi: CrawlURI) -> bool:
        return curi.host.startswith("blog.")
