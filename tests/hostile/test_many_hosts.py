"""Does a crawl of many hosts stay within what it was allowed: fetches at once, open files?"""

from __future__ import annotations

import pytest

ROBOTS = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}

EXTENSION = '''"""Notes how many fetches and open files there were at most."""

import os

from scrapy import signals


class Most:
    def __init__(self, crawler):
        self.crawler = crawler
        crawler.signals.connect(self.look, signals.request_reached_downloader)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def look(self):
        stats = self.crawler.stats
        stats.max_value("most/active", len(self.crawler.engine.downloader.active))
        stats.max_value("most/files", len(os.listdir("/dev/fd")))
'''


@pytest.mark.crawl
def test_many_hosts_are_fetched_from_a_few_at_a_time(serve, run_crawl):
    page = {"routes": {"/robots.txt": ROBOTS, "/": {"body": "<p>here"}, "/favicon.ico": {"status": 404}}}
    web = serve({f"host{number}.test": {**page, "ip": "127.0.0.1"} for number in range(150)})
    crawl = run_crawl(
        {
            "HERITRIX_SEEDS": [web.url(f"host{number}.test") for number in range(150)],
            "HERITRIX_KEEP_ALIVE_POOL_SIZE": 10,
            "CONCURRENT_REQUESTS": 6,
            "EXTENSIONS": {"crawl_project.most.Most": 1},
        },
        web=web,
        modules={"most": EXTENSION},
    )
    assert crawl.returncode == 0, crawl.stderr
    assert sum(found == [200] for found in crawl.statuses.values()) == 300
    assert crawl.stats["most/active"] == 6
    assert crawl.stats["most/files"] < 60
