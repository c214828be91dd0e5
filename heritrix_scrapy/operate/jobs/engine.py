"""Which jobs does an engine know, and what can be done to it as a whole?"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.jobs.folder import Folder
from heritrix_scrapy.operate.jobs.job import EngineJob

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heritrix_scrapy.operate.jobs.folder import Place


class Engine:
    """The jobs of a folder. ``more``: settings of every crawl that is launched. Everything blocks, but not for
    long."""

    def __init__(self, root: Path, more: Mapping[str, str] | None = None) -> None:
        self.folder = Folder(root)
        self._more = dict(more or {})
        self._lock = threading.RLock()
        self._jobs: dict[str, EngineJob] = {}
        self.rescan()

    def rescan(self) -> None:
        """Look at the folder again: new jobs are taken in, vanished ones are dropped."""
        with self._lock:
            found = self.folder.find()
            gone = [self._jobs.pop(name) for name in list(self._jobs) if name not in found]
            for name, place in found.items():
                self._take(name, place)
        # what one of them is busy with is no reason for others to wait
        for job in gone:
            job.close()

    def _take(self, name: str, place: Place) -> EngineJob:
        known = self._jobs.get(name)
        if known is None or known.place.folder != place.folder:
            known = self._jobs[name] = EngineJob(place, self._more)
        else:
            known.place = place
        known.inside = self.folder.holds(place.folder)
        return known

    def jobs(self) -> list[EngineJob]:
        """Every job, the one that was changed last first."""
        with self._lock:
            known = list(self._jobs.values())
        return sorted(known, key=lambda job: (-job.place.changed(), job.name))

    def job(self, name: str) -> EngineJob | None:
        """The job of a name; one that has appeared since the last look is taken in."""
        with self._lock:
            known = self._jobs.get(name)
            if known is not None and known.place.config.is_file():
                return known
            place = self.folder.get(name)
            if place is None:
                self._jobs.pop(name, None)
                return None
            return self._take(name, place)

    def create(self, name: str | None, profile: str | None = None, text: str = "") -> EngineJob:
        """Raises JobsError."""
        with self._lock:
            place = self.folder.create(name, profile, text)
            return self._take(place.name, place)

    def add(self, path: str | None) -> EngineJob:
        """Raises JobsError."""
        with self._lock:
            place = self.folder.add(path)
            return self._take(place.name, place)

    def copy(self, job: EngineJob, name: str, *, as_profile: bool) -> EngineJob:
        """Raises JobsError."""
        with self._lock:
            place = self.folder.copy(job.place, name, as_profile=as_profile)
            return self._take(place.name, place)

    def held(self) -> list[EngineJob]:
        """Jobs that are built, in the order of ``jobs``: the engine should not end without a word."""
        return [job for job in self.jobs() if job.standing(ask_it=False).built]

    def close(self) -> None:
        """The engine ends; crawls go on."""
        for job in self.jobs():
            job.close()
