"""The spider for a crawl that needs none of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from scrapy.settings import BaseSettings


class ArchiveSpider(Spider):
    """``scrapy crawl archive -s HERITRIX_SEEDS=seeds.txt -s JOBDIR=job1``: the frontier does it all.

    Everything that the scope accepts is followed, not only what pages embed.
    """

    name = "archive"

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        if settings.getpriority("HERITRIX_FOLLOW") is None:
            settings.set("HERITRIX_FOLLOW", "all", priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        return
        yield

    def parse(self, response: Response, **kwargs: Any) -> None:
        """Nothing to do: what the crawl keeps is in the WARC."""
