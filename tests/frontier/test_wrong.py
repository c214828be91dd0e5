"""Does the model find a frontier that is wrong? Each patch in ``wrong/`` makes one transition wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATCHES = sorted((HERE / "wrong").glob("*.patch"))


@pytest.mark.long
@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_the_model_finds_it(patch: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "heritrix_scrapy", tmp_path / "heritrix_scrapy")
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "__init__.py", tmp_path / "tests")
    shutil.copytree(HERE, tmp_path / "tests" / "frontier")
    environment = {**os.environ, "FRONTIER_EXAMPLES": "300", "PYTHONPATH": str(tmp_path)}

    subprocess.run(["git", "apply", "-C1", str(patch)], cwd=tmp_path, check=True)
    call = [sys.executable, "-c", "from tests.frontier.test_model import check; check()"]
    try:
        done = subprocess.run(
            call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
    except subprocess.TimeoutExpired:
        # a queue that is never done with is found too: the selection goes round for ever
        return
    assert done.returncode != 0
    assert "AssertionError" in done.stderr or "KeyError" in done.stderr
    assert str(tmp_path / "heritrix_scrapy") in done.stderr or str(tmp_path / "tests") in done.stderr


def test_there_are_three() -> None:
    assert len(PATCHES) >= 3
