"""How are rows kept? Sorted rows of bytes behind four verbs: write a batch, get, range, compact.

``Store`` in ``crawl.py`` is the interface; ``leveldb`` keeps the rows of a job on disk, ``memory`` is its twin
for tests and for one look at a page.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from heritrix_scrapy.model.errors import StoreInUse
from heritrix_scrapy.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from heritrix_scrapy.crawl import Store

__all__ = ["MemoryStore", "discard", "open_store"]

#: Seconds between two tries to open a store that another has open.
AGAIN = 0.05


def open_store(
    path: Path | None,
    *,
    schema: bytes | None = None,
    setting: str = "JOBDIR",
    migrate: Callable[[Any, bytes], bool] | None = None,
    patience: float = 0.0,
) -> Store:
    """The store in the directory ``path``, made when there is none; in memory when ``path`` is None.

    ``schema``: what its rows follow, the frontier's when nothing is said; ``setting``: which one named the path;
    ``migrate``: called with a store of another schema and that schema, to rewrite its rows; False when it cannot;
    ``patience``: seconds for which another's hold on it is waited for: who only looks lets go in moments.

    Raises ConfigurationError when LevelDB's binding is missing, or the directory cannot be used, is in use, or
    was written under another schema.
    """
    if path is None:
        return MemoryStore()
    from heritrix_scrapy.store.leveldb import SCHEMA, LevelStore

    end = time.monotonic() + patience
    while True:
        try:
            return LevelStore(path, schema=schema or SCHEMA, setting=setting, migrate=migrate)
        except StoreInUse:
            if time.monotonic() >= end:
                raise
        time.sleep(AGAIN)


def discard(path: Path) -> None:
    """Remove a closed store with all its rows; the next ``open_store`` begins afresh."""
    shutil.rmtree(path, ignore_errors=True)
