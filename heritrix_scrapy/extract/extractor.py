"""What is an extractor, and which documents does it get?

An extractor of a project's own is any object with ``applies(curi) -> bool`` and ``extract(document)``; it may
return or yield Outlinks, add to the document itself, or both. Ours also know Heritrix's rules about who reads a
document: the first of the content extractors that takes it silences the later ones (Heritrix: ContentExtractor,
Extractor).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from heritrix_scrapy.extract.ways import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink

NOT_FOUND = 404


class OwnExtractor(Protocol):
    """The contract for a project's own extractor."""

    def applies(self, curi: CrawlURI) -> bool:
        """Whether it wants this URI's document."""

    def extract(self, document: Document) -> Iterable[Outlink] | None:
        """The links of the document. An exception is noted and the page goes on with the next extractor."""


class Extractor(ABC):
    """An extractor that looks at every URI on which a server answered, whoever else reads it.

    ``properties``: what the operator set for this one extractor; anything else is the URI's setting.
    """

    #: Whether taking a document keeps later content extractors away from it.
    claims = False
    #: Names of the settings that may be given another value for this extractor alone.
    options: frozenset[str] = frozenset()
    #: Properties that are no settings: name → default.
    own: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        self.properties: dict[str, Any] = dict(properties or {})

    @property
    def name(self) -> str:
        return type(self).__name__

    def option(self, document: Document, name: str) -> Any:
        """An option as it holds for this document."""
        properties = self.properties
        return properties[name] if name in properties else option(document.settings, name)

    def property(self, name: str) -> Any:
        """A property that is no setting."""
        return self.properties.get(name, self.own[name])

    @abstractmethod
    def wants(self, document: Document) -> bool:
        """Whether to hand it this document."""

    @abstractmethod
    def extract(self, document: Document) -> Iterable[Outlink]:
        """Put the document's links into it; returns those it leaves to the caller to add."""


class ContentExtractor(Extractor):
    """An extractor that reads the entity: only of a document that no other has taken."""

    claims = True
    options = frozenset({"extract404s", "extract_independently"})

    def wants(self, document: Document) -> bool:
        curi = document.curi
        if curi.status <= 0 or curi.content_length <= 0:
            return False
        if curi.extracted and not self.option(document, "extract_independently"):
            return False
        if curi.status == NOT_FOUND and not self.option(document, "extract404s"):
            return False
        return self.takes(document)

    @abstractmethod
    def takes(self, document: Document) -> bool:
        """Whether this is the kind of document it reads."""
