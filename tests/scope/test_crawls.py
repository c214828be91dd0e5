"""Do whole crawls keep to their scope: presets, a scope of the 1.x kind, sheets, and the log of it all?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

LINKS = "".join(
    f'<a href="{uri}">x</a>'
    for uri in (
        "/dir/next",
        "/other",
        "${http:sub.www.scoped.test}/",
        "${http:away.test}/",
        "${http:away.test}/x.pdf",
    )
)
SITE: dict[str, Any] = {
    "www.scoped.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/dir/": {"body": '<img src="${http:img.test}/logo.png">' + LINKS},
            "/dir/next": {"body": '<a href="/dir/far">far</a>'},
        },
        "default": {"body": "page"},
    },
    "sub.www.scoped.test": {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "page"}},
    "away.test": {
        "routes": {"/robots.txt": {"status": 404}, "/": {"body": '<a href="/unread.html">x</a>'}},
        "default": {"body": "page"},
    },
    "img.test": {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "page"}},
}


def fetched(crawl: Any) -> set[str]:
    """Host and path of everything that was fetched but what comes by itself."""
    places = {re.sub(r"^http://([^:/]+)(?::\d+)?", r"\1", uri) for uri in crawl.statuses if uri.startswith("http")}
    return {place for place in places if not place.endswith(("/robots.txt", "/favicon.ico"))}


EMBEDDED = {"www.scoped.test/dir/", "img.test/logo.png"}
BELOW = EMBEDDED | {"www.scoped.test/dir/next", "www.scoped.test/dir/far"}
HOST = BELOW | {"www.scoped.test/other"}
DOMAIN = HOST | {"sub.www.scoped.test/"}
PRESETS = {
    "page": EMBEDDED,
    "path": BELOW,
    "host": HOST,
    "domain": DOMAIN,
    "broad": DOMAIN | {"away.test/", "away.test/x.pdf", "away.test/unread.html"},
}


@pytest.mark.crawl
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset(name: str, serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url("www.scoped.test", "/dir/")], "HERITRIX_SCOPE": name}, web=web)
    assert fetched(crawl) == PRESETS[name]
    if name == "host":
        assert crawl.stats["heritrix/scope/rejected/RejectDecideRule"] == 3


@pytest.mark.crawl
def test_sheets_and_the_log_of_the_scope(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    crawl = run_crawl(
        {
            "HERITRIX_SEEDS": [web.url("www.scoped.test", "/dir/")],
            "HERITRIX_SCOPE": "broad",
            "HERITRIX_SCOPE_LOG_TO_FILE": True,
            "HERITRIX_LOG_EXTRA_INFO": True,
            "HERITRIX_SHEETS": {
                "near": {"HERITRIX_SCOPE[tooManyHops].max_hops": 1},
                "blocked": {"HERITRIX_BLOCK_ALL": True},
                "traced": {"HERITRIX_ANNOTATE_IP": True, "HERITRIX_EXTRACTORS[ExtractorHTML].enabled": False},
            },
            "HERITRIX_SHEET_ASSOCIATIONS": [
                {"surt_prefixes": ["http://(test,scoped,www,"], "sheets": ["near"]},
                {"rules": [["MatchesRegexDecideRule", {"regex": ".*pdf"}]], "sheets": ["blocked"]},
                {"surt_prefixes": ["http://(test,away,"], "sheets": ["traced"]},
            ],
        },
        web=web,
    )
    assert fetched(crawl) == DOMAIN - {"www.scoped.test/dir/far"} | {"away.test/", "away.test/x.pdf"}
    assert [code for uri, codes in crawl.statuses.items() for code in codes if uri.endswith("x.pdf")] == [-5001]
    lines = (crawl.jobdir / "logs" / "scope.log").read_text().splitlines()
    assert any(re.fullmatch(r"[\dT:.-]+Z 2 TooManyHopsDecideRule REJECT http://\S+/dir/far", line) for line in lines)
    told = {line.split()[3]: line for line in (crawl.jobdir / "logs" / "crawl.log").read_text().splitlines()}
    assert '"scopeDecision":"ACCEPT by rule #1 AcceptDecideRule"' in told[web.url("www.scoped.test", "/dir/next")]
    assert re.search(r"[ ,]ip:127\.[\d.]+[ ,]", told[web.url("away.test", "/")])
    assert "ip:" not in told[web.url("www.scoped.test", "/dir/next")]
    assert any(re.fullmatch(r"[\dT:.-]+Z 1 AcceptDecideRule ACCEPT http://\S+/dir/next", line) for line in lines)


@pytest.mark.crawl
def test_a_scope_of_the_old_kind_judges_seeds(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    exclude = [["MatchesRegexDecideRule", {"regex": ".*/other"}]]
    seeds = [web.url("www.scoped.test", "/dir/"), web.url("away.test", "/other")]
    crawl = run_crawl(
        {"HERITRIX_SEEDS": seeds, "HERITRIX_SCOPE": [["HostScope", {"exclude_filters": exclude}]]}, web=web
    )
    assert crawl.statuses[seeds[1]] == [-5000]
    assert fetched(crawl) == BELOW | {"away.test/other", "away.test/", "away.test/x.pdf", "away.test/unread.html"}
