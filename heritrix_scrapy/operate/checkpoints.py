"""Which checkpoints has a job, what lies in one, and how does a job begin with one?

``JOBDIR/checkpoints/cp00001-20130201120000/``: a copy of the frontier (``frontier/``) and of the history
(``history/``), ``changes.json`` where settings were changed while the crawl ran, ``checkpoint.json`` with what else
belongs to it, and ``valid``, which is written last: a folder without it is the rest of one that failed
(spec/frontier 19; spec/output 11.4). No clock, no Scrapy.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate import record
from heritrix_scrapy.report.logs import Logs
from heritrix_scrapy.report.times import ts14
from heritrix_scrapy.settings.changes import NAME as CHANGES
from heritrix_scrapy.store import copying, open_store
from heritrix_scrapy.store.mend import locked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

logger = logging.getLogger(__name__)

FOLDER = "checkpoints"
VALID = "valid"
ABOUT = "checkpoint.json"
LATEST = "latest"
SETTING = "HERITRIX_CHECKPOINT"
#: Behind the name of a store that gave way to a checkpoint's.
UNTIL = ".until-"

NAME = re.compile(r"cp(\d{5,})-(\d{14})")

#: Stores that a checkpoint holds, by the name of their folder in JOBDIR and checkpoint.
STORES = ("frontier", "history")


#: What ``status`` tells of the frontier that shows whether anything has happened.
COUNTED = ("queued", "succeeded", "failed", "disregarded", "retried", "discovered", "to be fetched again")


class About(msgspec.Struct, kw_only=True):
    """What belongs to a checkpoint besides its stores. ``logs``: length of each log, behind its launch's folder where
    there is one, which ended as ``LOG.NAME`` where ``rotated`` says so; ``warcs``: length of each WARC file that was
    open; ``counts``: how far the crawl was; ``ran_ms``: how long it had run; ``paused_ms``: for how long it waited for
    the checkpoint."""

    schema: int = 1
    name: str = ""
    made_ms: int = 0
    reason: str = ""
    remark: str = ""
    rotated: bool = False
    logs: dict[str, int] = {}
    warcs: dict[str, int] = {}
    counts: dict[str, int] = {}
    tallies: dict[str, int] = {}
    jobdir: str = ""
    launch: str = ""
    started_ms: int = 0
    ran_ms: int = 0
    paused_ms: float = 0.0


class Checkpoint(NamedTuple):
    """A whole one. ``about``: what it says of itself."""

    path: Path
    about: About

    @property
    def name(self) -> str:
        return self.path.name


class CheckpointError(Exception):
    """There is no such checkpoint, or it cannot be used: the text says why."""


# -- names -------------------------------------------------------------------------------------------------


def name_of(number: int, now_ms: int) -> str:
    """``cp00001-20130201120000``; a sixth digit where it takes one (Heritrix: Checkpoint.generateFrom)."""
    return f"cp{number:05d}-{ts14(now_ms)}"


def number_of(name: str) -> int:
    """The number in a checkpoint's name; 0 of anything else."""
    found = NAME.fullmatch(name)
    return int(found.group(1)) if found else 0


def next_number(names: Iterable[str]) -> int:
    """The number after all of these names'."""
    return max([number_of(name) for name in names], default=0) + 1


# -- looking -----------------------------------------------------------------------------------------------


def folder(jobdir: Path) -> Path:
    return jobdir / FOLDER


def found(jobdir: Path) -> list[Path]:
    """The folders of checkpoints, whole or not, in the order of their numbers."""
    place = folder(jobdir)
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted((path for path in place.iterdir() if number_of(path.name)), key=lambda path: number_of(path.name))
    return []


def listed(jobdir: Path) -> list[Checkpoint]:
    """The checkpoints of a job that can be started from, in the order of their numbers."""
    return [Checkpoint(path, about(path)) for path in found(jobdir) if (path / VALID).is_file()]


def about(path: Path) -> About:
    """What a checkpoint says of itself; nothing where that cannot be read."""
    try:
        return msgspec.json.decode((path / ABOUT).read_bytes(), type=About)
    except (OSError, msgspec.MsgspecError):
        return About(name=path.name)


def chosen(wanted: str, jobdir: Path) -> Checkpoint:
    """The checkpoint that ``HERITRIX_CHECKPOINT`` names: a name or ``latest`` among the job's own, or the path of one,
    of a JOBDIR (its latest) or of ``JOBDIR/latest``. Raises CheckpointError."""
    path = Path(wanted)
    if number_of(wanted):
        return _whole(folder(jobdir) / wanted)
    if number_of(path.name):
        return _whole(path)
    job = jobdir if wanted == LATEST else path
    if job.name == LATEST and not folder(job).is_dir():
        job = job.parent
    if job.name == FOLDER:
        job = job.parent
    there = listed(job)
    if not there:
        raise CheckpointError(f"there is no checkpoint in {folder(job)}")
    return there[-1]


def _whole(path: Path) -> Checkpoint:
    if not path.is_dir():
        others = ", ".join(each.name for each in listed(path.parent.parent)) or "none"
        raise CheckpointError(f"there is no checkpoint {path.name} in {path.parent}; there are: {others}")
    if not (path / VALID).is_file():
        raise CheckpointError(f"{path} is no whole checkpoint: it has no file {VALID!r}")
    return Checkpoint(path, about(path))


def counts(status: Mapping[str, Any], jobdir: Path) -> dict[str, int]:
    """What shows whether anything has happened since a checkpoint, changes of settings included."""
    told = {name: int(status[name]) for name in COUNTED}
    told["finished"] = told["succeeded"] + told["failed"] + told["disregarded"]
    changes = jobdir / CHANGES
    told["changes"] = zlib.crc32(changes.read_bytes()) if changes.exists() else 0
    return told


# -- making ------------------------------------------------------------------------------------------------


def seal(path: Path, told: About, words: str, jobdir: Path) -> None:
    """Have the disk hold a checkpoint whose stores are complete, and then say that it is whole. Raises OSError."""
    changes = jobdir / CHANGES
    if changes.exists():
        copying.part(changes, path / CHANGES, changes.stat().st_size)
    copying.write(path / ABOUT, msgspec.json.format(msgspec.json.encode(told)))
    beside = path / f".{VALID}"
    copying.write(beside, words.encode("utf-8", "replace"))
    copying.sync(path)
    copying.sync(path.parent)
    beside.rename(path / VALID)
    copying.sync(path)


def remove(path: Path) -> None:
    """Remove a checkpoint: from the first moment on it is none any more."""
    with suppress(OSError):
        (path / VALID).unlink()
    shutil.rmtree(path, ignore_errors=True)


def sweep(jobdir: Path) -> list[str]:
    """Remove what is left of checkpoints whose process died; their names. Only for who holds the job's store."""
    left = [path for path in found(jobdir) if not (path / VALID).is_file()]
    for path in left:
        remove(path)
    return [path.name for path in left]


def forget(jobdir: Path, latest: str) -> list[str]:
    """Remove every checkpoint before the latest, whole one; their names."""
    others = [path for path in found(jobdir) if number_of(path.name) < number_of(latest)]
    for path in others:
        remove(path)
    return [path.name for path in others]


#: Behind the name of a log's part to which a later one is being appended: how long it was before.
MERGING = re.compile(r"(?P<log>.+)\.(?P<name>cp\d{5,}-\d{14})\.merging(?P<size>\d+)")


def merge(directory: Path, logs: Iterable[str], latest: str) -> None:
    """Make one part of all rotated parts of each log, under the latest checkpoint's name (Heritrix:
    GenerationFileHandler.rotate, forgetAllButLatest). Only the newest part is copied, onto the end of the others; one
    that was cut off in the middle is taken back first. Raises OSError."""
    for half in list(directory.glob("*.merging*")):
        if known := MERGING.fullmatch(half.name):
            os.truncate(half, int(known["size"]))
            half.rename(directory / f"{known['log']}.{known['name']}")
    for log in logs:
        parts = [path for path in directory.glob(f"{log}.cp*") if number_of(path.name[len(log) + 1 :])]
        parts.sort(key=lambda path: number_of(path.name[len(log) + 1 :]))
        while len(parts) > 1:
            first, second = parts[0], parts.pop(1)
            size = first.stat().st_size
            growing = first.with_name(f"{first.name}.merging{size}")
            first.rename(growing)
            with second.open("rb") as source, growing.open("ab") as target:
                shutil.copyfileobj(source, target, copying.CHUNK)
                target.flush()
                os.fsync(target.fileno())
            growing.rename(second)
            parts[0] = second
        if parts and (whole := directory / f"{log}.{latest}") != parts[0]:
            parts[0].rename(whole)


# -- beginning with one ------------------------------------------------------------------------------------


def begin(wanted: str, jobdir: Path, now_ms: int) -> Checkpoint:
    """Put the stores of a checkpoint into a JOBDIR in which no crawl runs; the checkpoint stays as it is.

    Another job's checkpoint needs a JOBDIR without a crawl; with one of its own the job goes back to it, and what it
    had moves aside. Raises ConfigurationError.
    """
    try:
        checkpoint = chosen(wanted, jobdir)
    except CheckpointError as error:
        raise ConfigurationError(SETTING, wanted, str(error)) from None
    own = checkpoint.path.resolve().parent == folder(jobdir).resolve()
    there = jobdir / "frontier"
    if (there / "CURRENT").exists():
        if not own:
            raise ConfigurationError(
                SETTING,
                wanted,
                f"expected a JOBDIR without a crawl, and {jobdir} holds one: take another, or start without {SETTING}"
                " to go on with it",
            )
        with locked(there) as alone:
            if not alone:
                raise ConfigurationError("JOBDIR", str(jobdir), "another crawl or command works on this directory")
    try:
        _put(checkpoint, jobdir, ts14(now_ms) if own else "")
    except OSError as error:
        raise ConfigurationError(SETTING, wanted, f"it cannot be put into {jobdir}: {error}") from error
    return checkpoint


def _put(checkpoint: Checkpoint, jobdir: Path, aside: str) -> None:
    beside = {store: jobdir / f".{store}.restored" for store in STORES if (checkpoint.path / store).is_dir()}
    if "frontier" not in beside:
        raise OSError(errno.ENOENT, f"{checkpoint.path / 'frontier'} is missing")
    for store, path in beside.items():
        shutil.rmtree(path, ignore_errors=True)
        copying.restore(checkpoint.path / store, path)
    _begin_logs(beside["frontier"], jobdir)
    # what was made by `set` belongs to it, and nothing that came later does
    (jobdir / CHANGES).unlink(missing_ok=True)
    if (checkpoint.path / CHANGES).exists():
        copying.part(checkpoint.path / CHANGES, jobdir / CHANGES, (checkpoint.path / CHANGES).stat().st_size)
    told = checkpoint.about
    before = record.read(jobdir)
    record.write(
        jobdir,
        record.Record(
            started_ms=told.started_ms, ran_ms=told.ran_ms, checkpoint=checkpoint.name, launches=before.launches
        ),
    )
    # the frontier last: with it the job is there
    for store in sorted(beside, reverse=True):
        place = jobdir / store
        if place.is_dir() and any(place.iterdir()):
            place.rename(jobdir / f"{store}{UNTIL}{aside or 'now'}")
        beside[store].replace(place)
    copying.sync(jobdir)


def end_return(jobdir: Path) -> bool:
    """Complete a going back to a checkpoint whose process died when the frontier had been moved aside and nothing stood
    in its place: a start would take the job for a new one. Whether there was such."""
    restored, place = jobdir / ".frontier.restored", jobdir / "frontier"
    if (place / "CURRENT").exists() or not restored.is_dir() or not any(jobdir.glob(f"frontier{UNTIL}*")):
        return False
    # an empty folder may have been made since
    if place.is_dir():
        place.rmdir()
    restored.replace(place)
    copying.sync(jobdir)
    return True


def _begin_logs(frontier: Path, jobdir: Path) -> None:
    """The logs of the job begin anew: the store does not vouch for any line of theirs."""
    store = open_store(frontier)
    store.write([], [keys.LENGTHS], sync=True)
    store.close()
    # those of earlier launches, where launches have folders, are left alone: this one gets its own
    logs = jobdir / "logs"
    if logs.is_dir():
        Logs(lambda: logs).move_aside()


def rows(checkpoints: Sequence[Checkpoint]) -> list[dict[str, object]]:
    """Checkpoints, for an answer."""
    return [
        {
            "name": each.name,
            "made_ms": each.about.made_ms,
            "queued": each.about.counts.get("queued", 0),
            "finished": each.about.counts.get("finished", 0),
            "reason": each.about.reason,
            "remark": each.about.remark,
            "path": str(each.path),
        }
        for each in checkpoints
    ]
