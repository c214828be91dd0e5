"""How are large and difficult documents read without holding up the crawl?

In one worker process, started when the first is to be read: one that is large, or that has taken its time already in
the crawl's own. It gets the document and what is known of its URI, and
gives back what the extractors made of it. It watches its own time and memory; what it had found by then counts. The
worker ends when its input does, so a crawl that is killed leaves none behind.

A process of its own, and not multiprocessing's: that would import the main module of whoever runs the crawl again.
"""

from __future__ import annotations

import asyncio
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

from heritrix_scrapy.extract import order
from heritrix_scrapy.extract.document import UNLIMITED, Document, note_spoilt
from heritrix_scrapy.extract.sitemap import IS_SITEMAP
from heritrix_scrapy.extract.sitemap import LONGEST as LONGEST_SITEMAP
from heritrix_scrapy.extract.ways import TIMEOUT, option
from heritrix_scrapy.model.crawluri import CrawlURI

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from heritrix_scrapy.model.recorder import Recorder

#: What a worker is told of a URI, and what it tells back.
ASKED = (
    "status",
    "content_type",
    "content_length",
    "content_size",
    "charset",
    "headers",
    "annotations",
    "digest",
    "is_prerequisite",
    "heritable",
    "outlinks",
    "base",
)
TOLD = order.CHANGED

#: Settings that a worker needs besides the extractors' options.
NEEDED = frozenset(
    {
        "available_robots_policies",
        "default_encoding",
        "max_extract_bytes",
        "max_extract_seconds",
        "max_outlinks",
        "profile",
        "speculative_misses",
        "strict_uri_fixup",
    }
)

#: Formats of which a document of any size may cost as much, and whose libraries are loaded for the first.
DENSE = ("application/pdf", "application/msword", "application/vnd.", "application/zip")

#: Seconds of processor time that a smaller document may cost in the crawl's own process.
IN_PLACE = 0.03

#: Seconds that a worker reads one document, and that it is waited for; bytes of memory that it may have.
SECONDS, PATIENCE, MEMORY = 10.0, 20.0, 2 * 1024**3

_SIZE = struct.Struct(">Q")


class Overtime(BaseException):
    """The time for one document is over. No extractor may catch it."""


class Aside:
    """The worker as the crawl sees it. ``entries``: as in HERITRIX_EXTRACTORS."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries = list(entries)
        self._thread: ThreadPoolExecutor | None = None
        self._process: subprocess.Popen[bytes] | None = None
        # parts of the operator's own stay in the crawl's process
        self.usable = all(_is_ours(entry) for entry in self._entries)
        self._needed = sorted(NEEDED.union(*(kind.options for kind in order.EXTRACTORS.values())))

    def patience(self, curi: CrawlURI, settings: Any) -> float:
        """Seconds of processor time after which reading a document goes on here; 0 where it may not."""
        usable = self.usable and curi.recorder is not None and option(settings, "extract_aside_bytes")
        return IN_PLACE if usable else 0.0

    def wants(self, curi: CrawlURI, settings: Any) -> bool:
        """Whether a document is surely large enough to be worth the way."""
        least = option(settings, "extract_aside_bytes")
        if not least or not self.usable or curi.recorder is None:
            return False
        return bool(curi.content_length >= least or curi.content_type.lower().startswith(DENSE))

    async def extract(self, curi: CrawlURI, settings: Any) -> None:
        """As ``Extraction.extract``, elsewhere. A worker that dies of a document leaves an ``err=`` annotation."""
        assert curi.recorder is not None
        limit = option(settings, "max_extract_bytes") or UNLIMITED
        if IS_SITEMAP in curi.annotations:
            limit = max(limit, LONGEST_SITEMAP)
        seen = SimpleNamespace(**{name: getattr(settings, name, None) for name in self._needed})
        told = (seen, (curi.uri, curi.path, curi.via, curi.via_context), [getattr(curi, key) for key in ASKED])
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "extract-aside")
        try:
            answer = await asyncio.get_running_loop().run_in_executor(
                self._thread, self._ask, told, curi.recorder, limit
            )
        except (OSError, EOFError, TimeoutError) as error:
            self._end()
            curi.annotate(f"err={type(error).__name__}")
            curi.errors.append(("aside", f"the process that read it ended: {error}"))
            return
        for key, value in zip(TOLD, answer, strict=True):
            setattr(curi, key, value)
        note_spoilt(curi)

    def _ask(self, told: Any, recorder: Recorder, limit: int) -> list[Any]:
        """In the thread: to read, to unpack and to copy megabytes takes its time, too."""
        request = pickle.dumps((told, recorder.entity(limit)), pickle.HIGHEST_PROTOCOL)
        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._send(process, pickle.dumps(self._entries, pickle.HIGHEST_PROTOCOL))
        self._send(process, request)
        assert process.stdout is not None
        if not select.select([process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError("no answer")
        answer: list[Any] = pickle.loads(receive(process.stdout))
        return answer

    @staticmethod
    def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin is not None
        send(process.stdin, data)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def close(self) -> None:
        """End the worker."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None
        self._end()


def _is_ours(entry: Any) -> bool:
    properties: dict[str, Any] = {}
    name = entry
    if isinstance(entry, (list, tuple)) and len(entry) == 2:
        name, properties = entry[0], dict(entry[1])
    known = isinstance(name, str) and (name in order.EXTRACTORS or name in order.NOT_BUILT)
    return known and "should_process" not in properties


# -- in the worker -----------------------------------------------------------------------------------------------


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a message: its size, and it."""
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read a message. Raises EOFError when there is none any more."""
    (size,) = _SIZE.unpack(_exactly(stream, _SIZE.size))
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the other side is gone")
    return data


def serve() -> None:
    """Answer requests until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl decides when it ends
    signal.signal(signal.SIGALRM, _alarm)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        extraction = order.Extraction(pickle.loads(receive(source)))
        while True:
            (settings, names, facts), body = pickle.loads(receive(source))
            send(sink, pickle.dumps(read(extraction, settings, names, facts, body), pickle.HIGHEST_PROTOCOL))
    except (EOFError, BrokenPipeError):
        return


def _alarm(number: int, frame: FrameType | None) -> None:
    raise Overtime


def read(extraction: order.Extraction, settings: Any, names: Any, facts: list[Any], body: bytes) -> list[Any]:
    """Run the extractors over a document; what each name of TOLD has then."""
    uri, path, via, via_context = names
    curi = CrawlURI(uri, path=path, via=via, via_context=via_context)
    for key, value in zip(ASKED, facts, strict=True):
        setattr(curi, key, value)
    document = Document(curi, settings, lambda limit: body[:limit])
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        extraction.read(document)
    except Overtime:
        curi.annotate(TIMEOUT)
        extraction.settle(document)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if curi.uri.startswith("http"):
        curi.charset = document.charset
    curi.errors = [
        (name, error if isinstance(error, str) else f"{type(error).__name__}: {error}") for name, error in curi.errors
    ]
    return [getattr(curi, key) for key in TOLD]
