"""Is a job fit to be launched? What Heritrix calls building it.

A Heritrix job file is read here, all of it, and its settings, scope and seeds are made; a Scrapy project is the
operator's own code and is looked at by a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.doctor import of_seeds
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.beans import JobError, Report, Verdict, read_job
from heritrix_scrapy.settings.beans.model import Beans, Text
from heritrix_scrapy.settings.beans.overrides import Overrides
from heritrix_scrapy.settings.beans.reader import Reader
from heritrix_scrapy.settings.beans.taken import STOCK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heritrix_scrapy.operate.jobs.folder import Place
    from heritrix_scrapy.settings import Settings

MODULE: Final = "heritrix_scrapy.operate.jobs.project"
CONTACT: Final = "metadata.operatorContactUrl"
#: Seconds that a look at a project may take.
LONGEST: Final = 120.0

#: Words with which the report says that a value or a property is wrong, not only without a counterpart here.
_WRONG: Final = ("there is no such setting", "expected", "there is no bean", "invalid")


class NotBuilt(Exception):
    """The job cannot be assembled; ``reasons``: why, one sentence each."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(slots=True)
class Built:
    """An assembled job. ``invalid``: why it cannot be launched; ``warnings``: what of the file does nothing here;
    ``settings``: what the file says, by full names; ``effective``: everything that holds; ``beans``: of the file,
    overrides carried out; both None of a project. ``pauses``: whether it begins paused."""

    place: Place
    invalid: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    effective: Settings | None = None
    beans: Beans | None = None
    pauses: bool | None = None
    name: str = ""

    @property
    def valid(self) -> bool:
        return not self.invalid


def project_settings(place: Place, more: Mapping[str, str]) -> ScrapySettings:
    """The Scrapy settings under which a job file's crawl runs. ``more``: those of every job of the engine."""
    settings = ScrapySettings()
    settings.setmodule(MODULE, priority="project")
    settings.setdict(more, priority="cmdline")
    settings.set("JOBDIR", str(place.folder), priority="cmdline")
    settings.set("HERITRIX_JOB", str(place.config), priority="cmdline")
    return settings


def build(place: Place, more: Mapping[str, str] | None = None) -> Built:
    """``more``: settings of every job of the engine. Raises NotBuilt."""
    return _project(place, more or {}) if place.is_project else _job_file(place, more or {})


def beans_of(config: Path) -> Beans:
    """The beans of a job file, overrides carried out. Raises JobError."""
    report = Report()
    reader = Reader(report, os.environ)
    reader.read(config)
    Overrides(reader.beans, report, config.resolve().parent).apply()
    return reader.beans


def _job_file(place: Place, more: Mapping[str, str]) -> Built:
    try:
        beans = beans_of(place.config)
        job = read_job(place.config, environment=os.environ, profile="heritrix")
    except JobError as error:
        raise NotBuilt([str(error)]) from None
    except (OSError, RecursionError, ValueError) as error:
        raise NotBuilt([f"{place.config} cannot be read: {error}"]) from None
    wrong = []
    if not any(bean.short == "CrawlController" for bean in beans):
        wrong.append('Missing required bean: "crawlController"')
    for bean in beans:
        if bean.third_party and bean.script is None:
            wrong.append(f"Cannot find class [{bean.kind}] for bean with name '{bean.name}' in {bean.place}")
    built = Built(place, settings=dict(job.settings), beans=beans)
    for entry in job.report.entries:
        if entry.verdict is Verdict.LOST:
            (wrong if any(word in entry.text for word in _WRONG) else built.warnings).append(entry.told)
        elif entry.verdict is Verdict.LEFT and f"{entry.bean}.{entry.prop}" != CONTACT:
            built.warnings.append(entry.told)
    if wrong:
        raise NotBuilt(wrong)
    settings = project_settings(place, more)
    try:
        built.effective = read(settings, contact_required=False)
    except ConfigurationError as error:
        raise NotBuilt([_plain(error)]) from None
    for finding in of_seeds(settings, built.effective):
        if finding.level == "wrong":
            raise NotBuilt([finding.text])
    built.name = str(built.effective.view.job_name)
    built.pauses = _pauses(beans)
    try:
        read(settings)
    except ConfigurationError as error:
        built.invalid.append(_contact(beans) or _plain(error))
    return built


def _pauses(beans: Beans) -> bool:
    """Whether a crawl of the job begins paused: Heritrix's default, unless the file says otherwise."""
    for bean in beans:
        if bean.short == "CrawlController":
            said = bean.properties.get("pauseAtStart")
            return not (isinstance(said, Text) and said.text.strip().lower() in ("false", "off", "no", "0"))
    return True


def _contact(beans: Beans) -> str | None:
    """What is wrong with the contact address, in words that show it."""
    for bean in beans:
        if bean.short == "CrawlMetadata":
            said = bean.properties.get("operatorContactUrl")
            text = said.text if isinstance(said, Text) else ""
            rest = "still the profile's placeholder" if STOCK[CONTACT].match(text) else "no http(s) address"
            return (
                f"Field error in object '{bean.name}' on field 'operatorContactUrl': rejected value [{text}]: {rest};"
                " it goes into the User-Agent, so that webmasters find out who crawls and whom to write to"
            )
    return None


def _plain(error: ConfigurationError) -> str:
    return error.message.removeprefix("heritrix_scrapy: ")


def _project(place: Place, more: Mapping[str, str]) -> Built:
    """Have a process of the project's own look at it."""
    command = [sys.executable, "-m", "scrapy", "heritrix", "doctor", "--json"]
    command += [part for name, value in more.items() for part in ("-s", f"{name}={value}")]
    try:
        done = subprocess.run(
            command, cwd=place.folder, capture_output=True, text=True, errors="replace", timeout=LONGEST, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt([f"the project cannot be looked at: {error}"]) from None
    try:
        findings = list(json.loads(done.stdout))
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise NotBuilt([f"the project's settings cannot be loaded: {last}"]) from None
    built = Built(place, name=place.name)
    for finding in findings:
        if finding["level"] == "wrong":
            built.invalid.append(f"{finding['what']}: {finding['text']}")
        elif finding["level"] == "warning":
            built.warnings.append(f"{finding['what']}: {finding['text']}")
    return built
