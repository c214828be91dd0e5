"""What does a log say of an error? Its trace, as Python prints it.

A crawl meets the same error at the same place some thousands of times; the frames of a trace are written out once.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, TracebackType

#: Places → the text of their frames.
_known: dict[tuple[tuple[CodeType, int, int], ...], list[str]] = {}
#: So many traces are remembered.
MOST = 200

_HEAD = "Traceback (most recent call last):\n"


def told(where: str, error: BaseException | str) -> list[str]:
    """What went wrong, as lines: the trace of an exception, else its text."""
    if isinstance(error, BaseException):
        return trace(error)
    return [f"{where}: {error}" if where else error]


def trace(error: BaseException) -> list[str]:
    """What ``traceback.format_exception`` gives."""
    around = error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__)
    if around or error.__traceback__ is None or isinstance(error, BaseExceptionGroup):
        return traceback.format_exception(error)
    return [_HEAD, *_frames(error.__traceback__), *traceback.format_exception_only(error)]


def _frames(link: TracebackType) -> list[str]:
    places, at = [], link
    while at is not None:
        places.append((at.tb_frame.f_code, at.tb_lasti, at.tb_lineno))
        at = at.tb_next  # type: ignore[assignment]
    key = tuple(places)
    found = _known.get(key)
    if found is None:
        if len(_known) >= MOST:
            _known.clear()
        found = _known[key] = traceback.format_tb(link)
    return found
