"""Scenarios of what comes before a fetch: block rules, addresses, robots.txt; and of what answers say of both."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.access import Access
from heritrix_scrapy.fetch.headers import compose, head
from heritrix_scrapy.fetch.middleware import NotFetched, PreconditionMiddleware
from heritrix_scrapy.fetch.preselector import preselect
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.requests import bind
from tests.settings.scenarios import Outcome, Scenario, at, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.hosts import Host, Server
    from heritrix_scrapy.settings import Settings

NOW = 1_700_000_000_000
MINUTE = 60_000
FORBID = "User-agent: *\nDisallow: /x\n"


def crawler_of(settings: Settings) -> Crawler:
    """A crawler that never runs, under these settings, at a fixed time."""
    crawler = get_crawler(settings_dict={"LOG_LEVEL": "ERROR", "HTTPPROXY_ENABLED": False})
    crawl: Any = Crawl.of(crawler)
    crawl.settings = settings
    crawl.clock = SimpleNamespace(now_ms=lambda: NOW, monotonic=lambda: 0.0)
    return crawler


# -- block rules ---------------------------------------------------------------------------------------------------


def before(tail: str = "x", path: str = "L", *, in_scope: bool = True, needed: bool = False) -> Outcome:
    """What the preselector makes of a URI. ``needed``: it is a prerequisite."""

    def outcome(settings: Settings, host: str) -> int:
        curi = at(settings, host, tail, path)
        curi.is_prerequisite = needed
        return preselect(curi, curi.settings, lambda _: in_scope)

    return outcome


# -- preconditions -------------------------------------------------------------------------------------------------


def at_preconditions(crawler: Crawler, settings: Settings, host: str) -> CrawlURI:
    """A URI that has come to the preconditions."""
    curi = at(settings, host)
    request = Request(curi.uri)
    bind(request, curi)
    curi.class_key = "queue"
    try:
        PreconditionMiddleware.from_crawler(crawler).process_request(request)
    except NotFetched:
        pass
    return curi


def checked(prepare: Callable[[Host, Server], None] | None = None, *, robots: str = "", age: int = 0) -> Outcome:
    """What becomes of a URI of a host whose address and robots.txt are known for ``age`` milliseconds."""

    def outcome(settings: Settings, host: str) -> str:
        crawler = crawler_of(settings)
        hosts = Crawl.of(crawler).hosts
        known, server = hosts.host(host), hosts.server(host)
        known.addresses, known.ttl, known.looked_up_ms = ["192.0.2.1"], 1, NOW - age
        server.robots, server.robots_valid, server.robots_fetched_ms = robots, True, NOW - age
        if prepare is not None:
            prepare(known, server)
        curi = at_preconditions(crawler, settings, host)
        return plain([curi.status, curi.prerequisite, curi.deferral, curi.annotations], host)

    return outcome


def unresolved(host: Host, server: Server) -> None:
    host.addresses, host.failures = [], 1


def unasked(host: Host, server: Server) -> None:
    server.robots_valid, server.robots_fetched_ms = False, -1


def refused(code: int, body: bytes = b"") -> Outcome:
    """What becomes of a URI whose server answered with ``code`` when asked for its robots.txt."""

    def outcome(settings: Settings, host: str) -> str:
        crawler = crawler_of(settings)
        hosts = Crawl.of(crawler).hosts
        known = hosts.host(host)
        known.addresses, known.ttl, known.looked_up_ms = ["192.0.2.1"], 1, NOW
        robots = answered(settings, host, code, body=body, tail="robots.txt", path="LP")
        Access(crawler).exchanged(robots)
        curi = at_preconditions(crawler, settings, host)
        return plain([curi.status, curi.prerequisite, curi.deferral], host)

    return outcome


# -- what answers say ----------------------------------------------------------------------------------------------


def answered(
    settings: Settings,
    host: str,
    code: int = 200,
    *,
    body: bytes = b"",
    headers: tuple[tuple[bytes, bytes], ...] = (),
    tail: str = "x",
    path: str = "L",
) -> CrawlURI:
    curi = at(settings, host, tail, path)
    curi.status, curi.headers, curi.method = code, list(headers), "GET"
    top = b"HTTP/1.1 %d X\r\n\r\n" % code
    curi.recorder = Recorder()
    curi.recorder.response.append(top + body)
    curi.recorder.body_at = len(top)
    return curi


def kept_links(path: str = "L", hop: str = "L", *headers: tuple[bytes, bytes]) -> Outcome:
    """How many links of a document remain."""

    def outcome(settings: Settings, host: str) -> int:
        curi = answered(settings, host, headers=headers, path=path)
        curi.outlinks = [Outlink(f"http://{host}/y", hop, "a/@href")]
        Access(crawler_of(settings)).extracted(curi)
        return len(curi.outlinks)

    return outcome


def archived(settings: Settings, host: str) -> bool:
    """Whether a document that says noindex is kept."""
    curi = answered(settings, host, headers=((b"X-Robots-Tag", b"noindex"),))
    return Access(crawler_of(settings)).may_be_kept(curi)


def shown(settings: Settings, host: str) -> bool:
    """Whether a server that wants to know who asks is told."""
    curi = answered(settings, host, 401, headers=((b"WWW-Authenticate", b'Basic realm="r"'),))
    access = Access(crawler_of(settings))
    access.exchanged(curi)
    return access.authorization(curi, "GET") is not None


# -- what the server is asked --------------------------------------------------------------------------------------


def asked(settings: Settings, host: str) -> Any:
    curi = at(settings, host)
    lines = compose(curi, curi.settings, url=curi.uri)
    return [
        head("GET", "/x", [], http11=curi.settings.use_http11),
        *((name, value.replace(host.encode(), b"h")) for name, value in lines),
    ]


CREDENTIALS = [
    [
        "HttpAuthenticationCredential",
        {"domain": f"{name}.example", "realm": "r", "login": "me", "password": "secret"},
    ]
    for name in ("with", "without")
]
OTHER_GROUP = FORBID + "\nUser-agent: welcome\nDisallow:\n"

SCENARIOS = {
    "BLOCK_ALL": Scenario(True, before()),
    "ALLOW_BY_REGEX": Scenario(".*y", before()),
    "BLOCK_BY_REGEX": Scenario(".*x", before()),
    "RECHECK_SCOPE": Scenario(True, before(in_scope=False)),
    "PRESELECT_PREREQUISITES": Scenario(True, before("robots.txt", "LP", needed=True), BLOCK_ALL=True),
    "IP_VALIDITY_DURATION_SECONDS": Scenario(1, checked(age=MINUTE)),
    "ROBOTS_VALIDITY_DURATION_SECONDS": Scenario(1, checked(age=MINUTE)),
    "CALCULATE_ROBOTS_ONLY": Scenario(True, checked(robots=FORBID)),
    "ROBOTS_POLICY": Scenario("ignore", checked(robots=FORBID)),
    "AVAILABLE_ROBOTS_POLICIES": Scenario(
        {"mine": "ignore"}, checked(robots=FORBID), ROBOTS_POLICY="mine", AVAILABLE_ROBOTS_POLICIES={"mine": "obey"}
    ),
    "ROBOTS_USER_AGENT": Scenario("welcome", checked(robots=OTHER_GROUP)),
    "FETCH_ROBOTS": Scenario("unless_ignored", checked(unasked), ROBOTS_POLICY="ignore"),
    "ROBOTS_STANDARD": Scenario("heritrix", refused(503)),
    "ROBOTS_FORBIDDEN": Scenario("disallow", refused(403)),
    "AWAIT_DNS_RETRIES": Scenario(False, checked(unresolved)),
    "MAX_REDIRECTS": Scenario(2, kept_links("LRR", "R")),
    "OBEY_X_ROBOTS_TAG": Scenario(False, kept_links("L", "L", (b"X-Robots-Tag", b"nofollow"))),
    "ARCHIVE_NOINDEX": Scenario(False, archived),
    "CREDENTIALS": Scenario(CREDENTIALS, shown),
    "OPERATOR_CONTACT_URL": Scenario("https://other.example/", asked),
    "OPERATOR_FROM": Scenario("a@b.example", asked),
    "USER_AGENT_TEMPLATE": Scenario("other @OPERATOR_CONTACT_URL@", asked),
    "USE_HTTP11": Scenario(False, asked),
    "SEND_CONNECTION_CLOSE": Scenario(True, asked),
    "ACCEPT_COMPRESSION": Scenario(False, asked),
    "ACCEPT_ENCODING": Scenario("gzip", asked),
    "ACCEPT_HEADERS": Scenario(["Accept: text/plain"], asked),
    "SEND_REFERER": Scenario(False, asked),
    "SEND_RANGE": Scenario(True, asked, MAX_LENGTH_BYTES=1000),
}
