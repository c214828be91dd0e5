"""What do the logs of a job say of one URI, all its launches and rotated parts included?

Files are read from their ends in pieces, so that the last line is found soon and a large log costs no memory.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.report.log_line import COLUMNS, token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PIECE = 1 << 18


def parts(root: Path, name: str) -> list[Path]:
    """All files of a log below a JOBDIR, the one that was written last first."""
    found = [*root.glob(f"logs/{name}*"), *root.glob(f"{'[0-9]' * 14}/logs/{name}*")]
    return sorted(
        (path for path in found if path.is_file() and not path.name.endswith((".gz", ".lck"))),
        key=lambda path: path.stat().st_mtime_ns,
        reverse=True,
    )


def backwards(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, the last first, without their ends."""
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        rest = b""
        torn = True
        while at:
            size = min(PIECE, at)
            at -= size
            file.seek(at)
            lines = (file.read(size) + rest).split(b"\n")
            if torn:
                # what stands behind the last line end is no whole line
                if len(lines) == 1:
                    continue
                lines.pop()
                torn = False
            rest = lines[0]
            for line in reversed(lines[1:]):
                if line:
                    yield line
        if rest:
            yield rest


def last(
    root: Path, name: str, needle: str, takes: Callable[[list[str]], bool], enough: Callable[[], bool]
) -> tuple[Path, list[str]] | None:
    """The file and the words of the last line that holds ``needle`` and that ``takes`` takes; None when there is none,
    or ``enough`` says that it was looked for long enough."""
    wanted = needle.encode("utf-8", "surrogatepass")
    for path in parts(root, name):
        try:
            for number, line in enumerate(backwards(path)):
                if wanted in line:
                    words = line.decode("utf-8", "replace").split()
                    if takes(words):
                        return path, words
                if number % 4096 == 4095 and enough():
                    return None
        except FileNotFoundError:
            # rotated meanwhile
            continue
    return None


def fetched(
    root: Path,
    uri: str,
    enough: Callable[[], bool],
    same: Callable[[str], bool] | None = None,
    host: str = "",
) -> dict[str, Any] | None:
    """The last line of crawl.log about a URI, by column; ``same``: whether another URI, with ``host`` in it, is the
    same page, where that is asked too."""
    written = token(uri)
    found = last(root, "crawl.log", f" {written} ", lambda words: len(words) > 11 and words[3] == written, enough)
    if found is None and same is not None:
        found = last(root, "crawl.log", host, lambda words: len(words) > 11 and same(words[3]), enough)
    if found is None:
        return None
    path, words = found
    told: dict[str, Any] = dict(zip(COLUMNS, words, strict=False))
    told["status"] = int(words[1])
    told["log"] = str(path)
    return told


def judged(root: Path, uri: str, enough: Callable[[], bool]) -> dict[str, str] | None:
    """The last line of scope.log about a URI: when, which rule, and what it decided."""
    found = last(root, "scope.log", f" {uri}", lambda words: len(words) > 4 and uri in words[4:], enough)
    if found is None:
        return None
    words = found[1]
    at = words.index(uri)
    return {"time": words[0], "index": words[at - 3], "rule": words[at - 2], "decision": words[at - 1]}
