"""How is a board kept in sight on a terminal, with log lines running above it?

On a terminal the rows are drawn anew in their place, with ``rich``. Elsewhere (a file, a pipe, a terminal that cannot)
they are plain lines, one each time, and what happens between.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from heritrix_scrapy.operate.board import Board

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

#: Columns of the rows' names, and of the bar.
LABEL = 9
BAR = 40


class Screen:
    """Shows a board on a stream (standard output), as a context."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self.board = Board()
        self._live: Live | None = None
        self._moved: list[tuple[logging.StreamHandler[Any], Any]] = []

    def __enter__(self) -> Screen:
        console = Console(file=self._stream, highlight=False, markup=False, emoji=False)
        if _is_terminal(self._stream) and not console.is_dumb_terminal:
            self._live = Live(
                drawing(self.board), console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
            self._move_logs(console)
        return self

    def __exit__(self, *error: object) -> None:
        for handler, stream in self._moved:
            handler.setStream(stream)
        self._moved = []
        if self._live is not None:
            self._live.stop()
            self._live = None

    def hear(self, event: Mapping[str, Any]) -> None:
        """Show what an event has changed."""
        said = self.board.hear(event)
        if self._live is None:
            if event.get("event") == "numbers":
                said = self.board.line()
            if said:
                self._stream.write(said + "\n")
                self._stream.flush()
        else:
            self._live.update(drawing(self.board), refresh=True)

    def _move_logs(self, console: Console) -> None:
        """Have log lines that go to a terminal written above the board, not into it."""
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and _is_terminal(handler.stream):
                self._moved.append((handler, handler.stream))
                handler.setStream(FileProxy(console, handler.stream))


def _is_terminal(stream: Any) -> bool:
    asked = getattr(stream, "isatty", None)
    return asked is not None and bool(asked())


def drawing(board: Board) -> RenderableType:
    """The rows in a frame, and a bar of how much of what is known is done."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold", no_wrap=True, min_width=LABEL)
    table.add_column(overflow="ellipsis", no_wrap=True)
    for name, text in board.rows():
        table.add_row(Text(name), Text(text))
    ended, known = board.done
    table.add_row(Text("done"), ProgressBar(total=max(known, 1), completed=ended, width=BAR))
    return Panel(table, title=Text(board.jobdir or "crawl"), title_align="left")
