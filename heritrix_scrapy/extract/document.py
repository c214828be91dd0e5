"""What does an extractor get to read, and where does it put what it finds?

One Document is made for each fetched URI and shared by its extractors: the entity once decoded, the base that
relative references resolve against, and the set of links (Heritrix: Extractor.addRelativeToBase, addRelativeToVia,
addOutlink). A reference that is no URI goes to ``curi.link_errors`` and the page goes on.
"""

from __future__ import annotations

from math import inf
from time import thread_time
from typing import TYPE_CHECKING, Any, TypeVar

from heritrix_scrapy.extract import charset as charsets
from heritrix_scrapy.extract import ways
from heritrix_scrapy.extract.likely import is_data
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.uri.fixup import UriError, fix, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from heritrix_scrapy.model.crawluri import CrawlURI

T = TypeVar("T")

#: So many things are looked at before the clock is.
LOOK_EVERY = 256

#: References that are no URIs, noted of one document at most.
MOST_ERRORS = 1000

#: More bytes than any body; stands for "no limit".
UNLIMITED = 1 << 62


class TooLong(BaseException):
    """A document takes longer than its reader's patience. No extractor may catch it."""


def note_spoilt(curi: CrawlURI) -> None:
    """Have it among the errors of a URI that its body, which was read, is not framed or packed as it should be
    (Heritrix: ReplayCharSequence's exceptions)."""
    recorder = curi.recorder
    if recorder is not None and recorder.spoilt and ("body", recorder.spoilt) not in curi.errors:
        curi.errors.append(("body", recorder.spoilt))


class Document:
    """A fetched entity.

    ``curi``: the URI it came from; ``settings``: the View that holds for it; ``uri``: its own address;
    ``base``: what references resolve against, changed by ``set_base``; ``content_type``: the header's last
    value as received, or ``unknown``; ``charset``: by Java's name; ``form_offsets``: where ``<form`` stands in
    ``text``; ``meta_robots``: content of the robots meta tag; ``annotations``: what the URIs that links make are
    born with; ``query_charset``: what is not ASCII in a query is written in, where it is not UTF-8.

    ``body``: gives at most that many bytes of the entity, transfer and content coding taken off; the CrawlURI's
    recorder by default. ``patience``: seconds of processor time after which reading it ends with TooLong; 0 for ever.
    """

    __slots__ = (
        "_based",
        "_body",
        "_data",
        "_end",
        "_give_up",
        "_max_outlinks",
        "_prefix",
        "_resolved",
        "_strict",
        "_text",
        "annotations",
        "base",
        "charset",
        "content_type",
        "curi",
        "discarded",
        "form_offsets",
        "links",
        "meta_robots",
        "query_charset",
        "settings",
        "taken",
        "uri",
    )

    def __init__(
        self, curi: CrawlURI, settings: Any, body: Callable[[int], bytes] | None = None, patience: float = 0.0
    ) -> None:
        self.curi = curi
        self.settings = settings
        self.uri = curi.uri
        self.base = curi.base or curi.uri
        self.content_type = curi.content_type
        self.charset = charsets.java_name(curi.charset or settings.default_encoding) or "ISO-8859-1"
        self.links: dict[Outlink, None] = dict.fromkeys(curi.outlinks)
        self.annotations: dict[Outlink, tuple[str, ...]] = {}
        #: Links found, with those that are repeated, discarded or ``data:``; for the report on the extractors.
        self.taken = 0
        self.discarded = curi.discarded_outlinks
        self.form_offsets: list[int] = []
        self.meta_robots: str | None = None
        self.query_charset: str | None = None
        self._based = curi.base is not None
        seconds = ways.option(settings, "max_extract_seconds")
        now = thread_time()
        self._end = now + seconds if seconds else inf
        self._give_up = now + patience if patience else inf
        self._body = body
        self._max_outlinks: int = settings.max_outlinks
        self._prefix: bytes | None = None
        self._data: bytes | None = None
        self._strict: bool = ways.option(settings, "strict_uri_fixup")
        self._text: str | None = None
        self._resolved: dict[str, str] = {}

    # -- reading -------------------------------------------------------------------------------------------

    def body(self, limit: int = 0) -> bytes:
        """At most ``limit`` bytes of the entity; 0: as many as extraction reads at all."""
        limit = limit or ways.option(self.settings, "max_extract_bytes") or UNLIMITED
        if self._body is not None:
            return self._body(limit)
        recorder = self.curi.recorder
        return b"" if recorder is None else recorder.entity(limit, decoded=True)

    @property
    def data(self) -> bytes:
        """The entity, as far as extraction reads it."""
        if self._data is None:
            self._data = self.body()
            note_spoilt(self.curi)
        return self._data

    @property
    def text(self) -> str:
        """The entity as text; what is malformed becomes U+FFFD."""
        if self._text is None:
            standard: bool = ways.option(self.settings, "html_reader") != "heritrix"
            self._text = charsets.decode(self.data, self.charset, standard=standard)
        return self._text

    def prefix_bytes(self) -> bytes:
        """The first bytes, enough for the characters that tests of content look at; what is no page is not read
        further for them."""
        if self._data is not None:
            return self._data[: 4 * charsets.PREFIX]
        if self._prefix is None:
            self._prefix = self.body(4 * charsets.PREFIX)
        return self._prefix

    def prefix(self) -> str:
        """The first 1,000 characters."""
        return charsets.decode(self.prefix_bytes(), self.charset)[: charsets.PREFIX]

    def use_charset(self, name: str) -> None:
        """Read the document in another character set from here on, for later extractors too."""
        if name != self.charset:
            self.charset = self.curi.charset = name
            self._text = None

    # -- resolving -----------------------------------------------------------------------------------------

    def resolve(self, text: str, base: str) -> str | None:
        """The absolute, fixed-up URI; None, and an entry in ``curi.link_errors``, when there is none."""
        try:
            if self._strict:
                # Heritrix parses the result again when it makes the child; only that takes off a default port
                # from "//host:80/".
                return join(base, join(base, text, strict=True), strict=True)
            if self.query_charset is not None and not text.isascii() and "?" in text:
                text = charsets.encode_query(text, self.query_charset)
            return join(base, text)
        except UriError as error:
            self._note_no_uri(text, error)
            return None

    def _note_no_uri(self, text: str, error: UriError) -> None:
        self.taken += 1
        if len(self.curi.link_errors) < MOST_ERRORS:
            self.curi.link_errors.append((text, str(error)))

    def set_base(self, text: str) -> None:
        """The page's ``base``: the first valid one holds, resolved against the page's own URI."""
        if self._based:
            return
        uri = self.resolve(text, self.uri)
        if uri is not None and not self._strict and "://" not in uri:
            # data:, javascript:, about: ... nothing can be relative to it: browsers stay with the page's own
            self._based = True
        elif uri is not None:
            self._based = True
            self.base = self.curi.base = uri
            self._resolved.clear()

    # -- time ----------------------------------------------------------------------------------------------

    @property
    def overdue(self) -> bool:
        """Whether the processor time for this document is used up; noted in its annotations. Raises TooLong."""
        now = thread_time()
        if now >= self._give_up:
            raise TooLong
        if now < self._end:
            return False
        self.curi.annotate(ways.TIMEOUT)
        return True

    def in_time(self, items: Iterable[T], *, whole: bool = False) -> Iterator[T]:
        """The items as long as there is time for them. ``whole``: all of them, whatever it takes, but for TooLong."""
        left = LOOK_EVERY
        for item in items:
            left -= 1
            if not left:
                left = LOOK_EVERY
                if whole:
                    if thread_time() >= self._give_up:
                        raise TooLong
                elif self.overdue:
                    return
            yield item

    # -- adding --------------------------------------------------------------------------------------------

    def _discard(self) -> None:
        self.discarded += 1
        self.taken += 1

    @property
    def full(self) -> bool:
        return len(self.links) >= self._max_outlinks

    def link(self, text: str, hop: str, context: str) -> None:
        """A reference relative to the base. ``data:`` is dropped; beyond the limit links are only counted."""
        uri = self._resolved.get(text)
        if uri is None:
            first = text[:1]
            if (first <= " " or first in "dD") and is_data(text):
                self.taken += 1
                return
            if len(self.links) >= self._max_outlinks:
                self._discard()
                return
            uri = self.resolve(text, self.base)
            if uri is None:
                return
            self._resolved[text] = uri
        elif len(self.links) >= self._max_outlinks:
            self._discard()
            return
        self.links[Outlink(uri, hop, context)] = None
        self.taken += 1

    def link_via(self, text: str, hop: str, context: str) -> None:
        """A reference relative to the page that led here; to the base, with an annotation, when none did."""
        via = self.curi.via
        if via is None:
            self.curi.annotate("usedBaseForVia")
            via = self.base
        if is_data(text):
            return
        if len(self.links) >= self._max_outlinks:
            self._discard()
            return
        uri = self.resolve(text, via)
        if uri is not None:
            self.links[Outlink(uri, hop, context)] = None
            self.taken += 1

    def link_own(self, text: str, hop: str, context: str) -> None:
        """A reference relative to the document's own URI, whatever its base, and past the limit. One that is no URI is
        not counted among the links found."""
        if is_data(text):
            return
        found = self.taken
        uri = self.resolve(text, self.uri)
        if uri is None:
            self.taken = found
        else:
            self.links[Outlink(uri, hop, context)] = None
            self.taken += 1

    def link_from(self, base: str, text: str, hop: str, context: str) -> Outlink | None:
        """A reference relative to a base of its own; gives the link, when it is one and there is room for it."""
        if is_data(text):
            return None
        if len(self.links) >= self._max_outlinks:
            self._discard()
            return None
        uri = self.resolve(text, base)
        if uri is None:
            return None
        link = Outlink(uri, hop, context)
        self.links[link] = None
        self.taken += 1
        return link

    def link_absolute(self, text: str, hop: str, context: str) -> bool:
        """An address that stands for itself, past the limit. False, and an entry in ``curi.link_errors``, when it
        is none."""
        try:
            uri = fix(text, strict=self._strict)
        except UriError as error:
            self._note_no_uri(text, error)
            return False
        if not is_data(uri):
            self.links[Outlink(uri, hop, context)] = None
            self.taken += 1
        return True

    def link_listed(self, uri: str, hop: str, context: str, annotations: tuple[str, ...] = ()) -> bool:
        """An address that ``resolve`` gave, by a caller who keeps a limit of its own. Whether it is new."""
        link = Outlink(uri, hop, context)
        if link in self.links or is_data(uri):
            return False
        self.links[link] = None
        self.taken += 1
        if annotations:
            self.annotations[link] = annotations
        return True

    def claim(self) -> None:
        """Keep later content extractors away from this document (Heritrix: CrawlURI.linkExtractorFinished)."""
        self.curi.extracted = True
        if self.discarded:
            self.curi.annotate(f"dol:{self.discarded}")

    def add(self, link: Outlink) -> None:
        """A link that is absolute and fixed up already."""
        if len(self.links) >= self._max_outlinks:
            self._discard()
        elif not is_data(link.uri):
            self.links[link] = None
            self.taken += 1
