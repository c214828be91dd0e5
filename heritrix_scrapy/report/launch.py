"""Where do harvest managers look? In a folder a launch, named by 14 digits, with ``latest`` linking to it.

Logs, reports and WARCs of a launch lie there; everything that outlives a launch stays in the JOBDIR itself
(Heritrix: CrawlJob, PathSharingContext).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from heritrix_scrapy.report.times import ts14

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.crawl import JobDir

LATEST = "latest"


def latest(root: Path) -> str | None:
    """Name of the last launch's folder; None before the first."""
    link = root / LATEST
    if not link.is_symlink():
        return None
    name = os.readlink(link)
    return name if (root / name).is_dir() else None


def begin(root: Path, now_ms: int) -> str:
    """Make the folder of a new launch and link ``latest`` to it; its name."""
    while True:
        name = ts14(now_ms)
        try:
            (root / name).mkdir(parents=True)
            break
        except FileExistsError:
            now_ms += 1000
    link = root / f"{LATEST}.new"
    link.unlink(missing_ok=True)
    link.symlink_to(name)
    link.replace(root / LATEST)
    return name


def enter(jobdir: JobDir, name: str | None) -> None:
    """Have the JobDir give the folders of that launch; None: its own."""
    jobdir.launch = name
