"""The trace of an error in a log."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.report.traces import MOST, told

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(text: str) -> None:
    raise ValueError(text)


def caused(text: str) -> None:
    try:
        plain(text)
    except ValueError as error:
        raise KeyError(text) from error


def met_on_the_way(text: str) -> None:
    try:
        plain(text)
    except ValueError:
        raise KeyError(text)  # noqa: B904


def hidden(text: str) -> None:
    try:
        plain(text)
    except ValueError:
        raise KeyError(text) from None


def noted(text: str) -> None:
    error = ValueError(text)
    error.add_note("a note")
    raise error


def grouped(text: str) -> None:
    raise ExceptionGroup(text, [ValueError("one"), KeyError("two")])


def deep(text: str, more: int = 20) -> None:
    if more:
        deep(text, more - 1)
    plain(text)


def broken(text: str) -> None:
    compile(f"{text} =", "page.js", "exec")


def caught(way: Callable[[str], None], text: str) -> BaseException:
    try:
        way(text)
    except Exception as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("way", [plain, caused, met_on_the_way, hidden, noted, grouped, deep, broken])
def test_a_trace_is_the_one_that_python_prints(way: Callable[[str], None]) -> None:
    for text in ("first", "first", "second\nin two lines"):
        error = caught(way, text)
        assert told("where", error) == traceback.format_exception(error)


def test_an_error_that_was_never_raised_and_one_that_is_a_text() -> None:
    assert told("where", ValueError("quiet")) == traceback.format_exception(ValueError("quiet"))
    assert told("FetchHTTP", "refused") == ["FetchHTTP: refused"]
    assert told("", "refused") == ["refused"]


def test_traces_from_many_places_are_told_right() -> None:
    for number in range(MOST + 50):
        # a code object of its own each
        space: dict[str, Callable[[str], None]] = {}
        exec(compile("\n" * number + "def way(text):\n    raise ValueError(text)", "<made>", "exec"), space)
        error = caught(space["way"], str(number))
        assert told("", error) == traceback.format_exception(error)
