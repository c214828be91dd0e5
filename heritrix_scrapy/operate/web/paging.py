"""Which lines of a long file does a page show, and where do its links lead? (Heritrix: PagedRepresentation)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LINES: Final = 128
MOST: Final = 10_000
#: Bytes that are read for one page.
LONGEST: Final = 4 << 20


class PagingError(ValueError):
    """The query is no page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """``lines`` in the order shown; ``start``, ``end``: bytes from where to where; ``size``: of the file."""

    lines: list[str]
    start: int
    end: int
    size: int
    reverse: bool

    @property
    def at_start(self) -> bool:
        return self.start == 0

    @property
    def at_end(self) -> bool:
        return self.end >= self.size

    @property
    def percent(self) -> int:
        """How far the end of the page is in the file."""
        return 100 if not self.size else int(100 * self.end / self.size)


@dataclass(frozen=True, slots=True)
class Paging:
    """``position``: a byte, -1 for the end; ``lines``: how many from there, negative for those before; ``reverse``:
    the newest first."""

    position: int = 0
    lines: int = LINES
    reverse: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Paging:
        """What a query asks for. Raises PagingError."""
        try:
            position, lines = int(query.get("pos", 0)), int(query.get("lines", LINES))
        except ValueError:
            raise PagingError("pos and lines are numbers") from None
        if abs(position) > 1 << 62:
            raise PagingError("pos is too large")
        return cls(position, max(min(lines, MOST), -MOST), query.get("reverse") == "y")

    def read(self, path: Path) -> Shown:
        """Read the page. Raises OSError."""
        with path.open("rb") as file:
            size = file.seek(0, 2)
            at = size if self.position < 0 else min(self.position, size)
            if self.lines < 0:
                begin = max(at - LONGEST, 0)
                file.seek(begin)
                data = file.read(at - begin)
                found = data.splitlines(keepends=True)[self.lines :]
                start, end = at - sum(map(len, found)), at
            else:
                file.seek(at)
                if at:
                    # the rest of a line that began before belongs to the page before
                    file.seek(at - 1)
                    at = at - 1 + len(file.readline(LONGEST))
                data = file.read(LONGEST)
                found = data.splitlines(keepends=True)[: self.lines]
                start, end = at, at + sum(map(len, found))
        text = [line.decode("utf-8", "replace").rstrip("\r\n") for line in found]
        return Shown(text[::-1] if self.reverse else text, start, end, size, self.reverse)

    def query(self, *, position: int | None = None, lines: int | None = None, reverse: bool | None = None) -> str:
        """The query of another page; what is as by default is left out."""
        position = self.position if position is None else position
        lines = self.lines if lines is None else lines
        reverse = self.reverse if reverse is None else reverse
        text = "?format=paged"
        if position:
            text += f"&pos={position}"
        if lines != LINES:
            text += f"&lines={lines}"
        return text + ("&reverse=y" if reverse else "")

    def links(self, shown: Shown) -> list[tuple[str, str]]:
        """Titles and queries: to the start, before, after, to the end; the other way round; more, fewer."""
        count = abs(self.lines)
        around = [
            ("start", self.query(position=0, lines=count)),
            ("before", self.query(position=shown.start, lines=-count)),
            ("after", self.query(position=shown.end, lines=count)),
            ("end", self.query(position=-1 if self.reverse else shown.size, lines=-count)),
        ]
        fewer = int(self.lines / 2) or (1 if self.lines > 0 else -1)
        return [
            *(around[::-1] if self.reverse else around),
            ("other way round", self.query(reverse=not self.reverse)),
            ("more", self.query(lines=self.lines * 2)),
            ("fewer", self.query(lines=fewer)),
        ]
