"""Robots, logins and cookies in whole crawls, as a user would run them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.web.faults import PAGE, host, links

FORBIDS = {"type": "text/plain", "body": "User-agent: *\nDisallow: /hidden\n"}
BASIC = [["WWW-Authenticate", 'Basic realm="here"']]
DIGEST = [["WWW-Authenticate", 'Digest realm="vault", nonce="n1", qop="auth", Basic realm="vault"']]
ENTER = {
    "status": 403,
    "cases": [
        {
            "if": {"body_has": "pw=open"},
            "then": {"redirect": "/members", "headers": [["Set-Cookie", "session=in; Path=/"]]},
        }
    ],
}
MEMBERS = {"status": 403, "cases": [{"if": {"cookie_has": "session=in"}, "then": links("/inside")}]}
INSIDE = {"status": 403, "cases": [{"if": {"cookie_has": "session=in"}, "then": PAGE}]}

SITES: dict[str, Any] = {
    "late-robots.test": host(
        robots={"status": 503, "cases": [{"if": {"nth": 2}, "then": FORBIDS}]},
        routes={"/": links("/hidden", "/open"), "/hidden": PAGE, "/open": PAGE},
    ),
    "dead-robots.test": host(robots={"status": 503}, routes={"/": PAGE}),
    "moved-robots.test": host(
        robots={"redirect": "${http:far-robots.test}/rules.txt"},
        routes={"/": links("/hidden", "/open"), "/hidden": PAGE, "/open": PAGE},
    ),
    "far-robots.test": host(routes={"/rules.txt": FORBIDS, "/hidden": PAGE}),
    "round-robots.test": host(
        robots={"redirect": "/r/1"}, routes={"/": PAGE}, patterns=[[r"/r/(\d+)", {"redirect": "/r/$+1"}]]
    ),
    "closed-robots.test": host(robots={"status": 403}, routes={"/": PAGE}),
    "tag.test": host(
        routes={
            "/": {**links("/held"), "headers": [["X-Robots-Tag", "otherbot: none"], ["X-Robots-Tag", "nofollow"]]},
            "/held": PAGE,
        }
    ),
    "basic.test": host(
        routes={
            "/": {"status": 401, "headers": BASIC, "cases": [{"if": {"basic": "me:pw"}, "then": links("/two")}]},
            "/two": {"status": 401, "headers": BASIC, "cases": [{"if": {"basic": "me:pw"}, "then": PAGE}]},
        }
    ),
    "digest.test": host(
        routes={
            "/": {
                "status": 401,
                "headers": DIGEST,
                "cases": [{"if": {"header_has": ["authorization", "nc=00000001"]}, "then": links("/two")}],
            },
            "/two": {
                "status": 401,
                "headers": DIGEST,
                "cases": [{"if": {"header_has": ["authorization", "nc=0000000"]}, "then": PAGE}],
            },
        }
    ),
    "form.test": host(routes={"/": links("/members"), "POST /enter": ENTER, "/members": MEMBERS, "/inside": INSIDE}),
    "refused-form.test": host(routes={"/": links("/members"), "POST /enter": ENTER, "/members": MEMBERS}),
    "met-form.test": host(
        routes={
            "/": {"body": '<form method="post"><input name="user"><input type="password" name="pw"></form>'},
            "POST /": ENTER,
            "/members": MEMBERS,
            "/inside": INSIDE,
        }
    ),
    "elsewhere.test": host(
        routes={"/": {"status": 401, "headers": BASIC, "cases": [{"if": {"basic": "me:pw"}, "then": PAGE}]}}
    ),
}


def settings_for(web: Any) -> dict[str, Any]:
    port = web.port

    def login(name: str, password: str) -> list[Any]:
        items = {"user": "me", "pw": password}
        return ["HtmlFormCredential", {"domain": f"{name}:{port}", "login_uri": "/enter", "form_items": items}]

    def realm(name: str, named: str) -> list[Any]:
        properties = {"domain": f"{name}:{port}", "realm": named, "login": "me", "password": "pw"}
        return ["HttpAuthenticationCredential", properties]

    return {
        "HERITRIX_SEEDS": [f"http://{name}:{port}/" for name in SITES if name != "far-robots.test"],
        "HERITRIX_CREDENTIALS": [
            realm("basic.test", "here"),
            realm("digest.test", "vault"),
            login("form.test", "open"),
            login("refused-form.test", "shut"),
        ],
        "HERITRIX_FORM_LOGIN": [
            {
                "applicable_surt_prefix": f"http://(test,met-form,:{port}",
                "login_username": "me",
                "login_password": "open",
            }
        ],
        "HERITRIX_MAX_RETRIES": 2,
        "HERITRIX_COOKIES_SAVE_FILE": "cookies.txt",
    }


@pytest.mark.crawl
def test_robots_logins_and_cookies(serve, run_crawl, tmp_path):
    """PC-121, PC-122: robots.txt fails once, or is forbidden; PC-095: an endless chain of redirects."""
    asked = tmp_path / "asked.jsonl"
    web = serve(SITES, log=asked)
    crawl = run_crawl(settings_for(web), web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.runtime_errors == []

    def ended(name: str, path: str = "/") -> list[int] | None:
        return crawl.statuses.get(f"http://{name}:{web.port}{path}")

    def annotated(name: str, path: str, word: str) -> bool:
        return any(f"http://{name}:{web.port}{path} " in line and word in line for line in crawl.log)

    assert ended("late-robots.test", "/robots.txt") == [503, 200]
    assert [ended("late-robots.test", path) for path in ("/", "/open", "/hidden")] == [[200], [200], [-9998]]
    assert ended("dead-robots.test", "/robots.txt") == [503, 503]
    assert ended("dead-robots.test") == [-61]
    assert ended("moved-robots.test", "/robots.txt") == [302]
    assert ended("far-robots.test", "/rules.txt") == [200]
    assert [ended("moved-robots.test", path) for path in ("/", "/open", "/hidden")] == [[200], [200], [-9998]]
    assert ended("round-robots.test") == [200]
    assert annotated("round-robots.test", "/r/25", "tooManyRedirects")
    assert ended("closed-robots.test") == [200]
    assert ended("tag.test") == [200]
    assert ended("tag.test", "/held") is None
    assert annotated("tag.test", "/", "xRobotsNofollow")

    assert [ended("basic.test", path) for path in ("/", "/two")] == [[200], [200]]
    assert [ended("digest.test", path) for path in ("/", "/two")] == [[200], [200]]
    assert annotated("basic.test", "/", "2t")
    assert annotated("digest.test", "/", "2t")
    # shown unasked, with the nonce of before
    assert not annotated("digest.test", "/two", "2t")
    assert ended("elsewhere.test") == [401]
    assert ended("form.test", "/enter") == [302]
    assert [ended("form.test", path) for path in ("/", "/members", "/inside")] == [[200]] * 3
    assert ended("refused-form.test", "/enter") == [403]
    assert ended("refused-form.test") == [-62]
    assert sorted(ended("met-form.test") or []) == [200, 302]
    assert [ended("met-form.test", path) for path in ("/members", "/inside")] == [[200], [200]]

    told = [json.loads(line) for line in asked.read_text().splitlines()]
    hosts = [row["host"] for row in told if "Authorization: Basic" in row.get("raw", "")]
    assert set(hosts) == {f"basic.test:{web.port}"}
    saved = (crawl.jobdir / "cookies.txt").read_text().splitlines()[3:]
    assert [line.split("\t")[0] for line in saved] == ["form.test", "met-form.test"]
    stats = crawl.stats
    assert stats["heritrix/credentials/accepted"] == 2
    assert stats["heritrix/credentials/logins"] == 1
    assert stats["heritrix/credentials/failed_logins"] == 1
    assert stats["heritrix/credentials/forms_sent"] == 1
    assert stats["heritrix/cookies/received"] == 2
    assert stats["heritrix/robots/waits"] >= 2


ANNA = "Basic bWU6cHc="
AWAY = "${http:other.test}/there"
SPIDER = """
from scrapy import Request, Spider


class Jars(Spider):
    name = "jars"
    site = None

    async def start(self):
        for jar in ("a", "b"):
            yield Request(self.site + "/set?" + jar, meta={"cookiejar": jar}, callback=self.after)
        yield Request(self.site + "/none", meta={"dont_merge_cookies": True}, cookies={"own": "1"}, callback=self.seen)
        yield Request(self.site + "/own", cookies={"own": "1"}, callback=self.seen)
        yield Request(self.site + "/secret", callback=self.seen)
        yield Request(self.site + "/away", callback=self.seen)
        yield Request(self.site + "/near", callback=self.seen)
        yield Request(self.site + "/mine", headers={"Authorization": "Basic bWluZQ=="}, callback=self.seen)

    def after(self, response):
        jar = response.meta["cookiejar"]
        yield Request(self.site + "/see?" + jar, meta={"cookiejar": jar}, callback=self.seen)

    def seen(self, response):
        sent = response.request.headers.get("Cookie", b"").decode()
        path = response.url.rpartition("/")[2]
        told = response.request.headers.get("Authorization", b"").decode()
        self.crawler.stats.set_value("seen/" + path, [response.status, sent, told])
"""


@pytest.mark.crawl
def test_a_spiders_jars_and_credentials(serve, run_crawl):
    """A credential is told to its own server, also after a redirect."""
    guarded = {"status": 401, "headers": BASIC}
    web = serve(
        {
            "jar.test": host(
                routes={
                    "/set?a": {"headers": [["Set-Cookie", "n=a"]]},
                    "/set?b": {"headers": [["Set-Cookie", "n=b"]]},
                    "/see?a": PAGE,
                    "/see?b": PAGE,
                    "/none": PAGE,
                    "/own": PAGE,
                    "/mine": PAGE,
                    "/away": {**guarded, "cases": [{"if": {"basic": "me:pw"}, "then": {"redirect": AWAY}}]},
                    "/near": {**guarded, "cases": [{"if": {"basic": "me:pw"}, "then": {"redirect": "/secret?near"}}]},
                    "/secret?near": {**guarded, "cases": [{"if": {"basic": "me:pw"}, "then": PAGE}]},
                    "/secret": {
                        "status": 401,
                        "headers": BASIC,
                        "cases": [{"if": {"basic": "me:pw"}, "then": PAGE}],
                    },
                }
            ),
            "other.test": host(routes={"/there": PAGE}),
        }
    )
    site = f"http://jar.test:{web.port}"
    credential = {"domain": f"jar.test:{web.port}", "realm": "here", "login": "me", "password": "pw"}
    crawl = run_crawl(
        {"HERITRIX_CREDENTIALS": [["HttpAuthenticationCredential", credential]]},
        SPIDER,
        "-a",
        f"site={site}",
        name="jars",
        web=web,
    )
    assert crawl.returncode == 0, crawl.stderr
    seen = {key.removeprefix("seen/"): value for key, value in crawl.stats.items() if key.startswith("seen/")}
    assert {name: value[:2] for name, value in seen.items()} == {
        "see?a": [200, "n=a"],
        "see?b": [200, "n=b"],
        "none": [200, ""],
        "own": [200, "own=1"],
        "secret": [200, "own=1"],
        "secret?near": [200, "own=1"],
        "there": [200, ""],
        "mine": [200, "own=1"],
    }
    told = {name: value[2] for name, value in seen.items()}
    assert (told["secret"], told["secret?near"], told["there"]) == (ANNA, ANNA, "")
    assert told["mine"] == "Basic bWluZQ=="


PAUSED = """
from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider


class Twice(Spider):
    name = "twice"
    site = None

    async def start(self):
        yield Request(self.site + "/set", meta={"cookiejar": 7}, callback=self.after)

    def after(self, response):
        yield Request(self.site + "/see", meta={"cookiejar": 7}, callback=self.seen)
        raise CloseSpider("halfway")

    def seen(self, response):
        self.crawler.stats.set_value("seen", response.request.headers.get("Cookie", b"").decode())
"""


@pytest.mark.crawl
def test_cookies_and_robots_txt_outlive_the_process(serve, run_crawl, tmp_path):
    asked = tmp_path / "asked.jsonl"
    web = serve(
        {"jar.test": host(routes={"/set": {"headers": [["Set-Cookie", "n=1; Path=/"]]}, "/see": PAGE})}, log=asked
    )
    options = ("-a", f"site=http://jar.test:{web.port}")
    settings = {"HERITRIX_MIN_DELAY_MS": 1500, "HERITRIX_MAX_DELAY_MS": 1500, "HERITRIX_FOLLOW": "none"}
    first = run_crawl(settings, PAUSED, *options, name="twice", web=web, jobdir=tmp_path / "job")
    assert (first.returncode, first.stats["finish_reason"]) == (0, "halfway"), first.stderr
    assert "seen" not in first.stats
    second = run_crawl(
        {**settings, "HERITRIX_MIN_DELAY_MS": 0}, PAUSED, *options, name="twice", web=web, jobdir=tmp_path / "job"
    )
    assert second.returncode == 0, second.stderr
    assert second.stats["seen"] == "n=1"
    told = [json.loads(line) for line in asked.read_text().splitlines()]
    assert sum("/robots.txt" in row.get("raw", "") for row in told) == 1
