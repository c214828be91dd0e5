"""Which extractors look at a URI, in which order, and what remains of it on the CrawlURI?

The configured extractors run one after the other over one Document. What one of them throws is noted and the next
one runs (Heritrix: Extractor.innerProcess, CrawlURI.linkExtractorFinished).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.css import ExtractorCSS
from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.extractor import Extractor
from heritrix_scrapy.extract.html import ExtractorHTML
from heritrix_scrapy.extract.http import ExtractorHTTP
from heritrix_scrapy.extract.javascript import ExtractorJS
from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.extract.extractor import OwnExtractor
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

SETTING = "HERITRIX_EXTRACTORS"

#: Heritrix's extractors that are built. One module and one row each.
EXTRACTORS: dict[str, type[Extractor]] = {
    "ExtractorHTTP": ExtractorHTTP,
    "ExtractorHTML": ExtractorHTML,
    "ExtractorCSS": ExtractorCSS,
    "ExtractorJS": ExtractorJS,
}

#: Heritrix's extractors that are known by name and have no part here; naming one is no mistake.
NOT_BUILT: frozenset[str] = frozenset(
    {
        "AggressiveExtractorHTML",
        "ConfigurableExtractorJS",
        "ExtractorDOC",
        "ExtractorHTMLForms",
        "ExtractorImpliedURI",
        "ExtractorJson",
        "ExtractorMultipleRegex",
        "ExtractorPDF",
        "ExtractorPDFContent",
        "ExtractorRobotsTxt",
        "ExtractorSWF",
        "ExtractorSitemap",
        "ExtractorURI",
        "ExtractorUniversal",
        "ExtractorXML",
        "ExtractorYoutubeDL",
        "HTTPContentDigest",
        "JerichoExtractorHTML",
        "KnowledgableExtractorJS",
        "TrapSuppressExtractor",
    }
)

#: Heritrix's order in the profile crawl.
DEFAULT_ORDER: tuple[str, ...] = (
    "ExtractorHTTP",
    "ExtractorRobotsTxt",
    "ExtractorSitemap",
    "ExtractorHTML",
    "ExtractorCSS",
    "ExtractorJS",
    "ExtractorSWF",
)


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
    ``should_process`` property. Raises ConfigurationError for what is no extractor.
    """

    def __init__(
        self,
        entries: Iterable[Any] = DEFAULT_ORDER,
        *,
        load: Callable[[str, Mapping[str, Any]], OwnExtractor] | None = None,
        gate: Callable[[Any], Callable[[CrawlURI], bool]] | None = None,
    ) -> None:
        self._load = load
        self._gate = gate
        self._entries: list[_Entry] = []
        skipped: list[str] = []
        for entry in entries:
            name, properties = self._parts(entry)
            if isinstance(name, str) and name in NOT_BUILT:
                skipped.append(name)
            else:
                self._entries.append(self._make(name, properties))
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
            unknown = sorted(set(properties) - kind.options)
            if unknown:
                known = ", ".join(sorted(kind.options))
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

    def extract(self, curi: CrawlURI, settings: Any) -> None:
        """Run the extractors over a fetched URI.

        ``settings``: the View that holds for it. Fills ``outlinks``, ``base``, ``extracted``, ``charset``,
        ``discarded_outlinks``, ``link_errors``, annotations and ``errors``.
        """
        if curi.status <= 0:
            return
        self.read(Document(curi, settings))

    def read(self, document: Document) -> None:
        """The same over a Document that the caller made."""
        curi = document.curi
        for entry in self._entries:
            if not entry.enabled or (entry.gate is not None and not entry.gate(curi)):
                continue
            try:
                if not entry.wants(document):
                    continue
                for link in entry.extractor.extract(document) or ():
                    document.add(link)
            except Exception as error:
                curi.annotate(f"err={type(error).__module__}.{type(error).__qualname__}")
                curi.errors.append((entry.name, error))
                continue
            if entry.claims:
                curi.extracted = True
                if document.discarded:
                    curi.annotate(f"dol:{document.discarded}")
        if curi.recorder is not None and curi.uri.startswith("http"):
            # what the links were read with, named or not, stands in the metadata record
            curi.charset = document.charset
        curi.outlinks = list(document.links)
        curi.discarded_outlinks = document.discarded
