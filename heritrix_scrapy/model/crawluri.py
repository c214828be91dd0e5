"""What is known of one URI, from its discovery to its line in the crawl log?

One object travels; parts hand it on and none keeps a private twin. ``pack`` and ``unpack`` are its form in the
store (Heritrix: CrawlURI; what survives a retry or a restart follows CrawlURI.processingCleanup, with every
field of one attempt cleared).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.challenge import Challenge  # noqa: TC001 (a field of Carried)
from heritrix_scrapy.model.errors import UnpackError
from heritrix_scrapy.model.post import Post  # noqa: TC001 (a field of Carried)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heritrix_scrapy.model.recorder import Recorder
    from heritrix_scrapy.model.revisit import Entry, Revisit

#: Version of the packed form; the store refuses rows of another one.
SCHEMA = 1

HIGHEST, HIGH, MEDIUM, NORMAL = range(4)

PREREQ_CONTEXT = "=PREREQ_MISC"


class Outlink(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """A link as an extractor found it. ``uri``: absolute, fixed up; ``hop``: one letter; ``context``: where it
    stood (``a/@href``, ``=JS_MISC``, ``Location:`` ...). Can be unpacked as three texts. No tuple: pages have hundreds,
    and one of those takes six times as long to make."""

    uri: str
    hop: str
    context: str

    def __iter__(self) -> Iterator[str]:
        return iter((self.uri, self.hop, self.context))


class TlsFacts(NamedTuple):
    """What the TLS handshake settled. ``certificate``: SHA-256 of the server's, as lower-case hex."""

    version: str
    cipher: str
    certificate: str


class CrawlURI:
    """A URI on its way through the crawl.

    Times are milliseconds since the epoch. ``content_size`` counts all response bytes, ``content_length`` those
    after the head, both raw; -1 until known. ``headers`` are the response's, in the order received.
    """

    __slots__ = (
        "__weakref__",
        "annotations",
        "attempts",
        "base",
        "began_ms",
        "canonical",
        "challenges",
        "charset",
        "class_key",
        "content_length",
        "content_size",
        "content_type",
        "cost",
        "credential_pending",
        "deferral",
        "deferrals",
        "delay_ms",
        "digest",
        "directive",
        "discarded_outlinks",
        "ended_ms",
        "entry",
        "error_text",
        "errors",
        "extra_info",
        "extracted",
        "forced",
        "forms",
        "found",
        "headers",
        "heritable",
        "history",
        "http_version",
        "is_prerequisite",
        "killed",
        "link_errors",
        "meta_robots",
        "method",
        "ordinal",
        "outlink_annotations",
        "outlink_posts",
        "outlinks",
        "path",
        "post",
        "precedence",
        "prerequisite",
        "queue_key",
        "reason",
        "record_id",
        "recorder",
        "reschedule_at",
        "retire",
        "revisit",
        "seed",
        "server_ip",
        "settings",
        "shown",
        "source_tag",
        "spider_request",
        "status",
        "stored_request",
        "tls",
        "trying",
        "uri",
        "user_agent",
        "verdict",
        "via",
        "via_context",
        "wait_until_ms",
        "warc_file",
        "warc_headers",
        "warc_novel",
        "warc_offset",
    )

    def __init__(
        self,
        uri: str,
        *,
        path: str | None = "",
        via: str | None = None,
        via_context: str | None = None,
        seed: bool = False,
        source_tag: str | None = None,
        forced: bool = False,
        spider_request: bool = False,
        directive: int = NORMAL,
    ) -> None:
        # identity
        self.uri = uri
        self.path = path or ""
        self.via = via
        self.via_context = via_context
        self.seed = seed
        self.source_tag = source_tag
        self.forced = forced
        self.spider_request = spider_request
        self.heritable: dict[str, Any] | None = None
        # queue
        self.class_key = ""
        self.canonical = ""
        self.directive = directive
        self.precedence = 0
        self.cost = -1
        self.ordinal = 0
        self.attempts = 0
        self.deferrals = 0
        self.queue_key: bytes | None = None
        self.reschedule_at = -1
        self.stored_request: bytes | None = None
        self.is_prerequisite = False
        #: What it is fetched with by POST; None for a GET.
        self.post: Post | None = None
        #: The challenge that the next try answers.
        self.trying: Challenge | None = None
        self.settings: Any = None
        self.annotations: list[str] = []
        #: What is remembered of earlier fetches, the latest first; None until somebody looked.
        self.history: list[Entry] | None = None
        self._clear_attempt()

    def _clear_attempt(self) -> None:
        # fetch
        self.status = status.UNATTEMPTED
        self.began_ms: int | None = None
        self.ended_ms: int | None = None
        self.content_type = "unknown"
        self.content_size = -1
        self.content_length = -1
        self.digest: str | None = None
        self.method = "GET"
        self.server_ip: str | None = None
        self.tls: TlsFacts | None = None
        self.challenges: dict[str, str] | None = None
        self.credential_pending = False
        #: The challenge that this try answers, asked or unasked.
        self.shown: Challenge | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.reason = ""
        self.http_version = ""
        self.charset: str | None = None
        self.user_agent: str | None = None
        # work
        self.recorder: Recorder | None = None
        self.outlinks: list[Outlink] = []
        self.outlink_annotations: dict[Outlink, tuple[str, ...]] | None = None
        #: What a link is fetched with by POST.
        self.outlink_posts: dict[Outlink, Post] | None = None
        #: The forms of the page, as ``extract.forms.Form``.
        self.forms: list[Any] | None = None
        #: Content of the page's robots meta tag.
        self.meta_robots: str | None = None
        self.discarded_outlinks = 0
        self.link_errors: list[tuple[str, str]] = []
        #: Extractor that read it → links that it found.
        self.found: dict[str, int] | None = None
        self.base: str | None = None
        self.extracted = False
        self.prerequisite: str | None = None
        self.deferral: str | None = None
        self.wait_until_ms = 0
        self.verdict: str | None = None
        self.retire = False
        #: Cancelled while it was fetched: what came is archived, and the URI then ends as -7000.
        self.killed = False
        self.delay_ms = -1
        # output
        self.extra_info: dict[str, Any] = {}
        self.record_id: str | None = None
        self.warc_file: str | None = None
        self.warc_offset = -1
        #: Bytes and number of its records that hold content which no record held before.
        self.warc_novel = (0, 0)
        #: Further headers of its response record, each ``Name: value``.
        self.warc_headers: list[str] | None = None
        #: What it repeats, and what will be remembered of it.
        self.revisit: Revisit | None = None
        self.entry: Entry | None = None
        self.errors: list[tuple[str, BaseException | str]] = []
        self.error_text: str | None = None

    def __repr__(self) -> str:
        return f"CrawlURI({self.uri!r}, path={self.path!r}, status={self.status})"

    def reset_attempt(self) -> None:
        """Forget what belongs to one attempt: before a retry, and before another fetch of the same URI."""
        if self.recorder is not None:
            self.recorder.close()
        self._clear_attempt()

    def annotate(self, text: str) -> None:
        """Add an annotation, once."""
        if text not in self.annotations:
            self.annotations.append(text)

    def child(self, link: Outlink) -> CrawlURI:
        """The candidate that a link of this URI makes: one hop further, with what children inherit."""
        curi = CrawlURI(
            link.uri,
            path=hops.extend(self.path, link.hop),
            via=self.uri,
            via_context=link.context,
            source_tag=self.source_tag,
        )
        curi.heritable = self.heritable
        if self.outlink_annotations is not None:
            curi.annotations.extend(self.outlink_annotations.get(link, ()))
        if self.outlink_posts is not None and (post := self.outlink_posts.get(link)) is not None:
            # the page behind a form is another one than its address alone
            curi.post, curi.forced, curi.directive = post, True, HIGH
        return curi

    def prerequisite_child(self, uri: str) -> CrawlURI:
        """What must be fetched before this URI can be (Heritrix: CrawlURI.markPrerequisite): hop P, one
        directive better than this URI, past the seen filter."""
        curi = self.child(Outlink(uri, hops.PREREQ, PREREQ_CONTEXT))
        curi.is_prerequisite = True
        curi.forced = True
        curi.directive = max(self.directive - 1, HIGHEST)
        return curi

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What tells two CrawlURIs apart, and orders them: via, URI, context and path (Heritrix: CrawlURI.equals,
        compareTo). One page can name a target twice, in different places."""
        return self.via or "", self.uri, self.via_context or "", self.path

    @property
    def policy_basis(self) -> str:
        """The URI whose settings and queue hold for this one: a prerequisite follows the URI that needs it
        (Heritrix: CrawlURI.getPolicyBasisUURI)."""
        if self.path.endswith(hops.PREREQ) and self.via:
            return self.via
        return self.uri

    # -- the URI's parts, as cut out of the fixed-up text -------------------------------------------------

    @property
    def scheme(self) -> str:
        return self.uri.partition(":")[0]

    @property
    def authority(self) -> str:
        """Between ``//`` and the next ``/``, ``?`` or ``#``; for ``dns:host`` and ``whois:host`` the name."""
        return authority_of(self.uri)

    @property
    def host(self) -> str:
        """The host in lower case, without user info, port and IPv6 brackets; empty when there is none."""
        return host_of(self.uri)

    @property
    def path_query(self) -> str:
        """Path and query as they stand in the URI, at least ``/``."""
        _, slashes, rest = self.uri.partition("://")
        if not slashes:
            return "/"
        return path_query_of(rest)

    # -- response ------------------------------------------------------------------------------------------

    def header(self, name: bytes) -> bytes | None:
        """Last value of a response header; ``name`` in lower case."""
        for key, value in reversed(self.headers):
            if key.lower() == name:
                return value
        return None


def authority_of(uri: str) -> str:
    """The authority of a fixed-up URI's text; of an opaque one what stands after the scheme."""
    scheme, colon, rest = uri.partition(":")
    if not colon:
        return ""
    if not rest.startswith("//"):
        return rest.partition("?")[0] if scheme in ("dns", "whois") else ""
    authority = rest[2:].partition("/")[0]
    return authority.partition("?")[0].partition("#")[0]


def path_query_of(rest: str) -> str:
    """Path and query in what follows the ``//`` of a URI, at least ``/``."""
    slash, mark = rest.find("/"), rest.find("?")
    if slash >= 0 and (mark < 0 or slash < mark):
        return rest[slash:]
    return "/" + rest[mark:] if mark >= 0 else "/"


def host_of(uri: str) -> str:
    """The host in a fixed-up URI's text."""
    hostport = authority_of(uri).rpartition("@")[2]
    if hostport.startswith("["):
        return hostport[1:].partition("]")[0]
    return hostport.partition(":")[0].lower()


class Carried(msgspec.Struct, array_like=True):
    """What few URIs take with them. A part of ``Row.request``, for a row of more than fifteen fields is longer."""

    request: bytes | None = None
    post: Post | None = None
    trying: Challenge | None = None


class Row(msgspec.Struct, array_like=True, omit_defaults=True):
    """The packed CrawlURI. Order is the format: new fields go to the end, and ``SCHEMA`` grows when an old one
    changes its meaning. The common outlink needs the first eight only."""

    schema: int
    uri: str
    path: str
    via: str | None
    context: str | None
    canonical: str
    cost: int
    flags: int
    attempts: int = 0
    deferrals: int = 0
    source_tag: str | None = None
    reschedule_at: int = -1
    annotations: list[str] = []
    heritable: dict[str, Any] | None = None
    request: bytes | Carried | None = None


class NotedRow(Row):
    """The same with which rule of the scope let the URI in, where the crawl notes that. A row of its own, since a
    sixteenth field costs every row three bytes."""

    scope_decision: str | None = None


_SEED, _FORCED, _SPIDER, _PREREQUISITE = 1, 2, 4, 8

_encoder = msgspec.msgpack.Encoder()
#: A text as it stands in a row. Raises UnicodeEncodeError for half a surrogate pair.
encode_text: Callable[[str], bytes] = _encoder.encode
#: What stands before a text of so many bytes in a row.
TEXT_HEADS = tuple(encode_text("x" * size)[:-size] if size else encode_text("") for size in range(256))
_decoder = msgspec.msgpack.Decoder(NotedRow)


def pack(curi: CrawlURI) -> bytes:
    """The CrawlURI as the store keeps it. Directive, precedence and ordinal stand in its key, not here."""
    flags = (
        (_SEED if curi.seed else 0)
        | (_FORCED if curi.forced else 0)
        | (_SPIDER if curi.spider_request else 0)
        | (_PREREQUISITE if curi.is_prerequisite else 0)
    )
    decision = curi.extra_info.get("scopeDecision") if curi.extra_info else None
    row = Row if decision is None else partial(NotedRow, scope_decision=decision)
    return _encoder.encode(
        row(
            SCHEMA,
            curi.uri,
            curi.path,
            curi.via,
            curi.via_context,
            "" if curi.canonical == curi.uri else curi.canonical,
            curi.cost,
            flags,
            curi.attempts,
            curi.deferrals,
            curi.source_tag,
            curi.reschedule_at,
            curi.annotations,
            curi.heritable,
            curi.stored_request
            if curi.post is None and curi.trying is None
            else Carried(curi.stored_request, curi.post, curi.trying),
        )
    )


def pack_link(link: Outlink, path: str, parent: CrawlURI, canonical: str, cost: int) -> bytes:
    """What ``pack`` makes of ``parent.child(link)`` with that path and cost, and nothing else set on it."""
    uri = link.uri
    annotations = [] if parent.outlink_annotations is None else list(parent.outlink_annotations.get(link, ()))
    return _encoder.encode(
        Row(
            SCHEMA,
            uri,
            path,
            parent.uri,
            link.context,
            "" if canonical == uri else canonical,
            cost,
            0,
            0,
            0,
            parent.source_tag,
            -1,
            annotations,
            parent.heritable,
        )
    )


def link_frame(path: str, context: str, parent: CrawlURI, cost: int) -> tuple[bytes, bytes]:
    """What stands before and behind ``encode_text(uri)`` in the rows of all links of ``parent`` that have this path
    and context, no annotations, and a URI that is its own canonical form: ``pack_link`` for a page of many."""
    row = _encoder.encode(
        Row(
            SCHEMA, "", path, parent.uri, context, "", cost, 0, source_tag=parent.source_tag, heritable=parent.heritable
        )
    )
    # the header of the list and the schema are a byte each, and so is the empty text
    assert row[2:3] == encode_text("")
    return row[:2], row[3:]


def unpack(data: bytes) -> CrawlURI:
    """The inverse of ``pack``; the reader of the row adds what its key says.

    Raises UnpackError for bytes that are no row of this version.
    """
    try:
        row = _decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise UnpackError(f"not a stored CrawlURI: {error}") from error
    if row.schema != SCHEMA:
        raise UnpackError(f"a CrawlURI of schema {row.schema}; this version reads {SCHEMA}")
    flags = row.flags
    curi = CrawlURI(
        row.uri,
        path=row.path,
        via=row.via,
        via_context=row.context,
        seed=bool(flags & _SEED),
        source_tag=row.source_tag,
        forced=bool(flags & _FORCED),
        spider_request=bool(flags & _SPIDER),
    )
    curi.canonical = row.canonical or row.uri
    curi.cost = row.cost
    curi.attempts = row.attempts
    curi.deferrals = row.deferrals
    curi.reschedule_at = row.reschedule_at
    curi.annotations = row.annotations
    curi.heritable = row.heritable
    request = row.request
    if isinstance(request, Carried):
        curi.stored_request, curi.post, curi.trying = request.request, request.post, request.trying
    else:
        curi.stored_request = request
    if row.scope_decision is not None:
        curi.extra_info["scopeDecision"] = row.scope_decision
    curi.is_prerequisite = bool(flags & _PREREQUISITE)
    return curi
