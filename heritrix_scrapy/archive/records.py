"""Which records does one fetched URI become?

The order of the group is a table; each row's builder says which headers stand between ``WARC-Date`` and
``WARC-Record-ID`` and in which order (Heritrix: WARCWriterChainProcessor and its record builders). The heritrix
profile writes exactly what Heritrix writes; the modern one follows ISO 28500:2017 where the two part.

Pure: times are on the CrawlURI, record ids come from the caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.archive import anvl
from heritrix_scrapy.archive.anvl import line
from heritrix_scrapy.archive.metadata import metadata
from heritrix_scrapy.archive.redaction import redacted
from heritrix_scrapy.model.recorder import sha1_base32, sha1_of
from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD, Revisit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.recorder import Spool

Fields = list[tuple[str, str]]

#: What follows the block of each record.
END_OF_RECORD = b"\r\n\r\n"

#: Blocks up to this many bytes are taken into memory whole; larger ones are read from the spool in pieces.
WHOLE = 1024 * 1024

WARC_FIELDS = "application/warc-fields"
HTTP_RESPONSE = "application/http; msgtype=response"
HTTP_REQUEST = "application/http; msgtype=request"
FTP_CONTROL = "text/x-ftp-control-conversation"

PROFILE_URI = "http://netpreserve.org/warc/{version}/revisit/{profile}"

#: Annotation → reason in ``WARC-Truncated``: Heritrix's, then ours. The first that applies is written.
TRUNCATIONS = (
    ("timeTrunc", "time", "time"),
    ("lenTrunc", "length", "length"),
    ("headerTrunc", "long-headers", "length"),
    ("midFetchAbort", None, "unspecified"),
)

#: Types whose bytes deflate cannot shrink: their records are stored, not compressed.
_PACKED = re.compile(
    r"(?:image/(?!svg|bmp|x-ms-bmp|x-icon|vnd\.microsoft\.icon|tiff)|video/|audio/(?!x-wav|wav|midi)|font/woff"
    r"|application/(?:zip|gzip|x-gzip|x-7z|x-rar|java-archive|x-bzip|x-xz|zstd|epub|vnd\.openxml|x-shockwave-flash))",
    re.IGNORECASE,
)

_BLANKS = re.compile(r"\s+")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Stream(NamedTuple):
    """A block that stays in its spool."""

    spool: Spool
    start: int
    stop: int

    def chunks(self) -> Iterator[bytes]:
        return self.spool.chunks(self.start, self.stop)


class Record(NamedTuple):
    """``kind``: WARC-Type; ``id``: with its ``urn:uuid:`` and without brackets; ``head``: from the version line to
    the empty line; ``length``: bytes of the block; ``packed``: the block does not shrink."""

    kind: str
    id: str
    head: bytes
    block: bytes | Stream
    length: int
    packed: bool = False

    def pieces(self) -> Iterator[bytes]:
        """The block, whole or in pieces."""
        if isinstance(self.block, bytes):
            yield self.block
        else:
            yield from self.block.chunks()


@dataclass(slots=True)
class Facts:
    """What a group says beyond the CrawlURI. ``response_headers``: further headers of the response record, each
    ``name: value``; ``ftp_conversation``: text of the control connection; ``ftp_status``: its first reply."""

    revisit: Revisit | None = None
    response_headers: Sequence[str] = ()
    ftp_conversation: str | None = None
    ftp_status: str | None = None


NO_FACTS = Facts()


@dataclass(slots=True)
class Form:
    """How records are written. ``modern``: which profile; ``version``: ``1.0`` or ``1.1``; ``requests``, ``metadata``,
    ``responses``, ``revisits``: whether those records are written; ``charset``: what an HTTP answer without one is
    read as; ``response_headers``: further headers of response records; ``redact``: whether secrets in requests are
    masked."""

    modern: bool = True
    version: str = "1.1"
    requests: bool = True
    metadata: bool = True
    charset: str = "UTF-8"
    responses: bool = True
    revisits: bool = True
    response_headers: Sequence[str] = ()
    redact: bool = False

    @classmethod
    def of(cls, view: Any) -> Form:
        """From the settings that hold for a URI."""
        return cls(
            view.profile != "heritrix",
            view.warc_version,
            view.warc_write_requests,
            view.warc_write_metadata,
            view.default_encoding,
            view.warc_write_responses,
            view.warc_write_revisits,
            view.warc_response_headers,
            view.warc_redact_request_headers,
        )


def date(ms: int, version: str) -> str:
    """A WARC-Date: to the second in 1.0, to the millisecond in 1.1."""
    text = _second(ms // 1000)
    return f"{text}Z" if version == "1.0" else f"{text}.{ms % 1000:03d}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def target(uri: str) -> str:
    """The URI as it may stand in a header: blanks and control characters percent-encoded."""
    if uri.isascii() and uri.isprintable() and " " not in uri:
        return uri
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8")), uri)


@lru_cache(maxsize=512)
def _shrinks_not(mime: str) -> bool:
    return _PACKED.match(mime) is not None


@lru_cache(maxsize=512)
def content_type(text: str) -> str:
    """A Content-Type as it may stand in a header: runs of blanks are one blank, control characters are left out."""
    return _CONTROL.sub("", _BLANKS.sub(" ", text)).strip()


def head(version: str, kind: str, uri: str | None, when: str, extra: Fields, ident: str, mime: str, size: int) -> bytes:
    """Version line, headers in Heritrix's order, empty line."""
    named = f"\r\nWARC-Target-URI: {target(uri)}" if uri else ""
    between = "".join([anvl.line(name, text) for name, text in extra])
    return _head(version, kind, f"{named}\r\nWARC-Date: {when}\r\n", between, ident, mime, size)


def _head(version: str, kind: str, shared: str, extra: str, ident: str, mime: str, size: int) -> bytes:
    """The same, of lines that are written already: ``shared`` from behind the type to the date, ``extra`` up to the
    record's id."""
    kept = f"Content-Type: {content_type(mime)}\r\n" if size and mime else ""
    return (
        f"WARC/{version}\r\nWARC-Type: {kind}{shared}{extra}WARC-Record-ID: <{ident}>\r\n{kept}"
        f"Content-Length: {size}\r\n\r\n"
    ).encode("utf-8", "replace")


class _Group:
    """One group in the making: what its records share. Headers are kept as the lines that they become: three heads
    are made for each page, and half of what they say is the same."""

    __slots__ = (
        "_wire",
        "address",
        "concurrent",
        "curi",
        "cut",
        "facts",
        "form",
        "new_id",
        "records",
        "shared",
        "warcinfo",
    )

    def __init__(
        self, curi: CrawlURI, form: Form, new_id: Callable[[], str], warcinfo_id: str | None, facts: Facts
    ) -> None:
        self.curi, self.form, self.new_id, self.facts = curi, form, new_id, facts
        when = date(curi.began_ms if curi.began_ms is not None else 1, form.version)
        uri = target(curi.uri)
        self.shared = f"\r\nWARC-Target-URI: {uri}\r\nWARC-Date: {when}\r\n" if uri else f"\r\nWARC-Date: {when}\r\n"
        self.address = line("WARC-IP-Address", curi.server_ip) if curi.server_ip else ""
        reason = truncation(curi, modern=form.modern)
        self.cut = f"WARC-Truncated: {reason}\r\n" if reason else ""
        self.warcinfo = f"WARC-Warcinfo-ID: <{warcinfo_id}>\r\n" if warcinfo_id else ""
        self.concurrent = ""
        self._wire: str | None = None
        self.records: list[Record] = []

    def recorded(self, stop: int | None = None) -> bytes | Stream:
        """The response bytes, up to ``stop``."""
        recorder = self.curi.recorder
        if recorder is None:
            return b""
        return taken(recorder.response, stop)

    def add(self, kind: str, mime: str, block: bytes | Stream, extra: str, *, packed: bool = False) -> None:
        """Finish one record. ``extra``: its own headers; what all records share is added here."""
        extra = self.concurrent + extra
        size = len(block) if isinstance(block, bytes) else block.stop - block.start
        if self.form.modern:
            digest = sha1_of(block) if isinstance(block, bytes) else sha1_base32(block.chunks())
            extra = f"{extra}{self.warcinfo}WARC-Block-Digest: {digest}\r\n"
        ident = self.new_id()
        top = _head(self.form.version, kind, self.shared, extra, ident, mime, size)
        self.records.append(Record(kind, ident, top, block, size, packed))
        if not self.concurrent:
            self.concurrent = f"WARC-Concurrent-To: <{ident}>\r\n"

    def wire(self) -> str:
        """Protocol and cipher. Heritrix names the protocol only for HTTP/2 and HTTP/3."""
        if self._wire is None:
            self._wire = self._wire_lines()
        return self._wire

    def _wire_lines(self) -> str:
        curi = self.curi
        lines = "".join([f"WARC-Protocol: {note}\r\n" for note in curi.annotations if note in ("h2", "h3")])
        if self.form.modern:
            if not lines and curi.http_version.startswith("HTTP/"):
                lines = line("WARC-Protocol", curi.http_version.lower())
            if curi.tls is not None:
                version = curi.tls.version.replace("TLSv", "tls/").replace("SSLv", "ssl/")
                lines += line("WARC-Protocol", version) + line("WARC-Cipher-Suite", curi.tls.cipher)
        return lines


def truncation(curi: CrawlURI, *, modern: bool) -> str | None:
    """Why bytes are missing from the response record, as WARC-Truncated says it; None when all are there."""
    for note, theirs, ours in TRUNCATIONS:
        if note in curi.annotations and (reason := ours if modern else theirs):
            return reason
    if modern and curi.recorder is not None:
        for reason in ("time", "length", "disconnect", "unspecified"):
            if reason in curi.recorder.truncated:
                return reason
    return None


def taken(spool: Spool, stop: int | None = None) -> bytes | Stream:
    """A spool's bytes up to ``stop``: in memory when they are few."""
    end = spool.size if stop is None else min(stop, spool.size)
    return spool.read(0, end) if end <= WHOLE else Stream(spool, 0, end)


def _dns(group: _Group) -> None:
    """The answer's text: a ``resource`` in the modern profile, which is what the standard calls it."""
    extra = group.address
    block = group.recorded()
    if group.form.modern:
        extra += f"WARC-Payload-Digest: {sha1_base32(group.curi.recorder.response.chunks())}\r\n"  # type: ignore[union-attr]
    group.add("resource" if group.form.modern else "response", group.curi.content_type, block, extra)


def _http_response(group: _Group) -> None:
    if not group.form.responses:
        return
    curi = group.curi
    recorder = curi.recorder
    modern = group.form.modern
    extra = ""
    headless = modern and recorder is not None and not recorder.body_at
    if curi.digest and not headless:
        # readers take the first lines of an answer without a head (HTTP/0.9) for one, and check what follows
        digest = curi.digest
        if modern and digest.startswith("SHA1:") and recorder is not None:
            digest = recorder.body_digest  # a step put that of a text without its changing parts in its place
        extra = line("WARC-Payload-Digest", digest)
    extra += group.address + group.cut + group.wire()
    for text in group.facts.response_headers:
        name, colon, value = text.partition(":")
        if colon:
            extra += line(name.strip(), value.strip())
    coded = recorder is not None and bool(recorder.content_encoding)
    packed = coded or _shrinks_not(curi.content_type)
    group.add("response", HTTP_RESPONSE, group.recorded(), extra, packed=packed)


def _whois(group: _Group) -> None:
    group.add("response", "text/plain", group.recorded(), group.address)


def _ftp_control(group: _Group) -> None:
    text = group.facts.ftp_conversation
    if text is not None:
        group.add("metadata", FTP_CONTROL, text.encode("utf-8", "replace"), group.address)


def _ftp_response(group: _Group) -> None:
    """The data connection's bytes: a ``resource`` in the modern profile."""
    curi, modern = group.curi, group.form.modern
    extra = group.address
    if modern and curi.digest:
        extra += line("WARC-Payload-Digest", curi.digest)
    if modern:
        extra += group.cut
    group.add("resource" if modern else "response", curi.content_type, group.recorded(), extra)


def _revisit(group: _Group) -> None:
    """What is repeated; the block is the head of the response, but for a 304 nothing: readers take a head for that of
    the answer to show, and would show an empty 304. In the modern profile its lines stand in the metadata record.
    """
    revisit, curi, modern = group.facts.revisit, group.curi, group.form.modern
    if not group.form.revisits:
        return
    assert revisit is not None
    same = revisit.profile == IDENTICAL_PAYLOAD
    extra = line("WARC-Profile", PROFILE_URI.format(version=group.form.version, profile=revisit.profile))
    extra += group.cut if modern else "WARC-Truncated: length\r\n"
    when = revisit.refers_to_date
    told = [
        ("WARC-Refers-To", f"<{revisit.refers_to}>" if revisit.refers_to and (same or modern) else None),
        ("WARC-Payload-Digest", revisit.payload_digest),
        ("WARC-Etag", None if same or modern else revisit.etag),
        ("WARC-Last-Modified", None if same or modern else revisit.last_modified),
        ("WARC-Refers-To-Date", date(when, group.form.version) if isinstance(when, int) else when),
        ("WARC-Refers-To-Target-URI", revisit.refers_to_target_uri if same or modern else None),
    ]
    extra += "".join([line(name, text) for name, text in told if text])
    if modern:
        extra += group.address + group.wire()
    mime = HTTP_RESPONSE if curi.scheme.startswith("http") else curi.content_type
    block: bytes | Stream = b""
    if same and curi.scheme.startswith("http"):
        block = group.recorded((curi.recorder.body_at if curi.recorder is not None else 0) or None)
    group.add("revisit", mime, block, extra)


def _http_request(group: _Group) -> None:
    recorder = group.curi.recorder
    if not group.form.requests or recorder is None or not recorder.request.size:
        return
    extra = group.address + group.wire() if group.form.modern else group.wire()
    block = taken(recorder.request)
    if group.form.redact:
        # the whole of it, however large: what is masked has another length
        block, masked = redacted(block if isinstance(block, bytes) else recorder.request.read())
        if masked:
            extra += line("WARC-Redacted", ", ".join(masked))
    group.add("request", HTTP_REQUEST, block, extra)


def _metadata(group: _Group) -> None:
    if group.form.metadata:
        extra = group.address if group.form.modern else ""
        group.add("metadata", WARC_FIELDS, metadata(group.curi, group.form, group.facts), extra)


def _other(group: _Group) -> None:
    """A scheme of the user's own: its bytes as they came. Heritrix has no builder for one."""
    curi = group.curi
    if group.form.modern:
        extra = group.address + group.cut
        if curi.recorder is not None:
            extra += f"WARC-Payload-Digest: {sha1_base32(curi.recorder.response.chunks())}\r\n"
        group.add("resource", curi.content_type, group.recorded(), extra)


#: Scheme → builders in the order of the group. ``http`` stands for every scheme that begins with it.
CHAIN: dict[str, tuple[Any, ...]] = {
    "dns": (_dns,),
    "http": (_http_response, _http_request, _metadata),
    "whois": (_whois,),
    "ftp": (_ftp_control, _ftp_response, _metadata),
    "": (_other, _metadata),
}
REVISIT_CHAIN: dict[str, tuple[Any, ...]] = {
    "http": (_revisit, _http_request, _metadata),
    "ftp": (_ftp_control, _revisit, _metadata),
}


def family(scheme: str) -> str:
    """The row of the table that a scheme is written by; empty for one of the user's own."""
    if scheme.startswith("http"):
        return "http"
    if scheme in ("ftp", "sftp"):
        return "ftp"
    return scheme if scheme in ("dns", "whois") else ""


def wanted(curi: CrawlURI, *, modern: bool = True) -> bool:
    """Whether a URI leaves records at all: an answer of a protocol, with recorded bytes.

    Heritrix: WriterPoolProcessor.shouldProcess; a scheme that no builder knows writes nothing there.
    """
    recorder = curi.recorder
    if curi.status <= 0 or recorder is None or not recorder.response.size:
        return False
    return modern or family(curi.scheme) != ""


def group(
    curi: CrawlURI,
    form: Form,
    new_id: Callable[[], str],
    *,
    warcinfo_id: str | None = None,
    facts: Facts = NO_FACTS,
) -> list[Record]:
    """The records of one fetched URI, in the order they are written.

    ``new_id`` gives a fresh ``urn:uuid:...`` each time; ``warcinfo_id``: the record that heads the file.
    """
    making = _Group(curi, form, new_id, warcinfo_id, facts)
    row = family(curi.scheme)
    chain = REVISIT_CHAIN.get(row) if facts.revisit is not None else None
    for build in chain or CHAIN[row]:
        build(making)
    return making.records


__all__ = ["Facts", "Form", "Record", "Revisit", "group", "wanted"]
