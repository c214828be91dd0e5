"""Which extractors look at a URI, in which order, and what remains of it on the CrawlURI?

The configured extractors run one after the other over one Document. What one of them throws is noted and the next
one runs (Heritrix: Extractor.innerProcess, CrawlURI.linkExtractorFinished).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.css import ExtractorCSS
from heritrix_scrapy.extract.document import Document, TooLong
from heritrix_scrapy.extract.extractor import ContentExtractor, Extractor
from heritrix_scrapy.extract.forms import ExtractorHTMLForms
from heritrix_scrapy.extract.html import AggressiveExtractorHTML, ExtractorHTML, JerichoExtractorHTML
from heritrix_scrapy.extract.http import ExtractorHTTP
from heritrix_scrapy.extract.javascript import ConfigurableExtractorJS, ExtractorJS, KnowledgableExtractorJS
from heritrix_scrapy.extract.json import ExtractorJson
from heritrix_scrapy.extract.manifest import ExtractorManifest
from heritrix_scrapy.extract.misses import GUESS, Misses
from heritrix_scrapy.extract.multiple_regex import ExtractorMultipleRegex
from heritrix_scrapy.extract.office import ExtractorDOC, ExtractorOffice
from heritrix_scrapy.extract.pdf import ExtractorPDF, ExtractorPDFContent
from heritrix_scrapy.extract.robots_txt import ExtractorRobotsTxt
from heritrix_scrapy.extract.sitemap import ExtractorSitemap
from heritrix_scrapy.extract.swf import ExtractorSWF
from heritrix_scrapy.extract.trap import TrapSuppressExtractor
from heritrix_scrapy.extract.universal import ExtractorUniversal
from heritrix_scrapy.extract.uris import ExtractorImpliedURI, ExtractorURI
from heritrix_scrapy.extract.ways import option
from heritrix_scrapy.extract.xml import ExtractorXML
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hops import SPECULATIVE
from heritrix_scrapy.settings.defaults import EXTRACTORS as DEFAULT_ORDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.extract.extractor import OwnExtractor
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

SETTING = "HERITRIX_EXTRACTORS"

#: What the extractors change on a CrawlURI.
CHANGED = (
    "outlinks",
    "found",
    "outlink_annotations",
    "forms",
    "meta_robots",
    "discarded_outlinks",
    "link_errors",
    "base",
    "extracted",
    "annotations",
    "charset",
    "heritable",
    "errors",
)

#: Heritrix's extractors that are built. One module and one row each.
EXTRACTORS: dict[str, type[Extractor]] = {
    kind.__name__: kind
    for kind in (
        ExtractorHTTP,
        ExtractorRobotsTxt,
        ExtractorSitemap,
        ExtractorHTML,
        AggressiveExtractorHTML,
        JerichoExtractorHTML,
        ExtractorHTMLForms,
        ExtractorCSS,
        ExtractorJS,
        ConfigurableExtractorJS,
        KnowledgableExtractorJS,
        ExtractorSWF,
        ExtractorPDF,
        ExtractorPDFContent,
        ExtractorDOC,
        ExtractorOffice,
        ExtractorXML,
        ExtractorJson,
        ExtractorManifest,
        ExtractorUniversal,
        ExtractorURI,
        ExtractorImpliedURI,
        ExtractorMultipleRegex,
        TrapSuppressExtractor,
    )
}

#: Heritrix's extractors that are known by name and have no part here; naming one is no mistake.
NOT_BUILT: frozenset[str] = frozenset()

#: Names of Heritrix's that are no extractors here, and what to do in their place.
REFUSED: dict[str, str] = {
    "ExtractorYoutubeDL": "it has a program of its own fetch past the crawl's politeness, robots.txt and WARCs; have a "
    "step of HERITRIX_STEPS or an item pipeline call that program",
    "HTTPContentDigest": "it finds no links; name heritrix_scrapy.archive.content_digest.HTTPContentDigest in "
    "HERITRIX_STEPS, at after_fetch",
}


class _Entry:
    """One extractor in the order, with the gate the operator put before it."""

    __slots__ = ("claims", "enabled", "extractor", "gate", "name", "wants")

    def __init__(
        self,
        name: str,
        extractor: Extractor | OwnExtractor,
        gate: Callable[[CrawlURI], bool] | None,
        *,
        enabled: bool = True,
    ) -> None:
        self.name = name
        self.extractor = extractor
        self.gate = gate
        self.enabled = enabled
        self.claims = bool(getattr(extractor, "claims", False))
        if isinstance(extractor, Extractor):
            self.wants: Callable[[Document], bool] = extractor.wants
        else:
            own = extractor
            self.wants = lambda document: own.applies(document.curi)


class Extraction:
    """The extractors of a crawl in their order.

    ``entries``: as in HERITRIX_EXTRACTORS: names, dotted paths, ``[name, {property: value}]``, or objects.
    ``load``: makes the object a dotted path names. ``gate``: makes a test of a URI out of the value of a
    ``should_process`` property. ``count``: adds to a statistic. ``misses``: counts
    the answers to guesses. Raises ConfigurationError for what is no extractor.
    """

    def __init__(
        self,
        entries: Iterable[Any] = DEFAULT_ORDER,
        *,
        load: Callable[[str, Mapping[str, Any]], OwnExtractor] | None = None,
        gate: Callable[[Any], Callable[[CrawlURI], bool]] | None = None,
        count: Callable[[str, int], object] | None = None,
        misses: Misses | None = None,
    ) -> None:
        self._count = count
        self._load = load
        self._gate = gate
        #: Which hosts refuse guesses; shared where sheets make several orders of one crawl.
        self.misses = Misses() if misses is None else misses
        #: Guesses from scripts that were not made, because their host had refused so many.
        self.suppressed = 0
        self._entries: list[_Entry] = []
        skipped: list[str] = []
        for entry in entries:
            name, properties = self._parts(entry)
            if isinstance(name, str) and name in REFUSED:
                raise ConfigurationError(SETTING, entry, REFUSED[name])
            if isinstance(name, str) and name in NOT_BUILT:
                skipped.append(name)
            else:
                self._entries.append(self._make(name, properties))
        scripts = next((e.extractor for e in self._entries if isinstance(e.extractor, ExtractorJS)), None)
        for entry in self._entries:
            if isinstance(entry.extractor, (ExtractorHTML, ExtractorSWF)):
                entry.extractor.scripts = scripts
        if any(isinstance(entry.extractor, JerichoExtractorHTML) for entry in self._entries):
            logger.info("%s: JerichoExtractorHTML is read as ExtractorHTML; there is one reader of pages", SETTING)
        if skipped:
            logger.info("%s: not available in this version, left out: %s", SETTING, ", ".join(skipped))

    @property
    def names(self) -> list[str]:
        """The extractors that run, in order."""
        return [entry.name for entry in self._entries]

    @staticmethod
    def _parts(entry: Any) -> tuple[Any, dict[str, Any]]:
        if isinstance(entry, (list, tuple)):
            if len(entry) == 1:
                return entry[0], {}
            if len(entry) == 2 and isinstance(entry[1], Mapping):
                return entry[0], dict(entry[1])
            raise ConfigurationError(SETTING, entry, "expected a name or [name, {property: value}]")
        return entry, {}

    def _make(self, name: Any, properties: dict[str, Any]) -> _Entry:
        properties.pop("id", None)
        enabled = bool(properties.pop("enabled", True))
        gate = self._gate_of(name, properties.pop("should_process", None))
        if not isinstance(name, str):
            own = name() if isinstance(name, type) else name
        elif name in EXTRACTORS:
            kind = EXTRACTORS[name]
            unknown = sorted(set(properties) - kind.options - set(kind.own))
            if unknown:
                known = ", ".join(sorted(kind.options | set(kind.own)))
                raise ConfigurationError(SETTING, [name, properties], f"no property {unknown[0]}; known are {known}")
            return _Entry(name, kind(properties), gate, enabled=enabled)
        elif "." in name and self._load is not None:
            own = self._load(name, properties)
        else:
            known = ", ".join(sorted(EXTRACTORS))
            raise ConfigurationError(SETTING, name, f"no such extractor; known are {known}, and dotted paths")
        if not isinstance(own, Extractor) and not (
            callable(getattr(own, "applies", None)) and callable(getattr(own, "extract", None))
        ):
            raise ConfigurationError(SETTING, name, "an extractor has applies(curi) and extract(document)")
        return _Entry(type(own).__name__, own, gate, enabled=enabled)

    def _gate_of(self, name: Any, value: Any) -> Callable[[CrawlURI], bool] | None:
        if value is None:
            return None
        if self._gate is not None:
            return self._gate(value)
        if callable(value):
            test: Callable[[CrawlURI], bool] = value
            return test
        raise ConfigurationError(SETTING, [name, {"should_process": value}], "expected a rule")

    @property
    def closed_hosts(self) -> int:
        """How many hosts refused so many guesses that no more are made for them."""
        return self.misses.closed

    def is_hopeless(self, curi: CrawlURI, settings: Any) -> bool:
        """Whether a URI is a guess at a host that refused so many that it need not be fetched."""
        limit = option(settings, "speculative_misses")
        return bool(limit) and curi.path.endswith(SPECULATIVE) and self.misses.is_closed(curi.host, limit)

    def extract(self, curi: CrawlURI, settings: Any, patience: float = 0.0) -> bool:
        """Run the extractors over a fetched URI.

        ``settings``: the View that holds for it. Fills ``outlinks``, ``base``, ``extracted``, ``charset``,
        ``discarded_outlinks``, ``link_errors``, annotations and ``errors``. ``patience``: seconds of processor time
        after which it gives up; then the CrawlURI is as it was, and the result False.
        """
        if curi.status <= 0:
            return True
        self.note(curi)
        if not patience:
            self.read(Document(curi, settings))
            return True
        before = [copy(getattr(curi, name)) for name in CHANGED]
        try:
            self.read(Document(curi, settings, patience=patience))
        except TooLong:
            for name, value in zip(CHANGED, before, strict=True):
                setattr(curi, name, value)
            return False
        return True

    def reads(self, curi: CrawlURI, settings: Any) -> bool:
        """Whether any extractor would read the body of a document."""
        document = Document(curi, settings)
        return any(
            entry.enabled and isinstance(entry.extractor, ContentExtractor) and entry.wants(document)
            for entry in self._entries
        )

    def note(self, curi: CrawlURI) -> None:
        """Count the answer to a guess."""
        if curi.via_context == GUESS:
            self.misses.note(curi)

    def read(self, document: Document, after: Callable[[str, Document], None] | None = None) -> None:
        """The same over a Document that the caller made. ``after``: called with the name of each extractor that has
        read it."""
        curi = document.curi
        found = curi.found = {}
        for entry in self._entries:
            if not entry.enabled or (entry.gate is not None and not entry.gate(curi)):
                continue
            try:
                if not entry.wants(document):
                    continue
                before = document.taken
                found.setdefault(entry.name, 0)
                for link in entry.extractor.extract(document) or ():
                    document.add(link)
                found[entry.name] += document.taken - before
            except Exception as error:
                curi.annotate(f"err={type(error).__module__}.{type(error).__qualname__}")
                curi.errors.append((entry.name, error))
                continue
            if entry.claims:
                document.claim()
            if after is not None:
                after(entry.name, document)
        self.settle(document)

    def settle(self, document: Document) -> None:
        """Put what was found so far on the CrawlURI."""
        curi = document.curi
        if curi.recorder is not None and curi.uri.startswith("http"):
            # what the links were read with, named or not, stands in the metadata record
            curi.charset = document.charset
        curi.outlinks = list(document.links)
        curi.outlink_annotations = document.annotations or None
        curi.discarded_outlinks = document.discarded
        curi.meta_robots = document.meta_robots
        self.drop_hopeless(curi, document.settings)

    def drop_hopeless(self, curi: CrawlURI, settings: Any) -> None:
        """Take guesses at hosts that refuse them out of the links."""
        limit = option(settings, "speculative_misses")
        if limit:
            kept = self.misses.without(curi.outlinks, limit)
            held_back = len(curi.outlinks) - len(kept)
            self.suppressed += held_back
            if held_back and self._count is not None:
                self._count("extract/guesses_held_back", held_back)
            curi.outlinks = kept
