"""Which pieces does a streamed film or recording consist of?

Playlists of HTTP Live Streaming (RFC 8216) and descriptions of MPEG-DASH (ISO/IEC 23009-1): what a player would
fetch next is part of the page that plays it. Templates of DASH are filled in as far as the description says how
many pieces there are.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING
from xml.parsers import expat

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.model.hops import EMBED
from heritrix_scrapy.uri.fixup import UriError, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=EMBED_MISC"

#: Pieces that one template is filled in for; elements below one another that are looked at.
MOST, DEEPEST = 6_000, 32
#: Characters of an address, beyond which it is none.
LONGEST = 10_000

_DASH_TYPE = "application/dash+xml"
_PLAYLIST = "#EXTM3U"

_TAG_URI = re.compile(r"^#EXT[^\n\r:]*+:[^\n\r]*?\bURI=\"([^\"\n\r]++)\"", re.MULTILINE)


def playlist(text: str) -> Iterator[str]:
    """Addresses in a playlist, in order: those in tags, and lines that are no tag."""
    for line in text.lstrip("\ufeff").splitlines():
        line = line.strip()
        if line.startswith("#"):
            match = _TAG_URI.match(line)
            if match is not None:
                yield match[1]
        elif line:
            yield line


_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?\Z", re.ASCII)
_PLACE = re.compile(r"\$(?:(RepresentationID|Number|Time|Bandwidth)(?:%0(\d{1,2})d)?)?\$")


def seconds(text: str) -> float:
    """A duration of XML Schema, days the largest unit; 0 for what is none."""
    match = _DURATION.match(text)
    if match is None:
        return 0.0
    days, hours, minutes, rest = match.groups()
    try:
        return ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60 + float(rest or 0)
    except (ValueError, OverflowError):
        return 0.0


def _filled(template: str, values: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        return values.get(match[1], "").zfill(int(match[2] or 0))

    return _PLACE.sub(value, template)


class Node:
    """An element: its name without prefix, attributes, text, and the elements in it."""

    __slots__ = ("attributes", "inside", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.text = ""
        #: Most elements have none in them, and a list for each is dear where a document has a million.
        self.inside: list[Node] | tuple[()] = ()

    def add(self, node: Node) -> None:
        if self.inside:
            self.inside.append(node)
        else:
            self.inside = [node]

    def all(self, name: str) -> list[Node]:
        return [node for node in self.inside if node.name == name]


def tree(data: bytes) -> Node:
    """The elements of a description; what comes before an error counts, what declares entities means harm."""
    root, passed = Node("", {}), Node("", {})
    stack = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        around = stack[-1]
        if around is passed or around.name == "BaseURL":
            # no element belongs there
            stack.append(passed)
            return
        node = Node(name.rpartition(":")[2], attributes)
        if len(stack) < DEEPEST:
            around.add(node)
        stack.append(node)

    def end(name: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        node = stack[-1]
        if node.name == "BaseURL" and len(node.text) < LONGEST:
            node.text += text

    def entity(*_: object) -> None:
        raise ValueError("a description has no entities of its own")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError):
        pass
    return root


def _number(text: str, missing: int) -> int:
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 18 else missing


def _times(attributes: dict[str, str], timeline: list[tuple[int, int, int]], total: float) -> Iterator[int]:
    """When each piece begins, in units of the template's time scale."""
    room = MOST
    if timeline:
        now = 0
        for start, length, repeat in timeline:
            now = start if start >= 0 else now
            for _ in range(max(min(repeat, room), 0) + 1):
                yield now
                now += length
                room -= 1
                if room <= 0:
                    return
        return
    length = _number(attributes.get("duration", ""), 0)
    scale = _number(attributes.get("timescale", ""), 1) or 1
    if length > 0 and total > 0:
        for i in range(min(ceil(total * scale / length), MOST)):
            yield i * length


def references(node: Node, base: str, total: float, template: Node | None = None) -> Iterator[tuple[str, str]]:
    """The references below an element of a description, each with its base.

    ``total``: seconds that it plays; ``template``: the SegmentTemplate that holds for it so far.
    """
    for inner in node.all("BaseURL")[:1]:
        try:
            base = join(base, inner.text.strip())
        except UriError:
            pass
    for inner in node.all("SegmentTemplate")[:1]:
        merged = Node(inner.name, {**(template.attributes if template else {}), **inner.attributes})
        merged.inside = inner.inside or (template.inside if template else [])
        template = merged
    total = seconds(node.attributes.get("duration", node.attributes.get("mediaPresentationDuration", ""))) or total
    if node.name == "Representation":
        if template is not None:
            for text in filled(template, node.attributes, total):
                yield base, text
        elif node.all("BaseURL") and not base.endswith("/"):
            yield base, ""
    for inner in node.inside:
        if inner.name in ("SegmentTemplate", "BaseURL"):
            continue
        for key in ("sourceURL", "media"):
            if key in inner.attributes:
                yield base, inner.attributes[key]
        yield from references(inner, base, total, template)


def filled(template: Node, representation: dict[str, str], total: float) -> Iterator[str]:
    """The pieces that a template makes for a representation."""
    values = {"RepresentationID": representation.get("id", ""), "Bandwidth": representation.get("bandwidth", "")}
    if "initialization" in template.attributes:
        yield _filled(template.attributes["initialization"], values)
    media = template.attributes.get("media")
    if media is None:
        return
    number = _number(template.attributes.get("startNumber", ""), 1)
    timeline = [
        (
            _number(s.attributes.get("t", ""), -1),
            _number(s.attributes.get("d", ""), 0),
            _number(s.attributes.get("r", ""), 0),
        )
        for inner in template.all("SegmentTimeline")[:1]
        for s in inner.all("S")
    ]
    for time in _times(template.attributes, timeline, total):
        yield _filled(media, {**values, "Number": str(number), "Time": str(time)})
        number += 1


class ExtractorManifest(ContentExtractor):
    """HLS playlists and DASH descriptions, by type, name or first line. Hop E. Heritrix has none."""

    def takes(self, document: Document) -> bool:
        content_type = document.content_type.lower()
        path = document.uri.partition("?")[0].lower()
        return "mpegurl" in content_type or content_type.startswith(_DASH_TYPE) or path.endswith((".m3u8", ".mpd"))

    def extract(self, document: Document) -> Iterable[Outlink]:
        if document.prefix_bytes().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            for base, text in document.in_time(references(tree(document.data), document.uri, 0.0)):
                document.link_from(base, text, EMBED, CONTEXT)
                if document.full:
                    break
        else:
            text = document.data.decode("utf-8", "replace")
            if text.lstrip("\ufeff \t\r\n").startswith(_PLAYLIST):
                for reference in document.in_time(playlist(text)):
                    document.link_from(document.uri, reference, EMBED, CONTEXT)
        return ()
