"""What went wrong while the crawl ran, that an operator should know?

Every record of level WARNING and above that is logged in the process while the crawl runs is an alert: counted,
written to alerts.log and to the job's log (Heritrix: AlertThreadGroup; spec/output 6).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.joblog import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "alerts.log"


class Alerts(logging.Handler):
    """``tell(level, text)``: called with each alert, as one line. ``concerns(record)``: whether a record is of this
    crawl, and not of another in the same process."""

    def __init__(self, tell: Callable[[str, str], None], concerns: Callable[[logging.LogRecord], bool]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._concerns = concerns
        self._telling = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._telling or not self._concerns(record):
            return
        self._telling = True
        try:
            self._tell(record.levelname, text_of(record))
        except Exception:
            self.handleError(record)
        finally:
            self._telling = False


def text_of(record: logging.LogRecord) -> str:
    """``logger: message``, with the exception that it carries, in one line."""
    text = f"{record.name}: {record.getMessage()}"
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        text += f" ({type(error).__name__}: {error})"
    return one_line(text)
