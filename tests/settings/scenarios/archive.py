"""Scenarios of the archive: which records a capture becomes, what is a repetition, and what a server is asked about a
page that is remembered."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from scrapy.utils.test import get_crawler
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.memory import History
from heritrix_scrapy.archive.recall import Recall
from heritrix_scrapy.archive.writer import WarcWriter
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD, Revisit
from heritrix_scrapy.store import MemoryStore
from tests.settings.scenarios import Outcome, Scenario, at

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.settings import Settings

NOW = 1_700_000_000_000
LATE = ((b"ETag", b'"e"'), (b"Last-Modified", b"Thu, 01 Jan 2015 00:00:00 GMT"))


def captured(settings: Settings, host: str, body: bytes = b"hello", code: int = 200) -> CrawlURI:
    curi = at(settings, host)
    head = b"HTTP/1.1 %d X\r\n\r\n" % code
    curi.status, curi.began_ms, curi.ended_ms = code, NOW, NOW + 1
    curi.content_type, curi.content_length, curi.headers = "text/html", len(body), list(LATE)
    curi.recorder = Recorder()
    curi.recorder.request.append(b"GET /x HTTP/1.1\r\nCookie: secret=1\r\n\r\n")
    curi.recorder.response.append(head + body)
    curi.recorder.body_at = len(head)
    curi.digest = curi.recorder.body_digest
    return curi


def records(see: Callable[[Any], Any], *, repeated: bool = False) -> Outcome:
    """What ``see`` sees of each record of a capture. ``repeated``: its content is in the archive already."""

    def outcome(settings: Settings, host: str) -> list[Any]:
        with TemporaryDirectory() as folder:
            crawl = Crawl.of(get_crawler(settings_dict={"JOBDIR": folder, "LOG_LEVEL": "ERROR"}))
            crawl.settings = settings
            writer = WarcWriter(crawl, {}, None)
            curi = captured(settings, host)
            if repeated:
                curi.revisit = Revisit(IDENTICAL_PAYLOAD, payload_digest=curi.digest)
            writer.write(curi)
            writer.close()
            seen = []
            for path in cdxj.warcs_of(crawl.jobdir.root):
                with path.open("rb") as file:
                    found = ArchiveIterator(file, no_record_parse=True)
                    seen += [see(record) for record in found if record.rec_type != "warcinfo"]
            return seen

    return outcome


def kind(record: Any) -> str:
    return str(record.rec_type)


def collection(record: Any) -> Any:
    return record.rec_headers.get_header("X-Collection")


def is_secret_told(record: Any) -> bool:
    return b"secret=1" in record.raw_stream.read()


def again(*, code: int = 200, body: bytes = b"hello") -> Outcome:
    """What is said of a fetch that gives the same bytes as the one before."""

    def outcome(settings: Settings, host: str) -> list[str]:
        recall = Recall(History(MemoryStore()), by_uri=True, by_digest=False)
        curis = [captured(settings, host, body), captured(settings, host, body, code)]
        for number, curi in enumerate(curis):
            curi.began_ms = NOW + number
            recall.judge(curi)
            curi.record_id, curi.warc_file, curi.warc_offset = f"urn:uuid:{number}", "A.warc.gz", number
            recall.keep(curi)
        return curis[1].annotations

    return outcome


def condition(settings: Settings, host: str) -> list[str]:
    """Which headers ask whether a page has changed."""
    recall = Recall(History(MemoryStore()), by_uri=True, by_digest=False)
    curi = captured(settings, host)
    recall.judge(curi)
    curi.record_id, curi.warc_file, curi.warc_offset = "urn:uuid:0", "A.warc.gz", 0
    recall.keep(curi)
    return [name for name, _ in recall.condition(at(settings, host))]


SCENARIOS = {
    "WARC_WRITE_RESPONSES": Scenario(False, records(kind)),
    "WARC_WRITE_REQUESTS": Scenario(False, records(kind)),
    "WARC_WRITE_METADATA": Scenario(False, records(kind)),
    "WARC_WRITE_REVISITS": Scenario(False, records(kind, repeated=True)),
    "WARC_SKIP_IDENTICAL_DIGESTS": Scenario(True, records(kind, repeated=True)),
    "WARC_RESPONSE_HEADERS": Scenario(["X-Collection: c"], records(collection)),
    "WARC_REDACT_REQUEST_HEADERS": Scenario(True, records(is_secret_told)),
    "DEDUPLICATE_MIN_BYTES": Scenario(1, again()),
    "DEDUPLICATE_ANY_STATUS": Scenario(True, again(code=404, body=b"x" * 2000)),
    "DEDUPLICATE_EXCEPT": Scenario(["text/"], again(body=b"x" * 2000)),
    "SEND_IF_MODIFIED_SINCE": Scenario(False, condition),
    "SEND_IF_NONE_MATCH": Scenario(False, condition),
}
