"""How does a converted job read as a settings file?

Only what differs from the defaults, in the groups of the reference, each with the bean that it came from. Files that
the job reads are named from the job's folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.defaults import GROUPS, PREFIX
from heritrix_scrapy.settings.files import FileLines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heritrix_scrapy.settings.beans.job import Job

#: The first line of what was written by the converter, which it may write again.
MADE = "# Made from a Heritrix job by `scrapy heritrix convert`."

WIDTH = 110

SEEDS = PREFIX + "SEEDS"


def settings_file(job: Job, *, seeds_file: str = "", profile: str = "heritrix") -> str:
    """The text of a settings module. ``seeds_file``: a file beside it that holds the job's inline seeds, or empty when
    they stand in it."""
    folder = job.path.resolve().parent
    writer = _Writer(folder)
    body: list[str] = []
    for title, keys in _grouped(job.settings):
        body += ["", f"# {title}"]
        for key in keys:
            origin = job.origins.get(key)
            if origin is not None:
                where = f"{origin.bean}.{origin.property}" if origin.property else origin.bean
                body.append(f"# {where}, line {origin.place.line}")
            if key == SEEDS and seeds_file:
                body.append(f"{key} = str(here / {seeds_file!r})")
                writer.here = True
            else:
                body.append(f"{key} = {writer.literal(job.settings[key], len(key) + 3)}")
    head = [MADE, f"# The job: {job.path.name}", ""]
    if writer.here or writer.job:
        head.append("from pathlib import Path")
    if writer.lines:
        head += ["", "from heritrix_scrapy.settings.files import FileLines"]
    if writer.here or writer.job:
        head.append("")
    if writer.here:
        head.append("here = Path(__file__).resolve().parent")
    if writer.job:
        head.append(f"job = Path({str(folder)!r})")
    if head[-1]:
        head.append("")
    head += ['ADDONS = {"heritrix_scrapy.Addon": 500}', f'{PREFIX}PROFILE = "{profile}"']
    return "\n".join([*head, *body]) + "\n"


def inline_seeds(job: Job) -> list[str] | None:
    """The seeds that stand in the job's file; None when they come from a file, or there are none."""
    seeds = job.settings.get(SEEDS)
    return list(seeds) if isinstance(seeds, list) and seeds else None


def _grouped(settings: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    known: set[str] = set()
    for group in GROUPS:
        keys = [row.key for row in group.rows if row.key in settings]
        known.update(keys)
        if keys:
            yield group.title, keys
    rest = [key for key in settings if key not in known]
    if rest:
        yield "Other parts", rest


class _Writer:
    """Notes which names the text needs. ``folder``: of the job's file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.here = self.job = self.lines = False

    def literal(self, value: Any, indent: int = 0, depth: int = 0) -> str:
        """A value as it is written in Python, over several lines when it is long."""
        plain = self._plain(value)
        if plain is not None and indent + len(plain) <= WIDTH:
            return plain
        inner = "    " * (depth + 1)
        end = "    " * depth
        if isinstance(value, dict):
            rows = [f"{inner}{key!r}: {self.literal(held, len(inner), depth + 1)},\n" for key, held in value.items()]
            return "{\n" + "".join(rows) + end + "}"
        if isinstance(value, list) and not isinstance(value, FileLines):
            rows = [f"{inner}{self.literal(held, len(inner), depth + 1)},\n" for held in value]
            return "[\n" + "".join(rows) + end + "]"
        return plain if plain is not None else repr(value)

    def _plain(self, value: Any) -> str:
        match value:
            case FileLines():
                self.lines = True
                return f"FileLines.read({self._path(value.path)})"
            case dict():
                return "{" + ", ".join(f"{key!r}: {self._plain(held)}" for key, held in value.items()) + "}"
            case list():
                return "[" + ", ".join(self._plain(held) for held in value) + "]"
            case str() if value.startswith("/") and Path(value).is_file() and self._below(Path(value)):
                return f"str({self._path(Path(value))})"
        return repr(value)

    def _below(self, path: Path) -> bool:
        return path.is_relative_to(self._folder)

    def _path(self, path: Path) -> str:
        self.job = True
        if self._below(path):
            return f"job / {str(path.relative_to(self._folder))!r}"
        return f"Path({str(path)!r})"
