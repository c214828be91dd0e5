"""Where do harvest managers look? In a folder a launch, named by 14 digits, with ``latest`` linking to it.

Logs, reports and WARCs of a launch lie there; everything that outlives a launch stays in the JOBDIR itself
(Heritrix: CrawlJob, PathSharingContext). A batch vouches for ``LAUNCH/crawl.log``, so that the next launch knows whose
log it has to settle before its own begins.
"""

from __future__ import annotations

import logging
import os
import shutil
from typing import TYPE_CHECKING

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.report.logs import CRAWL, Logs
from heritrix_scrapy.report.times import ts14

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heritrix_scrapy.crawl import JobDir

logger = logging.getLogger(__name__)

LATEST = "latest"


def latest(root: Path) -> str | None:
    """Name of the last launch's folder; None before the first."""
    link = root / LATEST
    if not link.is_symlink():
        return None
    name = os.readlink(link)
    return name if (root / name).is_dir() else None


def begin(root: Path, now_ms: int) -> str:
    """Make the folder of a new launch and link ``latest`` to it; its name. Raises StorageFull."""
    while True:
        name = ts14(now_ms)
        try:
            (root / name).mkdir(parents=True)
            break
        except FileExistsError:
            now_ms += 1000
        except OSError as error:
            raise StorageFull(str(root / name), -1, error) from error
    link = root / f"{LATEST}.new"
    try:
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        link.replace(root / LATEST)
    except OSError as error:
        link.unlink(missing_ok=True)
        logger.warning("%s cannot be linked to %s: %s", root / LATEST, name, error.strerror)
    return name


def copy_job(folder: Path, job: Path) -> None:
    """Put a copy of the job file beside the logs of its launch (Heritrix: CrawlJob.launch)."""
    try:
        shutil.copy2(job, folder / job.name)
    except OSError as error:
        logger.warning("%s cannot be copied to %s: %s", job, folder, error.strerror)


def enter(jobdir: JobDir, name: str | None) -> None:
    """Have the JobDir give the folders of that launch; None: its own."""
    jobdir.launch = name


def labelled(launch: str | None, lengths: Mapping[str, int]) -> dict[str, int]:
    """Lengths of a launch's logs, by the names under which a batch vouches for them; the crawl log is among them."""
    return {f"{launch}/{name}": length for name, length in {CRAWL: 0, **lengths}.items()} if launch else dict(lengths)


def split(lengths: Mapping[str, int]) -> tuple[str | None, dict[str, int]]:
    """The launch whose logs a batch vouched for, and their lengths by plain name; None: in no folder of a launch."""
    launch = next((name.partition("/")[0] for name in lengths if "/" in name), None)
    return launch, {name.rpartition("/")[2]: length for name, length in lengths.items()}


def settle(root: Path, lengths: Mapping[str, int]) -> int:
    """Cut torn lines in the logs that the last batch vouched for, and in those of launches after it that came to no
    batch; how many whole lines of crawl logs stand beyond, -1 when even those vouched for are not all there."""
    if not lengths:
        return 0
    launch, known = split(lengths)
    beyond = _settled(root / launch / "logs" if launch else root / "logs", known)
    if launch:
        for later in sorted(root.glob("[0-9]" * 14 + "/logs")):
            if later.parent.name > launch and beyond >= 0:
                beyond += _settled(later, {})
    return beyond


def _settled(folder: Path, lengths: Mapping[str, int]) -> int:
    logs = Logs(lambda: folder)
    try:
        return logs.recover(lengths)
    finally:
        logs.close()
