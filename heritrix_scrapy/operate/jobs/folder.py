"""Which folders are jobs, what are they called, and how does a new one come about?

As Heritrix's engine: each folder of the jobs folder with a job file, and each that a ``NAME.jobpath`` file names
(spec/output 11.1). Names are kept to what stands in an address as it is.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heritrix_scrapy.operate.jobs.new_project import package_of, texts, texts_around

if TYPE_CHECKING:
    from collections.abc import Iterator

CXML: Final = "crawler-beans.cxml"
PROJECT: Final = "scrapy.cfg"
PROFILE: Final = "profile-"
JOBPATH: Final = ".jobpath"
LOG: Final = "job.log"
RESOURCES: Final = "resources"
#: Where the crawls of a project may lie, besides its folder.
JOBDIR: Final = "job"

#: What a new job may be called.
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
#: Name of the profile that is always there.
STOCK: Final = "Defaults (XML)"
#: Heritrix's other one, which is a program.
GROOVY: Final = "Defaults (Groovy)"
#: What stands for a new Scrapy project where a profile is named; no profile of Heritrix's API.
NEW_PROJECT: Final = "Scrapy project"

#: Files of a JOBDIR that belong to its crawls, not to the job.
_CRAWL: Final = frozenset(
    {"state.json", "changes.json", "control.sock", "taken-over.json", "scrapy.log", "scrapy.out", "spider.state"}
)


class JobsError(Exception):
    """Something cannot be done to the folder; the text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job lies. ``config``: its job file."""

    name: str
    folder: Path
    config: Path

    @property
    def is_profile(self) -> bool:
        """Whether it is only there to be copied."""
        return self.config.name.startswith(PROFILE)

    @property
    def is_project(self) -> bool:
        """Whether it is a Scrapy project."""
        return self.config.name.endswith(PROJECT)

    def changed(self) -> float:
        """When something was last done to it."""
        return max((_mtime(self.config), _mtime(self.folder / LOG)))


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class Folder:
    """The jobs folder, made when it is not there. Raises OSError."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()

    # -- looking -------------------------------------------------------------------------------------------------

    def find(self) -> dict[str, Place]:
        """Every job by its name; the first of a name counts."""
        found: dict[str, Place] = {}
        for place in self._places():
            found.setdefault(place.name, place)
        return found

    def get(self, name: str) -> Place | None:
        """The job of a name, seen before or not."""
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            return None
        place = place_of(self.root / name)
        if place is not None:
            return place
        pointer = self.root / f"{name}{JOBPATH}"
        return _pointed(pointer) if pointer.is_file() else None

    def _places(self) -> Iterator[Place]:
        with suppress(OSError):
            for path in sorted(self.root.iterdir()):
                place = _pointed(path) if path.name.endswith(JOBPATH) and path.is_file() else place_of(path)
                if place is not None:
                    yield place

    def profiles(self) -> list[str]:
        """What a new job can be made of: ours, and the profiles in the folder by name."""
        return [STOCK, *sorted(name for name, place in self.find().items() if place.is_profile)]

    # -- making --------------------------------------------------------------------------------------------------

    def create(self, name: str | None, profile: str | None = None, text: str = "") -> Place:
        """A new job of our profile, of a profile in the folder, or a Scrapy project; ``text``: of a settings file, of
        which the job is made then: a Heritrix job file, or a settings module. Raises JobsError."""
        if name is None:
            raise JobsError("Cannot create null path.")
        if "/" in name or "\\" in name:
            raise JobsError(f"Sub-directories disallowed: {name}")
        if self.get(name) is not None:
            raise JobsError(f"Job exists: {name}")
        if "\0" not in name and (self.root / name).exists():
            raise JobsError(f"Directory exists: {name}")
        check_name(name)
        source = None
        made: dict[str, str] = {}
        if text.strip():
            made = {CXML: text} if text.lstrip("\ufeff \t\r\n").startswith("<") else texts_around(text, name)
        elif profile in (None, "", STOCK):
            made = {CXML: stock()}
        elif profile == NEW_PROJECT:
            made = texts(package_of(name))
        elif profile == GROOVY:
            raise JobsError(f"unknown profile {profile}: a job file that is a Groovy program is not run here")
        else:
            source = self.find().get(profile or "")
            if source is None or not source.is_profile:
                raise JobsError(f"unknown profile {profile}; there are: {', '.join(self.profiles())}")
        folder = self.root / name
        try:
            folder.mkdir()
            if source is not None:
                return copy(source, folder, as_profile=False)
            for path, content in made.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(content, encoding="utf-8", errors="replace")
        except OSError as error:
            raise JobsError(f"{name} cannot be made: {error.strerror}") from None
        return Place(name, folder, folder / (CXML if CXML in made else PROJECT))

    def add(self, said: str | None) -> Place:
        """Take in a job in a folder below the jobs folder's. Raises JobsError."""
        if said is None:
            raise JobsError("Cannot add null path")
        path = Path(said)
        if not said or "\0" in said or not path.is_dir():
            raise JobsError(f"Cannot add non-directory: {said}")
        path = path.resolve()
        if not self.holds(path):
            raise JobsError(f"Could not add job: '{said}' lies outside the jobs folder")
        place = place_of(path)
        if place is None:
            raise JobsError(f"Could not add job: '{said}'")
        if place.name in self.find():
            raise JobsError(f"Job exists: {place.name}")
        check_name(place.name)
        try:
            (self.root / f"{place.name}{JOBPATH}").write_text(f"{path}\n", encoding="utf-8")
        except OSError as error:
            raise JobsError(f"Could not add job: {error.strerror}") from None
        return place

    def copy(self, place: Place, said: str, *, as_profile: bool) -> Place:
        """A copy under another name, in the jobs folder. Raises JobsError."""
        target = Path(said) if said else self.root
        if target.is_absolute() and said and target.parent.resolve() == self.root:
            said = target.name
        if said and ("/" in said or "\\" in said or "\0" in said or said in (".", "..")):
            raise JobsError(f"Job not copied: {said} lies outside the jobs folder")
        if not said or ((self.root / said).exists() and any((self.root / said).iterdir())):
            raise JobsError("Job not copied: destination dir not empty")
        check_name(said)
        try:
            (self.root / said).mkdir(exist_ok=True)
            return copy(place, self.root / said, as_profile=as_profile)
        except OSError as error:
            raise JobsError(f"Job not copied: {error.strerror}") from None

    def holds(self, path: Path) -> bool:
        """Whether a path, links followed, lies below the jobs folder."""
        return path.resolve().is_relative_to(self.root) and path.resolve() != self.root


def check_name(name: str) -> None:
    """Raises JobsError for a name that would not stand in an address as it is."""
    if not NAME.fullmatch(name) or name.endswith(JOBPATH):
        raise JobsError(f"not a job's name: {name!r}; letters, digits and . _ + - of ASCII, at most 100")


def place_of(folder: Path) -> Place | None:
    """The job in a folder, if there is one."""
    if not folder.is_dir():
        return None
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError:
        return None
    others = [name for name in names if name.endswith(".cxml")]
    for wanted in (CXML, PROFILE + CXML, *others, PROJECT, PROFILE + PROJECT):
        if wanted in names:
            return Place(folder.name, folder, folder / wanted)
    return None


def _pointed(pointer: Path) -> Place | None:
    try:
        path = Path(pointer.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeError):
        return None
    return place_of(path) if path.is_absolute() else None


def jobdir_of(place: Place) -> Path:
    """The JOBDIR of a job's crawls: its folder; ``job/`` in a project that has crawled there."""
    beside = place.folder / JOBDIR
    if place.is_project and (beside / "state.json").is_file() and not (place.folder / "state.json").is_file():
        return beside
    return place.folder


def copy(place: Place, target: Path, *, as_profile: bool) -> Place:
    """Copy what a job consists of into an empty folder: its files, as old as they are, ``resources/``, packages of a
    project; nothing of its crawls. Raises OSError."""
    config = place.config.name.removeprefix(PROFILE)
    if as_profile:
        config = PROFILE + config
    for path in sorted(place.folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_file() and not (path.name.startswith(LOG) or path.name in _CRAWL or path.name.startswith(".")):
            shutil.copy2(path, target / (config if path == place.config else path.name))
        elif path.is_dir() and (path.name == RESOURCES or (place.is_project and (path / "__init__.py").is_file())):
            shutil.copytree(path, target / path.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return Place(target.name, target, target / config)


def stock() -> str:
    """Our own profile: a job file with the beans and defaults of Heritrix's."""
    return files(__package__).joinpath("profile.cxml").read_text(encoding="utf-8")


def inside(root: Path, path: Path) -> bool:
    """Whether a path, links followed, is the folder or lies below it."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
