"""What does the job file that HERITRIX_JOB names say in a project's settings?

It stands above what the project wrote and below the spider and the command line.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.defaults import PREFIX, PROFILES
from heritrix_scrapy.settings.validate import in_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from heritrix_scrapy.settings.beans import Job

SETTING = PREFIX + "JOB"

#: File in a JOBDIR that was made of a Heritrix job.
REMEMBERED = "taken-over.json"

#: Scrapy's priority of what the job file says: above the project's settings module, below the spider's.
PRIORITY = 25


def class_map(value: Any) -> dict[str, str]:
    """HERITRIX_CLASS_MAP, checked. Raises ConfigurationError."""
    from heritrix_scrapy.settings.defaults import BY_NAME
    from heritrix_scrapy.settings.validate import check

    made = check(BY_NAME["CLASS_MAP"], value or {})
    for name, own in made.items():
        if not isinstance(own, str) or not own:
            raise ConfigurationError(PREFIX + "CLASS_MAP", {name: own}, "expected {Java class: dotted path or name}")
    return dict(made)


def located(value: Any) -> Path:
    """The job file: from the working directory, else from the project's folder; in a folder, its
    ``crawler-beans.cxml``. Raises ConfigurationError."""
    path = Path(str(value))
    if not path.exists():
        path = in_project(path)
    if path.is_dir():
        path = path / "crawler-beans.cxml"
    if not path.is_file():
        raise ConfigurationError(SETTING, str(value), "there is no such file")
    return path


def remember(jobdir: Path, job: Path, settings: Mapping[str, Any]) -> None:
    """Have a JOBDIR go on with a job file, and with settings beside it. Raises ConfigurationError."""
    text = json.dumps({"job": str(job.resolve()), "settings": dict(settings)}, indent=2)
    try:
        (jobdir / REMEMBERED).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError("JOBDIR", str(jobdir), f"cannot be written to: {error.strerror}") from None


def remembered(jobdir: Any) -> tuple[str, dict[str, Any]]:
    """The job file that a JOBDIR goes on with, and the settings beside it; empty where it was not made so. Raises
    ConfigurationError."""
    path = Path(str(jobdir)) / REMEMBERED if jobdir else None
    if path is None or not path.is_file():
        return "", {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return str(held["job"]), dict(held["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError("JOBDIR", str(jobdir), f"{path} cannot be read: {error}") from None


def in_force(named: Any, jobdir: Any = None) -> Path | None:
    """The job file that HERITRIX_JOB names (``named``), or else that the JOBDIR goes on with. Raises
    ConfigurationError."""
    job = str(named) if named else remembered(jobdir)[0]
    return located(job) if job else None


def read(given: Mapping[str, Any], jobdir: Any = None) -> Job | None:
    """The job that a project's ``HERITRIX_`` settings name, or that the JOBDIR goes on with, or None. Raises
    ConfigurationError."""
    job, more = remembered(jobdir)
    if given.get(SETTING):
        # the job file may have been moved; what the import found out holds all the same
        job = str(given[SETTING])
    if not job:
        return None
    from heritrix_scrapy.settings.beans import JobError, read_job

    path = located(job)
    profile = given.get(PREFIX + "PROFILE", "heritrix")
    try:
        made = read_job(
            path,
            environment=os.environ,
            class_map=class_map(given.get("HERITRIX_CLASS_MAP")),
            profile=profile if profile in PROFILES else "heritrix",
        )
    except JobError as error:
        raise ConfigurationError(SETTING, job, str(error)) from None
    losses = made.report.losses
    if losses and str(given.get("HERITRIX_JOB_STRICT", "")).lower() in ("true", "1", "yes", "on"):
        raise ConfigurationError(SETTING, job, f"{len(losses)} losses; the first: {losses[0]}")
    return replace(made, settings={**made.settings, **more}) if more else made


def lines(job: Job) -> list[str]:
    """What the log tells of a job: what was left out, one line each."""
    from heritrix_scrapy.settings.beans import Verdict

    left = [entry for entry in job.report.entries if entry.verdict is Verdict.LEFT]
    told = [f"{SETTING}: {entry}" for entry in (*job.report.losses, *left)]
    return [f"{SETTING} = {job.path}: {len(job.settings)} settings; `scrapy heritrix convert` shows them", *told]


def publish(settings: BaseSettings, job: Job) -> None:
    """Put a job's values into Scrapy's settings, for whoever asks there."""
    for name, value in {**job.settings, PREFIX + "PROFILE": "heritrix"}.items():
        if (settings.getpriority(name) or 0) < PRIORITY and not (name == PREFIX + "PROFILE" and name in settings):
            settings.set(name, value, PRIORITY)
