"""Where does a Flash movie lead?

Its tags are walked for the actions of its buttons, frames and sprites: the addresses that it opens, and the strings
that it has ready (Heritrix: ExtractorSWF; SWF File Format Specification 19, "Actions"). Movies written in
ActionScript 3 keep theirs elsewhere and are not understood.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from typing import TYPE_CHECKING

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.likely import is_very_likely
from heritrix_scrapy.model.hops import EMBED, SPECULATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.extract.javascript import ExtractorJS
    from heritrix_scrapy.model.crawluri import Outlink

EMBED_CONTEXT = "=EMBED_MISC"
SPECULATIVE_CONTEXT = "=SPECULATIVE_MISC"

#: Bytes of a movie that are unpacked; bytes of a tag beyond which it is skipped.
LONGEST, LONGEST_TAG = 32 * 1024 * 1024, 1024 * 1024

# Tags.
END, BUTTON, DO_ACTION, PLACE2, BUTTON2, SPRITE, DO_INIT_ACTION = 0, 7, 12, 26, 34, 39, 59
# Actions.
GET_URL, CONSTANT_POOL, PUSH = 0x83, 0x88, 0x96

#: Bytes of values that a Push holds, by their kind; 0 is a text, 8 and 9 name one of the pool.
_PUSHED = {1: 4, 2: 0, 3: 0, 4: 1, 5: 1, 6: 8, 7: 4, 8: 1, 9: 2}


def unpack(data: bytes) -> bytes:
    """The movie from behind its signature, version and size on. Raises ValueError for what is none."""
    signature, rest = data[:3], data[8:]
    if signature == b"FWS":
        return rest
    if signature == b"CWS":
        try:
            return zlib.decompressobj().decompress(rest, LONGEST)
        except zlib.error as error:
            raise ValueError(str(error)) from None
    if signature == b"ZWS" and len(rest) > 9:
        properties, size = rest[4:9], struct.pack("<q", -1)
        try:
            inflate = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=2 * LONGEST)
            return inflate.decompress(properties + size + rest[9:], LONGEST)
        except lzma.LZMAError as error:
            raise ValueError(str(error)) from None
    raise ValueError("no Flash movie")


def tags(data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Kind and content of the tags from an offset on; those that are too long are left out."""
    place = start
    while place + 2 <= len(data):
        (head,) = struct.unpack_from("<H", data, place)
        place += 2
        kind, length = head >> 6, head & 0x3F
        if length == 0x3F:
            if place + 4 > len(data):
                return
            (length,) = struct.unpack_from("<I", data, place)
            place += 4
        if kind == END:
            return
        if length <= LONGEST_TAG or kind == SPRITE:
            yield kind, data[place : place + length]
        place += length


def action_blocks(movie: bytes) -> Iterator[bytes]:
    """The actions of a movie, one block a button, frame or sprite."""
    if not movie:
        return
    rectangle = (5 + 4 * (movie[0] >> 3) + 7) // 8
    stack = [tags(movie, rectangle + 4)]
    while stack:
        for kind, content in stack[-1]:
            if kind == DO_ACTION:
                yield content
            elif kind == DO_INIT_ACTION:
                yield content[2:]
            elif kind in (BUTTON, BUTTON2, PLACE2):
                yield from _below(kind, content)
            elif kind == SPRITE and len(stack) < 8:
                stack.append(tags(content, 4))
                break
        else:
            stack.pop()


def _below(kind: int, content: bytes) -> Iterator[bytes]:
    """The actions in a button, or in the events of something placed."""
    if kind == BUTTON2 and len(content) > 5:
        (offset,) = struct.unpack_from("<H", content, 3)
        place = 3 + offset if offset else len(content)
        while place + 4 <= len(content):
            (size,) = struct.unpack_from("<H", content, place)
            yield content[place + 4 : place + size if size else len(content)]
            if not size:
                return
            place += size
    elif kind == BUTTON:
        # its characters have no length of their own: the actions are found by the address that they open
        at = content.find(bytes((GET_URL,)), 2)
        if at >= 0:
            yield content[at:]
    elif content and content[0] & 0x80:
        at = content.find(bytes((GET_URL,)))
        if at >= 0:
            yield content[at:]


def strings(block: bytes) -> Iterator[tuple[bool, str]]:
    """What the actions of a block name, in order: whether it is an address that is opened, and the text."""
    place = 0
    while place < len(block) and block[place]:
        action = block[place]
        place += 1
        if action < 0x80:
            continue
        if place + 2 > len(block):
            return
        (length,) = struct.unpack_from("<H", block, place)
        content = block[place + 2 : place + 2 + length]
        place += 2 + length
        if action == GET_URL:
            yield True, _text(content.partition(b"\0")[0])
        elif action == CONSTANT_POOL:
            for piece in content[2:].split(b"\0")[:-1]:
                yield False, _text(piece)
        elif action == PUSH:
            yield from _pushed(content)


def _pushed(content: bytes) -> Iterator[tuple[bool, str]]:
    place = 0
    while place < len(content):
        kind = content[place]
        place += 1
        if kind == 0:
            end = content.find(b"\0", place)
            if end < 0:
                return
            yield False, _text(content[place:end])
            place = end + 1
        elif kind in _PUSHED:
            place += _PUSHED[kind]
        else:
            return


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


class ExtractorSWF(ContentExtractor):
    """Flash movies. What they open is hop E, other strings X; each relative to the page that led here and to the
    movie, which the links are annotated with."""

    #: Reads scripts that stand in the place of an address.
    scripts: ExtractorJS | None = None

    def takes(self, document: Document) -> bool:
        return "x-shockwave-flash" in document.content_type or document.uri.lower().endswith(".swf")

    def extract(self, document: Document) -> Iterable[Outlink]:
        try:
            movie = unpack(document.body(LONGEST))
        except ValueError as error:
            document.curi.errors.append((self.name, error))
            return ()
        for block in action_blocks(movie):
            for opened, text in strings(block):
                if not opened:
                    if is_very_likely(text):
                        self._both(document, text, SPECULATIVE, SPECULATIVE_CONTEXT)
                elif text[:11].lower() == "javascript:":
                    if self.scripts is not None:
                        self.scripts.inline(document, text[11:])
                else:
                    self._both(document, text, EMBED, EMBED_CONTEXT)
        return ()

    @staticmethod
    def _both(document: Document, text: str, hop: str, context: str) -> None:
        via = document.curi.via
        if via is None:
            document.curi.annotate("usedBaseForVia")
        to_via = document.link_from(via or document.base, text, hop, context)
        to_base = document.link_from(document.base, text, hop, context)
        if to_via is not None and to_via == to_base:
            document.annotations[to_via] = ("extractorSWFRelToBoth",)
            return
        if to_via is not None:
            document.annotations[to_via] = ("extractorSWFRelToVia",)
        if to_base is not None:
            document.annotations[to_base] = ("extractorSWFRelToBase",)
