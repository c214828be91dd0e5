"""Does a large job open at once? PC-005; what it reads is the queues' records, never all URIs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def large(*args: object) -> str:
    command = [sys.executable, "-m", "tests.durability.large", *map(str, args)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=1800).stdout


@pytest.mark.parametrize(("uris", "hosts"), [(100_000, 1_000), pytest.param(5_000_000, 50_000, marks=pytest.mark.long)])
def test_pc005_a_large_job_opens_at_once(tmp_path: Path, uris: int, hosts: int) -> None:
    """PC-005: opens in bounded memory, the first fetch within 60 s, no full scan before it."""
    large("fill", tmp_path, uris, hosts)
    result = json.loads(large("open", tmp_path))
    assert result["queued"] == uris
    assert result["seconds"] < 60, result
    assert result["rows"] < 6 * hosts, result
    assert result["bytes"] < (150 << 20) + 400 * hosts, result
    print(result)
