"""What does a server's robots.txt say, and what follows from the way its fetch ended?

The text is kept with the Server and parsed when first asked (protego, RFC 9309). ``HERITRIX_ROBOTS_STANDARD``
settles how the end of a robots.txt fetch is read: as RFC 9309 says, or as Heritrix does (CrawlServer.updateRobots).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from protego import Protego

from heritrix_scrapy.model import status
from heritrix_scrapy.model.hosts import server_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts, Server

PATH = "/robots.txt"

#: Most bytes of a robots.txt that are read (RFC 9309, 2.5 asks for as many at least).
LIMIT = 500 * 1024

#: Fetches without an answer after which nothing more is expected.
TRIES = 4


class Policy(NamedTuple):
    """``rules``: whether robots.txt binds; ``meta``: whether a page's robots meta tag does."""

    rules: bool
    meta: bool


#: The policies by their names in ``HERITRIX_ROBOTS_POLICY`` (Heritrix: RobotsPolicy.STANDARD_POLICIES).
POLICIES: dict[str, Policy] = {
    "obey": Policy(rules=True, meta=True),
    "classic": Policy(rules=True, meta=True),
    "robotsTxtOnly": Policy(rules=True, meta=False),
    "ignore": Policy(rules=False, meta=False),
}


class Parsed:
    """Robots texts in parsed form, the least used forgotten first.

    ``budget``: characters of text whose rules are kept; a single text beyond it is kept alone.
    """

    def __init__(self, budget: int = 4_000_000, parse: Callable[[str], Protego] = Protego.parse) -> None:
        self._budget = budget
        self._parse = parse
        self._size = 0
        self._kept: OrderedDict[str, Protego] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def rules(self, text: str) -> Protego:
        """The rules of a text."""
        found = self._kept.get(text)
        if found is not None:
            self._kept.move_to_end(text)
            return found
        self._kept[text] = found = self._parse(text)
        self._size += len(text)
        while self._size > self._budget and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[0])
        return found


_parsed = Parsed()

_COMPATIBLE = re.compile(r"\bcompatible;\s*([^\s;/()]+)", re.IGNORECASE)
_LEADING = re.compile(r"[^\s;/()]+")


def product_token(agent: str) -> str:
    """The name a User-Agent goes by (RFC 9309, 2.2.1): what follows ``compatible;``, else its first word.

    A group of robots.txt must not apply because its name happens to stand in the contact address.
    """
    match = _COMPATIBLE.search(agent) or _LEADING.search(agent)
    return agent if match is None else match[match.lastindex or 0]


def _name(agent: str, standard: str) -> str:
    return product_token(agent) if standard == "rfc9309" else agent


def allowed(server: Server, uri: str, agent: str, standard: str = "rfc9309") -> bool:
    """Whether the server's robots.txt lets ``agent`` (a whole User-Agent) fetch ``uri``; True without rules."""
    text = server.robots
    if text is None:
        return True
    answer: bool = _parsed.rules(text).can_fetch(uri, _name(agent, standard))
    return answer


def crawl_delay(server: Server, agent: str, standard: str = "rfc9309") -> float | None:
    """Seconds between fetches that the server's robots.txt asks ``agent`` for, under every policy; else None."""
    text = server.robots
    if text is None:
        return None
    delay: float | None = _parsed.rules(text).crawl_delay(_name(agent, standard))
    return delay


def is_robots(uri: str) -> bool:
    """Whether a URI is where a server keeps its robots.txt; a query behind it changes nothing."""
    if not uri.startswith(("http://", "https://")):
        return False
    slash = uri.find("/", uri.index("://") + 3)
    if slash < 0:
        return False
    path = uri[slash:].partition("?")[0]
    return path == PATH or ("%" in path and unquote(path) == PATH)


def read_text(curi: CrawlURI) -> str:
    """The text of a fetched robots.txt: UTF-8, without byte order mark, whole lines of at most ``LIMIT`` bytes."""
    if curi.recorder is None:
        return ""
    data = curi.recorder.entity(LIMIT)
    if len(data) >= LIMIT:
        # the last line may be cut, and half a path would forbid too much
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
    return data.decode("utf-8-sig", "replace")


def note_robots(hosts: Hosts, curi: CrawlURI, now_ms: int, view: Any) -> None:
    """Take down what the fetch of a robots.txt, however it ended, means for its server; else do nothing.

    To be called when the status of an attempt stands: after an answer and after an exception. Under the policy
    ``ignore`` a failed fetch is settled as -404, so that nothing waits for it to be tried again.
    """
    if curi.status == status.DEFERRED or not is_robots(curi.uri):
        return
    key = server_key(curi.uri)
    if not key:
        return
    policy = POLICIES.get(view.robots_policy)
    if policy is not None and not policy.rules and curi.status < 0:
        curi.status = status.DEEMED_NOT_FOUND
    server = hosts.server(key)
    update_robots(server, curi, now_ms, view)
    server.robots_error = None
    if curi.status < 0 and curi.errors and isinstance(curi.errors[-1][1], BaseException):
        server.robots_error = type(curi.errors[-1][1]).__name__
    hosts.server_changed(key)


def update_robots(server: Server, curi: CrawlURI, now_ms: int, view: Any) -> None:
    """What a finished attempt at a robots.txt makes of the Server. ``curi.attempts``: earlier attempts."""
    if view.robots_standard == "rfc9309":
        _update_by_rfc(server, curi, now_ms)
    else:
        _update_as_heritrix(server, curi, now_ms)


def _update_by_rfc(server: Server, curi: CrawlURI, now_ms: int) -> None:
    """RFC 9309, 2.3.1: 2xx rules; 4xx no rules; no answer, 5xx or 429 nothing may be fetched, once it has
    been tried ``TRIES`` times. Rules that were known before stay valid meanwhile, until they expire."""
    if curi.method != "GET":
        return
    code = curi.status
    if 200 <= code < 300:
        _settle(server, _read(curi), now_ms)
    elif code == 429 or code >= 500 or (code <= 0 and code != status.DEEMED_NOT_FOUND):
        server.robots_tries += 1
        if server.robots_tries >= TRIES:
            server.robots_valid, server.robots_fetched_ms = False, now_ms
    else:
        _settle(server, None, now_ms)


def _update_as_heritrix(server: Server, curi: CrawlURI, now_ms: int) -> None:
    """Heritrix: CrawlServer.updateRobots. Every answer but 2xx allows all; so does the fourth failed try."""
    code = curi.status
    failed = (code <= 0 and code != status.DEEMED_NOT_FOUND) or curi.method != "GET"
    if failed and curi.attempts < TRIES - 1:
        server.robots_valid, server.robots_fetched_ms = False, now_ms
        server.robots_tries += 1
    else:
        _settle(server, _read(curi) if 200 <= code < 300 and not failed else None, now_ms)


def _settle(server: Server, text: str | None, now_ms: int) -> None:
    server.robots, server.robots_valid, server.robots_fetched_ms, server.robots_tries = text, True, now_ms, 0


def _read(curi: CrawlURI) -> str | None:
    try:
        return read_text(curi)
    except Exception as error:
        # whatever broke in reading: the rules are unknown, the crawl goes on, and the log says why
        curi.errors.append(("robots.txt", error))
        return None
