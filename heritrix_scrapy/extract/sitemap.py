"""Which pages does a sitemap list?

Site maps and indexes of them in XML, RSS and Atom feeds, and lists of one address a line, each also gzipped; told
apart by their first bytes, never by name or type (Heritrix: ExtractorSitemap; sitemaps.org protocol 0.9). Read by
a stream of events, so that size costs no memory; what comes before an error counts.

In the standard way also what the extensions for images, videos and other languages name. Under Heritrix's reader
an address belongs to the entry that ends behind it, as in the library that Heritrix uses (crawler-commons).
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING
from xml.parsers import expat

from heritrix_scrapy.extract import charset
from heritrix_scrapy.extract.entities import unescape
from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.model.hops import MANIFEST
from heritrix_scrapy.uri.escapes import ESCAPES
from heritrix_scrapy.uri.fixup import has_scheme
from heritrix_scrapy.uri.java_regex import java_compile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=MANIFEST_MISC"

#: The annotation of a URI that a robots.txt or a sitemap index called a sitemap.
IS_SITEMAP = "isSitemap"

#: Links taken from one sitemap: as many as the protocol allows.
MOST = 50_000

#: Bytes of a sitemap that are read, after decompression: as many as the protocol allows.
LONGEST = 50 * 1024 * 1024

#: How often a body may be gzipped over.
MOST_GZIPS = 3

#: So many sitemap indexes below one another are followed; the protocol allows one.
DEEPEST = 5

#: Elements whose text is an address, wherever they stand. ``loc`` is that of a page, of another sitemap, and of an
#: image, whose namespace Heritrix does not look at.
LOCATIONS = frozenset({"loc"})
#: The same for videos.
EXTENSIONS = frozenset({"content_loc", "player_loc", "thumbnail_loc"})
INDEX_ENTRY = "sitemap"
ROOTS = frozenset({"urlset", "sitemapindex", "rss", "feed", "rdf"})
#: Roots that Heritrix's reader knows, with the element of their entries.
HERITRIX_ENTRIES = {"urlset": "url", "sitemapindex": INDEX_ENTRY, "rss": "item", "feed": "entry"}
_WITH_LOC = ("url", INDEX_ENTRY)
_CUT_OFF = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]

_GZIP = b"\x1f\x8b"
_SIGNATURES = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_PROLOGUE = re.compile(r"\ufeff?<\?xml", re.IGNORECASE)
_LOOSE_PROLOGUE = re.compile(r"[\s\ufeff]*+<", re.IGNORECASE)
_ROOT = re.compile(r"<(?:urlset|sitemapindex)[\s>]", re.ASCII)
#: An ampersand that begins no reference, which many sitemaps have in their addresses.
_BARE_AMPERSAND = re.compile(rb"&(?!#?[A-Za-z0-9]{1,10};)")
_TYPES = ("text/xml", "application/xml")
_NO_XML = bytes([*range(9), 11, 12, *range(14, 32)])
#: The beginning of a document in UTF-16 without a byte order mark.
_WIDE = ((b"<\0", "UTF-16LE"), (b"\0<", "UTF-16BE"))
_LOCATION = re.compile(rb"<(?:\w{1,20}:)?loc>\s*(?:<!\[CDATA\[)?([^<\]]{1,4096})", re.ASCII)


def unpack(data: bytes, limit: int = LONGEST) -> bytes:
    """The body without gzip around it, however often it is there; at most ``limit`` bytes, and what could be had
    of a stream that breaks off."""
    for _ in range(MOST_GZIPS):
        if not data.startswith(_GZIP):
            break
        whole = bytearray()
        # there may be several streams in a row
        while data.startswith(_GZIP) and len(whole) < limit:
            inflate = zlib.decompressobj(31)
            try:
                whole += inflate.decompress(data, limit - len(whole))
            except zlib.error:
                break
            data = inflate.unused_data
        data = bytes(whole)
    return data


class Entry:
    """Where a sitemap leads: an address as written, and whether it is a sitemap again."""

    __slots__ = ("is_index", "text")

    def __init__(self, text: str, *, is_index: bool) -> None:
        self.text = text
        self.is_index = is_index


class _Stop(Exception):
    """Enough has been read."""


class _Reader:
    """Events of the XML parser, made into entries."""

    def __init__(self, *, extensions: bool, most: int) -> None:
        self.entries: list[Entry] = []
        self._locations = LOCATIONS | EXTENSIONS if extensions else LOCATIONS
        self._extensions = extensions
        self._most = most
        self._path: list[str] = []
        self._text: list[str] | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        parent = self._path[-1] if self._path else ""
        if not self._path and local.lower() not in ROOTS:
            raise _Stop
        self._path.append(local)
        if local in self._locations or (local == "link" and parent == "item"):
            self._text = []
        elif local == "link" and "href" in attributes:
            rel = attributes.get("rel", "alternate")
            if rel == "alternate" and (parent == "entry" or (self._extensions and parent == "url")):
                self._add(attributes["href"], is_index=False)

    def end(self, name: str) -> None:
        local = self._path.pop()
        if self._text is not None and (local in self._locations or local == "link"):
            text = "".join(self._text).strip()
            self._text = None
            if text:
                self._add(text, is_index=bool(self._path) and self._path[-1] == INDEX_ENTRY)

    def characters(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def broken(self, *, within: bool) -> None:
        """The document is ill formed from here on; ``within``: and not merely cut off."""

    def entity(self, *_: object) -> None:
        """A sitemap has no entities of its own; what declares some means harm."""
        raise _Stop

    def go_on(self, data: bytes, start: int) -> None:
        """What is listed behind a place where the document is broken."""
        is_index = self._path[:1] == ["sitemapindex"]
        if self._path[:1] not in (["urlset"], ["sitemapindex"]):
            return
        try:
            for match in _LOCATION.finditer(data, max(start, 0)):
                text = unescape(match[1].decode("utf-8", "replace")).strip()
                if text:
                    self._add(text, is_index=is_index)
        except _Stop:
            pass

    def _add(self, text: str, *, is_index: bool) -> None:
        self.entries.append(Entry(text, is_index=is_index))
        if len(self.entries) >= self._most:
            raise _Stop


class _HeritrixReader(_Reader):
    """Events made into entries as under Heritrix: the last address before the end of an entry is that entry's, one
    before it counts too, and one whose text an error cuts short counts as far as it goes."""

    def __init__(self, *, most: int) -> None:
        super().__init__(extensions=False, most=most)
        self._entry = ""
        self._inside = False
        self._address = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if not self._entry:
            self._entry = HERITRIX_ENTRIES.get(local, "")
            if not self._entry:
                raise _Stop
            return
        if local == self._entry:
            self._inside = True
        if local == "loc" and self._entry in _WITH_LOC:
            self._flush()
            self._text = []
        elif self._inside and self._entry == "item" and local in ("link", "guid"):
            self._text = []
        elif self._inside and self._entry == "entry" and local == "link" and not self._address:
            self._address = attributes.get("href", "").strip()

    def end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if self._text is not None and local in ("loc", "link", "guid"):
            self._close(local)
        if local == self._entry:
            self._flush()
            self._inside = False

    def broken(self, *, within: bool) -> None:
        if within and self._text is not None:
            self._close("loc")
        if self._entry in _WITH_LOC:
            self._flush()

    def _close(self, local: str) -> None:
        text = "".join(self._text or ()).strip()
        self._text = None
        if text and (local != "guid" or not self._address):
            self._address = text

    def _flush(self) -> None:
        address, self._address = self._address, ""
        if address:
            self._add(address, is_index=self._entry == INDEX_ENTRY)


def _as_utf8(data: bytes) -> bytes:
    """A document in UTF-8, whatever it is written in, without what XML does not allow. Bytes that are not what the
    document says it is become escapes, as in an address."""
    name = charset.signature(data) or next((name for start, name in _WIDE if data.startswith(start)), None)
    if name is None:
        declared = charset.declared_in_xml(data[: charset.PREFIX].decode("latin-1"))
        name = (declared and charset.java_name(declared)) or "UTF-8"
        if name.startswith("UTF-16"):
            name = "UTF-8"
    if name not in ("UTF-8", "US-ASCII"):
        data = charset.decode(data, name, standard=True).encode("utf-8", "replace")
    elif not charset.is_utf8(data):
        data = data.decode("utf-8", ESCAPES).encode()
    return data.removeprefix(b"\xef\xbb\xbf").translate(None, _NO_XML)


def _of_xml(data: bytes, *, lenient: bool, most: int) -> list[Entry]:
    reader: _Reader
    if lenient:
        data = _as_utf8(data).lstrip()
        data = _BARE_AMPERSAND.sub(b"&amp;", data) if b"&" in data else data
        parser = expat.ParserCreate("utf-8")
        reader = _Reader(extensions=True, most=most)
    else:
        # a prefix that nobody declared is an error
        data = data.lstrip()
        parser = expat.ParserCreate(namespace_separator=" ")
        reader = _HeritrixReader(most=most)
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.EntityDeclHandler = reader.entity
    if lenient:
        parser.UseForeignDTD(True)  # an entity that nobody declared is left out instead of ending the document
    try:
        parser.Parse(data, True)
    except (_Stop, ValueError, LookupError):
        pass
    except expat.ExpatError as error:
        if lenient:
            reader.go_on(data, parser.ErrorByteIndex)
        else:
            with suppress(_Stop):
                parser.buffer_text = False  # hands over the text that is kept back
                reader.broken(within=error.code != _CUT_OFF)
    return reader.entries


def _of_lines(data: bytes, most: int) -> list[Entry]:
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    found: list[Entry] = []
    for line in text.split("\n"):
        address = line.strip()
        if address[:8].lower().startswith(("http://", "https://")):
            found.append(Entry(address, is_index=False))
            if len(found) >= most:
                break
    return found


def entries(data: bytes, *, lenient: bool, most: int = MOST + 1) -> list[Entry]:
    """What a sitemap lists, in order.

    ``lenient``: read extensions, and forgive blank lines before the declaration, bare ampersands and unknown
    entities; ``most``: stop after so many.
    """
    data = unpack(data)
    head = data[:400]
    for signature in _SIGNATURES:
        head = head.removeprefix(signature)
    head = head.replace(b"\0", b"").lstrip()
    if head.startswith(b"<"):
        return _of_xml(data, lenient=lenient, most=most)
    return _of_lines(data, most)


class ExtractorSitemap(ContentExtractor):
    """What a robots.txt or a sitemap index calls a sitemap, and XML that looks like one. Hop M; it never keeps a
    document from the extractors behind it."""

    claims = False
    options = ContentExtractor.options | {"enable_lenient_extraction", "html_reader", "sitemap_url_pattern"}
    own = {"url_pattern": ""}

    def takes(self, document: Document) -> bool:
        curi = document.curi
        if IS_SITEMAP in curi.annotations and 200 <= curi.status < 300:
            return True
        pattern = self.property("url_pattern") or self.option(document, "sitemap_url_pattern")
        if pattern and java_compile(pattern).fullmatch(document.uri):
            return True
        if not document.content_type.lower().startswith(_TYPES):
            return False
        head = document.prefix()[:400]
        prologue = _PROLOGUE if self.option(document, "html_reader") == "heritrix" else _LOOSE_PROLOGUE
        return prologue.match(head) is not None and _ROOT.search(head) is not None

    def extract(self, document: Document) -> Iterable[Outlink]:
        lenient_reader = self.option(document, "html_reader") != "heritrix"
        everywhere = self.option(document, "enable_lenient_extraction")
        own = document.uri[: document.uri.rfind("/") + 1]
        room = MOST - len(document.links)
        deep = document.curi.path.endswith(MANIFEST * DEEPEST)
        for text, is_index in document.in_time(self._addresses(document, lenient_reader), whole=True):
            if is_index and deep:
                document.curi.annotate("sitemapTooDeep")
                return ()
            if not lenient_reader and not has_scheme(text):
                continue
            if lenient_reader:
                uri = document.resolve(text, document.uri)
                below = uri is not None and uri.lower().startswith(own.lower())
            else:
                # Heritrix compares the address as it is written, but for the case of its scheme
                scheme, colon, rest = text.partition(":")
                below = f"{scheme.lower()}{colon}{rest}".startswith(own)
                uri = document.resolve(text, document.uri) if everywhere or is_index or below else None
            if uri is None or not (everywhere or is_index or below):
                continue
            if room <= 0:
                document.discarded += 1
                continue
            room -= document.link_listed(uri, MANIFEST, CONTEXT, (IS_SITEMAP,) if is_index else ())
        return ()

    @staticmethod
    def _addresses(document: Document, lenient: bool) -> Iterator[tuple[str, bool]]:
        seen: set[str] = set()
        for entry in entries(document.body(LONGEST), lenient=lenient):
            if entry.text not in seen:
                seen.add(entry.text)
                yield entry.text, entry.is_index
