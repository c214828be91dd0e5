"""A disk that refuses, and a process that ends, at each place where something is half done: nothing that was reported
is lost, every file can be read, nothing is remembered that is not there. Each round prints its seed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.memory import SCHEMA, _entries
from heritrix_scrapy.commands.warc import verify
from heritrix_scrapy.store import open_store
from tests.archive.faults import Fault, fault_of, files_in
from tests.crawls import ROOT

if TYPE_CHECKING:
    from pathlib import Path

#: Every place in both ways: 12 rounds, and 102 more.
BATCHES = [range(12), *(pytest.param(range(at, at + 17), marks=pytest.mark.long) for at in range(12, 114, 17))]


@pytest.mark.parametrize("seeds", BATCHES, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_rounds(tmp_path: Path, seeds: range) -> None:
    command = [sys.executable, "-m", "tests.archive.faults", str(tmp_path), *map(str, seeds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    for seed in seeds:
        place, how = fault_of(seed)
        print("seed", seed, place, how)
        status, told = [(tmp_path / str(seed) / name).read_text() for name in ("status", "told")]
        assert status == ("-9" if how == "kill" else "0"), done.stderr
        judge(tmp_path / str(seed), told.splitlines(), how)


def judge(folder: Path, reported: list[str], how: str) -> None:
    """Whether all that was reported, and no more, is there, and what is remembered of it is so."""
    files_in(folder / "warcs", Fault("")).repair()
    found: dict[str, list[str]] = {}
    at: dict[tuple[str, int], tuple[str, str]] = {}
    for path in cdxj.warcs_of(folder / "warcs"):
        assert path.name.endswith(".warc.gz")
        assert verify(path)["problems"] == []
        for line in cdxj.lines_of(path):
            told = json.loads(line.split(" ", 2)[2])
            with path.open("rb") as file:
                file.seek(int(told["offset"]))
                ident = next(iter(ArchiveIterator(file))).rec_headers.get_header("WARC-Record-ID")
            at[path.name, int(told["offset"])] = told["url"], ident.strip("<>")
            found.setdefault(told["url"], []).append(told["digest"])
    assert set(reported) <= found.keys()
    # one that was being written when the process ended may be whole
    assert len(found) - len(reported) <= (1 if how == "kill" else 0)
    assert all(len(copies) == 1 for copies in found.values())
    store = open_store(folder / "history", schema=SCHEMA, setting="JOBDIR")
    remembered = [_entries.decode(row) for key, row in store.range(b"u", b"v")]
    store.close()
    for [entry] in remembered:
        assert entry.file is not None
        uri, ident = at[entry.file, entry.offset]
        assert (entry.digest, entry.original_id) == (found[uri][0], ident)
    if how == "refuse":
        assert len(reported) == len(remembered) == 14
