"""Does every reader stand what fuzzing has found so far?"""

from __future__ import annotations

import time

import pytest

from tests.fuzz.targets import CORPUS, TARGETS

#: Seconds of processor time that no input of the corpus may take; they are small.
LONGEST = 2.0


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus(name: str) -> None:
    found = sorted((CORPUS / name).iterdir())
    assert len(found) >= 3
    for path in found:
        began = time.process_time()
        TARGETS[name](path.read_bytes())
        assert time.process_time() - began < LONGEST, path
