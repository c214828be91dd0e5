"""Which of a page's links, and of what it needs first, become URIs of the crawl?

The candidate step (Heritrix: CandidatesProcessor): the gate by status, which links to follow, promotion of a
seed's redirect, the scope, preparation. Nothing is stored here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.crawluri import MEDIUM, NORMAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.frontier.prepare import Plan, Preparer
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink

logger = logging.getLogger(__name__)

#: A redirect is promoted to a seed only this close to its seed.
MAX_PROMOTED_HOPS = 5
#: Links remembered as seen: 3 MB.
KNOWN = 16_384


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
    it; ``unseen``: canonical form → its row among the seen, or None when it is there already."""

    def __init__(
        self,
        decide: Callable[[CrawlURI], bool],
        settings: SettingsSource,
        preparer: Preparer,
        unseen: Callable[[str], bytes | None],
    ) -> None:
        self._decide = decide
        self._settings = settings
        self._for_uri = settings.for_uri
        self._preparer = preparer
        self._prepare = preparer.prepare
        self._unseen = unseen
        #: Whether the links of a URI are looked at; None: always (``HERITRIX_CANDIDATES_SHOULD_PROCESS_RULE``).
        self.gate: Callable[[CrawlURI], bool] | None = None
        self.rejected = 0
        self.repeated = 0
        #: The short way of ordinary links, which queues them itself: False when the scope refuses one, None when it is
        #: not ordinary.
        self.plain: Callable[[CrawlURI, Outlink, str, bytes, Plan], bool | None] | None = None
        #: Links met lately that are among the seen: the pages of a site share most of theirs, and the key and the
        #: store's answer cost ten times as much as looking here.
        self._known: set[str] = set()

    def judge(self, parent: CrawlURI) -> Iterator[tuple[CrawlURI, bytes | None]]:
        """The prepared candidates that the links of a fetched URI make, in their order, but for those that ``plain``
        took. With each the row that its canonical form will have among the seen, when it is known not to be there.

        Where one View holds for all URIs, a link that has been seen is dropped at once: half of all links are,
        and it costs a tenth of what the scope and the rest cost.
        """
        links = parent.outlinks
        view = parent.settings
        if not links or not outlinks_wanted(parent.status, process_error_outlinks=view.process_error_outlinks):
            return
        if self.gate is not None and not self.gate(parent):
            return
        follow = FOLLOW[view.follow]
        for_uri, decide, prepare, unseen = self._for_uri, self._decide, self._prepare, self._unseen
        promotes = redirects_promote(parent)
        # a log of the scope has a line for each link, known or not
        uniform = self._settings.uniform and not (view.scope_log_to_file or view.candidate_scoper_log_to_file)
        known = self._known
        plan = self._preparer.plan(view)
        canonicalise, plain = plan.canonicalise, self.plain
        canonical = row = None
        posts = parent.outlink_posts
        for link in links:
            hop = link.hop
            is_form = posts is not None and link in posts
            if follow is not follow_all and not is_form and not follow(parent, link):
                continue
            if uniform and hop != hops.REFER and not is_form:
                if link.uri in known:
                    self.repeated += 1
                    continue
                canonical = canonicalise(link.uri)
                row = unseen(canonical)
                if row is None:
                    if len(known) >= KNOWN:
                        known.clear()
                    known.add(link.uri)
                    self.repeated += 1
                    continue
                taken = None if plain is None else plain(parent, link, canonical, row, plan)
                if taken is not None:
                    self.rejected += not taken
                    continue
            else:
                canonical = row = None
            child = parent.child(link)
            if promotes and hop == hops.REFER:
                child.seed = may_be_promoted(child, view)
            try:
                child.settings = for_uri(child)
                if not decide(child):
                    self.rejected += 1
                    continue
                prepare(child, canonical)
            except Exception as error:
                logger.exception("%s could not be judged", child.uri)
                parent.errors.append((f"judging {child.uri}", error))
                self.rejected += 1
                continue
            if child.seed:
                promote(child)
            yield child, row

    def take_counts(self) -> tuple[int, int]:
        """How many the scope refused, and how many were seen before, since the last call."""
        counts = self.rejected, self.repeated
        self.rejected = self.repeated = 0
        return counts

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
