"""Under which settings, with which spider and in which environment does a job's own process run?"""

from __future__ import annotations

import configparser
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.operate.jobs.folder import Place

#: Settings module of a job that is a Heritrix job file.
MODULE: Final = "heritrix_scrapy.operate.jobs.project"
SPIDER: Final = "archive"


def spider(place: Place) -> str:
    """The spider of a job: ``archive``, or what ``[heritrix] spider`` in the project's ``scrapy.cfg`` names."""
    if not place.is_project:
        return SPIDER
    return _said(place, "heritrix", "spider") or SPIDER


def environment(place: Place) -> dict[str, str]:
    """The process's environment."""
    made = {**os.environ, "PYTHONUNBUFFERED": "1"}
    made.pop("SCRAPY_SETTINGS_MODULE", None)
    if not place.is_project:
        made["SCRAPY_SETTINGS_MODULE"] = MODULE
    elif place.is_profile:
        # its scrapy.cfg is under another name
        made["SCRAPY_SETTINGS_MODULE"] = settings_module(place)
    return made


def settings_file(place: Place) -> Path:
    """The file that says how a job crawls: its job file; of a project its settings module, as ``scrapy.cfg`` names
    it."""
    named = settings_module(place)
    if not place.is_project or not named:
        return place.config
    module = place.folder.joinpath(*named.split("."))
    package = module / "__init__.py"
    return package if package.is_file() else module.parent / f"{module.name}.py"


def settings_module(place: Place) -> str:
    """The name of a project's settings module; empty where there is none."""
    said = _said(place, "settings", "default")
    return said if all(part.isidentifier() for part in said.split(".")) else ""


def _said(place: Place, section: str, option: str) -> str:
    parser = configparser.ConfigParser()
    try:
        parser.read(place.config, encoding="utf-8")
        return parser.get(section, option, fallback="").strip()
    except (configparser.Error, UnicodeError):
        return ""
