"""Which lines does a list in a file have, and when has the file others?

A list that is being written is not read: new lines count when the file has stayed the same from one look to the next,
is not empty and ends with a line end. Until then those that were read before hold, and one line of the log says so.
No clock: whoever calls ``look`` leaves the time between that a writer gets.
"""

from __future__ import annotations

import codecs
import logging
from typing import TYPE_CHECKING, NamedTuple

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.uri.escapes import ESCAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import TextIO

logger = logging.getLogger(__name__)


class Mark(NamedTuple):
    """What tells one state of a file from another: inode, bytes, and when it was changed, in nanoseconds."""

    inode: int
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> Mark:
        """Raises OSError."""
        about = path.stat()
        return cls(about.st_ino, about.st_size, about.st_mtime_ns)


class FileLines(list[str]):
    """Lines of a file. ``path``: where it lies; ``mark``: its state before it was read."""

    def __init__(self, path: Path, mark: Mark, lines: Iterable[str]) -> None:
        super().__init__(lines)
        self.path = path
        self.mark = mark

    @classmethod
    def read(cls, path: Path) -> FileLines:
        """Raises OSError."""
        mark = Mark.of(path)
        return cls(path, mark, path.read_text(encoding="utf-8-sig", errors="replace").splitlines())


def open_text(path: Path) -> TextIO:
    """A list of addresses to be read line by line: UTF-8, or UTF-16 with its byte order mark. A byte that is no UTF-8
    becomes its escape, so that no other address is asked for. Raises OSError."""
    with path.open("rb") as file:
        wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return path.open(encoding="utf-16" if wide else "utf-8-sig", errors="replace" if wide else ESCAPES)


class LazyLines:
    """Lines of a file that may be long: read anew, one by one, each time they are asked for. ``path``: where it lies.
    Raises OSError when made and when read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb"):
            """It can be read."""

    def __iter__(self) -> Iterator[str]:
        with open_text(self.path) as lines:
            for line in lines:
                yield line.rstrip("\n")

    def __repr__(self) -> str:
        return repr(str(self.path))


class WatchedFile:
    """A list in a file that is looked at from time to time. ``mark``: the state in which it was read; ``take``: called
    with the new text; a ConfigurationError refuses it, and then nothing may have changed."""

    def __init__(self, path: Path, mark: Mark, take: Callable[[str], None]) -> None:
        self.path = path
        self._take = take
        self._read = self._seen = mark
        self._told = ""

    def look(self) -> bool:
        """Read the file when it has changed and come to rest; whether its text is another one now."""
        path = self.path
        try:
            mark = Mark.of(path)
            if mark == self._read:
                self._seen = mark
                return False
            if mark != self._seen:
                self._seen = mark
                return self._wait("is being changed")
            text = path.read_bytes().decode("utf-8-sig")
            if Mark.of(path) != mark:
                return self._wait("is being changed")
        except OSError as error:
            return self._wait(f"cannot be read ({error.strerror})")
        except UnicodeDecodeError:
            return self._wait("is no UTF-8 text")
        if not text.strip():
            return self._wait("is empty (a line with # alone empties a list)")
        if not text.endswith(("\n", "\r")):
            return self._wait("does not end with a line end")
        try:
            self._take(text)
        except ConfigurationError as error:
            return self._wait(f"is refused: {error}")
        self._read, self._told = mark, ""
        logger.info("the list %s was read again", path)
        return True

    def _wait(self, word: str) -> bool:
        if word != self._told:
            self._told = word
            logger.warning("the list %s %s; what was read before holds", self.path, word)
        return False
