"""A Heritrix job that is under way is gone on with: what is finished, what waits, names of WARC files, cookies."""

from __future__ import annotations

import argparse
import gzip
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.commands import import_job
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.reach import Job
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.beans.takeover import crawl_log_parts, found_in, launch_of, name_parts
from tests import jobs

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATE = "${prefix}-${timestamp17}-${serialno}-${heritrix.pid}~${heritrix.hostname}~${heritrix.port}"
A, B, C, D, E = (f"http://a.example/{name}" for name in ("", "b", "c", "d", "e"))
JOURNAL = f"""F+ {A}  \nFe {A}\nF+ {B} L {A}\nF+ {C} L {A}\nFs {A}  \nFe {B}\nF+ {D} LL {B}\nFf {B} L {A}\nFe {C}\n"""
LATER = f"""F+ {E} LL {C}\nFs {C} L {A}\n"""
LOG = "".join(
    f"2026-01-01T00:00:00.000Z {status} 10 {uri} {path} {via} {mime} #001 20260101000000000+1 sha1:A - -\n"
    for status, uri, path, via, mime in (
        ("    1", "dns:a.example", "P", A, "text/dns"),
        ("  200", A, "-", "-", "text/html"),
        ("  200", B, "L", A, "image/png"),
        ("  404", C, "L", A, "text/html"),
    )
)


def heritrix_job(folder: Path, *, journal: bool = True) -> Path:
    """The folder of a job that was cut off in its second launch."""
    logs = folder / "20260202020202" / "logs"
    for place in (folder / "20260101010101" / "logs", logs, logs.parent / "warcs"):
        place.mkdir(parents=True)
    (logs.parent / "warcs" / "P-20260202020202000-00011-99~h.example~8443.warc.gz").touch()
    (folder / "latest").symlink_to(logs.parent)
    beans = jobs.profile()
    beans["warcWriter"]["prefix"] = "P"
    beans["cookieStore"]["cookiesSaveFile"] = jobs.bean("ConfigPath", path="cookies.txt")
    (folder / "cookies.txt").write_text(".a.example\tTRUE\t/\tFALSE\t2145916800\tn\tv\n")
    seeds = {"seeds.textSource.value": f"\n{A}\n"}
    (folder / "crawler-beans.cxml").write_text(jobs.document(beans, jobs.GOLDEN, seeds), encoding="utf-8")
    if journal:
        (logs / "frontier.recover.gz.20260202030303").write_bytes(gzip.compress(JOURNAL.encode()))
        packer = zlib.compressobj(wbits=31)
        torn = packer.compress(LATER.encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
        (logs / "frontier.recover.gz").write_bytes(torn)
    (logs / "crawl.log").write_text(LOG)
    return folder


def imported(source: Path, jobdir: Path) -> int:
    opts = argparse.Namespace(project=Settings(), remark=None, json=False)
    return import_job.run([str(source), str(jobdir)], opts)


def queued(jobdir: Path) -> set[str]:
    with Job(jobdir, Settings()) as job:
        answer = job.perform({"do": "urls", "limit": 100})
    return {str(row[key]) for rows in answer.values() if isinstance(rows, list) for row in rows for key in ("uri",)}


def test_what_waits_is_queued_and_what_is_finished_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, jobdir = heritrix_job(tmp_path / "news"), tmp_path / "job"
    assert imported(source, jobdir) == 0
    assert queued(jobdir) == {D, E}
    assert f"go on with: scrapy crawl archive -s JOBDIR={jobdir}" in capsys.readouterr().out


def test_the_jobdir_remembers_how_to_crawl(tmp_path: Path) -> None:
    source, jobdir = heritrix_job(tmp_path / "news"), tmp_path / "job"
    imported(source, jobdir)
    view = read(Settings({"JOBDIR": str(jobdir), "HERITRIX_OPERATOR": "me"})).view
    assert (view.profile, view.job_name, view.operator, view.warc_prefix) == ("heritrix", "golden", "me", "P")
    assert view.warc_first_serial == 12
    assert view.warc_name_parts == {"heritrix.pid": "99", "heritrix.hostname": "h.example", "heritrix.port": "8443"}
    assert len(view.cookies_load_file) == 1
    again = Settings({"JOBDIR": str(jobdir)})
    again.set("HERITRIX_WARC_FIRST_SERIAL", 40, "cmdline")
    assert read(again).view.warc_first_serial == 40


def test_without_a_journal_only_pages_are_fetched_again(tmp_path: Path) -> None:
    source, jobdir = heritrix_job(tmp_path / "news", journal=False), tmp_path / "job"
    assert imported(source, jobdir) == 0
    assert queued(jobdir) == {A}


def test_a_finished_redirect_to_the_same_page_is_not_fetched_again(tmp_path: Path) -> None:
    source, jobdir = heritrix_job(tmp_path / "news", journal=False), tmp_path / "job"
    text = f"F+ {B} L {A}\nFs {B} L {A}\nF+ {A}B LR {B}\nFs {A}B LR {B}\nF+ {C} L {A}\nF+ {A}C LR {C}\n"
    (source / "latest" / "logs" / "frontier.recover.gz").write_bytes(gzip.compress(text.encode()))
    assert imported(source, jobdir) == 0
    assert queued(jobdir) == {C, f"{A}C"}


def test_what_became_a_seed_by_a_redirect_stays_one(tmp_path: Path) -> None:
    source, jobdir = heritrix_job(tmp_path / "news", journal=False), tmp_path / "job"
    text = f"F+ {A}  \nFs {A}  \nF+ http://b.example/ R {A}\nFs http://b.example/ R {A}\n"
    (source / "latest" / "logs" / "frontier.recover.gz").write_bytes(gzip.compress(text.encode()))
    assert imported(source, jobdir) == 0
    view = read(Settings({"JOBDIR": str(jobdir)})).view
    assert list(view.seeds) == [A, "http://b.example/"]


def test_a_jobdir_with_a_crawl_in_it_is_left_alone(tmp_path: Path) -> None:
    source, jobdir = heritrix_job(tmp_path / "news"), tmp_path / "job"
    imported(source, jobdir)
    with pytest.raises(ConfigurationError, match="there is a crawl in it"):
        imported(source, jobdir)


def test_a_folder_that_is_no_job(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="expected the folder of a Heritrix job"):
        imported(tmp_path / "nix", tmp_path / "job")
    (tmp_path / "crawler-beans.cxml").write_text(jobs.stock(), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"no frontier\.recover\.gz and no crawl\.log"):
        imported(tmp_path, tmp_path / "job")


def test_places_of_a_job(tmp_path: Path) -> None:
    source = heritrix_job(tmp_path / "news")
    found = found_in(source, {})
    assert [path.name for path in found.journals] == ["frontier.recover.gz.20260202030303", "frontier.recover.gz"]
    assert len(found.warcs) == 1
    assert found.cookies is None
    (source / "latest").unlink()
    assert launch_of(source).name == "20260202020202"


@pytest.mark.parametrize(
    ("names", "template", "expected"),
    [
        ([], TEMPLATE, {}),
        (["unlike.warc.gz"], TEMPLATE, {}),
        (
            ["P-20260101000000000-00009-1~h~8443.warc.gz", "P-20260101000000001-00010-1~h~8443.warc.gz.open"],
            TEMPLATE,
            {
                "HERITRIX_WARC_FIRST_SERIAL": 11,
                "HERITRIX_WARC_NAME_PARTS": {"heritrix.pid": "1", "heritrix.hostname": "h", "heritrix.port": "8443"},
            },
        ),
        (["P-00003-x.warc"], "${prefix}-${serialno}-x", {"HERITRIX_WARC_FIRST_SERIAL": 4}),
    ],
)
def test_names_of_warc_files_go_on(names: list[str], template: str, expected: dict[str, Any]) -> None:
    assert name_parts(names, template, "P") == expected


def test_a_torn_line_of_the_log_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "crawl.log").write_text(LOG + "2026-01-01T00:00:00.000Z   200 10 http://a.exa")
    pages, others = crawl_log_parts(tmp_path / "crawl.log", tmp_path)
    assert [len(path.read_text().splitlines()) for path in (pages, others)] == [1, 3]
