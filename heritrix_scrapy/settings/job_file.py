"""What does the job file that HERITRIX_JOB names say in a project's settings?

It stands above what the project wrote and below the spider and the command line.
"""

from __future__ import annotations

import os
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


def read(given: Mapping[str, Any]) -> Job | None:
    """The job that a project's ``HERITRIX_`` settings name, or None. Raises ConfigurationError."""
    if not given.get(SETTING):
        return None
    from heritrix_scrapy.settings.beans import JobError, read_job

    path = located(given[SETTING])
    profile = given.get(PREFIX + "PROFILE", "heritrix")
    try:
        job = read_job(
            path,
            environment=os.environ,
            class_map=class_map(given.get("HERITRIX_CLASS_MAP")),
            profile=profile if profile in PROFILES else "heritrix",
        )
    except JobError as error:
        raise ConfigurationError(SETTING, str(given[SETTING]), str(error)) from None
    losses = job.report.losses
    if losses and str(given.get("HERITRIX_JOB_STRICT", "")).lower() in ("true", "1", "yes", "on"):
        raise ConfigurationError(SETTING, str(given[SETTING]), f"{len(losses)} losses; the first: {losses[0]}")
    return job


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
