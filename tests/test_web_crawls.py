"""Do the fixtures start crawls as a user would? Judged with a spider of stock Scrapy."""

from __future__ import annotations

import json

import pytest

SITE = {"www.alpha.test": {"routes": {"/": {"body": "<title>Alpha</title>"}}}}

SPIDER = """
import scrapy

class Title(scrapy.Spider):
    name = "title"

    async def start(self):
        yield scrapy.Request(self.settings["PAGES"][0])

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""


@pytest.mark.crawl
def test_a_project_sees_lists_and_leaves_its_statistics(serve, run_crawl, tmp_path):
    web = serve(SITE)
    items = tmp_path / "items.jsonl"
    page = f"http://{web.host('www.alpha.test')['ips'][0]}:{web.port}/"
    crawl = run_crawl({"PAGES": [page]}, SPIDER, "-o", str(items), name="title", addon=False)
    assert crawl.returncode == 0, crawl.stderr
    assert json.loads(items.read_text()) == {"title": "Alpha"}
    assert crawl.stats["item_scraped_count"] == 1
    assert [e.target for e in web.requests] == ["/"]


@pytest.mark.crawl
def test_a_crawl_can_be_killed(serve, project):
    web = serve({"slow.test": {"default": {"stall": True}}})
    page = f"http://{web.host('slow.test')['ips'][0]}:{web.port}/"
    made = project({"PAGES": [page]}, SPIDER, addon=False)
    process = made.start(name="title")
    process.kill()
    crawl = made.finish(process)
    assert crawl.returncode == -9
    assert crawl.stats == {}
