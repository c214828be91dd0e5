"""Does a project that lists the components by hand archive what the add-on archives, and does one that forgets one
of them end at once?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from heritrix_scrapy.addon import DEFAULTS
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.parts import CHEAPER, COMPONENTS, HANDLERS, SCHEDULER, SLOTS, check_listed
from heritrix_scrapy.settings.defaults import BY_NAME
from tests.docs.examples import assigned, example
from tests.scrapy_side.sites import HOST, SITE, SPIDER, agents, archived

if TYPE_CHECKING:
    from tests.conftest import Serve
    from tests.crawls import Crawl, Project

LISTED: dict[str, Any] = assigned(example("components.md"))


def shape(crawl: Crawl) -> Counter[tuple[str, ...]]:
    """Status, URI, hop path, via of every line, and the digest where it does not tell the time of a look-up."""
    rows = [line.split() for line in crawl.log]
    return Counter((*row[3:6], row[1], "" if row[3].startswith("dns:") else row[9]) for row in rows)


def test_the_manual_lists_what_the_addon_places() -> None:
    assert LISTED["SCHEDULER"] == SCHEDULER
    assert LISTED["DOWNLOAD_HANDLERS"] == HANDLERS
    assert LISTED["DOWNLOAD_SLOTS"] == SLOTS
    for setting, table in COMPONENTS.items():
        assert LISTED[setting] == {**table, **CHEAPER.get(setting, {})}
    for name, value in DEFAULTS.items():
        assert (load_object(LISTED[name]) if isinstance(value, type) else LISTED[name]) == value
    assert LISTED["CONCURRENT_REQUESTS"] == BY_NAME["MAX_TOE_THREADS"].default
    assert LISTED["HERITRIX_TIMEOUT_SECONDS"] == BY_NAME["TIMEOUT_SECONDS"].default


@pytest.mark.crawl
@pytest.mark.parametrize("spider", [pytest.param("pages", marks=pytest.mark.long), "archive"])
def test_same_archive(serve: Serve, project: Any, spider: str) -> None:
    web = serve(SITE)
    start = web.url(HOST)
    common = {"START": start, **({"HERITRIX_SEEDS": [start]} if spider == "archive" else {})}
    listed = {**LISTED, "SPIDER_MODULES": ["crawl_project.spiders", "heritrix_scrapy.spiders"]}
    by_addon: Project = project(common, SPIDER, web=web)
    by_hand: Project = project({**listed, **common}, SPIDER, web=web, addon=False)
    one = by_addon.run("-O", "items.jsonl", name=spider)
    two = by_hand.run("-O", "items.jsonl", name=spider)
    assert one.returncode == two.returncode == 0, two.stderr[-3000:]
    assert start in one.statuses
    assert shape(one) == shape(two)
    assert archived(one.warcs) == archived(two.warcs)
    assert agents(one.warcs) == agents(two.warcs)
    items = [sorted((made.folder / "items.jsonl").read_text().splitlines()) for made in (by_addon, by_hand)]
    assert items[0] == items[1]
    assert len(items[0]) == (2 if spider == "pages" else 0)
    assert one.stats["item_scraped_count"] == 2 if spider == "pages" else "item_scraped_count" not in two.stats


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    # name: (what the project lists besides or in place of the whole list, what the line names)
    "scheduler": ({"SCHEDULER": "scrapy.core.scheduler.Scheduler"}, "SCHEDULER"),
    "a handler": ({"DOWNLOAD_HANDLERS": {k: v for k, v in HANDLERS.items() if k != "https"}}, "https"),
    "dns handler": ({"DOWNLOAD_HANDLERS": {k: v for k, v in HANDLERS.items() if k != "dns"}}, "dns"),
    "the slot": ({"DOWNLOAD_SLOTS": {}}, "DOWNLOAD_SLOTS"),
    "robots middleware not removed": (
        {
            "DOWNLOADER_MIDDLEWARES": {
                k: v for k, v in LISTED["DOWNLOADER_MIDDLEWARES"].items() if not k.endswith("RobotsTxtMiddleware")
            }
        },
        "RobotsTxtMiddleware",
    ),
    "changed places": (
        {
            "DOWNLOADER_MIDDLEWARES": {
                **LISTED["DOWNLOADER_MIDDLEWARES"],
                "heritrix_scrapy.chain.ReleaseMiddleware": 2_000_000,
            }
        },
        "PreselectorMiddleware",
    ),
    **{
        path.rpartition(".")[2]: (
            {setting: {name: order for name, order in table.items() if name != path}},
            path,
        )
        for setting, table in COMPONENTS.items()
        for path, order in table.items()
        if order is not None
    },
}


def refused(crawl: Crawl, word: str) -> None:
    assert crawl.returncode == 1, crawl.stderr
    told = [line for line in crawl.stderr.splitlines() if line]
    assert len(told) == 1, crawl.stderr
    assert told[0].startswith("heritrix_scrapy: ")
    assert word in told[0]
    assert not crawl.warcs


@pytest.mark.parametrize("missing", MISSING)
def test_missing(missing: str) -> None:
    settings, word = MISSING[missing]
    with pytest.raises(ConfigurationError) as refusal:
        check_listed(Settings({**LISTED, **settings}, priority="project"))
    assert word in refusal.value.message


def test_none_missing() -> None:
    """A writer that is not asked for, a handler that is allowed, and what only makes a crawl cheaper are no gap."""
    check_listed(Settings(LISTED, priority="project"))
    spared = {"HERITRIX_WRITERS": [], "ITEM_PIPELINES": {}, "HERITRIX_ALLOW_FOREIGN_HANDLER": True}
    handlers = {scheme: path for scheme, path in HANDLERS.items() if scheme == "dns"}
    extensions = dict.fromkeys(COMPONENTS["EXTENSIONS"], 0)
    given = {**LISTED, **spared, "DOWNLOAD_HANDLERS": handlers, "EXTENSIONS": extensions}
    check_listed(Settings(given, priority="project"))


@pytest.mark.crawl
@pytest.mark.parametrize("missing", ["scheduler", "ChainMiddleware", "WarcWriterPipeline"])
def test_a_crawl_with_one_missing(project: Any, missing: str) -> None:
    settings, word = MISSING[missing]
    listed = {**LISTED, "START": "http://127.0.0.1:1/", "LOG_LEVEL": "ERROR", **settings}
    refused(project(listed, SPIDER, addon=False).run(name="pages"), word)


@pytest.mark.crawl
def test_only_one_is_listed(project: Any) -> None:
    """Whichever it is, it meets the others in one place, and misses them there."""
    listed = {"ITEM_PIPELINES": LISTED["ITEM_PIPELINES"], "START": "http://127.0.0.1:1/", "LOG_LEVEL": "ERROR"}
    refused(project(listed, SPIDER, addon=False).run(name="pages"), "SCHEDULER")


@pytest.mark.crawl
def test_addon_with_one_taken_out(project: Any) -> None:
    out = {"DOWNLOADER_MIDDLEWARES": {"heritrix_scrapy.chain.ChainMiddleware": None}, "LOG_LEVEL": "ERROR"}
    refused(project(out).run(), "ChainMiddleware")
