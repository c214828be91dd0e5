"""What must come before this URI can be fetched: an address, the server's robots.txt, a login?

Plain decisions in Heritrix's order (PreconditionEnforcer.innerProcess); ``mark`` writes one onto the CrawlURI.
What look-ups and robots fetches found stands in ``model.hosts``; the ``dns:`` handler puts the former there,
``robots.note_robots`` the latter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.fetch import credentials as logins
from heritrix_scrapy.fetch import robots, whois
from heritrix_scrapy.fetch.addresses import is_private
from heritrix_scrapy.fetch.robots_rules import rules_of
from heritrix_scrapy.model import status
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.model.tally import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heritrix_scrapy.fetch.credentials import FormCredential
    from heritrix_scrapy.fetch.robots_policy import Policies
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Host, Hosts, Server


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


class Wait(NamedTuple):
    """Its server could not be asked for what it needs; ask again at ``until_ms``. ``error_text``: why, for those who
    cannot wait."""

    until_ms: int
    error_text: str


class Stop(NamedTuple):
    """It cannot be fetched; ``status`` is final."""

    status: int
    error_text: str | None = None


Decision = Proceed | Prerequisite | Wait | Stop

HTTP = ("http", "https")
#: Schemes whose host has to have an address; in the heritrix profile every one is.
LOOKED_UP = frozenset((*HTTP, "ftp", "whois", "sftp"))

#: Deferral of a URI that goes back to its place until its server may be asked again.
WAITING = "waiting"

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
    failed: Callable[[str, FormCredential], bool] | None = None,
    policies: Policies = robots.PLAIN,
    proxied: bool = False,
) -> Decision:
    """The decision for one URI at ``now_ms``.

    ``agent``: the User-Agent that robots.txt is read for; ``obey``: False reads no rules for this one URI,
    whatever the policy; ``logged_in(server key, credential)``: whether that login was made before; ``failed``:
    whether it was refused; ``proxied``: a proxy resolves the names that we cannot.
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
    if scheme not in LOOKED_UP and view.profile != "heritrix":
        return Proceed()  # the project's own handler knows what its scheme needs
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
    by_rfc = view.robots_standard == "rfc9309"
    if robots.is_robots(curi.uri) or (by_rfc and robots.is_redirected_robots(curi, hosts)):
        flagged = True
    else:
        verdict = _robots(curi, hosts.server(key), view, now_ms, agent, policies, obey=obey)
        if isinstance(verdict, (Prerequisite, Wait, Stop)):
            return verdict
        annotation = verdict
    login = _login(curi, key, credentials, logged_in, failed, flagged, heritrix=view.profile == "heritrix")
    if isinstance(login, (Prerequisite, Stop)):
        return login
    return Proceed(address, flagged or login is not None, annotation, login)


#: Schemes that only a setting lets a crawl fetch on its own.
BY_SETTING = {"ftp": "fetch_ftp", "whois": "fetch_whois"}


def is_wanted(curi: CrawlURI, view: Any) -> bool:
    """Whether a URI that no spider asked for may be fetched, as far as its scheme goes; what a ``whois:name`` needs
    is fetched with it."""
    setting = BY_SETTING.get(curi.scheme)
    return setting is None or curi.is_prerequisite or bool(getattr(view, setting))


def is_expired(host: Host, view: Any, now_ms: int) -> bool:
    """Whether a look-up has to be made: the setting is how long one holds at least, a longer TTL lengthens it."""
    if host.looked_up_ms == NEVER:
        return True
    if host.ttl == NEVER or not view.ip_validity_duration_seconds:
        return False
    held: int = max(view.ip_validity_duration_seconds, host.ttl) * 1000
    if not host.addresses and view.profile != "heritrix":
        # a name that is not there today may be there tomorrow: as long as its zone says, but no shorter than a retry
        held = min(held, max(view.retry_delay_seconds, host.ttl) * 1000)
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
    curi: CrawlURI, server: Server, view: Any, now_ms: int, agent: str, policies: Policies, *, obey: bool
) -> Prerequisite | Wait | Stop | str | None:
    """An annotation or None where robots.txt is no obstacle."""
    try:
        policy = policies.of(view)
    except ConfigurationError as error:
        return Stop(status.RUNTIME_EXCEPTION, str(error))
    if not policy.binds and view.fetch_robots == "unless_ignored":
        return None
    by_rfc = view.robots_standard == "rfc9309"
    missing = _missing(curi, server, view, now_ms) if by_rfc else _missing_as_heritrix(curi, server, view, now_ms)
    binds = policy.binds and obey
    if isinstance(missing, Prerequisite) or (missing is not None and (binds or not by_rfc)):
        return missing
    if missing is not None or not binds:
        return None
    if policy.allows(curi, agent, rules_of(server.robots, view.robots_standard)):
        return None
    if view.calculate_robots_only:
        return "robotExcluded"
    return Stop(status.ROBOTS_PRECLUDED, "robots.txt exclusion")


def _missing(curi: CrawlURI, server: Server, view: Any, now_ms: int) -> Prerequisite | Wait | Stop | None:
    """What robots.txt is wanted for before the URI; None when it is known. A server that cannot be reached is asked
    again after the retry delay (RFC 9309, 2.3.1.4): one bad minute must not cost its pages."""
    seconds = view.robots_validity_duration_seconds
    fetched = server.robots_fetched_ms
    if fetched != NEVER and server.robots_valid and not (seconds and fetched + seconds * 1000 < now_ms):
        return None
    if server.robots_from is not None:
        return Prerequisite(server.robots_from)
    if server.robots_tries and server.robots_again_ms > now_ms:
        # no longer than was meant, however the clock has been set meanwhile
        longest = max(int(view.retry_delay_seconds * 1000), server.pause_left(now_ms))
        server.robots_again_ms = min(server.robots_again_ms, now_ms + longest)
    if server.robots_tries and now_ms < server.robots_again_ms:
        if fetched != NEVER and not server.robots_valid:
            return Stop(status.ROBOTS_PREREQUISITE_FAILURE, "robots.txt prerequisite failed")
        return Wait(server.robots_again_ms, "robots.txt prerequisite failed")
    return Prerequisite(f"{curi.scheme}://{curi.authority}{robots.PATH}")


def _missing_as_heritrix(curi: CrawlURI, server: Server, view: Any, now_ms: int) -> Prerequisite | Stop | None:
    """The same, as Heritrix has it (CrawlServer.isRobotsExpired, isValidRobots)."""
    seconds = view.robots_validity_duration_seconds
    fetched = server.robots_fetched_ms
    if fetched == NEVER or (seconds and fetched + seconds * 1000 < now_ms):
        return Prerequisite(f"{curi.scheme}://{curi.authority}{robots.PATH}")
    if not server.robots_valid:
        return Stop(status.ROBOTS_PREREQUISITE_FAILURE, "robots.txt prerequisite failed")
    return None


def _login(
    curi: CrawlURI,
    key: str,
    credentials: Sequence[FormCredential],
    logged_in: Callable[[str, FormCredential], bool] | None,
    failed: Callable[[str, FormCredential], bool] | None,
    flagged: bool,
    *,
    heritrix: bool,
) -> Prerequisite | Stop | FormCredential | None:
    """The login to make first, or the one that this URI makes, or None.

    In Heritrix a URI that is a prerequisite already is no login, so that a login asked for is never made.
    """
    if flagged and heritrix:
        return None
    for credential in credentials:
        if not credential.login_uri:
            continue
        mine = logins.belongs(credential, key, heritrix=heritrix)
        done = mine and logged_in is not None and logged_in(key, credential)
        if logins.is_at(credential, curi.uri, key, heritrix=heritrix) and (heritrix or not done):
            return credential
        if flagged or not mine or done:
            continue
        if failed is not None and failed(key, credential):
            return Stop(status.OTHER_PREREQUISITE_FAILURE, "the login that it needs failed")
        address = credential.address(curi.uri)
        if address:
            return Prerequisite(address)
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
    elif isinstance(decision, Wait):
        curi.deferral = WAITING
        curi.wait_until_ms = decision.until_ms
        curi.error_text = decision.error_text
    else:
        curi.status = decision.status
        curi.error_text = decision.error_text
