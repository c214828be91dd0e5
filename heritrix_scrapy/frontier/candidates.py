"""Which of a page's links, and of what it needs first, become URIs of the crawl?

The candidate step (Heritrix: CandidatesProcessor): the gate by status, which links to follow, promotion of a
seed's redirect, the scope, preparation. Nothing is stored here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.crawluri import MEDIUM, NORMAL
from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.frontier.mapper import Diverter
    from heritrix_scrapy.frontier.prepare import Plan, Preparer
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink

    #: Links with their canonical forms and rows among the seen, where these are known.
    Sifted = Generator[tuple[Outlink, str | None, bytes | None], None, None]

logger = logging.getLogger(__name__)

#: A redirect is promoted to a seed only this close to its seed.
MAX_PROMOTED_HOPS = 5
#: So many redirects in a row may lead back to where they came from.
MAX_BACK = 3


def outlinks_wanted(code: int, *, process_error_outlinks: bool) -> bool:
    """Whether the links of a URI with this status are looked at at all."""
    return process_error_outlinks or 200 <= code < 400


def follow_all(parent: CrawlURI, link: Outlink) -> bool:
    """``HERITRIX_FOLLOW = "all"``: the scope alone decides."""
    return True


def follow_none(parent: CrawlURI, link: Outlink) -> bool:
    """``HERITRIX_FOLLOW = "none"``: only what the spider asks for."""
    return False


_UNASKED = (hops.NAVLINK, hops.SUBMIT, hops.MANIFEST)
#: Kinds of documents whose guesses belong to the page that embeds them.
_OWN_GUESSES = ("text/css", "javascript", "ecmascript", "text/html", "application/xhtml+xml")


def follow_embeds(parent: CrawlURI, link: Outlink) -> bool:
    """``HERITRIX_FOLLOW = "embeds"``: what a reader's browser would load with the page.

    E and I (its icon) always; R unless the URI was reached by a link that nobody asked for; X from the page
    itself, its style sheets and scripts. Never L, M and S.
    """
    hop = link.hop
    if hop in (hops.EMBED, hops.INFERRED):
        return True
    if hop == hops.REFER:
        return parent.spider_request or parent.seed or parent.path[-1:] not in _UNASKED
    if hop == hops.SPECULATIVE:
        return any(kind in parent.content_type for kind in _OWN_GUESSES)
    return False


FOLLOW: dict[str, Callable[[CrawlURI, Outlink], bool]] = {
    "all": follow_all,
    "embeds": follow_embeds,
    "none": follow_none,
}


class Candidates:
    """Judges candidates. ``decide``: whether the scope accepts one; ``settings``: for the settings that hold for
    it; ``sift``: the short way of the many ordinary links, see ``plain``; None: all go the general one."""

    def __init__(
        self,
        decide: Callable[[CrawlURI], bool],
        settings: SettingsSource,
        preparer: Preparer,
        sift: Callable[[CrawlURI, Iterable[Outlink], Plan], Sifted] | None = None,
    ) -> None:
        self._decide = decide
        self._settings = settings
        self._for_uri = settings.for_uri
        self._preparer = preparer
        self._prepare = preparer.prepare
        self._sift = sift
        #: Whether the links of a URI are looked at; None: always (``HERITRIX_CANDIDATES_SHOULD_PROCESS_RULE``).
        self.gate: Callable[[CrawlURI], bool] | None = None
        #: Whether a quota refuses a candidate (``HERITRIX_QUOTAS`` with ``at`` candidate).
        self.limited: Callable[[CrawlURI], bool] | None = None
        #: Sends to other crawlers what is theirs (``HERITRIX_CRAWL_MAPPER``).
        self.diverter: Diverter | None = None
        self.rejected = 0

    def judge(self, parent: CrawlURI) -> Generator[tuple[CrawlURI, bytes | None], None, None]:
        """The prepared candidates that the links of a fetched URI make, in their order, but for those that ``sift``
        took. With each the row that its canonical form will have among the seen, when it is known not to be there.

        Where one View holds for all URIs, a link that has been seen is dropped at once: half of all links are,
        and it costs a tenth of what the scope and the rest cost.
        """
        view = parent.settings
        if not parent.outlinks or not outlinks_wanted(
            parent.status, process_error_outlinks=view.process_error_outlinks
        ):
            return
        if self.gate is not None and not self.gate(parent):
            return
        follow = FOLLOW[view.follow]
        links: Iterable[Outlink] = parent.outlinks
        # forms that are sent: followed in any case, and past the seen filter
        posts = parent.outlink_posts
        if follow is not follow_all:
            links = [link for link in links if (posts is not None and link in posts) or follow(parent, link)]
        for_uri, decide, prepare, diverter = self._for_uri, self._decide, self._prepare, self.diverter
        promotes = redirects_promote(parent)
        # a log of the scope has a line for each link, known or not; a quota looks at each
        logs_each = view.scope_log_to_file or view.candidate_scoper_log_to_file
        if (
            self._sift is not None
            and self._settings.uniform
            and not logs_each
            and posts is None
            and self.limited is None
        ):
            judged: Sifted = self._sift(parent, links, self._preparer.plan(view))
        else:
            judged = ((link, None, None) for link in links)
        try:
            for link, canonical, row in judged:
                child = parent.child(link)
                if link.hop == hops.REFER:
                    if promotes:
                        child.seed = may_be_promoted(child, view)
                    if comes_back(parent, child):
                        child.forced = True
                try:
                    child.settings = for_uri(child)
                    if diverter is not None and diverter.divert_outlink(child):
                        continue
                    if not decide(child):
                        self.rejected += 1
                        continue
                    prepare(child, canonical)
                    if self.limited is not None and self.limited(child):
                        self.rejected += 1
                        continue
                    if diverter is not None and diverter.divert(child) is not None:
                        continue
                except StorageFull:
                    raise
                except Exception as error:
                    logger.exception("%s could not be judged", child.uri)
                    parent.errors.append((f"judging {child.uri}", error))
                    self.rejected += 1
                    continue
                if child.seed:
                    promote(child)
                yield child, row
        finally:
            judged.close()

    def take_rejected(self) -> int:
        """How many the scope refused since the last call."""
        rejected, self.rejected = self.rejected, 0
        return rejected

    def prerequisite(self, parent: CrawlURI) -> CrawlURI | None:
        """What ``parent`` waits for, prepared; None, and the parent's status -63, when the scope refuses it."""
        assert parent.prerequisite is not None
        child = mark_prerequisite(parent, parent.prerequisite)
        try:
            child.settings = self._for_uri(child)
            if self._decide(child):
                self._prepare(child)
                if parent.is_prerequisite and parent.settings.profile != "heritrix":
                    # what a prerequisite needs waits before it, wherever its own host's queue is
                    child.class_key = parent.class_key
                return child
        except Exception as error:
            logger.exception("%s could not be judged", child.uri)
            parent.errors.append((f"judging {child.uri}", error))
        parent.status = status.PREREQUISITE_UNSCHEDULABLE
        return None

    def prepare(self, curi: CrawlURI) -> None:
        """Prepare a URI that the scope is not asked about: a seed, an import, a spider's Request."""
        curi.settings = self._for_uri(curi)
        self._prepare(curi)


def mark_prerequisite(parent: CrawlURI, uri: str) -> CrawlURI:
    """Have ``parent`` wait for ``uri``; returns the URI to be fetched first (Heritrix: CrawlURI.markPrerequisite)."""
    parent.prerequisite = uri
    parent.status = status.DEFERRED
    parent.deferrals += 1
    return parent.prerequisite_child(uri)


def comes_back(parent: CrawlURI, child: CrawlURI) -> bool:
    """Whether a redirect leads back to a page that will answer another way now, since it gave a cookie: to the URI
    itself, or to the one that led to it. Once, so that a server that gives cookies without end is no trap. Heritrix
    takes such a page for known, and never has more of it than the redirect."""
    if parent.settings.profile == "heritrix" or parent.settings.ignore_cookies or parent.header(b"set-cookie") is None:
        return False
    redirected = parent.path.endswith(hops.REFER)
    if child.uri == parent.uri:
        return not redirected or parent.via != parent.uri
    return redirected and child.uri == parent.via and not parent.path.endswith(hops.REFER * MAX_BACK)


def redirects_promote(parent: CrawlURI) -> bool:
    """Whether where this URI redirects to becomes a seed, as it is one (Heritrix: CandidatesProcessor)."""
    wanted: bool = parent.settings.seeds_redirect_new_seeds
    return parent.seed and wanted and hops.length(parent.path) + 1 < MAX_PROMOTED_HOPS


def may_be_promoted(child: CrawlURI, view: Any) -> bool:
    """Whether a redirect's target may become a seed: where that is asked for, not a top-level domain itself."""
    if view.seeds_redirect_new_seeds_allow_tlds:
        return True
    # the list behind it costs half a second to load, and hardly any crawl asks
    from heritrix_scrapy.uri.domain import public_suffixes

    return not public_suffixes().is_top(child.host)


def promote(child: CrawlURI) -> None:
    """Give the target of a seed's redirect what a seed has; forced, as it may be known already."""
    if child.directive == NORMAL:
        child.directive = MEDIUM
    child.forced = True
