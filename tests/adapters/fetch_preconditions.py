"""Do preconditions, preselector, robots state and server keys come out as the vectors say?

The vectors tell the state of host and server in words; ``State`` reads them.
"""

from __future__ import annotations

import re
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.fetch.credentials import FormCredential
from heritrix_scrapy.fetch.preconditions import (
    Prerequisite,
    Proceed,
    Stop,
    decide,
    mark,
)
from heritrix_scrapy.fetch.preselector import preselect
from heritrix_scrapy.fetch.robots import update_robots
from heritrix_scrapy.fetch.robots_policy import POLICIES
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Host, Hosts, server_key
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings.defaults import SETTINGS
from heritrix_scrapy.uri.fixup import fix

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = 1_750_000_000_000
HOUR = 3_600_000
AGENT = "Mozilla/5.0 (compatible; heritrix/3.15 +http://example.org/bot)"
DISALLOW = "User-agent: *\nDisallow: /\n"
LOGIN = FormCredential("h.example", "/login")


def view_of(profile: str, /, **values: Any) -> Any:
    """The settings of a profile as a View has them, with other values for some."""
    return SimpleNamespace(
        **{row.attribute: row.default_in(profile) for row in SETTINGS} | {"profile": profile} | values
    )


def note_lookup(host: Host, addresses: list[str], ttl: int, now_ms: int) -> None:
    """A look-up gave these addresses for ``ttl`` seconds."""
    host.addresses, host.ttl, host.looked_up_ms = addresses, ttl, now_ms


def note_failure(host: Host, now_ms: int, *, final: bool) -> None:
    """A look-up gave no address; ``final``: it will not be tried again."""
    host.addresses, host.ttl, host.looked_up_ms, host.final = [], 0, now_ms, final


def _number(words: str, pattern: str, default: float) -> float:
    match = re.search(pattern, words)
    return default if match is None else float(match[1])


class State:
    """Hosts, servers and settings as a vector's words describe them."""

    def __init__(self, words: str, uri: str, profile: str) -> None:
        self.hosts = Hosts(lambda key: None)
        self.promoted = "promoted" in words
        self.credentials = (LOGIN,) if "credential" in words or "login" in words else ()
        self.flagged = "prerequisite flag set" in words
        values: dict[str, Any] = {}
        for name, attribute in (
            ("ipValidityDurationSeconds", "ip_validity_duration_seconds"),
            ("robotsValidityDurationSeconds", "robots_validity_duration_seconds"),
        ):
            match = re.search(name + r"\s*=\s*(\d+)", words)
            if match is not None:
                values[attribute] = int(match[1])
        values["calculate_robots_only"] = "calculateRobotsOnly" in words and "calculateRobotsOnly=false" not in words
        policy = re.search(r"policy(?:name)?[ =:]+(\w+)", words, re.IGNORECASE)
        if policy is not None and policy[1] in POLICIES:
            values["robots_policy"] = policy[1]
        elif "unknown policy" in words:
            values["robots_policy"] = "noSuchPolicy"
        self.view = view_of(profile, **values)
        self._look_up(words, uri)
        self._fetch_robots(words, uri)

    def _look_up(self, words: str, uri: str) -> None:
        name = CrawlURI(uri).host
        if not name or "never looked up" in words or words.startswith("any") or "numeric" in words:
            return
        host = self.hosts.host(name)
        first = re.split(r"robots", words)[0]
        at = NOW - int(_number(first, r"(\d+(?:\.\d+)?) ?h(?:ours?)? ago", 0) * HOUR)
        at -= HOUR if "more than" in first else 0
        if re.search(r"fail|unresolv|no address|no ip\b|ip null|not resolved|nxdomain", first, re.IGNORECASE):
            note_failure(host, at, final=True)
            return
        ttl = re.search(r"ttl[ =:]+(\d+) ?(h|m|d)?", first)
        seconds = 3600 if ttl is None else int(ttl[1]) * {"d": 86400, "h": 3600, "m": 60}.get(ttl[2], 1)
        note_lookup(host, ["192.0.2.1"], seconds, at)

    def _fetch_robots(self, words: str, uri: str) -> None:
        known = re.search(r"known for (\S+) only", words)
        server = self.hosts.server(server_key(known[1] if known else uri))
        about = words[words.find("robots") :] if "robots" in words else ""
        if self.promoted or self.credentials or "unknown policy" in words:
            about = about or "robots valid"
        if not about or "robots never fetched" in about:
            return
        if re.search(r"not valid|invalid|fail", about):
            server.robots_valid = False
        else:
            server.robots_valid = True
            server.robots = DISALLOW if "disallow" in about or known else None
        more = _number(about, r"more than (\d+) h ago", -1)
        hours = more + 1 if more >= 0 else _number(about, r"(\d+(?:\.\d+)?) ?h(?:ours?)? ago", 0)
        server.robots_fetched_ms = NOW - int(hours * HOUR)


def judge(case: dict[str, Any], profile: str = "heritrix") -> tuple[bool, object]:
    """Decide for one vector; ``got`` has every fact that a vector may tell."""
    words, uri = case["input"]["state"], case["input"]["uri"]
    state = State(words, uri, profile)
    curi = CrawlURI(uri, path="L")
    curi.is_prerequisite = state.flagged
    decision = decide(
        curi,
        state.hosts,
        state.view,
        NOW,
        agent=AGENT,
        credentials=state.credentials,
        logged_in=lambda key, credential: state.promoted,
    )
    mark(curi, decision)
    got: dict[str, Any] = {"result": "PROCEED" if isinstance(decision, Proceed) else "FINISH", "status": curi.status}
    if isinstance(decision, Proceed):
        got["prerequisiteFlag"] = curi.is_prerequisite
        got["credentials"] = int(decision.login is not None)
        got["fetchType"] = curi.method if decision.login is not None else "unset -> GET"
        got["annotations"] = curi.annotations
        got["annotation"] = ",".join(curi.annotations)
    elif isinstance(decision, Prerequisite):
        child = curi.prerequisite_child(decision.uri)
        got["prerequisite"] = child.uri
        got["prerequisiteHops"] = "parent hops + P" if child.path == curi.path + "P" else child.path
        got["prerequisiteContext"] = child.via_context
        got["schedulingDirective"] = "parent - 1" if child.directive == curi.directive - 1 else child.directive
        got["forceFetch"] = child.forced
        # counted by the frontier when it takes the Request back; deferred is all that is decided here
        got["deferrals"] = "+1" if curi.deferral == "prerequisite" else "none"
    elif isinstance(decision, Stop):
        got["error"] = "null pointer -> status -5" if decision.status == -5 else decision.error_text
    return agrees(case, got), got


def preselected(case: dict[str, Any], profile: str = "heritrix") -> tuple[bool, object]:
    words, uri = case["input"]["state"], case["input"]["uri"]
    values: dict[str, Any] = {}
    for name, attribute in (("blockAll", "block_all"), ("recheckScope", "recheck_scope")):
        values[attribute] = f"{name}=true" in words
    for name, attribute in (("blockByRegex", "block_by_regex"), ("allowByRegex", "allow_by_regex")):
        match = re.search(name + r"=(\S*?)(?:,? |$)", words)
        values[attribute] = "" if match is None else match[1]
    curi = CrawlURI(uri)
    code = preselect(curi, view_of(profile, **values), lambda candidate: "out of scope" not in words)
    got = {"status": code, "result": "FINISH" if code else "PROCEED"}
    return agrees(case, got), got


def updated(case: dict[str, Any]) -> tuple[bool, object]:
    """What an attempt at robots.txt leaves, and how the next page fares."""
    words = case["input"]["state"]
    hosts, view = Hosts(lambda key: None), view_of("heritrix")
    note_lookup(hosts.host("h.example"), ["192.0.2.1"], 60, NOW)
    curi = CrawlURI(case["input"]["uri"])
    curi.status = int(_number(words, r"status (-?\d+)", 0))
    curi.attempts = int(_number(words, r"fetchAttempts=(\d+)", 0))
    curi.method = "POST" if "not GET" in words else "GET"
    curi.recorder = Recorder()
    curi.recorder.response.append(b"" if "empty body" in words else DISALLOW.encode())
    server = hosts.server("h.example")
    update_robots(server, curi, NOW, view)
    page = decide(CrawlURI("http://h.example/p"), hosts, view, NOW, agent=AGENT)
    got = {
        "validRobots": server.robots_valid,
        "rules": "none" if server.robots is None else "parsed",
        "nextPage": f"FINISH {page.status}" if isinstance(page, Stop) else "PROCEED",
    }
    told = {**case["expected"]["observed"]}
    if "nextPage" in told:
        told["nextPage"] = told["nextPage"].removesuffix(" (allow all)")
    return agrees({"expected": {"observed": told}}, got), got


def keys(case: dict[str, Any]) -> tuple[bool, object]:
    uri = fix(case["input"]["uri"], strict=True)
    # a whois query is about a name; it refers to no host that is looked up
    host = None if uri.startswith("whois:") and "//" not in uri else CrawlURI(uri).host
    got = {"serverKey": server_key(uri) or None, "refHost": host or None}
    return agrees(case, got), got


def agrees(case: dict[str, Any], got: dict[str, Any]) -> bool:
    """Whether every observed fact is as told; what a vector does not tell is free."""
    observed = case["expected"].get("observed") or case["expected"]["pinned"]
    return isinstance(observed, dict) and all(key in got and got[key] == value for key, value in observed.items())


ADAPTERS: dict[str, Callable[[dict[str, Any]], tuple[bool, object]]] = {
    "fetch/preconditions": judge,
    "fetch/preselector": preselected,
    "fetch/robots_update": updated,
    "fetch/server_key": keys,
}

MODERN: dict[str, Callable[[dict[str, Any]], tuple[bool, object]]] = {
    "fetch/preconditions": partial(judge, profile="modern"),
    "fetch/preselector": partial(preselected, profile="modern"),
}

MODERN_ROWS = {
    "fetch/preconditions": "robots-fourth-try",
    "fetch/preconditions#preconditions-031": "login-prerequisite",
    "fetch/preselector": "prerequisites-pass",
}
