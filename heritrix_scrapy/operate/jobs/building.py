"""Is a job fit to be launched? What Heritrix calls building it.

A Heritrix job file is read here, all of it, and its settings, scope and seeds are made; a Scrapy project is the
operator's own code and is looked at by a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.doctor import of_seeds
from heritrix_scrapy.operate.jobs.folder import jobdir_of
from heritrix_scrapy.operate.jobs.processes import MODULE, environment, spider
from heritrix_scrapy.operate.jobs.remarks import WARNING, WRONG, Remark
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.beans import JobError, Report, Verdict, read_job
from heritrix_scrapy.settings.beans.model import Beans, Text
from heritrix_scrapy.settings.beans.overrides import Overrides
from heritrix_scrapy.settings.beans.reader import Reader
from heritrix_scrapy.settings.beans.taken import STOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heritrix_scrapy.operate.jobs.folder import Place
    from heritrix_scrapy.settings import Settings

CONTACT: Final = "metadata.operatorContactUrl"
#: What looks at a project, as a process.
LOOK: Final = "heritrix_scrapy.operate.jobs.trying"
#: Seconds that a look at a project may take.
LONGEST: Final = 120.0

#: Words with which the report says that a value or a property is wrong, not only without a counterpart here.
_WRONG: Final = ("there is no such setting", "expected", "there is no bean", "invalid")


class NotBuilt(Exception):
    """The job cannot be assembled; ``remarks``: why, and what else there is to be said."""

    def __init__(self, remarks: list[Remark]) -> None:
        self.remarks = remarks
        super().__init__("; ".join(self.reasons))

    @property
    def reasons(self) -> list[str]:
        """Why, one sentence each."""
        return [str(each) for each in self.remarks if each.level == WRONG]


@dataclass(slots=True)
class Built:
    """An assembled job. ``remarks``: what is wrong, so that it cannot be launched, and what of the file does nothing
    here; ``settings``: what the file says, by full names; ``effective``: everything that holds; ``beans``: of the file,
    overrides carried out; both None of a project. ``pauses``: whether it begins paused."""

    place: Place
    remarks: list[Remark] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    effective: Settings | None = None
    beans: Beans | None = None
    pauses: bool | None = None
    name: str = ""

    @property
    def invalid(self) -> list[str]:
        """Why it cannot be launched."""
        return [str(each) for each in self.remarks if each.level == WRONG]

    @property
    def warnings(self) -> list[str]:
        """What does nothing here, and what else is no reason not to begin."""
        return [str(each) for each in self.remarks if each.level != WRONG]

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


def checked(place: Place, text: str, more: Mapping[str, str] | None = None) -> list[Remark]:
    """What there would be to be said of a job with this text for its settings file: what a build would say."""
    try:
        if place.is_project:
            return _project(place, more or {}, text).remarks
        with _beside(place, text) as candidate:
            return [each._replace(file=place.config.name) for each in _job_file(candidate, more or {}).remarks]
    except NotBuilt as error:
        return [each if place.is_project else each._replace(file=place.config.name) for each in error.remarks]


@contextmanager
def _beside(place: Place, text: str) -> Iterator[Place]:
    """The job with another text for its file, which lies in the same folder, so that what it names is found. Raises
    NotBuilt where nothing can be written."""
    try:
        descriptor, path = tempfile.mkstemp(prefix=".check-", dir=place.folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise NotBuilt([Remark(WRONG, f"nothing can be written to {place.folder}: {error.strerror}")]) from None
    try:
        yield replace(place, config=Path(path))
    finally:
        os.unlink(path)


def beans_of(config: Path) -> Beans:
    """The beans of a job file, overrides carried out. Raises JobError."""
    report = Report()
    reader = Reader(report, os.environ)
    reader.read(config)
    Overrides(reader.beans, report, config.resolve().parent).apply()
    return reader.beans


def _job_file(place: Place, more: Mapping[str, str]) -> Built:
    def wrong(text: str, at: Any = None) -> Remark:
        """``at``: where it stands, a Place of the beans' reader."""
        line, file = (at.line, Path(at.file).name) if at else (0, "")
        return Remark(WRONG, text.replace(str(place.config), place.config.name), line, file)

    try:
        beans = beans_of(place.config)
        job = read_job(place.config, environment=os.environ, profile="heritrix")
    except JobError as error:
        raise NotBuilt([wrong(error.message, error.place)]) from None
    except (OSError, RecursionError, ValueError) as error:
        raise NotBuilt([wrong(f"{place.config} cannot be read: {error}")]) from None
    reasons = []
    if not any(bean.short == "CrawlController" for bean in beans):
        reasons.append(wrong('Missing required bean: "crawlController"'))
    for bean in beans:
        if bean.third_party and bean.script is None:
            reasons.append(wrong(f"Cannot find class [{bean.kind}] for bean with name '{bean.name}'", bean.place))
    built = Built(place, settings=dict(job.settings), beans=beans)
    for entry in job.report.entries:
        if entry.verdict not in (Verdict.LOST, Verdict.LEFT) or entry.what == CONTACT:
            continue
        remark = wrong(entry.said, entry.place)
        if entry.verdict is Verdict.LOST and any(word in entry.text for word in _WRONG):
            reasons.append(remark)
        else:
            built.remarks.append(remark._replace(level=WARNING))
    if reasons:
        raise NotBuilt(reasons)

    def unfit(error: ConfigurationError) -> Remark:
        places = [each.place for each in job.report.entries if each.setting and each.setting in error.setting]
        return wrong(_plain(error), places[0] if places else None)

    settings = project_settings(place, more)
    try:
        built.effective = read(settings, contact_required=False)
    except ConfigurationError as error:
        raise NotBuilt([unfit(error)]) from None
    for finding in of_seeds(settings, built.effective):
        if finding.level == WRONG:
            raise NotBuilt([wrong(finding.text)])
    built.name = str(built.effective.view.job_name)
    built.pauses = _pauses(beans)
    try:
        read(settings)
    except ConfigurationError as error:
        built.remarks.append(_contact(beans) or unfit(error))
    return built


def _pauses(beans: Beans) -> bool:
    """Whether a crawl of the job begins paused: Heritrix's default, unless the file says otherwise."""
    for bean in beans:
        if bean.short == "CrawlController":
            said = bean.properties.get("pauseAtStart")
            return not (isinstance(said, Text) and said.text.strip().lower() in ("false", "off", "no", "0"))
    return True


def _contact(beans: Beans) -> Remark | None:
    """What is wrong with the contact address, in words that show it."""
    for bean in beans:
        if bean.short == "CrawlMetadata":
            said = bean.properties.get("operatorContactUrl")
            text = said.text if isinstance(said, Text) else ""
            rest = "still the profile's placeholder" if STOCK[CONTACT].match(text) else "no http(s) address"
            place = said.place if isinstance(said, Text) and said.place else bean.place
            return Remark(
                WRONG,
                f"Field error in object '{bean.name}' on field 'operatorContactUrl': rejected value [{text}]: {rest};"
                " it goes into the User-Agent, so that webmasters find out who crawls and whom to write to",
                place.line,
                Path(place.file).name,
            )
    return None


def _plain(error: ConfigurationError) -> str:
    return error.message.removeprefix("heritrix_scrapy: ")


def _project(place: Place, more: Mapping[str, str], text: str | None = None) -> Built:
    """Have a process of the project's own look at it, with a text in place of its settings module's."""
    settings = {"JOBDIR": str(jobdir_of(place)), **more}
    command = [sys.executable, "-m", LOOK, "--spider", spider(place), *(["--text"] if text is not None else [])]
    command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    try:
        done = subprocess.run(
            command,
            cwd=place.folder,
            env=environment(place),
            input=text or "",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt([Remark(WRONG, f"the project cannot be looked at: {error}")]) from None
    try:
        remarks = [Remark(**each) for each in json.loads(done.stdout)]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise NotBuilt([Remark(WRONG, f"the project's settings cannot be loaded: {last}")]) from None
    if any(each.level == WRONG for each in remarks):
        raise NotBuilt(remarks)
    return Built(place, name=place.name, remarks=remarks)
