"""What does one line of the crawl log say?

Twelve columns, one blank between them, none empty, none with a blank inside; a thirteenth with JSON when asked
for (Heritrix: UriProcessingFormatter). Fifteen known readers split these lines, no two alike; what all of them
share is kept here whatever a server or page put into a value.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import status
from heritrix_scrapy.model.revisit import counted_size
from heritrix_scrapy.report.times import log17, ts17

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI

COLUMNS = (
    "time",
    "status",
    "size",
    "uri",
    "hop path",
    "via",
    "mime",
    "thread",
    "start+duration",
    "digest",
    "source tag",
    "annotations",
)

#: Ends without a connection or without an answer. Heritrix prints 1 as their size.
UNANSWERED = frozenset({status.CONNECT_FAILED, status.CONNECT_LOST, status.DEEMED_NOT_FOUND})

_MIME_END = re.compile(r"[\s;,]")
_UNSAFE = re.compile(r"[^!-~\xa1-\U0010ffff]|[\xad\u1680\u2000-\u200f\u2028-\u202f\u205f\u3000\ud800-\udfff\ufeff]")


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def token(text: str | None) -> str:
    """The text as one column: blanks, control and invisible characters percent-encoded; ``-`` for nothing."""
    if not text:
        return "-"
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return _UNSAFE.sub(_percent, text)


#: Content-Types and hop paths that are remembered are no longer than this; source tags, and pages that linked.
_USUAL = 100
_LONG = 300


def truncate_mime(text: str | None) -> str:
    """A Content-Type up to its first blank, ``;`` or ``,``; ``no-type`` when nothing stands there (Heritrix:
    MimetypeUtils.truncate)."""
    if not text:
        return "no-type"
    return _known_mime(text) if len(text) <= _USUAL else _cut_mime(text)


def _cut_mime(text: str) -> str:
    return _MIME_END.split(text, maxsplit=1)[0] or "no-type"


_known_mime = lru_cache(2048)(_cut_mime)


@lru_cache(2048)
def _mime_column(text: str) -> str:
    return token(_cut_mime(text))


def annotation(text: str) -> str:
    """An annotation as it stands in the list: no comma, no blank."""
    return token(text).replace(",", "%2C") if text else ""


def notes_of(curi: CrawlURI, *, content_size: bool = False, modern: bool = True) -> list[str]:
    """All annotations of a line; after more than one attempt their number, as ``3t``, is the last (Heritrix:
    CrawlURI.aboutToLog). ``content_size``: then ``content-size:N``, which is what the statistics count."""
    notes = [written for note in curi.annotations if (written := annotation(note))]
    tries = f"{curi.attempts}t"
    if curi.attempts > 1 and tries not in notes:
        notes.append(tries)
    if content_size and (counted := counted_size(curi, heritrix=not modern)) > 0:
        notes.append(f"content-size:{counted}")
    return notes


def size(curi: CrawlURI, *, modern: bool = True) -> int | None:
    """Body bytes of an HTTP exchange, all recorded bytes of any other; None when there are none to tell.

    The statistics count the header's bytes of an HTTP exchange, too: ``content-size:N`` has what they count."""
    if curi.uri.startswith("http"):
        if curi.content_length >= 0:
            return curi.content_length
        if curi.status in UNANSWERED:
            return 0 if modern else 1
    return curi.content_size if curi.content_size > 0 else None


@lru_cache(2048)
def _known_token(text: str) -> str:
    """``token`` of what comes again and again: hop paths, source tags, the page that linked to many."""
    return token(text)


#: The column of every usual status.
_STATUS_COLUMN = {code: f"{code:5d}" for code in (*status.STATUS, *range(100, 600))}


def line(
    curi: CrawlURI,
    now_ms: int,
    *,
    thread: int = 1,
    extra_info: bool = False,
    content_size: bool = False,
    modern: bool = True,
) -> str:
    """The line with its line end. ``now_ms``: the time of logging; ``extra_info``: write the last column;
    ``content_size``: annotate all bytes of the answer, by which some harvest managers count."""
    length, code = curi.content_length, curi.status
    uri, via, digest = curi.uri or "-", curi.via or "-", curi.digest or "-"
    bytes_ = length if length >= 0 and uri.startswith("http") else size(curi, modern=modern)
    ended = curi.ended_ms
    if ended is None:
        timing = "-"
    else:
        began = curi.began_ms
        began = 1 if began is None else began
        timing = f"{ts17(began)}+{ended - began}"
    notes = "-"
    if curi.annotations or content_size or curi.attempts > 1:
        notes = ",".join(notes_of(curi, content_size=content_size, modern=modern)) or "-"
    worker = "#001" if thread == 1 else f"#{thread:03d}"
    # one look at what is another text in each line: most hold nothing that is to be encoded
    if " " in (told := uri + digest) or not (told.isascii() and told.isprintable()):
        uri, digest = token(uri), token(digest)
    path, tag, kind = curi.path, curi.source_tag, curi.content_type
    path = _known_token(path) if path and len(path) <= _USUAL else token(path)
    via = _known_token(via) if len(via) <= _LONG else token(via)
    tag = _known_token(tag) if tag and len(tag) <= _LONG else token(tag)
    mime = _mime_column(kind) if kind and len(kind) <= _USUAL else token(truncate_mime(kind))
    counted = "         -" if bytes_ is None else str(bytes_).rjust(10)
    extra = f" {extra_json(curi.extra_info)}" if extra_info else ""
    return (
        f"{log17(now_ms)} {_STATUS_COLUMN.get(code) or f'{code:5d}'} {counted} {uri} {path} {via} {mime} {worker}"
        f" {timing} {digest} {tag} {notes}{extra}\n"
    )


def extra_json(extra: Mapping[str, Any]) -> str:
    """The extra information as compact JSON on one line."""
    return json.dumps(extra, separators=(",", ":"), default=str)


def error_line(now_ms: int, uri: str | None, message: str, problem: str) -> str:
    """A line of uri-errors.log (Heritrix: UriErrorFormatter): which string on which page is no URI, and why."""
    return f'{log17(now_ms)} {token(uri) if uri else "n/a"} "{one_line(message)}" {one_line(problem)}\n'


def failure_entry(log_line: str, trace: Sequence[str]) -> str:
    """An entry of nonfatal-errors.log or runtime-errors.log: the URI's line, then a blank and what went wrong
    (Heritrix: NonFatalErrorFormatter). No line behind the first begins as an entry does, whatever a server made the
    message hold."""
    first, *rest = map(one_line, "".join(trace).strip("\n").split("\n"))
    return "\n".join([f"{log_line} {first}", *(f" {text}" if text[:1].isdigit() else text for text in rest)]) + "\n"


def one_line(text: str) -> str:
    """The text with line breaks and other control characters percent-encoded; blanks stay."""
    return text if text.isprintable() else _CONTROL.sub(_percent, text)
