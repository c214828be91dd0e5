"""A spider with callbacks and items: ``scrapy crawl pages -a url=http://… -O pages.jsonl``.

It asks for a page and for what that page links to, and yields an item for each. Style sheets, scripts and
images it never asks for are archived all the same, because the pages embed them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

from example.items import Page
from heritrix_scrapy import crawl_uri

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class PagesSpider(scrapy.Spider):
    """*url*: where to start; *depth*: how many links to follow from there (1)."""

    name = "pages"
    custom_settings = {"ITEM_PIPELINES": {"example.pipelines.TidyTitle": 300}}

    def __init__(self, url: str = "", depth: int | str = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not url:
            raise ValueError("say where to start: -a url=http://…")
        self.url = url
        self.depth = int(depth)

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(self.url, cb_kwargs={"left": self.depth})

    def parse(self, response: Response, left: int = 0) -> Iterator[Any]:
        curi = crawl_uri(response)
        targets = [link.url for link in self.links(response)]
        yield Page(
            url=response.url,
            title=response.css("title::text").get(),
            links=targets,
            digest=curi.digest if curi else None,
            server_ip=curi.server_ip if curi else None,
        )
        if left:
            for target in targets:
                yield response.follow(target, cb_kwargs={"left": left - 1})

    def links(self, response: Response) -> list[Any]:
        """Links of an HTML page; of anything else none."""
        if not isinstance(response, scrapy.http.HtmlResponse):
            return []
        return list(scrapy.linkextractors.LinkExtractor().extract_links(response))
