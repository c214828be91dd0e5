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
    return [_HEAD, *_frames(error.__traceback__), *_last(error)]


#: Of these the last lines say more than class and text.
_TOLD_OTHERWISE = (SyntaxError, NameError, AttributeError, ImportError)


def _last(error: BaseException) -> list[str]:
    """What ``traceback.format_exception_only`` gives, at a tenth of its price where it is one line."""
    kind = type(error)
    if isinstance(error, _TOLD_OTHERWISE) or getattr(error, "__notes__", None):
        return traceback.format_exception_only(error)
    try:
        said = str(error)
    except Exception:
        return traceback.format_exception_only(error)
    module = kind.__module__
    name = kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"
    return [f"{name}: {said}\n" if said else f"{name}\n"]


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
