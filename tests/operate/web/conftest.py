"""One server for the tests of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.operate.web.served import Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """The folder of jobs."""
    return tmp_path / "jobs"


@pytest.fixture
def client(jobs: Path) -> Iterator[Client]:
    """A client with the operator's login."""
    with served(jobs) as (port, _):
        yield Client(port)
