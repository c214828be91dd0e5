"""Does this fetch repeat an earlier one, and what is remembered of it?

``entry_of`` and ``compare`` look at the fetches of one URI, ``same_content`` at the records of any URI that hold
the same bytes; both give a Revisit or None (Heritrix: FetchHistoryProcessor, ContentDigestHistoryLoader). Pure.

Where the modern profile parts from Heritrix: a 304 counts only when a condition was sent; what is repeated is
the record that holds the content, never another revisit; short bodies, answers of another status and types that
the operator names are stored again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive.digest import payload_digest
from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD, NOT_MODIFIED, Entry, Original, Revisit
from heritrix_scrapy.uri.surt import surt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Schemes whose fetches are remembered (Heritrix: AbstractPersistProcessor.shouldStore).
REMEMBERED = ("http", "https", "ftp", "sftp")

#: Statuses that stand for the same answer: parts of a page, and what an index did not tell.
_LIKE_200 = frozenset({0, 200, 206})

_CONDITION = re.compile(rb"\r\n(?:if-none-match|if-modified-since):", re.IGNORECASE)


@dataclass(slots=True, frozen=True)
class Policy:
    """What is taken for a repetition. ``modern``: which profile; ``min_bytes``: shorter bodies are stored again;
    ``any_status``: whether an answer may repeat one of another status; ``types``: media types that are always
    stored again."""

    modern: bool = True
    min_bytes: int = 1024
    any_status: bool = False
    types: re.Pattern[str] | None = None

    @classmethod
    def of(cls, view: Any) -> Policy:
        """From the settings that hold for a URI."""
        return _policy(
            view.profile != "heritrix",
            view.deduplicate_min_bytes,
            view.deduplicate_any_status,
            tuple(view.deduplicate_except),
        )

    def spares(self, curi: CrawlURI) -> bool:
        """Whether this answer is stored in any case."""
        if self.modern and (curi.digest or "").startswith("SHA1:"):
            return True  # the digest of what was left of a text
        if curi.content_length < self.min_bytes:
            return True
        return self.types is not None and self.types.match(curi.content_type) is not None


@lru_cache(maxsize=64)
def _policy(modern: bool, min_bytes: int, any_status: bool, types: tuple[str, ...]) -> Policy:
    pattern = re.compile("|".join(f"(?:{text})" for text in types), re.IGNORECASE) if types else None
    return Policy(modern, min_bytes, any_status, pattern)


HERITRIX = Policy(modern=False, min_bytes=0, any_status=True)


def key(uri: str) -> str:
    """Under which name a URI is remembered: its SURT, but the case stays (Heritrix: PersistProcessor)."""
    form = surt(uri)
    if form == uri or "://(" not in form:
        return uri
    scheme, _, rest = form.partition("://(")
    labels, _, path = rest.partition(")")
    tail = uri[len(uri) - len(path) :] if path else ""
    return f"{scheme}://({_cased(labels, uri)}){tail}"


def _cased(labels: str, uri: str) -> str:
    """The labels of a lower-cased SURT as the URI wrote them, user info behind the port."""
    end = len(uri)
    begin = uri.index("://") + 3
    for mark in "/?#":
        at = uri.find(mark, begin)
        end = min(end, at) if at >= 0 else end
    authority = uri[begin:end]
    if authority.lower() == authority:
        return labels
    user, _, hostport = authority.rpartition("@")
    host, colon, port = hostport.partition(":")
    reverse = ",".join([*host.split(".")[::-1], ""])
    return f"{reverse}{colon}{port}{'@' + user if user else ''}"


def known_by(curi: CrawlURI, policy: Policy) -> str | None:
    """The digest by which content is the same, however the server cut it into chunks; in the heritrix profile that of
    the payload as it came."""
    recorder = curi.recorder
    if policy.modern and recorder is not None and recorder.chunked and (curi.digest or "").startswith("sha1:"):
        return payload_digest(recorder, entity=True)
    return curi.digest


def entry_of(curi: CrawlURI, before: Sequence[Entry], policy: Policy) -> Entry:
    """What is remembered of this fetch. In the heritrix profile an answer without ETag or Last-Modified takes
    over the last one's, as the released Heritrix does."""
    etag, modified = text_of(curi, b"etag"), text_of(curi, b"last-modified")
    if before and not policy.modern:
        etag = before[0].etag if etag is None else etag
        modified = before[0].last_modified if modified is None else modified
    return Entry(
        curi.status,
        curi.began_ms if curi.began_ms is not None else 0,
        curi.digest,
        etag,
        modified,
        curi.content_length,
        entity=entity if (entity := known_by(curi, policy)) != curi.digest else None,
    )


def text_of(curi: CrawlURI, name: bytes) -> str | None:
    """A response header's value as text, or None."""
    value = curi.header(name)
    return None if value is None else value.decode("latin-1").strip()


def compare(curi: CrawlURI, entry: Entry, before: Sequence[Entry], policy: Policy) -> Revisit | None:
    """Whether the fetch repeats the one before it; the entry of a 304 then takes over its digest."""
    if not before:
        return None
    previous = before[0]
    if curi.status == 304:
        if previous.digest is None or (policy.modern and not asked_conditionally(curi)):
            return None
        entry.digest, entry.entity = previous.digest, previous.entity
        entry.reference_length = previous.reference_length
        etag, modified = entry.etag, entry.last_modified
        if policy.modern:
            # what a 304 leaves unsaid holds on (RFC 9110, 15.4.5)
            entry.etag = entry.etag or previous.etag
            entry.last_modified = entry.last_modified or previous.last_modified
            entry.status = previous.status
            return _repeats(curi, entry, previous, NOT_MODIFIED)
        return Revisit(NOT_MODIFIED, previous.digest, etag=etag, last_modified=modified)
    if entry.digest is None or (entry.entity or entry.digest) != (previous.entity or previous.digest):
        return None
    if not policy.modern:
        return Revisit(IDENTICAL_PAYLOAD, entry.digest, refers_to_date=previous.began_ms, refers_to_target_uri=curi.uri)
    if policy.spares(curi) or not (policy.any_status or alike(curi.status, previous.status)):
        return None
    return _repeats(curi, entry, previous, IDENTICAL_PAYLOAD)


def _repeats(curi: CrawlURI, entry: Entry, previous: Entry, profile: str) -> Revisit:
    entry.original_uri = previous.original_uri
    entry.original_ms = previous.original_ms if previous.original_ms >= 0 else previous.began_ms
    entry.original_id = previous.original_id
    return Revisit(
        profile,
        previous.digest,
        refers_to=previous.original_id,
        refers_to_date=entry.original_ms,
        refers_to_target_uri=previous.original_uri or curi.uri,
    )


def asked_conditionally(curi: CrawlURI) -> bool:
    """Whether the request that went over the wire had a condition."""
    recorder = curi.recorder
    if recorder is None:
        return False
    head = recorder.request.read(0, 64 * 1024).partition(b"\r\n\r\n")[0]
    return _CONDITION.search(head) is not None


def alike(status: int, other: int) -> bool:
    """Whether two statuses stand for the same kind of answer."""
    return status == other or (status in _LIKE_200 and other in _LIKE_200)


def weighable(curi: CrawlURI) -> bool:
    """Whether content is there to be looked up by its digest (Heritrix: ContentDigestHistoryLoader)."""
    return curi.digest is not None and curi.content_length > 0


def same_content(curi: CrawlURI, original: Original | None, policy: Policy) -> Revisit | None:
    """Whether the record that holds this digest is repeated."""
    if original is None or curi.digest is None:
        return None
    if policy.modern and (policy.spares(curi) or not (policy.any_status or alike(curi.status, original.status))):
        return None
    return Revisit(
        IDENTICAL_PAYLOAD,
        original.digest or curi.digest,
        refers_to=original.record_id,
        refers_to_date=original.ms,
        refers_to_target_uri=original.uri,
    )


def condition(before: Sequence[Entry], policy: Policy) -> tuple[str | None, str | None]:
    """(ETag, Last-Modified) to ask with. Heritrix asks after any answer, the modern profile after a 200."""
    if not before:
        return None, None
    latest = before[0]
    if latest.status != 200 if policy.modern else latest.status <= 0:
        return None, None
    return latest.etag, latest.last_modified


def pushed(entry: Entry, before: Sequence[Entry], length: int) -> list[Entry]:
    """The history with one more entry, cut to ``length``."""
    return [entry, *before][:length]


def inserted(entry: Entry, before: Sequence[Entry], length: int, known: Sequence[bool] | None = None) -> int | None:
    """Where an entry from outside belongs: newest first; None when all are newer (Heritrix: FetchHistoryHelper).

    ``known``: for each of ``before`` whether its time came from outside too; others count as oldest.
    """
    for place in range(length):
        if place >= len(before):
            return place
        if (known is not None and not known[place]) or before[place].began_ms < entry.began_ms:
            return place
    return None
