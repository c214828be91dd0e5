"""Which settings were changed while a crawl ran, and hold when it is started again?

``JOBDIR/changes.json``: what ``scrapy heritrix set`` and its like said, as it was written; it goes before what the
project says until it is reset. Replaced whole.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "changes.json"


class Changes(msgspec.Struct, kw_only=True):
    """``settings``: full name → value as written; ``seed_lines``: lines that were added to the seeds and are no seeds
    (``+http://(org,example,``)."""

    schema: int = 1
    settings: dict[str, Any] = {}
    seed_lines: list[str] = []


def read(jobdir: Path) -> Changes:
    """The changes of a job; none where there is no file. Raises ConfigurationError for one that cannot be read."""
    path = jobdir / NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Changes)
    except (FileNotFoundError, NotADirectoryError):
        return Changes()
    except (OSError, msgspec.MsgspecError) as error:
        raise ConfigurationError("JOBDIR", str(jobdir), f"{path} cannot be read: {error}") from None


def write(jobdir: Path, changes: Changes) -> None:
    """Replace the changes of a job, whole or not at all. Raises OSError."""
    path = jobdir / NAME
    beside = path.with_name(f".{NAME}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(changes)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def keep_seed_lines(jobdir: Path, lines: list[str]) -> None:
    """Have lines of a seeds text that are no seeds announced at every start. Raises OSError, ConfigurationError."""
    changes = read(jobdir)
    new = [line for line in dict.fromkeys(lines) if line not in changes.seed_lines]
    if new:
        write(jobdir, Changes(settings=changes.settings, seed_lines=[*changes.seed_lines, *new]))
