"""How the status table answers ``fetch.json`` and ``output.json`` on what becomes of a status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.politeness import retry_delay
from heritrix_scrapy.model import status
from heritrix_scrapy.model.status import Disposition
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]

WORDS = {Disposition.SUCCESS: "success", Disposition.FAILURE: "failure", Disposition.DISREGARDED: "disregard"}


def status_disposition(case: Case) -> tuple[bool, object]:
    given = case["input"]
    code = given["status"]
    pending = code == 401 and "without" not in given["meaning"]
    final = WORDS[status.disposition(code, credential_pending=pending)]
    if pending and final == "failure":
        # the vectors call it by what it is not
        final = "not success"
    if status.wants_retry(code, credential_pending=pending) and given["attemptsBelowMaxRetries"]:
        seconds = retry_delay(default_view("heritrix"), code) // 1000
        retry = f"retry after {seconds} s" if seconds else "retry at once (0 s)"
    else:
        retry = "-" if code >= 0 else "no"
    got = {"final": final, "retry": retry}
    return got == case["expected"], got


def disposition_class(case: Case) -> tuple[bool, object]:
    """One row lists all statuses of a class."""
    got = {code: word(code) for code in case["input"]}
    return set(got.values()) == {case["expected"]}, got


def word(code: int) -> str:
    if code < 0 and status.wants_retry(code):
        return f"retry until max retries, then {status.disposition(code).value}"
    return status.disposition(code).value


ADAPTERS: dict[str, Callable[[Case], tuple[bool, object]]] = {
    "fetch/status_disposition": status_disposition,
    "output/disposition_class": disposition_class,
}
