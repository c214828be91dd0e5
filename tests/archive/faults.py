"""Lives of a process that archives and remembers, each with a fault at a place of its own:

    python -m tests.archive.faults FOLDER SEED ...

The seed says where (`PLACES`) and how: ``kill`` ends the process by SIGKILL, ``refuse`` has the disk refuse once. Each
life is a process of its own, in FOLDER/SEED; its ``told`` has a line for each capture that was reported as written,
``status`` how it ended.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

from heritrix_scrapy.archive.alone import Crawler, warcinfo
from heritrix_scrapy.archive.memory import SCHEMA, History
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.records import Form, group
from heritrix_scrapy.archive.warcfile import WarcFiles, members
from heritrix_scrapy.archive.writer import record_id
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.revisit import Entry
from heritrix_scrapy.store import open_store
from tests.archive.test_warcfile import captured

NOW = 1308849128574
HOWS = ("kill", "refuse")
PLACES = ("record header", "gzip member", "between response and request", "rotation", "rename", "history write")


class Fault:
    """Strikes once, when it is armed for a place and reached there."""

    def __init__(self, how: str) -> None:
        self.how, self.armed, self.cut = how, "", 0

    def strike(self, place: str) -> bool:
        """Whether the disk refuses here; does not come back when the process ends here."""
        if place != self.armed:
            return False
        self.armed = ""
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return True


class FaultyFiles(WarcFiles):
    """Files whose writes stop after ``fault.cut`` bytes of a group, and whose rotation can fail."""

    fault: Fault

    def _put(self, pending: list[bytes]) -> int:
        data = b"".join(pending)
        if self.fault.armed in PLACES[:3] and 0 <= self.fault.cut < len(data):
            pending.clear()
            os.write(self._fd, data[: self.fault.cut])
            if self.fault.strike(self.fault.armed):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super()._put(pending)

    def _claimed(self, place: Path, name: str) -> tuple[str, Path]:
        if self.fault.strike("rotation"):
            raise StorageFull(str(place / name), -1, OSError(errno.EROFS, os.strerror(errno.EROFS)))
        return super()._claimed(place, name)

    def _finish(self) -> None:
        obstacle = self._place() / self._current
        refused = self.fault.armed == "rename"
        if refused:
            if self.fault.cut % 2 and self.fault.how == "kill":
                super()._finish()
            self.fault.strike("rename")
            obstacle.mkdir()  # a file cannot take the name of a folder
        try:
            super()._finish()
        finally:
            if refused:
                obstacle.rmdir()


class FaultyStore:
    """A store that refuses once, or ends the process before or behind a batch."""

    def __init__(self, store: Any, fault: Fault) -> None:
        self._store, self._fault = store, fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, rows: Any, *others: Any, **how: Any) -> None:
        if self._fault.cut % 2 and self._fault.how == "kill":
            self._store.write(rows, *others, **how)
        if self._fault.strike("history write"):
            raise StorageFull("history", -1)
        self._store.write(rows, *others, **how)


def files_in(place: Path, fault: Fault) -> FaultyFiles:
    names = FileNames(machine=Machine("h", "", 1), now_ms=lambda: NOW)
    FaultyFiles.fault = fault
    return FaultyFiles(
        lambda: place,
        names,
        lambda name: warcinfo(Crawler("t"), Form(), name, NOW, record_id()),
        limit=6000,
        follow=names.follow,
    )


def fault_of(seed: int) -> tuple[str, str]:
    """Where and how; all pairs go round."""
    return PLACES[seed % len(PLACES)], HOWS[seed // len(PLACES) % 2]


def live(folder: Path, seed: int, place: str, how: str, told: Any) -> None:
    """Write captures, remember them, meet the fault; what was refused is tried again."""
    source = random.Random(seed)
    fault = Fault(how)
    files = files_in(folder / "warcs", fault)
    files.repair()
    memory = History(FaultyStore(open_store(folder / "history", schema=SCHEMA, setting="JOBDIR"), fault))  # type: ignore[arg-type]
    strike_at = source.randrange(2, 8)
    for number in range(14):
        if number == strike_at:
            fault.armed = place
        curi = captured(f"http://a.example/{seed}/{number}", source.randbytes(source.randrange(600, 2500)))
        while True:
            try:
                records = group(curi, Form(), record_id, warcinfo_id=files.prepare())
                fault.cut = cut_of(records, place, source)
                name, offset = files.append(records)
                break
            except StorageFull:
                continue
        print(curi.uri, file=told, flush=True)
        entry = Entry(200, NOW, curi.digest, file=name, offset=offset, original_ms=NOW, original_id=records[0].id)
        memory.put_entries(curi.uri, [entry])
        if number % 3 == 2:
            files.flush()
            files.sync()
            try:
                memory.sync()
            except StorageFull:
                continue
    for finish in (files.close, memory.close):
        try:
            finish()
        except StorageFull:
            finish()
    assert not fault.armed, f"{place} was never reached"


def cut_of(records: Any, place: str, source: random.Random) -> int:
    """How many bytes of a group are written before the fault."""
    sizes = [sum(map(len, members(record, compress=True))) for record in records]
    if place == "record header":
        return sum(sizes[: source.randrange(3)]) + source.randrange(1, 60)
    if place == "between response and request":
        return sizes[0]
    return source.randrange(60, sizes[0])


if __name__ == "__main__":
    for number in map(int, sys.argv[2:]):
        place = Path(sys.argv[1]) / str(number)
        place.mkdir()
        child = os.fork()
        if not child:
            with (place / "told").open("w") as out:
                live(place, number, *fault_of(number), out)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        (place / "status").write_text(str(os.waitstatus_to_exitcode(status)))
