"""What people reported of other crawlers' operation: each case by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.operate.control import ask
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.numbers import on_disk
from heritrix_scrapy.operate.record import Record, write
from heritrix_scrapy.operate.standing import of_stopped
from heritrix_scrapy.report.log_line import error_line, failure_entry, line
from heritrix_scrapy.uri.fixup import fix
from tests.durability.watch import until
from tests.operate.test_checkpoints import SITE, of_seed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b1m\r"


@pytest.mark.parametrize("modern", [True, False])
def test_pc218_terminal_escapes_never_reach_a_log(tmp_path: Path, modern: bool) -> None:
    """PC-218: an address with terminal escapes, as a page has it and as a part may hand it on."""
    assert fix("http://a.example/\x1b[2J").isprintable()
    curi = CrawlURI(f"http://a.example/{ESCAPES}", path="L", via=f"http://a.example/{ESCAPES}?via")
    curi.content_type, curi.source_tag, curi.status = f"text/html{ESCAPES}", f"http://a.example/{ESCAPES}", 200
    curi.annotate(f"step:{ESCAPES}")
    text = line(curi, 0, extra_info=True, content_size=True, modern=modern)
    written = [text, error_line(0, curi.uri, f"no URI: {ESCAPES}", f"http:{ESCAPES}")]
    written += failure_entry(text, [f"refused: {ESCAPES}"]).splitlines(keepends=True)
    for each in written:
        assert each.endswith("\n")
        assert each[:-1].replace("\t", "").isprintable(), each
    log = JobLog(tmp_path)
    log.write(0, f"delete: uri {ESCAPES}")
    assert (tmp_path / "job.log").read_text()[:-1].isprintable()


def test_pc223_files_elsewhere_are_those_of_our_prefix(tmp_path: Path) -> None:
    root = tmp_path / "damaged"
    elsewhere = root / "shared"
    elsewhere.mkdir(parents=True)
    for name, size in (("WEB-1.warc.gz", 10), ("WEB-2.warc.gz.open", 5), ("OTHER-1.warc.gz", 100), ("WEB-1.cdxj", 7)):
        (elsewhere / name).write_bytes(b"x" * size)
    (root / "job" / "20260101000000" / "warcs").mkdir(parents=True)
    (root / "job" / "20260101000000" / "warcs" / "a.warc").write_bytes(b"x" * 3)
    (root / "job" / "latest").symlink_to("20260101000000")
    write(root / "job", Record(warcs=[f"{elsewhere}/WEB"]))
    assert on_disk(root / "job") == 18
    assert on_disk(root / "none") == 0


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.parametrize("where", ["", "kept"])
def test_pc223_bytes_on_disk_agree_with_the_file_system(serve: Serve, project: Any, where: str) -> None:
    """PC-223: while a file is open, after rotation, and after a resume."""
    web = serve(SITE)
    given = {**of_seed(web), "HERITRIX_WARC_MAX_FILE_SIZE_BYTES": 15_000, "HERITRIX_LAUNCH_DIRS": not where}
    made = project(given, web=web)
    args = ("-s", f"HERITRIX_WARC_DIR={made.folder / where}") if where else ()
    crawl = made.start(*args)

    def files() -> list[Path]:
        return [path for path in made.folder.glob("**/*.warc.gz*") if "latest" not in path.parts]

    def agree() -> None:
        ask(made.jobdir, {"do": "pause"})
        until(crawl, lambda: ask(made.jobdir, {"do": "status"})["state"] == "PAUSED")
        told = ask(made.jobdir, {"do": "status"})["job"]["sizeTotalsReport"]["sizeOnDisk"]
        assert told == sum(path.stat().st_size for path in files()) > 0
        ask(made.jobdir, {"do": "unpause"})

    until(crawl, lambda: any(path.name.endswith(".open") for path in files()))
    agree()
    until(crawl, lambda: len(files()) > 1)
    agree()
    ask(made.jobdir, {"do": "terminate"})
    stopped = made.finish(crawl, 60)
    assert stopped.stats["heritrix/warc/bytes_on_disk"] == sum(path.stat().st_size for path in files())
    before = len(files())
    crawl = made.start(*args)
    until(crawl, lambda: len(files()) > before)
    agree()
    ended = made.finish(crawl, 90)
    assert ended.returncode == 0, ended.stderr
    assert ended.stats["heritrix/warc/bytes_on_disk"] == sum(path.stat().st_size for path in files())
    assert of_stopped(made.jobdir)["job"]["sizeTotalsReport"]["sizeOnDisk"] == sum(p.stat().st_size for p in files())
