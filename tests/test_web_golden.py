"""Is the table of accepted golden differences narrow, and does the golden runner judge as it says?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden

BASICS = Path(__file__).parent / "golden" / "sites" / "basics"
LIMITS = BASICS.parent / "scopes" / "jobs"
RECRAWL = BASICS.parent / "recrawl"
#: Reports and error logs decide, too.
SAID = ("--reports", "--logs")
#: Sites that are too large to be copied, where they are.
GIVEN = Path(__file__).parents[2] / "shared" / "golden" / "sites"
WHOLE = [site for name in ("errors", "links", "scopes") if (site := GIVEN / name).exists()]
JOBS = {golden.name_of(job): job for job in golden.find_jobs([BASICS])}
ROW = {
    "jobs": ["basics/default"],
    "uri": "http://www.alder.example/",
    "level": "L2",
    "reason": "said",
    "rests_on": "a rule",
}


def test_every_row_of_the_table_is_narrow():
    for row in json.loads(golden.DEVIATIONS.read_text()):
        uris = {uri for name in row["jobs"] if name in JOBS for uri in golden.known_uris(JOBS[name])}
        assert golden.too_wide(row, sorted(uris)) is None, row


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"level": "*"}, "is none of"),
        ({"level": ""}, "no level"),
        ({"rests_on": ""}, "no rests_on"),
        ({"jobs": []}, "no jobs"),
        ({"uri_regex": ".*"}, "either"),
    ],
)
def test_a_row_that_says_too_little_is_refused(change, complaint):
    assert complaint in golden.too_wide(ROW | change, ["http://www.alder.example/"])


def test_a_regex_for_the_whole_site_is_refused():
    wide = {key: value for key, value in ROW.items() if key != "uri"} | {"uri_regex": "(http|https|dns):.*"}
    uris = golden.known_uris(JOBS["basics/default"])
    assert "every URI" in golden.too_wide(wide, uris)
    assert golden.too_wide(wide | {"uri_regex": "dns:.*"}, uris) is None
    assert golden.too_wide(ROW, uris) is None


def test_a_row_that_no_run_used_is_told_once_its_jobs_have_run():
    unused = {"job": "basics/default", "runs": [{"used": []}]}
    used = {"job": "basics/default", "runs": [{"used": [0]}]}
    assert golden.check_rows([ROW], [used]) == []
    assert golden.check_rows([ROW], []) == []
    assert len(golden.check_rows([ROW], [unused])) == 1


def test_a_golden_run_equals_itself_and_a_changed_line_differs(tmp_path):
    job = JOBS["basics/no-canonicalisation"]
    folder = job / "golden"
    log, empty = tmp_path / "crawl.log", tmp_path / "empty.jsonl"
    empty.write_text("")
    rows = golden.compare.golden_rows(folder, "crawl")
    lines = [log_line(row) for row in rows]
    log.write_text("".join(lines))
    levels = golden.judged(folder, {}, log, empty, empty, [])["levels"]
    assert [levels[name]["differences"] for name in ("L1", "L2", "L3", "L4", "L5", "L7")] == [[]] * 6
    uri = rows[3]["uri"]
    log.write_text("".join([*lines[:3], log_line(rows[3] | {"status": 418}), *lines[4:]]))
    assert golden.judged(folder, {}, log, empty, empty, [])["levels"]["L2"]["differences"][0]["uri"] == uri
    accepted = golden.judged(folder, {}, log, empty, empty, [(7, ROW | {"uri": uri})])
    assert (accepted["levels"]["L2"]["differences"], accepted["used"]) == ([], [7])


def log_line(row: dict) -> str:
    """A crawl.log line with the fields of a golden row."""
    size = "-" if row["size"] is None else row["size"]
    annotations = ",".join(row["annotations"]) or "-"
    fields = ["2026-01-01T00:00:00.000Z", row["status"], size, row["uri"], row["path"] or "-", row["via"] or "-"]
    fields += [row["mime"], "#001", "20260101000000000+1", row["digest"] or "-", row["source"] or "-", annotations]
    return " ".join(map(str, fields)) + "\n"


def run_golden(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, golden.__file__, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.crawl
@pytest.mark.netns
@pytest.mark.parametrize("job", ["default", "no-canonicalisation"])
def test_a_golden_job_is_equal(job):
    done = run_golden(str(JOBS[f"basics/{job}"]), "--parallel", "1", "--journal", *SAID)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert done.stdout.endswith("golden: 1 equal, 0 differ\n")


@pytest.mark.crawl
@pytest.mark.netns
def test_a_job_file_crawls_as_heritrix_did():
    done = run_golden(str(JOBS["basics/no-canonicalisation"]), "--as", "job", "--level", "7", "--parallel", "1")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
@pytest.mark.parametrize("way", ["job", "converted"])
def test_job_files_and_what_they_convert_to_crawl_as_heritrix_did(way):
    places = [str(BASICS), str(BASICS.parent / "auth"), str(RECRAWL)]
    done = run_golden(*places, "--as", way, "--level", "7")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_jobs_that_were_cut_off_are_gone_on_with(quarters):
    """No URI is lost, and none that was finished is fetched again."""
    names = ("basics/default", "basics/no-canonicalisation", "basics/whole-domain")
    done = run_golden(*(str(JOBS[name]) for name in names), "--as", f"takeover-{quarters}")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert done.stdout.endswith("golden: 3 equal, 0 differ\n")


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
def test_recrawls_are_equal_run_by_run():
    done = run_golden(str(RECRAWL), "--level", "7", "--warc", "--requests", *SAID)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
def test_logins_and_cookies_are_equal_byte_by_byte():
    done = run_golden(str(BASICS.parent / "auth"), "--level", "7", "--warc", "--requests", *SAID)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
def test_every_golden_job_of_the_copied_sites_is_equal():
    done = run_golden(str(BASICS), "--journal", *SAID)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert done.stdout.endswith(f"golden: {len(JOBS)} equal, 0 differ\n")


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
@pytest.mark.parametrize("site", WHOLE, ids=lambda site: site.name)
def test_reports_and_error_logs_are_those_of_every_site(site):
    """Line by line, of the jobs that are equal in all rooms; every error log names the same URIs."""
    done = run_golden(str(site), *SAID)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.crawl
@pytest.mark.long
@pytest.mark.netns
@pytest.mark.parametrize(
    ("job", "end", "enough", "of"),
    [
        ("max-documents-15", "FINISHED_DOCUMENT_LIMIT", 15, lambda fields: int(fields[1]) > 0),
        ("max-bytes", "FINISHED_DATA_LIMIT", 6000, lambda fields: 0 if fields[2] == "-" else int(fields[2])),
    ],
)
def test_a_golden_job_with_a_limit_ends_at_it(job, end, enough, of, tmp_path):
    """What a timer cuts differs each time; the end must not, nor go far beyond the limit."""
    done = run_golden(str(LIMITS / job), "--work", str(tmp_path / "work"), "--logs")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    project = tmp_path / "work" / f"scopes-{job}" / "project"
    state = json.loads((project / "job" / "state.json").read_text())
    assert (state["state"], state["end"]) == ("FINISHED", end)
    stats = json.loads((project / "stats.json").read_text())
    assert (stats["heritrix/end"], stats["finish_reason"]) == (end, end.lower())
    written = [line.split(" ", 2)[2].split()[0] for line in (project / "job" / "job.log").read_text().splitlines()]
    assert [word for word in written if word in ("RUNNING", "STOPPING", "FINISHED")] == [
        "RUNNING",
        "STOPPING",
        "FINISHED",
    ]
    latest = project / "job" / "latest"
    assert "CRAWL ENDED - Finished - " in (latest / "logs" / "progress-statistics.log").read_text()
    assert "\ncrawl status: Finished - " in (latest / "reports" / "crawl-report.txt").read_text()
    rows = [line.split() for line in (latest / "logs" / "crawl.log").read_text().splitlines()]
    counted, at = 0, 0
    while counted < enough:
        counted += of(rows[at])
        at += 1
    # each host gives a document each 200 ms, and the limits are looked at once a second
    hosts = {row[3].split("/")[2] for row in rows if row[3].startswith("http")}
    assert len(rows) - at <= len(hosts) * (1000 / 200 + 2)
