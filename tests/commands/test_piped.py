"""Does a command end quietly when whoever reads its output has had enough?"""

from __future__ import annotations

import os
import subprocess
import sys


def test_a_reader_that_goes_away() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "scrapy", "heritrix", "explain", "all"]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")
