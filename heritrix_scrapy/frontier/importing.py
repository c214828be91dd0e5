"""How do URIs of another crawl, or of a list, get into this one?

Recovery journals, lists of URIs, lines of a crawl.log, JSON lines (Heritrix: AbstractFrontier.importRecoverFormat,
importURIs). How far an import has come is written in one batch with what it added, so that it goes on where it was cut
off, and what it forces is not forced twice.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from xxhash import xxh3_64_intdigest, xxh3_128

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.journal import Torn, fields, lines
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model.crawluri import HIGHEST, NORMAL, CrawlURI
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.hops import REFER
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.uri.fixup import UriError, fix
from heritrix_scrapy.uri.seed_lines import tokens, with_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from heritrix_scrapy.crawl import Clock, SettingsSource
    from heritrix_scrapy.frontier.core import Frontier

#: Lines shown with the reason why they were skipped.
EXAMPLES = 100
CHUNK = 1 << 16
EVERY = "*"


class Skip(ValueError):
    """A line that is not imported; the text says why."""


class Nothing(Exception):
    """A line that says nothing: a comment, a time."""


@dataclass(frozen=True)
class Options:
    """``include``, ``schedule``: tags of a journal (``Fs``) or statuses of a crawl.log whose lines are taken for seen,
    or queued; parted by commas, ``*`` for every one, ``-`` for none, empty for what is usual. ``force``: queued
    whether seen or not; ``seeds``: as seeds; ``scope``: only what the scope accepts; ``again``: though it was
    imported before."""

    include: str = ""
    schedule: str = ""
    force: bool = False
    seeds: bool = False
    scope: bool = False
    again: bool = False


class Line(NamedTuple):
    """``tag``: what ``Options`` select by."""

    tag: str
    curi: CrawlURI


# -- formats -----------------------------------------------------------------------------------------------


def _uri(text: str, *, strict: bool) -> str:
    try:
        return fix(text, strict=strict)
    except UriError as error:
        raise Skip(f"no URI: {error}") from None


_TAGS = re.compile(r"F[+esfdri] ")


def recover_line(text: str, *, strict: bool) -> Line:
    """``F+ URI PATH VIA`` (Heritrix: FrontierJournal). Raises Skip, and Nothing for a line of another kind."""
    if len(text) < 4 or not _TAGS.match(text):
        if not text or text.startswith(("T ", "E ")):
            raise Nothing
        raise Skip("no line of a recovery journal")
    found = fields(text[3:])
    via = _uri(found.via, strict=strict) if found.via else None
    curi = CrawlURI(_uri(found.uri, strict=strict), path=found.path, via=via, via_context=found.context)
    return Line(text[:2], curi)


def crawl_log_line(text: str, *, strict: bool) -> Line:
    """A line of a crawl.log; its status, known or not, is its tag."""
    parts = text.split(maxsplit=11)
    if not parts:
        raise Nothing
    if len(parts) < 6 or not re.fullmatch(r"-?\d+", parts[1]):
        raise Skip("no line of a crawl.log")
    path, via = ("" if part == "-" else part for part in parts[4:6])
    source = parts[10] if len(parts) > 10 and parts[10] != "-" else None
    curi = CrawlURI(
        _uri(parts[3], strict=strict), path=path, via=_uri(via, strict=strict) if via else None, source_tag=source
    )
    return Line(parts[1], curi)


def uri_line(text: str, *, strict: bool) -> Line:
    """One URI, with comments as in a seeds text."""
    found = list(tokens(text))
    if not found:
        if text.strip() and not text.lstrip(" \t\f\v\ufeff").startswith("#"):
            raise Skip("more than one word")
        raise Nothing
    return Line("", CrawlURI(_uri(with_scheme(found[0]), strict=strict)))


def _text(row: dict[str, Any], *names: str) -> str | None:
    for name in names:
        value = row.get(name)
        if value not in (None, "", "-"):
            if not isinstance(value, str):
                raise Skip(f"{name} is no text")
            return value
    return None


def json_line(text: str, *, strict: bool) -> Line:
    """An object with ``uri`` (or ``url``), and, all optional, ``path`` (``hop_path``), ``via``, ``context``, ``seed``
    (true, or the tag of its seed), ``source``, ``directive`` (0 to 3), ``force``, ``status_code``."""
    if not text.strip():
        raise Nothing
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        raise Skip("not JSON") from None
    if not isinstance(row, dict):
        raise Skip("no JSON object")
    uri = _text(row, "uri", "url")
    if uri is None:
        raise Skip("no uri")
    via, seed, directive = _text(row, "via"), row.get("seed"), row.get("directive", NORMAL)
    if type(directive) is not int or not HIGHEST <= directive <= NORMAL:
        raise Skip(f"directive is none of {HIGHEST} to {NORMAL}")
    curi = CrawlURI(
        _uri(uri, strict=strict),
        path=_text(row, "path", "hop_path") or "",
        via=_uri(via, strict=strict) if via else None,
        via_context=_text(row, "context"),
        seed=seed is True,
        source_tag=_text(row, "source") or (seed if isinstance(seed, str) and seed not in ("", "-") else None),
        forced=row.get("force") is True,
        directive=directive,
    )
    return Line(str(row.get("status_code", "")), curi)


FORMATS: dict[str, Callable[..., Line]] = {
    "recover": recover_line,
    "crawl.log": crawl_log_line,
    "uris": uri_line,
    "json": json_line,
}
#: What is taken for seen, and what is queued, where the options do not say.
USUAL = {"recover": ("Fs,Fi", "F+"), "crawl.log": ("", EVERY), "uris": ("", EVERY), "json": ("", EVERY)}

_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z? +-?\d+ +(?:-|\d+) \S+ ")


def format_of(path: Path) -> str:
    """The format of a file, by its first line that says something."""
    try:
        for text in lines(path):
            if not text.strip() or text.lstrip().startswith("#"):
                continue
            if _TAGS.match(text) or re.match(r"T \d{4}-", text):
                return "recover"
            if text.lstrip().startswith("{"):
                return "json"
            return "crawl.log" if _LOG_LINE.match(text) else "uris"
    except Torn:
        pass
    return "uris"


def selector(text: str, usual: str) -> Callable[[str], bool] | None:
    """Which tags ``Options`` select; None for none."""
    wanted = {part.strip() for part in (text or usual).split(",")} - {"", "-"}
    if not wanted:
        return None
    return (lambda tag: True) if EVERY in wanted else wanted.__contains__


def _hash(uri: str) -> int:
    return xxh3_64_intdigest(uri.encode("utf-8", "surrogatepass"))


# -- the work ----------------------------------------------------------------------------------------------


class Progress(msgspec.Struct, array_like=True):
    """``turn``: 0 takes for seen, 1 queues; ``line``: how many of it are done; ``done_ms``: when all was, or 0."""

    turn: int = 0
    line: int = 0
    done_ms: int = 0


class Import(Work):
    """Imports one file: first what is taken for seen, then what is queued. ``announce``: called with the URI of each
    seed without a via."""

    name = "import"

    def __init__(
        self,
        frontier: Frontier,
        path: Path,
        form: str,
        options: Options,
        *,
        clock: Clock,
        settings: SettingsSource,
        decide: Callable[[CrawlURI], bool],
        announce: Callable[[str], None],
        remark: str = "",
    ) -> None:
        self.remark = remark
        self.frontier = frontier
        self._path = path
        self._form = form
        self._options = options
        self._clock = clock
        self._for_uri = settings.for_uri
        self._strict: bool = settings.view.strict_uri_fixup
        self._decide = decide
        self._announce = announce
        self._counts = Counter[str]()
        self._skipped = Counter[str]()
        self._examples: list[tuple[int, str, str]] = []
        self._torn = False
        self._before_ms = 0
        #: Hashes of the redirects that are taken for seen, and whether the whole file was imported before: where a
        #: redirect leads to another name of its page, that the page is seen would not keep it from being queued.
        self._redirects: set[int] = set()
        self._repeated = False
        #: The turn that tells of lines that cannot be read.
        self._first = 0
        self._steps = self._all()

    def run(self, enough: Callable[[], bool]) -> bool:
        frontier, clock = self.frontier, self._clock
        frontier.flush(clock.now_ms())
        try:
            for number, _ in enumerate(self._steps, 1):
                if number % 16 == 0 and enough():
                    return False
        except StorageFull:
            raise
        except OSError as error:
            raise Refused(f"{self._path}: {error.strerror or error}") from error
        frontier.flush(clock.now_ms())
        return True

    def answer(self) -> dict[str, Any]:
        return {
            "file": str(self._path),
            "format": self._form,
            "lines": self._counts["lines"],
            "taken for seen": self._counts["included"],
            "queued": self._counts["queued"],
            "known": self._counts["known"],
            "skipped": dict(self._skipped.most_common()),
            "examples": [list(example) for example in self._examples],
            "torn": self._torn,
            "imported before": self._before_ms or None,
        }

    def _all(self) -> Iterator[None]:
        """Every step, each of some microseconds."""
        self._form = self._form or format_of(self._path)
        usual_include, usual_schedule = USUAL[self._form]
        turns = (
            (selector(self._options.include, usual_include), self._include),
            (selector(self._options.schedule, usual_schedule), self._schedule),
        )
        digest = xxh3_128(repr((self._form, asdict(self._options) | {"again": False})).encode())
        with self._path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                yield
        key = keys.imported(digest.digest())
        ledger = self.frontier.ledger
        row = ledger.get(key)
        progress = Progress() if row is None else msgspec.msgpack.decode(row, type=Progress)
        if progress.done_ms:
            if self._options.force and not self._options.again:
                # the one kind that would double what is queued
                self._before_ms = progress.done_ms
                return
            progress = Progress()
            self._repeated = not self._options.again
        elif row is not None and turns[0][0] is not None:
            yield from self._remember(turns[0][0])
        self._first = next((turn for turn, (wanted, _) in enumerate(turns) if wanted is not None), 0)
        for turn in range(progress.turn, len(turns)):
            wanted, act = turns[turn]
            if wanted is not None:
                yield from self._turn(turn, wanted, act, progress, key)
            progress = Progress(turn + 1)
        ledger.put(key, msgspec.msgpack.encode(Progress(len(turns), 0, self._clock.now_ms())))

    def _remember(self, wanted: Callable[[str], bool]) -> Iterator[None]:
        """Look through the lines for redirects that an import that was cut off has taken for seen."""
        read = FORMATS[self._form]
        try:
            for text in lines(self._path):
                yield
                try:
                    tag, curi = read(text, strict=self._strict)
                except (Nothing, Skip):
                    continue
                if wanted(tag):
                    self._finished(curi)
        except Torn:
            return

    def _finished(self, curi: CrawlURI) -> None:
        if curi.path.endswith(REFER):
            self._redirects.add(_hash(curi.uri))

    def _turn(
        self,
        turn: int,
        wanted: Callable[[str], bool],
        act: Callable[[CrawlURI], None],
        progress: Progress,
        key: bytes,
    ) -> Iterator[None]:
        read = FORMATS[self._form]
        put = self.frontier.ledger.put
        try:
            for number, text in enumerate(lines(self._path), 1):
                yield
                if number <= progress.line:
                    continue
                self._counts["lines"] = max(self._counts["lines"], number)
                try:
                    tag, curi = read(text, strict=self._strict)
                except Nothing:
                    continue
                except Skip as reason:
                    if turn == self._first:
                        self._skip(number, str(reason), text)
                    continue
                if not wanted(tag):
                    continue
                # in one batch with what the line adds
                put(key, msgspec.msgpack.encode(Progress(turn, number)))
                try:
                    act(curi)
                except Skip as reason:
                    self._skip(number, str(reason), text)
        except Torn:
            self._torn = True

    def _skip(self, number: int, reason: str, text: str) -> None:
        kind = reason.partition(":")[0]
        if len(self._examples) < EXAMPLES:
            self._examples.append((number, reason, text[:300]))
        self._skipped[kind] += 1

    def _judged(self, curi: CrawlURI) -> CrawlURI:
        options = self._options
        if options.seeds:
            curi.seed = True
        curi.settings = self._for_uri(curi)
        if options.scope and not self._decide(curi):
            raise Skip("out of scope")
        return curi

    def _include(self, curi: CrawlURI) -> None:
        curi = self._judged(curi)
        self._finished(curi)
        self._counts["included"] += self.frontier.include(curi)
        if self.frontier.ledger.is_full:
            self.frontier.flush(self._clock.now_ms())

    def _schedule(self, curi: CrawlURI) -> None:
        curi = self._judged(curi)
        curi.forced = curi.forced or self._options.force
        if curi.seed and not curi.via:
            self._announce(curi.uri)
        again = not self._repeated and not (self._redirects and _hash(curi.uri) in self._redirects)
        self._counts["queued" if self.frontier.add([curi], redirect_again=again) else "known"] += 1
