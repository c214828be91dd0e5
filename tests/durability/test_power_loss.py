"""Is anything lost when the power fails: the files are then as long as they were when they were last synced.

A crawl is frozen, and its JOBDIR copied. In each copy files are cut back to what the disk must hold by then: a
part of the project is listed as one more archive, so that it is told of every sync, right after the WARC's.
"""

from __future__ import annotations

import json
import shutil
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.durability.test_stop import host, pages_of, settings, tree
from tests.durability.watch import archived, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

pytestmark = pytest.mark.crawl

WITNESS = """
import json
from pathlib import Path
from heritrix_scrapy.crawl import Crawl

class Witness:
    '''Writes down, at every sync, how long the files are.'''
    def __init__(self, crawler):
        self.root = Crawl.of(crawler).jobdir.root
        self.syncs = []
        Crawl.of(crawler).archives.append(self)
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    def process_item(self, item):
        return item
    def flush(self):
        return {}
    def length(self, name):
        return -1
    def sync(self):
        sizes = {str(path.relative_to(self.root)): path.stat().st_size
                 for path in self.root.rglob("*.*") if path.is_file()}
        self.syncs.append(sizes)
        new = self.root.parent / "syncs.new"
        new.write_text(json.dumps(self.syncs))
        new.replace(self.root.parent / "syncs.json")
"""

PAGES = 400


def cut(job: Path, sizes: dict[str, int], *endings: str) -> int:
    """Cut the files with these endings back to their sizes; how many bytes went."""
    gone = 0
    for name, size in sizes.items():
        path = job / name
        if name.endswith(endings) and path.exists() and path.stat().st_size > size:
            gone += path.stat().st_size - size
            with path.open("r+b") as file:
                file.truncate(size)
    return gone


#: What the power takes of what was not synced: endings of file names.
LOST: dict[str, tuple[str, ...]] = {
    "records": (".open",),
    "records and rows": (".open", "00003.log"),
    "rows": ("frontier/000003.log",),
    "lines of the log": ("crawl.log",),
}


@pytest.mark.parametrize(
    "losses", [["records", "records and rows"], pytest.param(["rows", "lines of the log"], marks=pytest.mark.long)]
)
def test_nothing_is_lost(serve: Serve, project: Any, tmp_path: Path, losses: list[str]) -> None:
    web = serve(tree(PAGES, 4, delay=0.02))
    witness = {"ITEM_PIPELINES": {"crawl_project.witness.Witness": 900}}
    made = project(settings(web, "/0", **witness), modules={"witness": WITNESS})
    process = made.start()
    syncs = made.folder / "syncs.json"
    until(process, lambda: syncs.exists() and len(json.loads(syncs.read_text())) >= 3, "it was synced three times")
    enough = sum(pages_of(web).values()) + 12
    until(process, lambda: sum(pages_of(web).values()) >= enough, "more was fetched")
    process.send_signal(signal.SIGSTOP)
    sockets = shutil.ignore_patterns("*.sock")
    copies = {name: shutil.copytree(made.jobdir, tmp_path / name, ignore=sockets) for name in losses}
    (sizes, *_) = reversed(json.loads(syncs.read_text()))
    process.kill()
    made.finish(process)
    assert len(pages_of(web)) < PAGES

    everything = {web.url(host(n % 4), f"/{n}") for n in range(PAGES)}
    requeued = {}
    for name in losses:
        copy, endings = copies[name], LOST[name]
        assert cut(copy, sizes, *endings) > 0, f"{name}: nothing was unsynced"
        resumed = made.run(jobdir=copy)
        assert resumed.returncode == 0, resumed.stderr
        resumed.jobdir = copy
        assert not everything - set(archived(resumed)), name
        assert not everything - set(resumed.statuses), name
        requeued[name] = resumed.stderr.partition("lost from WARC")[0].rpartition(" ")[0].rpartition(" ")[2]
    for name in {"records", "lines of the log"} & set(losses):
        assert int(requeued[name] or 0) > 0, requeued
