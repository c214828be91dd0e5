"""A job file says what Heritrix's own profile and each golden job say in settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.beans import Job, Verdict, read_job
from heritrix_scrapy.settings.defaults import SETTINGS
from tests import jobs

if TYPE_CHECKING:
    from heritrix_scrapy.settings.view import View

HERE = Path(__file__).parent.parent
GIVEN = HERE.parent.parent / "shared" / "golden" / "sites"
FILES = {
    f"{path.parts[-4]}/{path.parts[-2]}": path
    for root in (HERE / "golden" / "sites", GIVEN)
    for path in sorted(root.glob("*/jobs/*/job.json"))
}

#: What a job file does not say, and what the declaration of a golden job leaves out.
ASIDE = frozenset({"DNS_SERVERS", "JOB", "SCOPE_SPIDER_REQUESTS"})


def view_of(values: dict[str, Any]) -> View:
    settings = Settings()
    for name, value in values.items():
        settings.set(name, value, "project")
    return read(settings, contact_required=False).view


def differing(one: View, other: View) -> dict[str, tuple[Any, Any]]:
    pairs = {row.name: (getattr(one, row.attribute), getattr(other, row.attribute)) for row in SETTINGS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and name not in ASIDE}


def without_rows(settings: dict[str, Any]) -> dict[str, Any]:
    known = {row.key for row in SETTINGS}
    return {name: value for name, value in settings.items() if name not in known and name.startswith("HERITRIX_")}


def job_of(folder: Path, text: str, **about: Any) -> Job:
    (folder / "crawler-beans.cxml").write_text(text, encoding="utf-8")
    return read_job(folder / "crawler-beans.cxml", **about)


def test_heritrix_own_profile_is_our_defaults(tmp_path: Path) -> None:
    job = job_of(tmp_path, jobs.stock())
    assert job.settings == {}
    assert job.report.losses == []
    left = {entry.what for entry in job.report.of(Verdict.LEFT)}
    assert left == {"metadata.operatorContactUrl", "seeds.textSource"}


@pytest.mark.parametrize(
    ("overrides", "properties", "paused"),
    [
        ({"crawlController.pauseAtStart": "true"}, {}, True),
        ({}, {"pauseAtStart": True}, False),
        ({}, {"pauseAtStart": False}, False),
        ({}, {}, False),
    ],
)
def test_pausing_at_the_start_is_the_operators_wish(
    tmp_path: Path, overrides: dict[str, str], properties: dict[str, Any], paused: bool
) -> None:
    beans = jobs.profile()
    beans["crawlController"] |= properties
    job = job_of(tmp_path, jobs.document(beans, jobs.OVERRIDES | overrides, jobs.LONGER))
    assert job.settings.get("HERITRIX_PAUSE_AT_START", False) is paused
    told = [entry for entry in job.report.entries if entry.prop == "pauseAtStart"]
    assert len(told) == len(overrides) + len(properties)


@pytest.mark.parametrize("name", FILES)
def test_golden_jobs_come_to_their_settings(tmp_path: Path, name: str) -> None:
    declared = json.loads(FILES[name].read_text(encoding="utf-8"))
    text, files = jobs.golden(declared)
    for file, lines in files.items():
        (tmp_path / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    job = job_of(tmp_path, text)
    assert differing(view_of({**job.settings, "HERITRIX_PROFILE": "heritrix"}), view_of(declared["settings"])) == {}
    assert without_rows(job.settings) == without_rows(declared["settings"])
    assert [str(entry) for entry in job.report.losses] == []
    by_job = view_of({"HERITRIX_JOB": str(job.path)})
    assert differing(by_job, view_of(declared["settings"])) == {}
