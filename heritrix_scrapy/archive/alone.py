"""Which records belong to no exchange?

The one that heads a file and tells who crawls, those of URIs without an answer, and those of what the user's spider
made of a page.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.archive import anvl
from heritrix_scrapy.archive.records import WARC_FIELDS, Fields, Form, Record, date, head
from heritrix_scrapy.model.recorder import sha1_base32
from heritrix_scrapy.model.status import STATUS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.archive.names import Machine
    from heritrix_scrapy.model.crawluri import CrawlURI

CONFORMS_TO = {
    "1.0": "http://bibnum.bnf.fr/WARC/WARC_ISO_28500_version1_latestdraft.pdf",
    "1.1": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
}


class Alone(NamedTuple):
    """A record that belongs to no group, but for the file it will stand in. ``when``: WARC-Date; ``extra``: its own
    headers."""

    kind: str
    uri: str
    when: str
    ident: str
    mime: str
    block: bytes
    extra: Fields


def named(known: Alone, warcinfo_id: str, form: Form) -> Record:
    """The record, in the file that a warcinfo record heads."""
    extra = list(known.extra)
    if form.modern:
        if warcinfo_id:
            extra.append(("WARC-Warcinfo-ID", f"<{warcinfo_id}>"))
        digest = sha1_base32((known.block,))
        if known.kind == "resource":
            extra.append(("WARC-Payload-Digest", digest))
        extra.append(("WARC-Block-Digest", digest))
    size = len(known.block)
    top = head(form.version, known.kind, known.uri, known.when, extra, known.ident, known.mime, size)
    return Record(known.kind, known.ident, top, known.block, size)


def failure(curi: CrawlURI, form: Form, ident: str, now_ms: int) -> Alone:
    """A metadata record for a URI that was tried and gave no answer."""
    known = STATUS.get(curi.status)
    fields: list[tuple[str, str | None]] = [("fetchStatus", str(curi.status))]
    if known is not None:
        fields.append(("fetchStatusName", known.label))
    fields.append(("attempts", str(max(curi.attempts, 1))))
    for name, text in (("error", curi.error_text), ("via", curi.via), ("hopsFromSeed", curi.path)):
        if text and text.strip():
            fields.append((name, " ".join(text.split())))
    for note in curi.annotations:
        fields.append(("annotation", note))
    when = date(curi.began_ms if curi.began_ms is not None else now_ms, form.version)
    return Alone("metadata", curi.uri, when, ident, WARC_FIELDS, anvl.record(fields), [])


def item(told: Mapping[str, Any], kind: str, form: Form, ident: str, now_ms: int) -> Alone:
    """A record for something that the user's spider made of a page: JSON. Its ``url`` behind ``urn:item:`` is the
    target, as readers would show it in the place of the page else; its ``warc_record_id`` the record that it was made
    of."""
    text = json.dumps(dict(told), ensure_ascii=False, default=str, skipkeys=True)
    extra: Fields = []
    if evidence := told.get("warc_record_id"):
        extra.append(("WARC-Refers-To" if kind == "metadata" else "WARC-Concurrent-To", f"<{evidence}>"))
    uri = f"urn:item:{told['url']}" if told.get("url") else ident
    block = text.encode("utf-8", "replace")
    return Alone(kind, uri, date(now_ms, form.version), ident, "application/json", block, extra)


@dataclass(slots=True)
class Crawler:
    """Who crawls, as a warcinfo record tells it. Blank values are left out."""

    software: str
    user_agent: str = ""
    robots: str = ""
    operator: str = ""
    publisher: str = ""
    audience: str = ""
    job: str = ""
    description: str = ""
    mail: str = ""
    machine: Machine | None = field(default=None)
    #: Further fields, in their order.
    more: tuple[tuple[str, str], ...] = ()


def warcinfo(crawler: Crawler, form: Form, filename: str, now_ms: int, ident: str) -> Record:
    """The first record of a file (Heritrix: BaseWARCWriterProcessor.getMetadata)."""
    machine = crawler.machine
    told = [
        ("software", crawler.software),
        ("ip", machine.ip if machine else ""),
        ("hostname", machine.hostname if machine else ""),
        ("format", f"WARC File Format {form.version}"),
        ("conformsTo", CONFORMS_TO[form.version]),
        ("operator", crawler.operator),
        ("publisher", crawler.publisher),
        ("audience", crawler.audience),
        ("isPartOf", crawler.job),
        ("description", crawler.description),
        ("robots", crawler.robots.lower()),
        ("http-header-user-agent", crawler.user_agent),
        ("http-header-from", crawler.mail),
        *crawler.more,
    ]
    block = anvl.record([(name, text) for name, text in told if text.strip()])
    extra: Fields = [("WARC-Filename", filename)]
    if form.modern:
        extra.append(("WARC-Block-Digest", sha1_base32((block,))))
    top = head(form.version, "warcinfo", None, date(now_ms, form.version), extra, ident, WARC_FIELDS, len(block))
    return Record("warcinfo", ident, top, block, len(block))
