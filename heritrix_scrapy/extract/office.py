"""Where do word processor files, sheets and slides lead?

The old binary format of Word, for the targets of its HYPERLINK fields (Heritrix: ExtractorDOC), other files of
that time, for addresses in their streams, and the zipped formats of today (OOXML, OpenDocument), for the targets of
their relationships and links. What is read of one file has a limit, however small it is packed.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import LINE_TERMINATORS
from heritrix_scrapy.extract.xml import unescape
from heritrix_scrapy.model.hops import EMBED, NAVLINK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=NAVLINK_MISC"
EMBED_CONTEXT = "=EMBED_MISC"

#: Bytes that are unpacked of one file, and of one part of it.
MOST_BYTES, MOST_OF_PART = 64 * 1024 * 1024, 16 * 1024 * 1024
#: Parts of one file that are looked at.
MOST_PARTS = 5_000

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD_TYPES = ("application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/vnd.ms-outlook")

_FIELD = re.compile(rf"HYPERLINK[^\"{LINE_TERMINATORS}]*+\"([^\"{LINE_TERMINATORS}]*+)\"")
_WIDE = re.compile(rb"h\0t\0t\0p\0(?:s\0)?:\0/\0/\0(?:[!-~]\0){3,2000}+", re.IGNORECASE)
_NARROW = re.compile(rb"https?://[!-~]{3,2000}+", re.IGNORECASE)
#: Where an address in a stream ends.
_AFTER = re.compile(r"[\"<>\\^`{|}]")


# -- files of old ------------------------------------------------------------------------------------------------

#: Places in the header of a WordDocument stream: flags; where the list of pieces stands in the table stream, and
#: how long it is ([MS-DOC] 2.5).
_FLAGS, _CLX_AT, _CLX_SIZE = 0x0A, 0x01A2, 0x01A6
_TABLE_FLAG = 0x0200


def word_text(document: bytes, tables: tuple[bytes, bytes]) -> str:
    """The text of a Word document, fields included ([MS-DOC] 2.4.1). ``tables``: the streams ``0Table`` and
    ``1Table``. Raises ValueError or struct.error for what is none."""
    table = tables[bool(struct.unpack_from("<H", document, _FLAGS)[0] & _TABLE_FLAG)]
    at, size = struct.unpack_from("<II", document, _CLX_AT)
    clx = table[at : at + size]
    place = 0
    while place < len(clx) and clx[place] == 1:
        place += 3 + struct.unpack_from("<H", clx, place + 1)[0]
    if place >= len(clx) or clx[place] != 2:
        raise ValueError("no list of pieces")
    (length,) = struct.unpack_from("<I", clx, place + 1)
    pieces = clx[place + 5 : place + 5 + length]
    count = (len(pieces) - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", pieces)
    out: list[str] = []
    room = MOST_OF_PART
    for i in range(count):
        (offset,) = struct.unpack_from("<I", pieces, 4 * (count + 1) + 8 * i + 2)
        characters = max(ends[i + 1] - ends[i], 0)
        if offset & 0x4000_0000:
            start = (offset & 0x3FFF_FFFF) // 2
            text = document[start : start + characters].decode("cp1252", "replace")
        else:
            text = document[offset : offset + 2 * characters].decode("utf-16-le", "replace")
        out.append(text[:room])
        room -= len(text)
        if room <= 0:
            break
    return "".join(out)


def field_targets(text: str) -> Iterator[str]:
    """Targets of the HYPERLINK fields in the text of a document."""
    for match in _FIELD.finditer(text):
        yield match[1]


def stream_addresses(data: bytes) -> Iterator[str]:
    """Addresses in a stream of any make, in characters of one byte or two."""
    for pattern in (_WIDE, _NARROW):
        for match in pattern.finditer(data):
            text = match[0].replace(b"\0", b"").decode("ascii")
            yield _AFTER.split(text, maxsplit=1)[0].rstrip(".,;:)'")


def old_office(data: bytes, *, any_kind: bool) -> Iterator[str]:
    """Addresses in an OLE file. ``any_kind``: not of Word only. Raises ValueError, OSError and others for what is
    none."""
    import olefile

    if not data.startswith(_OLE):
        raise ValueError("no OLE file")
    with olefile.OleFileIO(io.BytesIO(data)) as ole:

        def stream(name: Any) -> bytes:
            return bytes(ole.openstream(name).read(MOST_OF_PART)) if ole.exists(name) else b""

        if ole.exists("WordDocument"):
            tables = stream("0Table"), stream("1Table")
            yield from field_targets(word_text(stream("WordDocument"), tables))
        elif any_kind:
            for name in ole.listdir()[:MOST_PARTS]:
                yield from stream_addresses(stream(name))
        else:
            raise ValueError("no Word document")


class ExtractorDOC(ContentExtractor):
    """Word's binary documents; in the standard way the other OLE files of an office, too. Hop L, past the limit of
    links; it takes what it can read."""

    claims = False
    options = ContentExtractor.options | {"html_reader"}

    def takes(self, document: Document) -> bool:
        content_type = document.content_type.lower()
        if content_type.startswith("application/msword"):
            return True
        return content_type.startswith(_OLD_TYPES) and self.option(document, "html_reader") != "heritrix"

    def extract(self, document: Document) -> Iterable[Outlink]:
        any_kind = self.option(document, "html_reader") != "heritrix"
        try:
            for text in dict.fromkeys(old_office(document.data, any_kind=any_kind)):
                document.link_own(text, NAVLINK, CONTEXT)
        except Exception as error:
            # olefile raises whatever a broken file makes it stumble over
            document.curi.errors.append((self.name, error))
            return ()
        document.claim()
        return ()


# -- files of today ----------------------------------------------------------------------------------------------

_RELATIONSHIP = re.compile(r"<(?:\w++:)?Relationship\s([^<>]*+)>")
_LINK = re.compile(r"<(?:[\w-]++:)?([\w-]++)\s([^<>]*?\b(?:xlink:)?href\s*=[^<>]*+)>")
_ATTRIBUTE = re.compile(r"([\w:-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_ZIP = b"PK\x03\x04"
#: Parts of an OpenDocument file that hold links.
_OPEN_PARTS = frozenset({"content.xml", "styles.xml"})
_TODAY = ("application/vnd.openxmlformats", "application/vnd.oasis.opendocument", "application/vnd.ms-")


def _attributes(tag: str) -> dict[str, str]:
    return {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(tag)}


def relationships(text: str) -> Iterator[tuple[str, str]]:
    """Targets outside the package that a part of relationships names (ECMA-376 part 2), and their hops."""
    for match in _RELATIONSHIP.finditer(text):
        found = _attributes(match[1])
        if found.get("TargetMode") == "External" and "Target" in found:
            yield found["Target"], NAVLINK if found.get("Type", "").endswith("/hyperlink") else EMBED


def open_document_links(text: str) -> Iterator[tuple[str, str]]:
    """Targets of links and images in a part of an OpenDocument file that lie outside it, and their hops."""
    for match in _LINK.finditer(text):
        target = _attributes(match[2]).get("xlink:href", "")
        if "://" in target[:12] or target.startswith("mailto:"):
            yield target, EMBED if match[1] in ("image", "object", "plugin") else NAVLINK


def today_office(data: bytes) -> Iterator[tuple[str, str]]:
    """Addresses outside a zipped file of an office, and their hops. Raises zipfile.BadZipFile and others."""
    room = MOST_BYTES
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.infolist()[:MOST_PARTS]:
            name = part.filename
            if name.endswith(".rels"):
                read = relationships
            elif name.rpartition("/")[2] in _OPEN_PARTS:
                read = open_document_links
            else:
                continue
            with archive.open(part) as stream:
                content = stream.read(min(MOST_OF_PART, room))
            room -= len(content)
            yield from read(content.decode("utf-8", "replace"))
            if room <= 0:
                return


class ExtractorOffice(ContentExtractor):
    """OOXML and OpenDocument files. Hop L for links, E for what is shown in them; it takes what it can read."""

    claims = False

    def takes(self, document: Document) -> bool:
        return document.content_type.lower().startswith(_TODAY) and document.prefix_bytes().startswith(_ZIP)

    def extract(self, document: Document) -> Iterable[Outlink]:
        try:
            for text, hop in dict.fromkeys(today_office(document.data)):
                document.link_from(document.uri, text, hop, CONTEXT if hop == NAVLINK else EMBED_CONTEXT)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
            document.curi.errors.append((self.name, error))
            return ()
        document.claim()
        return ()
