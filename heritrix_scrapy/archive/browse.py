"""How do the links of a mirrored page lead to the files of the mirror?

HTML and CSS stay byte by byte as they are but for the addresses: one that is in the mirror becomes the relative path
of its file, any other the full address on the live web. Addresses stand in attributes, ``srcset`` (HTML 4.8.4.2.1),
``meta`` refresh, ``style`` and ``<style>``, CSS ``url()`` and ``@import``; they are resolved against ``<base href>``,
whose own address is emptied. Scripts stay as they are. Texts are taken as bytes of an ASCII-compatible charset; a page
in UTF-16 stays as it is.
"""

from __future__ import annotations

import html
import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import join

if TYPE_CHECKING:
    from collections.abc import Callable

#: Attributes whose value is one address.
ADDRESSES = frozenset(
    (
        "href",
        "src",
        "action",
        "formaction",
        "poster",
        "background",
        "data",
        "cite",
        "longdesc",
        "data-src",
        "xlink:href",
    )
)
LISTS = frozenset(("srcset", "imagesrcset", "data-srcset"))

_ATTRIBUTE = re.compile(r"""[\s/]*([^\s"'<>/=]+)(\s*=\s*("[^"]*"|'[^']*'|[^\s>"']*))?""")
_CANDIDATE = re.compile(r"([\s,]*)([^\s,]\S*)(\s+[^,]*)?")
_REFRESH = re.compile(r"""(\s*[\d.]+\s*[;,]?\s*(?:url\s*=\s*)?['"]?)([^'"]+)""", re.IGNORECASE)
_CSS = re.compile(
    r"""(url\(\s*)("[^"\n]*"|'[^'\n]*'|[^)\s"']*)(\s*\))|(@import\s+)("[^"\n]*"|'[^'\n]*')""", re.IGNORECASE
)
_RAW = re.compile(r"<(script|style|textarea|title|xmp)\b", re.IGNORECASE)

#: Addresses that lead to no file: left as they are.
_NO_FILE = re.compile(r"\s*(?:#|data:|javascript:|mailto:|about:|blob:|tel:)", re.IGNORECASE)


class Links:
    """The addresses of one document. ``find(uri)``: path of that URI's file below the tree, or None."""

    def __init__(self, uri: str, path: str, find: Callable[[str], str | None]) -> None:
        self._base = uri
        self._folder = posixpath.dirname(path)
        self._find = find

    def html(self, body: bytes) -> bytes:
        """A page for browsing."""
        if body.startswith((b"\xff\xfe", b"\xfe\xff")):
            return body
        text = body.decode("latin-1")
        out: list[str] = []
        at = 0
        while (start := text.find("<", at)) >= 0:
            out.append(text[at:start])
            if text.startswith("<!--", start):
                end = text.find("-->", start + 4)
                at = len(text) if end < 0 else end + 3
                out.append(text[start:at])
            elif text[start + 1 : start + 2].isalpha():
                at = self._tag(text, start, out)
                if (raw := _RAW.match(text, start)) is not None:
                    at = self._raw(text, at, raw[1].lower(), out)
            else:
                out.append("<")
                at = start + 1
        out.append(text[at:])
        return "".join(out).encode("latin-1")

    def css(self, body: bytes) -> bytes:
        """A style sheet for browsing."""
        return self._css(body.decode("latin-1")).encode("latin-1")

    # -- inside --------------------------------------------------------------------------------------------

    def _tag(self, text: str, start: int, out: list[str]) -> int:
        """Copy one start tag, its addresses changed; where it ends."""
        at = start + 1
        while at < len(text) and not text[at].isspace() and text[at] not in "/>":
            at += 1
        name = text[start + 1 : at].lower()
        out.append(text[start:at])
        pieces: list[tuple[str, str, str | None]] = []
        while (found := _ATTRIBUTE.match(text, at)) is not None:
            pieces.append((found[0], found[1].lower(), found[3]))
            at = found.end()
        values = {key: value.strip("\"'") for _, key, value in pieces if value is not None}
        if name == "base" and "href" in values:
            self._base = self._full(html.unescape(_text(values["href"]))) or self._base
        for piece, key, value in pieces:
            if value is None:
                out.append(piece)
                continue
            quoted = value[:1] if value[:1] in ('"', "'") else ""
            old = value[1:-1] if quoted else value
            new = self._value(name, key, old, values)
            if new is None or new == old:
                out.append(piece)
            else:
                out.append(piece[: len(piece) - len(value)] + (quoted or '"') + new + (quoted or '"'))
        return at

    def _value(self, tag: str, key: str, old: str, values: dict[str, str]) -> str | None:
        """The new value of an attribute, escaped; None where it stays."""
        if key == "href" and tag == "base":
            return ""
        if key in ADDRESSES and not (key == "data" and tag != "object"):
            new = self._address(html.unescape(_text(old)))
            return None if new is None else html.escape(new)
        if key in LISTS:
            return _CANDIDATE.sub(self._candidate, old)
        if key == "style":
            return self._css(old)
        if key == "content" and tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            return _REFRESH.sub(lambda found: found[1] + self._escaped(found[2]), old, count=1)
        return None

    def _candidate(self, found: re.Match[str]) -> str:
        address = found[2]
        comma = address[len(address.rstrip(",")) :]
        return f"{found[1]}{self._escaped(address.rstrip(','))}{comma}{found[3] or ''}"

    def _raw(self, text: str, at: int, name: str, out: list[str]) -> int:
        """Copy what stands between a start tag and its end tag, where tags mean nothing."""
        end = re.compile(rf"</{name}", re.IGNORECASE).search(text, at)
        stop = len(text) if end is None else end.start()
        inside = text[at:stop]
        out.append(self._css(inside) if name == "style" else inside)
        return stop

    def _css(self, text: str) -> str:
        return _CSS.sub(self._css_address, text)

    def _css_address(self, found: re.Match[str]) -> str:
        before, value, after = (found[1], found[2], found[3]) if found[1] else (found[4], found[5], "")
        quoted = value[:1] if value[:1] in ('"', "'") else ""
        new = self._address(_text(value[1:-1] if quoted else value))
        if new is None:
            return found[0]
        return f"{before}{quoted}{new}{quoted}{after}"

    def _escaped(self, written: str) -> str:
        new = self._address(html.unescape(_text(written)))
        return written if new is None else html.escape(new)

    def _address(self, written: str) -> str | None:
        """Where an address leads from this document; None when it stays as it is."""
        if not written.strip() or _NO_FILE.match(written):
            return None
        address, mark, fragment = written.partition("#")
        uri = self._full(address)
        if uri is None:
            return None
        path = self._find(uri)
        if path is None:
            return uri + mark + fragment
        return quote(posixpath.relpath(path, self._folder or "."), safe="/~@=+,;!$'()-._") + mark + fragment

    def _full(self, written: str) -> str | None:
        try:
            return join(self._base, written.strip())
        except UriError:
            return None


def _text(latin: str) -> str:
    """What bytes taken as latin-1 say: UTF-8 where they are that."""
    try:
        return latin.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return latin
