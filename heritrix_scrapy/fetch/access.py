"""What do answers say about who may fetch what, and what does the next request tell the server?

One object a crawl. The chain shows it each exchange before the extractors run (``exchanged``) and after
(``extracted``): robots.txt, challenges, logins. The middleware asks it for the Authorization of a request, the
frontier for what a URI is fetched with by POST.
"""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.utils.misc import build_from_crawler, load_object

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch import authentication, credentials
from heritrix_scrapy.fetch.robots import followed_redirect, note_robots
from heritrix_scrapy.fetch.robots_policy import Policies
from heritrix_scrapy.fetch.robots_tag import says_nofollow, says_noindex
from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.crawluri import path_query_of
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.model.logins import login_of
from heritrix_scrapy.settings import settings_of, views

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from heritrix_scrapy.fetch.credentials import Credential, FormCredential
    from heritrix_scrapy.model.challenge import Challenge
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Server
    from heritrix_scrapy.model.post import Post

logger = logging.getLogger(__name__)


class Access:
    """See the module."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self.policies = Policies(load_object, lambda cls: build_from_crawler(cls, crawler))
        self._read: dict[int, tuple[Any, tuple[Credential, ...]]] = {}
        #: Logins that were refused in this process: (server key, address).
        self._refused: set[tuple[str, str]] = set()
        self._crawl.submission = self.submission
        # what cannot be ends the start, not a fetch
        self._test_settings(self._settings)
        self._crawl.settings_tests.append(self._test_settings)

    def _test_settings(self, settings: Any) -> None:
        """Raises ConfigurationError for credentials and robots policies that cannot be."""
        for view in views(settings):
            self.credentials(view)
            self.policies.check(view)

    # -- credentials ---------------------------------------------------------------------------------------

    def credentials(self, view: Any) -> tuple[Credential, ...]:
        """The credentials that hold for a URI. Raises ConfigurationError."""
        listed = view.credentials
        if not listed:
            return ()
        known = self._read.get(id(listed))
        if known is None:
            known = self._read[id(listed)] = (listed, credentials.read(listed))
        return known[1]

    def forms(self, view: Any) -> list[FormCredential]:
        """The login forms that hold for a URI."""
        return credentials.forms(self.credentials(view))

    def has_logged_in(self, key: str, credential: FormCredential) -> bool:
        """Whether a server took that form before."""
        return credential.login_uri in self._crawl.hosts.server(key).logins

    def has_failed(self, key: str, credential: FormCredential) -> bool:
        """Whether it refused it."""
        return (key.lower(), credential.login_uri) in self._refused

    def submission(self, curi: CrawlURI) -> Post | None:
        """What the URI is fetched with by POST; None for a GET."""
        view = self._settings.for_uri(curi)
        if curi.post is not None:
            return curi.post
        heritrix = view.profile == "heritrix"
        if heritrix and curi.is_prerequisite:
            # Heritrix: a login asked for as a prerequisite goes out without its form
            return None
        credential = self._login_at(curi, view)
        return None if credential is None else credential.post(heritrix=heritrix)

    def _login_at(self, curi: CrawlURI, view: Any) -> FormCredential | None:
        heritrix = view.profile == "heritrix"
        if not view.credentials or not curi.uri.startswith("http"):
            return None
        key = server_key(curi.uri)
        for credential in self.forms(view):
            if not credentials.is_at(credential, curi.uri, key, heritrix=heritrix):
                continue
            if heritrix or not (self._logged_in_anywhere(credential)):
                return credential
        return None

    def _logged_in_anywhere(self, credential: FormCredential) -> bool:
        return any(
            self.has_logged_in(key, credential) for key in (credential.domain.lower(), f"{credential.domain}:443")
        )

    # -- before a request ----------------------------------------------------------------------------------

    def authorization(self, curi: CrawlURI, method: str) -> str | None:
        """The Authorization that a request shows, or None. Only what belongs to the URI's own server is told."""
        view = self._settings.for_uri(curi)
        curi.shown = None
        heritrix = view.profile == "heritrix"
        if not curi.uri.startswith("http"):
            return None
        if not heritrix and curi.trying is None and (login := login_of(curi)) is not None:
            return authentication.basic(*login)
        if not view.credentials:
            return None
        key = server_key(curi.uri)
        server = self._crawl.hosts.server(key)
        challenge = curi.trying
        if challenge is None:
            # Heritrix keeps no state of Digest: each URI is asked anew
            known = [one for one in server.challenges if one.scheme == "basic" or not heritrix]
            challenge = _nearest(known)
        if challenge is None:
            return None
        credential = credentials.for_realm(self.credentials(view), key, challenge.realm, heritrix=heritrix)
        if credential is None:
            return None
        curi.shown = challenge
        if challenge.scheme == "basic":
            return authentication.basic(credential.login, credential.password)
        challenge.count += 1
        self._crawl.hosts.server_changed(key)
        return authentication.digest(
            challenge,
            credential.login,
            credential.password,
            method=method,
            target=path_query_of(curi.uri.partition("://")[2]),
            cnonce=secrets.token_hex(8),
        )

    # -- after an exchange ---------------------------------------------------------------------------------

    def exchanged(self, curi: CrawlURI) -> None:
        """An attempt has ended, with an answer or without."""
        view = self._settings.for_uri(curi)
        crawl = self._crawl
        if view.credentials and curi.uri.startswith("http"):
            self._note_login(curi, view)
            self._note_credential(curi, view)
        note_robots(crawl.hosts, curi, crawl.clock.now_ms(), view, self.policies)

    def extracted(self, curi: CrawlURI) -> None:
        """The extractors have run."""
        view = self._settings.for_uri(curi)
        if not curi.outlinks:
            return
        if view.robots_standard == "rfc9309":
            link = followed_redirect(self._crawl.hosts, curi)
            if link is not None:
                curi.outlinks = [other for other in curi.outlinks if other is not link]
        if view.max_redirects and is_too_far(curi, view.max_redirects):
            curi.outlinks = [link for link in curi.outlinks if link.hop != hops.REFER]
            curi.annotate("tooManyRedirects")
            self._crawl.add_stats({"redirects/given_up": 1})
        if view.obey_x_robots_tag and says_nofollow(curi, view) and self.policies.of(view).obey_meta_robots_nofollow:
            kept = [link for link in curi.outlinks if link.context in FROM_THE_HEAD]
            if len(kept) < len(curi.outlinks):
                curi.outlinks = kept
                curi.annotate("xRobotsNofollow")
                self._crawl.add_stats({"robots/nofollow_headers": 1})

    def may_be_kept(self, curi: CrawlURI) -> bool:
        """Whether a document is archived: not one that says ``noindex``, where the operator heeds that."""
        view = self._settings.for_uri(curi)
        if view.archive_noindex or not says_noindex(curi, view):
            return True
        curi.annotate("noindex")
        self._crawl.add_stats({"robots/noindex": 1})
        return False

    def _note_login(self, curi: CrawlURI, view: Any) -> None:
        """Whether a login form was taken. Heritrix takes any answer for a yes."""
        if curi.method != "POST" or curi.post is not None:
            return
        credential = self._login_at(curi, view)
        if credential is None:
            return
        heritrix = view.profile == "heritrix"
        if curi.status > 0 and (heritrix or curi.status < 400):
            for key in {credential.domain.lower(), server_key(curi.uri)}:
                if key == credential.domain.lower() or credentials.belongs(credential, key, heritrix=heritrix):
                    server = self._crawl.hosts.server(key)
                    if credential.login_uri not in server.logins:
                        server.logins.append(credential.login_uri)
                        self._crawl.hosts.server_changed(key)
                    self._refused.discard((key, credential.login_uri))
            self._crawl.add_stats({"credentials/logins": 1})
        elif not heritrix and (
            not status.wants_retry(curi.status) or curi.attempts + 1 >= view.max_retries or curi.status > 0
        ):
            domain = credential.domain.lower()
            self._refused.update(((domain, credential.login_uri), (f"{domain}:443", credential.login_uri)))
            self._crawl.add_stats({"credentials/failed_logins": 1})
            logger.warning("the login at %s failed (%s): what needs it ends as -62", curi.uri, curi.status)

    def _note_credential(self, curi: CrawlURI, view: Any) -> None:
        """401 and what a credential came to (Heritrix: FetchHTTP.handle401, promoteCredentials)."""
        trying = curi.trying
        if curi.status != 401:
            if trying is not None and curi.status > 0:
                self._promote(curi, trying)
                curi.trying = None
            return
        heritrix = view.profile == "heritrix"
        key = server_key(curi.uri)
        values = [value.decode("latin-1") for name, value in curi.headers if name.lower() == b"www-authenticate"]
        asked = authentication.answerable(authentication.challenges(values))
        curi.credential_pending = False
        if asked is None:
            return
        stale = authentication.is_stale(asked)
        if (
            trying is not None
            and (trying.realm == asked.realm or heritrix)
            and not (stale and not heritrix and not authentication.is_stale(trying))
        ):
            curi.trying = None
            self._crawl.add_stats({"credentials/refused": 1})
            logger.warning("the credential for %r was refused (401) at %s", asked.realm, curi.uri)
            return
        shown = curi.shown
        if (
            not heritrix
            and trying is None
            and shown is not None
            and shown.realm == asked.realm
            and (
                shown.scheme == "basic"
                or (not stale and shown.parameters.get("nonce") == asked.parameters.get("nonce"))
            )
        ):
            # it was told already, unasked
            return
        if credentials.for_realm(self.credentials(view), key, asked.realm, heritrix=heritrix) is None:
            return
        curi.trying = asked
        curi.credential_pending = True

    def _promote(self, curi: CrawlURI, challenge: Challenge) -> None:
        """A credential was taken: from now on it is shown unasked."""
        key = server_key(curi.uri)
        server: Server = self._crawl.hosts.server(key)
        server.challenges = [one for one in server.challenges if one.realm != challenge.realm][-7:]
        server.challenges.append(challenge)
        self._crawl.hosts.server_changed(key)
        self._crawl.add_stats({"credentials/accepted": 1})


def is_too_far(curi: CrawlURI, most: int) -> bool:
    """Whether a redirect was reached by so many in a row that its target is not fetched: a chain may be endless,
    though no address comes twice."""
    path = curi.path
    return path.endswith(hops.REFER) and len(path) - len(path.rstrip(hops.REFER)) >= most


#: Links that a head alone gives.
FROM_THE_HEAD = frozenset({"Location:", "Refresh:"})


def _nearest(known: list[Challenge]) -> Challenge | None:
    """The challenge that was answered last."""
    return known[-1] if known else None


_of: WeakKeyDictionary[Crawler, Access] = WeakKeyDictionary()


def access_of(crawler: Crawler) -> Access:
    """The Access of a crawler, made when first asked for. Raises ConfigurationError."""
    found = _of.get(crawler)
    if found is None:
        found = _of[crawler] = Access(crawler)
    return found
