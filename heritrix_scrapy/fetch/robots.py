"""What follows for a server from the way the fetch of its robots.txt ended?

The text is kept with the Server; ``robots_rules`` reads it, ``robots_policy`` says what it means for a URI.
``HERITRIX_ROBOTS_STANDARD`` settles how the end of a fetch is read: as RFC 9309 says, or as Heritrix does
(CrawlServer.updateRobots).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from heritrix_scrapy.fetch.robots_policy import Policies
from heritrix_scrapy.fetch.robots_rules import LIMIT, rules_of
from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import join

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
    from heritrix_scrapy.model.hosts import Hosts, Server

PATH = "/robots.txt"

#: The policies of Heritrix, without any of a project's own.
PLAIN = Policies()

#: Fetches without an answer after which Heritrix expects nothing more.
TRIES = 4

#: Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2 asks for five at least).
REDIRECTS = 5

#: What the operator decided about a robots.txt: asked again, it ends the same way.
SETTLED = frozenset(
    {
        status.UNFETCHABLE,
        status.DOMAIN_PREREQUISITE_FAILURE,
        status.PREREQUISITE_UNSCHEDULABLE,
        status.OUT_OF_SCOPE,
        status.BLOCKED_BY_USER,
        status.BLOCKED_BY_CUSTOM,
        status.BLOCKED_BY_QUOTA,
        status.BLOCKED_BY_RUNTIME_LIMIT,
        status.DELETED_BY_USER,
    }
)


def allowed(server: Server, uri: str, agent: str, standard: str = "rfc9309") -> bool:
    """Whether the server's robots.txt lets ``agent`` (a whole User-Agent) fetch ``uri``; True without rules."""
    return rules_of(server.robots, standard).allows(agent, uri)


def crawl_delay(server: Server, agent: str, standard: str = "rfc9309") -> float | None:
    """Seconds between fetches that the server's robots.txt asks ``agent`` for, under every policy; else None."""
    return rules_of(server.robots, standard).crawl_delay(agent)


def is_robots(uri: str) -> bool:
    """Whether a URI is where a server keeps its robots.txt; a query behind it changes nothing."""
    if not uri.startswith(("http://", "https://")):
        return False
    slash = uri.find("/", uri.index("://") + 3)
    if slash < 0:
        return False
    path = uri[slash:].partition("?")[0]
    return path == PATH or ("%" in path and unquote(path) == PATH)


def read_text(curi: CrawlURI, *, byte_order_mark: bool = False) -> str:
    """The text of a fetched robots.txt: UTF-8, whole lines of at most ``LIMIT`` bytes. ``byte_order_mark``: whether
    one at the beginning is left there, as Heritrix does."""
    if curi.recorder is None:
        return ""
    data = curi.recorder.entity(LIMIT)
    if len(data) >= LIMIT:
        # the last line may be cut, and half a path would forbid too much
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
    return data.decode("utf-8" if byte_order_mark else "utf-8-sig", "replace")


def is_redirected_robots(curi: CrawlURI, hosts: Hosts) -> bool:
    """Whether this URI is where the robots.txt of the server that waits for it was redirected to."""
    if not (curi.path.endswith(hops.PREREQ) and curi.via) or is_robots(curi.uri):
        return False
    return hosts.server(server_key(curi.via)).robots_from == curi.uri


def note_robots(hosts: Hosts, curi: CrawlURI, now_ms: int, view: Any, policies: Policies = PLAIN) -> None:
    """Take down what the fetch of a robots.txt, however it ended, means for its server; else do nothing.

    To be called when the status of an attempt stands: after an answer and after an exception. Under a policy that
    robots.txt does not bind, a failed fetch is settled as -404, so that nothing waits for it to be tried again.
    """
    if curi.status == status.DEFERRED or curi.credential_pending:
        return
    keys = []
    if is_robots(curi.uri):
        keys.append(server_key(curi.uri))
    if curi.path.endswith(hops.PREREQ) and curi.via:
        waiting = server_key(curi.via)
        if waiting not in keys and hosts.server(waiting).robots_from == curi.uri:
            keys.append(waiting)
    if not any(keys):
        return
    if curi.status < 0 and not policies.of(view).binds:
        curi.status = status.DEEMED_NOT_FOUND
    for key in filter(None, keys):
        server = hosts.server(key)
        update_robots(server, curi, now_ms, view)
        server.robots_error = None
        if curi.status < 0 and curi.errors and isinstance(curi.errors[-1][1], BaseException):
            server.robots_error = type(curi.errors[-1][1]).__name__
        hosts.server_changed(key)


def followed_redirect(hosts: Hosts, curi: CrawlURI) -> Outlink | None:
    """The link of a robots.txt to where it was redirected, when that is fetched for the sake of its rules."""
    if not 300 <= curi.status < 400:
        return None
    key = server_key(curi.uri if is_robots(curi.uri) else curi.via or "")
    target = hosts.server(key).robots_from if key else None
    return next((link for link in curi.outlinks if link.hop == hops.REFER and link.uri == target), None)


def update_robots(server: Server, curi: CrawlURI, now_ms: int, view: Any) -> None:
    """What a finished attempt at a robots.txt makes of the Server. ``curi.attempts``: earlier attempts."""
    if view.robots_standard == "rfc9309":
        _update_by_rfc(server, curi, now_ms, view)
    else:
        _update_as_heritrix(server, curi, now_ms)


def _update_by_rfc(server: Server, curi: CrawlURI, now_ms: int, view: Any) -> None:
    """RFC 9309, 2.3.1: 2xx rules; a redirect is followed; 4xx no rules; no answer, 5xx or 429: asked again after the
    retry delay, and once all tries are used up nothing may be fetched. Rules that were known before stay valid
    meanwhile, until they expire."""
    if curi.method != "GET":
        return
    code = curi.status
    if 200 <= code < 300:
        _settle(server, _read(curi), now_ms)
    elif 300 <= code < 400 and code != 304:
        target = _target(curi)
        if target is not None and server.robots_redirects < REDIRECTS:
            server.robots_from = target
            server.robots_redirects += 1
        else:
            _settle(server, None, now_ms)
    elif code in (401, 403) and view.robots_forbidden == "disallow":
        _settle(server, NOBODY, now_ms)
    elif code == 304 and server.robots is not None:
        _settle(server, server.robots, now_ms)
    elif code == 429 or code >= 500 or (code <= 0 and code != status.DEEMED_NOT_FOUND):
        server.robots_tries += 1
        server.robots_from, server.robots_redirects = None, 0
        server.robots_again_ms = max(now_ms + int(view.retry_delay_seconds * 1000), server.retry_at_ms)
        if server.robots_tries >= max(view.max_retries, 1) or code in SETTLED:
            server.robots_valid, server.robots_fetched_ms = False, now_ms
    else:
        _settle(server, None, now_ms)


#: A robots.txt that forbids everything to all.
NOBODY = "User-agent: *\nDisallow: /\n"


def _target(curi: CrawlURI) -> str | None:
    """Where an answer redirects to, when it is http or https and not the very URI."""
    value = curi.header(b"location")
    if value is None:
        return None
    try:
        target = join(curi.uri, value.decode("utf-8", "replace").strip())
    except UriError:
        return None
    return target if target.startswith(("http://", "https://")) and target != curi.uri else None


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
    server.robots, server.robots_valid, server.robots_fetched_ms = text, True, now_ms
    server.robots_tries, server.robots_again_ms = 0, 0
    server.robots_from, server.robots_redirects = None, 0


def _read(curi: CrawlURI) -> str | None:
    try:
        return read_text(
            curi, byte_order_mark=curi.settings is not None and curi.settings.robots_standard == "heritrix"
        )
    except Exception as error:
        # whatever broke in reading: the rules are unknown, the crawl goes on, and the log says why
        curi.errors.append(("robots.txt", error))
        return None
