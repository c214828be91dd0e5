"""What must come before this URI can be fetched: an address, the server's robots.txt, a login?

Plain decisions in Heritrix's order (PreconditionEnforcer.innerProcess); ``mark`` writes one onto the CrawlURI.
What look-ups and robots fetches found stands in ``model.hosts``; the ``dns:`` handler puts the former there,
``robots.note_robots`` the latter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.fetch import robots, whois
from heritrix_scrapy.fetch.addresses import is_private
from heritrix_scrapy.model import status
from heritrix_scrapy.model.hosts import NEVER, server_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Host, Hosts, Server


class FormCredential(NamedTuple):
    """A login form (Heritrix: HtmlFormCredential). ``domain``: the server key it belongs to; ``login_uri``:
    absolute, or a path on the server."""

    domain: str
    login_uri: str


class Proceed(NamedTuple):
    """Fetch it. ``address``: of the host, for schemes that connect to one; ``prerequisite``: the URI is one;
    ``annotation``: to be added; ``login``: what to post there."""

    address: str | None = None
    prerequisite: bool = False
    annotation: str | None = None
    login: FormCredential | None = None


class Prerequisite(NamedTuple):
    """``uri`` comes first; then ask again."""

    uri: str


class Stop(NamedTuple):
    """It cannot be fetched; ``status`` is final."""

    status: int
    error_text: str | None = None


Decision = Proceed | Prerequisite | Stop

HTTP = ("http", "https")

_NAME = re.compile(r"[-\w.:]+\Z", re.ASCII)


def decide(
    curi: CrawlURI,
    hosts: Hosts,
    view: Any,
    now_ms: int,
    *,
    agent: str = "",
    obey: bool = True,
    credentials: Sequence[FormCredential] = (),
    logged_in: Callable[[str, FormCredential], bool] | None = None,
    proxied: bool = False,
) -> Decision:
    """The decision for one URI at ``now_ms``.

    ``agent``: the User-Agent that robots.txt is read for; ``obey``: False reads no rules for this one URI,
    whatever the policy; ``logged_in(server key, credential)``: whether that login was made before; ``proxied``: a
    proxy resolves the names that we cannot.
    """
    scheme = curi.scheme
    if scheme == "dns":
        return Proceed(prerequisite=True)
    if scheme == "whois":
        if whois.is_generic(curi.uri):
            return _questions(curi, hosts, view)
        if view.profile == "heritrix":
            return Proceed()
    key = server_key(curi.uri)
    if not key:
        return Stop(status.UNFETCHABLE, "no server to fetch this URI from")
    name = curi.host
    if not name:
        return Stop(status.DOMAIN_PREREQUISITE_FAILURE, "no host name")
    if view.profile != "heritrix" and not _NAME.match(name):
        # its look-up would be refused as often as it was asked for
        return Stop(status.DOMAIN_PREREQUISITE_FAILURE, "not a name that DNS can look up")
    host = hosts.host(name)
    if is_expired(host, view, now_ms):
        return Prerequisite("dns:" + name)
    if not host.addresses and not proxied:
        if not host.final and view.await_dns_retries:
            return Prerequisite("dns:" + name)
        return Stop(status.DOMAIN_PREREQUISITE_FAILURE, "no address for the host")
    if view.refuse_private_addresses and host.addresses and not proxied and all(map(is_private, host.addresses)):
        return Stop(status.BLOCKED_BY_USER, f"{name} has private addresses only (HERITRIX_REFUSE_PRIVATE_ADDRESSES)")
    address = host.addresses[0] if host.addresses else None
    if scheme not in HTTP:
        return Proceed(address)

    flagged, annotation = curi.is_prerequisite, None
    if robots.is_robots(curi.uri):
        flagged = True
    else:
        verdict = _robots(curi, hosts.server(key), view, now_ms, agent or curi.user_agent or "", obey)
        if isinstance(verdict, (Prerequisite, Stop)):
            return verdict
        annotation = verdict
    login = _login(curi, key, credentials, logged_in, flagged, everywhere=view.profile != "heritrix")
    if isinstance(login, Prerequisite):
        return login
    return Proceed(address, flagged or login is not None, annotation, login)


def is_expired(host: Host, view: Any, now_ms: int) -> bool:
    """Whether a look-up has to be made: the setting is how long one holds at least, a longer TTL lengthens it."""
    if host.looked_up_ms == NEVER:
        return True
    if host.ttl == NEVER or not view.ip_validity_duration_seconds:
        return False
    held: int = max(view.ip_validity_duration_seconds, host.ttl) * 1000
    return host.looked_up_ms + held < now_ms


def _questions(curi: CrawlURI, hosts: Hosts, view: Any) -> Decision:
    """What is asked before a ``whois:name`` is done."""
    if not (view.fetch_whois or curi.spider_request):
        return Proceed()
    step = whois.next_step(curi.uri, hosts.inquiry, view.whois_query_templates)
    if isinstance(step, whois.Ask):
        return Prerequisite(step.uri)
    if isinstance(step, whois.Lost):
        return Stop(status.OTHER_PREREQUISITE_FAILURE, step.text)
    return Proceed()


def _robots(
    curi: CrawlURI, server: Server, view: Any, now_ms: int, agent: str, obey: bool
) -> Prerequisite | Stop | str | None:
    """An annotation or None where robots.txt is no obstacle."""
    policy = robots.POLICIES.get(view.robots_policy)
    if policy is None:
        return Stop(status.RUNTIME_EXCEPTION, f"no robots policy of the name {view.robots_policy!r}")
    if not policy.rules and view.fetch_robots == "unless_ignored":
        return None
    by_rfc = view.robots_standard == "rfc9309"
    if _is_wanted(server, view, now_ms, by_rfc):
        return Prerequisite(f"{curi.scheme}://{curi.authority}{robots.PATH}")
    if by_rfc and not (policy.rules and obey):
        return None
    if not server.robots_valid:
        return Stop(status.ROBOTS_PREREQUISITE_FAILURE, "robots.txt prerequisite failed")
    if not (policy.rules and obey) or robots.allowed(server, curi.uri, agent, view.robots_standard):
        return None
    if view.calculate_robots_only:
        return "robotExcluded"
    return Stop(status.ROBOTS_PRECLUDED, "robots.txt exclusion")


def _is_wanted(server: Server, view: Any, now_ms: int, by_rfc: bool) -> bool:
    """Whether robots.txt has to be fetched. A server that could not be reached is asked again after the retry
    delay (RFC 9309): one bad hour must not cost its pages a day."""
    if server.robots_fetched_ms == NEVER:
        return True
    seconds = view.robots_validity_duration_seconds
    if by_rfc and not server.robots_valid:
        seconds = view.retry_delay_seconds
    elif not seconds:
        return False
    expired: bool = server.robots_fetched_ms + seconds * 1000 < now_ms
    return expired


def _login(
    curi: CrawlURI,
    key: str,
    credentials: Sequence[FormCredential],
    logged_in: Callable[[str, FormCredential], bool] | None,
    flagged: bool,
    *,
    everywhere: bool,
) -> Prerequisite | FormCredential | None:
    """The login to make first, or the one that this URI makes, or None.

    ``everywhere``: a URI that is a prerequisite already may be a login too; in Heritrix it is not, so that a
    login asked for is never made.
    """
    if flagged and not everywhere:
        return None
    for credential in credentials:
        if not credential.login_uri:
            continue
        login_uri = credential.login_uri
        if login_uri.startswith("/"):
            login_uri = f"{curi.scheme}://{curi.authority}{login_uri}"
        if curi.uri == login_uri:
            return credential
        if flagged or credential.domain.lower() != key.lower():
            continue
        if logged_in is not None and logged_in(key, credential):
            continue
        return Prerequisite(login_uri)
    return None


def mark(curi: CrawlURI, decision: Decision) -> None:
    """Write a decision onto its CrawlURI; what is deferred or stopped has its status then."""
    if isinstance(decision, Proceed):
        curi.server_ip = decision.address
        curi.is_prerequisite = curi.is_prerequisite or decision.prerequisite
        if decision.annotation is not None:
            curi.annotate(decision.annotation)
        if decision.login is not None:
            curi.method = "POST"
    elif isinstance(decision, Prerequisite):
        curi.status = status.DEFERRED
        curi.prerequisite = decision.uri
        curi.deferral = "prerequisite"
    else:
        curi.status = decision.status
        curi.error_text = decision.error_text
