"""Which character set is a document written in?

The header's word holds; where it says nothing, the document's own declaration does, if the document still says
the same when it is read that way (Heritrix: ExtractorHTML.getContentDeclaredCharset). Names are Java's, because
annotations and reports carry them.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.extract.document import Document

#: Python's codec name → the name Java prints. What is not here is no character set to us.
JAVA_NAMES: dict[str, str] = {
    "ascii": "US-ASCII",
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE",
    "utf-32": "UTF-32",
    "utf-32-be": "UTF-32BE",
    "utf-32-le": "UTF-32LE",
    **{f"iso8859-{n}": f"ISO-8859-{n}" for n in (*range(1, 10), 11, 13, 14, 15, 16)},
    **{f"cp{n}": f"windows-{n}" for n in range(1250, 1259)},
    "cp437": "IBM437",
    "cp850": "IBM850",
    "cp852": "IBM852",
    "cp855": "IBM855",
    "cp857": "IBM857",
    "cp858": "IBM00858",
    "cp860": "IBM860",
    "cp861": "IBM861",
    "cp862": "IBM862",
    "cp863": "IBM863",
    "cp864": "IBM864",
    "cp865": "IBM865",
    "cp866": "IBM866",
    "cp869": "IBM869",
    "cp874": "x-windows-874",
    "cp932": "windows-31j",
    "cp949": "x-windows-949",
    "cp950": "x-windows-950",
    "koi8-r": "KOI8-R",
    "koi8-u": "KOI8-U",
    "mac-roman": "x-MacRoman",
    "mac-cyrillic": "x-MacCyrillic",
    "shift_jis": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "iso2022_jp": "ISO-2022-JP",
    "euc_kr": "EUC-KR",
    "iso2022_kr": "ISO-2022-KR",
    "johab": "x-Johab",
    "gb2312": "GB2312",
    "gbk": "GBK",
    "gb18030": "GB18030",
    "big5": "Big5",
    "big5hkscs": "Big5-HKSCS",
    "tis-620": "TIS-620",
}

#: Names that Java knows and Python does not.
ALIASES: dict[str, str] = {
    "8859_1": "iso8859-1",
    "unicode": "utf-16",
    "windows-31j": "cp932",
    "x-sjis": "shift_jis",
    "x-gbk": "gbk",
    "windows-874": "cp874",
    "x-windows-874": "cp874",
    "x-windows-949": "cp949",
    "x-windows-950": "cp950",
    "x-macroman": "mac-roman",
    "x-maccyrillic": "mac-cyrillic",
    "x-johab": "johab",
    "x-euc-jp": "euc_jp",
    "ibm00858": "cp858",
}

#: What browsers read under a name: the larger set that pages mean by it (WHATWG Encoding). Python's codec names.
OF_THE_WEB: dict[str, str] = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gbk",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}

#: Spellings that Python takes and neither Java nor the WHATWG knows.
REFUSED = re.compile(
    r"utf[-_](?:16|32)[-_][bl]e|utf_[78]|u8|latin-\d+|utf|cp65001|.*\s.*|.*[^a-z0-9]|.*[^a-z0-9]{2}.*|[^a-z0-9].*|.*[^-+_.:a-z0-9].*"
)

#: Signatures at the start of a body (WHATWG Encoding).
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xef\xbb\xbf", "UTF-8"),
    (b"\xfe\xff", "UTF-16BE"),
    (b"\xff\xfe", "UTF-16LE"),
)

#: Characters at the start of a document in which a declaration is looked for.
PREFIX = 1000


@lru_cache(maxsize=1024)
def java_name(name: str) -> str | None:
    """The name Java prints for a character set named in any of its ways; None for an unknown name."""
    key = name.strip().lower()
    if REFUSED.fullmatch(key):
        return None
    try:
        found = codecs.lookup(ALIASES.get(key, key)).name
    except (LookupError, ValueError):
        return None
    return JAVA_NAMES.get(found)


@lru_cache(maxsize=256)
def _codec(name: str) -> str:
    key = name.strip().lower()
    return codecs.lookup(ALIASES.get(key, key)).name


def _unassigned(error: UnicodeError) -> tuple[str, int]:
    """What windows-1252 assigns to nothing is the control character of that number (WHATWG Encoding)."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error("heritrix_scrapy.unassigned", _unassigned)


def decode(data: bytes, name: str, *, standard: bool = False) -> str:
    """Bytes as text; what is malformed becomes U+FFFD. ``name`` must be one that ``java_name`` knows. ``standard``:
    read as browsers do what is labelled so."""
    codec = _codec(name)
    if standard and codec in OF_THE_WEB:
        if data.isascii():
            return data.decode("latin-1")
        codec = OF_THE_WEB[codec]
        return data.decode(codec, "heritrix_scrapy.unassigned" if codec == "cp1252" else "replace")
    if codec == "utf-16" and data[:2] not in (b"\xfe\xff", b"\xff\xfe"):
        codec = "utf-16-be"  # Java's default without a byte order mark
    return data.decode(codec, "replace")


def encode_query(text: str, name: str) -> str:
    """A reference with what is not ASCII in its query percent-encoded in a character set; what that does not have,
    as a numeric reference (WHATWG URL, "percent-encode after encoding")."""
    head, mark, rest = text.partition("?")
    query, hash_mark, fragment = rest.partition("#")
    codec = _codec(name)
    codec = OF_THE_WEB.get(codec, codec)
    encoded = "".join(
        [
            character if character < "\x80" else quote(character.encode(codec, "xmlcharrefreplace"), safe="")
            for character in query
        ]
    )
    return f"{head}{mark}{encoded}{hash_mark}{fragment}"


_CONTENT_TYPE_META = re.compile(
    r"<meta\s+[^>]*?http-equiv\s*=\s*(?:'content-type'|\"content-type\")[^>]*+>", re.ASCII | re.IGNORECASE
)
# Browsers look for the word in any meta element, whatever its attributes are called.
_ANY_META = re.compile(r"<meta\s+[^>]*?content\s*=[^>]*?charset=[^>]*+>", re.ASCII | re.IGNORECASE)
_CHARSET_INSIDE = re.compile(r"charset=([^'\";\s>]++)", re.ASCII)
_CHARSET_META = re.compile(r"<meta\s+[^>]*?\bcharset\s*=\s*['\"]([^'\";\s>]++)['\"]", re.ASCII | re.IGNORECASE)
_CHARSET_META_ANY = re.compile(r"<meta\s+[^>]*?\bcharset\s*=\s*['\"]?([^'\";\s/>]++)", re.ASCII | re.IGNORECASE)
_XML_DECLARATION = re.compile(r"<\?xml\s+[^>]*?encoding\s*=\s*['\"]([^'\"]++)['\"]", re.ASCII | re.IGNORECASE)


def declared_in_html(prefix: str, *, unquoted: bool = False) -> str | None:
    """The character set that the first characters of an HTML document name, as written; None when they name
    none. ``unquoted``: take ``<meta charset=utf-8>`` too."""
    lowered = prefix.lower()
    if "charset" not in lowered and "encoding" not in lowered:
        return None
    meta = (_ANY_META if unquoted else _CONTENT_TYPE_META).search(prefix)
    if meta is not None:
        inside = _CHARSET_INSIDE.search(meta[0])
        if inside is not None:
            return inside[1]
    for pattern in (_CHARSET_META_ANY if unquoted else _CHARSET_META, _XML_DECLARATION):
        match = pattern.search(prefix)
        if match is not None:
            return match[1]
    return None


def signature(data: bytes) -> str | None:
    """What a byte order mark at the start says."""
    for mark, name in SIGNATURES:
        if data.startswith(mark):
            return name
    return None


def declared_in_xml(prefix: str, *, unquoted: bool = False) -> str | None:
    """The character set that an XML declaration names, as written."""
    match = _XML_DECLARATION.search(prefix) if "encoding" in prefix else None
    return None if match is None else match[1]


_CHARSET_RULE = re.compile(rb'@charset "([^"]{1,60})";')


def settle_sheet(document: Document) -> None:
    """Have a style sheet read in what its byte order mark, its header, its ``@charset``, or else its bytes say (CSS
    Syntax 3, 3.2)."""
    data = document.data
    if data.isascii():
        return
    name = signature(data)
    if name is None and "charset=" not in document.content_type.lower():
        rule = _CHARSET_RULE.match(data)
        name = java_name(rule[1].decode("latin-1")) if rule else None
        if name is not None and name.startswith("UTF-16"):
            name = "UTF-8"  # it could not have been read if it were that
        if name is None and is_utf8(data):
            name = "UTF-8"
    if name is not None and name != document.charset:
        document.curi.annotate(f"usingCharsetInCSS:{name}")
        document.use_charset(name)


class Choice(NamedTuple):
    """``charset``: the one to read the document in, by Java's name; ``annotation``: what to note, if anything."""

    charset: str
    annotation: str | None


def choose(
    prefix: bytes, current: str, declared_in: Callable[..., str | None], kind: str, window: int, *, standard: bool
) -> Choice:
    """Look for the document's own word where the header gave none.

    ``prefix``: the first bytes, at least four times ``PREFIX``; ``current``: the default; ``declared_in``: finds the
    word in the first ``window`` characters; ``kind``: for the annotation; ``standard``: also heed a byte order mark
    and unquoted declarations (WHATWG HTML).
    """
    if standard:
        signed = signature(prefix)
        if signed is not None:
            return Choice(signed, None if signed == current else f"usingCharsetIn{kind}:{signed}")
    declared = declared_in(decode(prefix, current)[:window], unquoted=standard)
    if declared is None:
        return Choice(current, None)
    name = java_name(declared)
    if name is None:
        return Choice(current, f"unsatisfiableCharsetIn{kind}:{declared}")
    if name == current:
        return Choice(current, None)
    again = declared_in(decode(prefix, name)[:window], unquoted=standard)
    if again == declared:
        return Choice(name, f"usingCharsetIn{kind}:{name}")
    return Choice(current, f"inconsistentCharsetIn{kind}:{name}")


#: What the bytes of a document may be taken for: where the guess is wrong for a neighbour, as among those of Western
#: and Central Europe, the default is as good.
DETECTED: dict[str, str] = {
    "cp932": "Shift_JIS",
    "shift_jis": "Shift_JIS",
    "shift_jis_2004": "Shift_JIS",
    "shift_jisx0213": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "euc_jis_2004": "EUC-JP",
    "euc_jisx0213": "EUC-JP",
    "gb2312": "GB18030",
    "gbk": "GB18030",
    "gb18030": "GB18030",
    "big5": "Big5",
    "big5hkscs": "Big5-HKSCS",
    "euc_kr": "EUC-KR",
    "cp949": "x-windows-949",
    "cp1251": "windows-1251",
    "koi8_r": "KOI8-R",
    "koi8_u": "KOI8-U",
    "cp1253": "windows-1253",
    "iso8859_7": "ISO-8859-7",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp874": "x-windows-874",
    "tis_620": "TIS-620",
}

#: Bytes that a guess is made from: stretches of text that is not ASCII.
SAMPLE = 2_000
_NOT_ASCII = re.compile(rb"[^<>\0-\x1f]{0,40}[\x80-\xff][^<>\0-\x1f]{0,80}")


def is_utf8(data: bytes) -> bool:
    """Whether it can be read so; the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def detect(data: bytes) -> str | None:
    """What a document that does not say is most likely written in; None for plain ASCII, and where nothing is
    surer than the default."""
    if data.isascii():
        return None
    if is_utf8(data):
        return "UTF-8"
    sample = bytearray()
    for match in _NOT_ASCII.finditer(data[:1_000_000]):
        sample += match[0] + b"\n"
        if len(sample) >= SAMPLE:
            break
    from charset_normalizer import from_bytes

    best = from_bytes(bytes(sample)).best()
    return None if best is None else DETECTED.get(best.encoding)


def settle(
    document: Document, declared_in: Callable[..., str | None], kind: str, window: int = PREFIX, *, standard: bool
) -> None:
    """Have a document read in the character set that it says it has, and note what came of it."""
    if "charset=" in document.content_type.lower():
        if standard:
            signed = signature(document.data)
            if signed is not None and signed != document.charset:
                document.curi.annotate(f"usingCharsetIn{kind}:{signed}")
                document.use_charset(signed)
        return
    choice = choose(document.data[: 4 * PREFIX], document.charset, declared_in, kind, window, standard=standard)
    if standard and choice.annotation is None and choice.charset == document.charset:
        detected = detect(document.data)
        if detected is not None and detected != document.charset:
            choice = Choice(detected, f"detectedCharset:{detected}")
    if choice.annotation is not None:
        document.curi.annotate(choice.annotation)
    document.use_charset(choice.charset)
