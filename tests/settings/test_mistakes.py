"""Does a mistake in a project's settings end ``scrapy crawl`` with one line and status 1?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = 'ADDONS = {"heritrix_scrapy.Addon": 500}\nLOG_LEVEL = "ERROR"\nTELNETCONSOLE_ENABLED = False\n'


@pytest.mark.crawl
@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "HERITRIX_OPERATOR_CONTACT_URL = ''"),
        ('HERITRIX_PROFILE = "legacy"', "expected one of modern, heritrix"),
        ('HERITRIX_MAX_HOPS = "many"', "expected a whole number"),
        ("HERITRIX_MAXHOPS = 3", "did you mean HERITRIX_MAX_HOPS?"),
        ('HERITRIX_OPERATOR_CONTACT_URL = "https://example.org/"\nHERITRIX_SCOPE = "everything"', "a list of rules"),
    ],
)
def test_one_line_and_status_1(tmp_path: Path, lines: str, words: str) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (tmp_path / "project_settings.py").write_text(SETTINGS + lines + "\n")
    ended = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "archive", "-s", "JOBDIR=job"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    told = [line for line in ended.stderr.splitlines() if line]
    assert len(told) == 1, ended.stderr
    assert told[0].startswith("heritrix_scrapy: HERITRIX_")
    assert words in told[0]
