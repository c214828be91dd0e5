"""What does a sheet change? For each setting that a sheet may override: a small scenario whose outcome differs where
the sheet lies.

A setting that is made overridable needs a row in ``SCENARIOS``: the value that the sheet gives, and a function of the
settings and a host that tells what happens there. ``WAITING`` names those whose scenario is not here yet; it may only
grow shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.archive.history import Policy
from heritrix_scrapy.fetch.headers import compose, head
from heritrix_scrapy.fetch.preselector import preselect
from heritrix_scrapy.frontier.candidates import may_be_promoted, outlinks_wanted, redirects_promote
from heritrix_scrapy.frontier.politeness import politeness_delay, retry_delay
from heritrix_scrapy.frontier.prepare import Preparer, canonicaliser
from heritrix_scrapy.frontier.rescheduling import Rescheduling
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import from_settings
from heritrix_scrapy.settings import Settings, read
from heritrix_scrapy.settings.defaults import SETTINGS
from tests.frontier.world import Clock

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "https://operator.example/"}
WITH, WITHOUT = "with.example", "without.example"


def at(settings: Settings, host: str, tail: str = "x", path: str = "L", **more: Any) -> CrawlURI:
    curi = CrawlURI(f"http://{host}/{tail}", path=path, via=f"http://{host}/from", **more)
    settings.for_uri(curi)
    return curi


Outcome: TypeAlias = Callable[[Settings, str], Any]


def taken(tail: str, path: str) -> Outcome:
    """Whether scope takes a URI."""

    def outcome(settings: Settings, host: str) -> bool:
        scope = from_settings(settings)
        for seed in (WITH, WITHOUT):
            scope.non_seed_line("+" + seed)
        return scope.accepts(at(settings, host, tail, path))

    return outcome


def transcluded(path: str) -> Outcome:
    """Whether scope takes a part of a page that lies elsewhere."""
    return lambda settings, host: from_settings(settings).accepts(at(settings, host, "x", path))


def prepared(tail: str = "x", path: str = "L", **more: Any) -> Outcome:
    """What the frontier is told of a URI."""

    def outcome(settings: Settings, host: str) -> Any:
        curi = at(settings, host, tail, path, **more)
        Preparer(canonicaliser, heritrix=False).prepare(curi)
        told = (curi.class_key, curi.canonical, curi.directive, curi.precedence, curi.cost)
        return [str(part).replace(host.partition(".")[0], "site") for part in told]

    return outcome


def before(tail: str = "x", path: str = "L", *, in_scope: bool = True) -> Outcome:
    """What the preselector makes of a URI."""
    return lambda settings, host: preselect(curi := at(settings, host, tail, path), curi.settings, lambda _: in_scope)


def rest(began: int = 0, ended: int = 2000, **more: Any) -> Outcome:
    """How long the queue rests after a fetch, in milliseconds."""
    return lambda settings, host: politeness_delay(at(settings, host).settings, began, ended, **more)


def fetched_again(settings: Settings, host: str) -> int:
    """When a URI that ends now is fetched again."""
    curi = at(settings, host)
    Rescheduling(settings, Clock())(curi)
    return curi.reschedule_at


def asked(settings: Settings, host: str) -> Any:
    """What the server is asked."""
    curi = at(settings, host)
    lines = compose(curi, curi.settings, url=curi.uri)
    return [
        head("GET", "/x", [], http11=curi.settings.use_http11),
        *((name, value.replace(host.encode(), b"h")) for name, value in lines),
    ]


def spared(settings: Settings, host: str) -> Any:
    """What counts as a repetition."""
    return Policy.of(at(settings, host).settings)


def promoted(settings: Settings, host: str) -> bool:
    return redirects_promote(at(settings, host, "", "", seed=True))


def top_promoted(settings: Settings, host: str) -> bool:
    return may_be_promoted(CrawlURI("http://com/", path="R"), at(settings, host).settings)


def followed(settings: Settings, host: str) -> bool:
    return outlinks_wanted(404, process_error_outlinks=at(settings, host).settings.process_error_outlinks)


SCENARIOS: dict[str, tuple[Any, Any]] = {
    "SEEDS_REDIRECT_NEW_SEEDS": (False, promoted),
    "SEEDS_REDIRECT_NEW_SEEDS_ALLOW_TLDS": (False, top_promoted),
    "REJECT_REGEXES": ([".*x"], taken("x", "L")),
    "MAX_HOPS": (1, taken("x", "LL")),
    "MAX_TRANS_HOPS": (1, transcluded("LEE")),
    "MAX_SPECULATIVE_HOPS": (0, transcluded("LX")),
    "MAX_REPETITIONS": (1, taken("a/a/x", "L")),
    "MAX_PATH_DEPTH": (1, taken("a/x", "L")),
    "CANONICALIZATION_RULES": (["StripExtraSlashes"], prepared("X")),
    "FORCE_QUEUE_ASSIGNMENT": ("one", prepared()),
    "PREFERENCE_EMBED_HOPS": (0, prepared("x", "LE")),
    "URI_PRECEDENCE_POLICY": ("Hops", prepared("x", "LLLL")),
    "COST_ASSIGNMENT_POLICY": ("Zero", prepared()),
    "PROCESS_ERROR_OUTLINKS": (True, followed),
    "DELAY_FACTOR": (1.0, rest()),
    "MIN_DELAY_MS": (9000, rest(0, 1)),
    "MAX_DELAY_MS": (4000, rest()),
    "RESPECT_CRAWL_DELAY_UP_TO_SECONDS": (10, rest(crawl_delay=60)),
    "RETRY_DELAY_SECONDS": (7, lambda settings, host: retry_delay(at(settings, host).settings, -2)),
    "RESCHEDULE_DELAY_SECONDS": (60, fetched_again),
    "BLOCK_ALL": (True, before()),
    "ALLOW_BY_REGEX": (".*y", before()),
    "BLOCK_BY_REGEX": (".*x", before()),
    "RECHECK_SCOPE": (True, before(in_scope=False)),
    "OPERATOR_CONTACT_URL": ("https://other.example/", asked),
    "OPERATOR_FROM": ("a@b.example", asked),
    "USER_AGENT_TEMPLATE": ("other @OPERATOR_CONTACT_URL@", asked),
    "USE_HTTP11": (False, asked),
    "SEND_CONNECTION_CLOSE": (True, asked),
    "ACCEPT_COMPRESSION": (False, asked),
    "ACCEPT_ENCODING": ("gzip", asked),
    "ACCEPT_HEADERS": (["Accept: text/plain"], asked),
    "SEND_REFERER": (False, asked),
    "DEDUPLICATE_MIN_BYTES": (1, spared),
    "DEDUPLICATE_ANY_STATUS": (True, spared),
    "DEDUPLICATE_EXCEPT": (["text/"], spared),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_sheet_changes_what_happens(name: str) -> None:
    value, outcome = SCENARIOS[name]
    sheets = {"s": {f"HERITRIX_{name}": value}}
    associations = [{"surt_prefixes": ["http://(example,with,"], "sheets": ["s"]}]
    laid = CONTACT | {"HERITRIX_SHEETS": sheets, "HERITRIX_SHEET_ASSOCIATIONS": associations}
    settings = read(ScrapySettings(laid))
    plain = read(ScrapySettings(CONTACT))
    assert outcome(settings, WITH) != outcome(settings, WITHOUT)
    assert outcome(settings, WITHOUT) == outcome(plain, WITHOUT)


#: Settings whose scenario is not here yet: what is read from the View is tested in ``test_sheets``.
NAMES = """
    QUEUE_PRECEDENCE_POLICY
    ARCHIVE_NOINDEX AVAILABLE_ROBOTS_POLICIES CHECK_OUTLINKS CHECK_URI CREDENTIALS MAX_REDIRECTS
    OBEY_X_ROBOTS_TAG POLITENESS_PER_ADDRESS ROBOTS_FORBIDDEN ROBOTS_USER_AGENT
    ACCEPT_NON_DNS_RESOLVES ANNOTATE_IP AWAIT_DNS_RETRIES BALANCE_REPLENISH_AMOUNT
    CALCULATE_ROBOTS_ONLY CSS_READER DEFAULT_ENCODING DEFAULT_URI_PRECEDENCE_POLICY
    DEFER_TO_PREVIOUS DIGEST_CONTENT ENABLE_LENIENT_EXTRACTION ERROR_PENALTY_AMOUNT EXTRACT404S
    EXTRACT_ASIDE_BYTES EXTRACT_INDEPENDENTLY EXTRACT_JAVASCRIPT EXTRACT_ONLY_FORM_GETS
    EXTRACT_VALUE_ATTRIBUTES FETCH_ROBOTS FORCE_RETIRE HTML_READER HTTP2 HTTP_BIND_ADDRESS
    HTTP_PROXY_HOST HTTP_PROXY_PASSWORD HTTP_PROXY_PORT HTTP_PROXY_USER IGNORE_COOKIES
    IGNORE_FORM_ACTION_URLS IGNORE_UNEXPECTED_HTML INCREMENT_COUNTS INFER_PATHS INFER_ROOT_PAGE
    IP_VALIDITY_DURATION_SECONDS MAX_EXTRACT_BYTES MAX_EXTRACT_SECONDS MAX_FETCH_KB_SEC
    MAX_LENGTH_BYTES MAX_OUTLINKS MAX_PER_HOST_BANDWIDTH_USAGE_KB_SEC MAX_RETRIES NAVLINKS_ONLY
    OBEY_REL_NOFOLLOW PARALLEL_QUEUES PARALLEL_QUEUES_RANDOM_ASSIGNMENT PREFERENCE_DEPTH_HOPS
    PRELOAD_SOURCE PRESELECT_PREREQUISITES QUEUE_ASSIGNMENT_LIMIT QUEUE_ASSIGNMENT_POLICY
    QUEUE_BASE_PRECEDENCE QUEUE_TOTAL_BUDGET REFUSE_PRIVATE_ADDRESSES RETRY_AFTER_MAX_SECONDS
    ROBOTS_POLICY ROBOTS_STANDARD ROBOTS_VALIDITY_DURATION_SECONDS SEND_IF_MODIFIED_SINCE
    SEND_IF_NONE_MATCH SEND_RANGE SHOULD_FETCH_BODY_RULE SITEMAP_URL_PATTERN SOCKS_PROXY_HOST
    SOCKS_PROXY_PASSWORD SOCKS_PROXY_PORT SOCKS_PROXY_USERNAME SOURCE_TAG_QUEUE_LEVEL SO_TIMEOUT_MS
    SPECULATIVE_HOSTS SPECULATIVE_MISSES SPECULATIVE_PATHS SSL_TRUST_LEVEL TIMEOUT_SECONDS
    TREAT_FRAMES_AS_EMBED_LINKS URI_BASE_PRECEDENCE WARC_REDACT_REQUEST_HEADERS
    WARC_RESPONSE_HEADERS WARC_SKIP_IDENTICAL_DIGESTS WARC_WRITE_METADATA WARC_WRITE_REQUESTS
    WARC_WRITE_RESPONSES WARC_WRITE_REVISITS
"""
WAITING = frozenset(NAMES.split())


def test_every_setting_that_a_sheet_may_override_has_a_scenario() -> None:
    overridable = {row.name for row in SETTINGS if row.overridable}
    missing = sorted(overridable - SCENARIOS.keys() - WAITING)
    assert not missing, (
        f"{missing}: add a row to SCENARIOS, NAME: (value of the sheet, outcome(settings, host)), where the outcome"
        " differs under that value"
    )
    assert not SCENARIOS.keys() & WAITING
