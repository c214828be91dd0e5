"""What does a metadata record tell of a capture?

Where the URI came from, how long its fetch took, what it was read as, where it leads (Heritrix:
MetadataRecordBuilder).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.archive import anvl
from heritrix_scrapy.model.revisit import NOT_MODIFIED

if TYPE_CHECKING:
    from heritrix_scrapy.archive.records import Facts, Form
    from heritrix_scrapy.model.crawluri import CrawlURI

#: Annotations that also stand in the metadata record, split at their first colon.
CHARSET_NOTES = ("usingCharsetIn", "inconsistentCharsetIn")


def metadata(curi: CrawlURI, form: Form, facts: Facts | None = None) -> bytes:
    """The block of a metadata record (Heritrix: MetadataRecordBuilder)."""
    fields: list[tuple[str, str | None]] = []
    if curi.seed:
        fields.append(("seed", None))
    else:
        if curi.forced:
            fields.append(("force-fetch", None))
        if curi.via and curi.via.strip():
            fields.append(("via", curi.via))
        if curi.path.strip():
            fields.append(("hopsFromSeed", curi.path))
        if curi.source_tag:
            fields.append(("sourceTag", curi.source_tag))
    if curi.began_ms is not None and curi.ended_ms is not None and curi.ended_ms >= curi.began_ms:
        fields.append(("fetchTimeMs", str(curi.ended_ms - curi.began_ms)))
    if facts is not None and facts.ftp_status:
        fields.append(("ftpFetchStatus", facts.ftp_status))
    otherwise = form.charset if curi.uri.startswith("http") else "UTF-8"
    fields.append(("charsetForLinkExtraction", curi.charset or otherwise))
    for note in curi.annotations:
        if note.startswith(CHARSET_NOTES):
            name, _, value = note.partition(":")
            fields.append((name, value))
    if form.modern and curi.tls is not None and curi.tls.certificate:
        fields.append(("tlsCertificateSha256", curi.tls.certificate))
    if form.modern and facts is not None and facts.revisit is not None and facts.revisit.profile == NOT_MODIFIED:
        fields.append(("http-status", f"{curi.status} {curi.reason}".strip()))
        for key, received in curi.headers:
            fields.append(("http-header", f"{key.decode('latin-1')}: {received.decode('latin-1')}"))
    return anvl.record(fields, outlinks(curi))


def outlinks(curi: CrawlURI) -> str:
    """The lines of its links, all at once where none needs a second look: a page has dozens."""
    told = [f"{uri} {hop} {context}" for uri, hop, context in curi.outlinks]
    if told and "".join(told).isprintable():
        return "outlink: " + "\r\noutlink: ".join(told) + "\r\n"
    return "".join([anvl.line("outlink", text) for text in told])
