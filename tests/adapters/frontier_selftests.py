"""Heritrix's self tests of the frontier: small sites crawled by the frontier itself, without a network.

The vectors tell the sites in words; here they are links. Each host has a robots.txt that has to be fetched first, and
an icon that every page implies.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.policies import UriPrecedencePolicy
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.settings.sheets import Sheets
from heritrix_scrapy.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Case = dict[str, Any]
Answer = tuple[bool, object]

ROOT = "http://127.0.0.1/"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000_000

    def now_ms(self) -> int:
        self.now += 1
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


def crawl(
    links: dict[str, list[str]],
    seeds: Iterable[str],
    *,
    look: Callable[[CrawlURI], None] = lambda curi: None,
    sheets: tuple[Case, list[Case]] | None = None,
    scoped: bool = False,
    **settings: Any,
) -> list[CrawlURI]:
    """The URIs that a crawl with one worker fetched, in order. ``links``: of each URI."""
    view = default_view("heritrix", follow="all", operator_contact_url="http://operator.test/", **settings)
    source = Settings(view, sheets=None if sheets is None else Sheets(*sheets, view, strict=True))
    scope = from_settings(source)
    store, clock = MemoryStore(), Clock()
    frontier = Frontier(
        store,
        source,
        decide=scope.accepts if scoped else lambda curi: True,
        hosts=Hosts(store.get),
        clock=clock,
        seed_found=scope.seed_found,
    )
    frontier.open()
    for uri in seeds:
        scope.seed_added(uri)
        frontier.add([seed(uri, source_tag=uri if view.source_tag_seeds else None)])
    scope.seeds_read()
    fetched: list[CrawlURI] = []
    known: set[str] = set()
    while (curi := frontier.next(clock.now_ms())) is not None:
        root = "/".join(curi.uri.split("/")[:3]) + "/"
        numeric = bool(re.fullmatch(r"[\d.]+", curi.host))
        needed = [*([] if numeric else [f"dns:{curi.host}"]), f"{root}robots.txt"]
        missing = [] if curi.uri in needed or curi.uri.startswith("dns:") else [u for u in needed if u not in known]
        if curi.uri.endswith("/robots.txt"):
            missing = [uri for uri in needed[:-1] if uri not in known]
        if missing:
            curi.status, curi.prerequisite = -50, missing[0]
        else:
            curi.status = 1 if curi.uri.startswith("dns:") else 200
            curi.outlinks = [Outlink(uri, "L", "a/@href") for uri in links.get(curi.uri, ())]
            if curi.uri in links:
                curi.outlinks.append(Outlink(f"{root}favicon.ico", "I", "=INFERRED_MISC"))
            known.add(curi.uri)
            look(curi)
            fetched.append(curi)
        curi.delay_ms = 0
        frontier.finish(curi, clock.now_ms())
    return fetched


def paths(fetched: Iterable[CrawlURI]) -> list[str]:
    return [curi.uri.removeprefix(ROOT) for curi in fetched]


FOLDERS = ("five", "ten", "one")


def folders() -> dict[str, list[str]]:
    links = {f"{ROOT}seed.html": [f"{ROOT}{folder}/a.html" for folder in FOLDERS]}
    for letter in "abc":
        after = chr(ord(letter) + 1)
        for folder in FOLDERS:
            named = [f"{ROOT}{other}/{after}.html" for other in FOLDERS] if folder == "one" and letter != "c" else []
            links[f"{ROOT}{folder}/{letter}.html"] = named
    return links


def by_base(case: Case) -> Answer:
    sheets = {"ten": {"HERITRIX_URI_BASE_PRECEDENCE": 10}, "one": {"HERITRIX_URI_BASE_PRECEDENCE": 1}}
    tied = [{"surt_prefixes": [f"http://(127.0.0.1)/{name}"], "sheets": [name]} for name in sheets]
    got = paths(
        crawl(
            folders(),
            [f"{ROOT}seed.html"],
            sheets=(sheets, tied),
            uri_precedence_policy="Base",
            uri_base_precedence=5,
        )
    )
    return got == case["expect"]["crawl_log_order"], got


def preloaded(case: Case) -> Answer:
    values = {"one": 1, "five": 5, "ten": 10}
    lines = [f"{ROOT}seed.html 1"]
    lines += [f"{ROOT}{folder}/{letter}.html {values[folder]}" for folder in FOLDERS for letter in "abc"]
    policy = ["Preloaded", {"base_precedence": 5, "preload_source": lines}]
    got = paths(crawl(folders(), [f"{ROOT}seed.html"], uri_precedence_policy=policy))
    return got == case["expect"]["crawl_log_order"], got


TREE = {"H": "DL", "D": "BF", "L": "JN", "B": "AC", "F": "EG", "J": "IK", "N": "MO"}
KEYWORDS = frozenset("ABDEHIJM")


class ByKeyword(UriPrecedencePolicy):
    """What a page of the right matter links to comes first."""

    def precedence(self, curi: CrawlURI) -> int:
        return 1 if (curi.heritable or {}).get("keyword") else 10


def note_keyword(curi: CrawlURI) -> None:
    curi.heritable = {"keyword": curi.uri.removeprefix(ROOT)[:1] in KEYWORDS}


def by_parent(case: Case) -> Answer:
    links = {
        f"{ROOT}{page}.html": [f"{ROOT}{child}.html" for child in TREE.get(page, "")] for page in "ABCDEFGHIJKLMNO"
    }
    got = paths(
        crawl(
            links,
            [f"{ROOT}H.html"],
            look=note_keyword,
            uri_precedence_policy=f"{__name__}.ByKeyword",
        )
    )
    expected = case["expect"]
    wrong = [key for key in ("log[0]", "log[1]") if got[int(key[4])] != expected[key]]
    for rule in expected["before"]:
        first = [got.index(f"{page}.html") for page in rule if not page.startswith("<")]
        then = [got.index(f"{page[-1]}.html") for page in rule if page.startswith("<")]
        if max(first) > min(then):
            wrong.append(rule)
    return not wrong, got


def of_seeds(case: Case) -> Answer:
    sheets = {"front": {"HERITRIX_URI_BASE_PRECEDENCE": 1}, "back": {"HERITRIX_URI_BASE_PRECEDENCE": 10}}
    tied = [
        {"surt_prefixes": ["http://(127.0.0.1)/five/a.html"], "sheets": ["front"]},
        {"surt_prefixes": ["http://(127.0.0.1)/five/b.html"], "sheets": ["back"]},
    ]
    got = paths(crawl(folders(), folders(), sheets=(sheets, tied), uri_precedence_policy="Base", uri_base_precedence=5))
    expected = case["expect"]
    return (got[0], got[1], got[-1]) == (expected["log[0]"], expected["log[1]"], expected["log[last]"]), got


def precedence(case: Case) -> Answer:
    given = case["in"]
    if "Preloaded" in str(given):
        return preloaded(case)
    if "policy" in given:
        return by_parent(case)
    return of_seeds(case) if "all ten pages" in str(given) else by_base(case)


def other(case: Case) -> Answer:
    given, expected = case["in"], case["expect"]
    if "maxHops" in given:
        names = ["index.html", *[f"{number}.html" for number in range(1, 8)]]
        links = {f"{ROOT}{name}": [f"{ROOT}{after}"] for name, after in pairwise(names)}
        got = paths(crawl(links, [f"{ROOT}index.html"], scoped=True, max_hops=given["maxHops"]))
        return sorted(got) == sorted(expected["archived"]), got
    one, two = given["seeds"]
    folder = two.rpartition("/")[0]
    pages = [f"{folder}/b{number}.html" for number in range(7)]
    links: dict[str, list[str]] = {one: [], two: pages, **{page: [] for page in pages}}
    counts: dict[str, dict[str, int]] = {"per_source novelCount": {}, "per_source warcNovelUrls": {}}
    for curi in crawl(links, given["seeds"], source_tag_seeds=True):
        assert curi.source_tag is not None
        for name, counted in (("novelCount", True), ("warcNovelUrls", not curi.uri.startswith("dns:"))):
            row = counts[f"per_source {name}"]
            row[curi.source_tag] = row.get(curi.source_tag, 0) + counted
    return counts == {name: expected[name] for name in counts}, counts


ADAPTERS: dict[str, Callable[[Case], Answer | None]] = {
    "frontier/ut_selftest_precedence": precedence,
    "frontier/ut_selftest_other": other,
}
