"""How did a fetch end, and what follows from it for the queue, the log and the reports?

One table of every status that is not a protocol's own answer (Heritrix: FetchStatusCodes,
AbstractFrontier.needsReenqueuing and isDisregarded, CrawlURI.isSuccess). Positive statuses are answers of a
protocol and always a success, but for a 401 whose credential has not been tried.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

UNATTEMPTED = 0
DNS_OK = 1
DNS_SYSTEM_OK = 1001
WHOIS_OK = 2001
WHOIS_DONE = 2002
DOMAIN_UNRESOLVABLE = -1
CONNECT_FAILED = -2
CONNECT_LOST = -3
TIMEOUT = -4
RUNTIME_EXCEPTION = -5
DOMAIN_PREREQUISITE_FAILURE = -6
UNFETCHABLE = -7
TOO_MANY_RETRIES = -8
DEFERRED = -50
UNQUEUABLE = -60
ROBOTS_PREREQUISITE_FAILURE = -61
OTHER_PREREQUISITE_FAILURE = -62
PREREQUISITE_UNSCHEDULABLE = -63
DEEMED_NOT_FOUND = -404
SERIOUS_ERROR = -3000
DEEMED_CHAFF = -4000
TOO_MANY_LINK_HOPS = -4001
TOO_MANY_EMBED_HOPS = -4002
OUT_OF_SCOPE = -5000
BLOCKED_BY_USER = -5001
BLOCKED_BY_CUSTOM = -5002
BLOCKED_BY_QUOTA = -5003
BLOCKED_BY_RUNTIME_LIMIT = -5004
DELETED_BY_USER = -6000
PROCESSING_KILLED = -7000
ROBOTS_PRECLUDED = -9998


class Disposition(Enum):
    """What becomes of a URI when no try is left."""

    SUCCESS = "success"
    FAILURE = "failure"
    DISREGARDED = "disregarded"


class Retry(Enum):
    """Whether a URI goes back to the head of its queue while tries are left."""

    NEVER = "never"
    AT_ONCE = "at once"
    LATER = "after the retry delay"
    WITH_CREDENTIAL = "at once, when a credential waits to be tried"
    WITH_RETIREMENT = "stays in its queue, when the queue is being retired"


class Status(NamedTuple):
    """``label``: words of Heritrix's status report; ``charged``: whether a retry spends the queue's budget;
    ``runtime_error``: whether its final end also stands in runtime-errors.log."""

    code: int
    label: str
    disposition: Disposition
    retry: Retry = Retry.NEVER
    charged: bool = True
    runtime_error: bool = False


_S, _F, _D = Disposition.SUCCESS, Disposition.FAILURE, Disposition.DISREGARDED
_NEVER = Retry.NEVER

STATUS: dict[int, Status] = {
    row.code: row
    for row in (
        Status(UNATTEMPTED, "Unattempted", _F, Retry.WITH_RETIREMENT),
        Status(DNS_OK, "DNS-1-OK", _S),
        Status(DNS_SYSTEM_OK, "1001", _S),
        Status(WHOIS_OK, "2001", _S),
        Status(WHOIS_DONE, "2002", _S),
        Status(401, "HTTP-401-ClientErr-Unauthorized", _S, Retry.WITH_CREDENTIAL),
        Status(DOMAIN_UNRESOLVABLE, "Heritrix(-1)-Domain unresolvable", _F, Retry.LATER),
        Status(CONNECT_FAILED, "Heritrix(-2)-Connection failed", _F, Retry.LATER),
        Status(CONNECT_LOST, "Heritrix(-3)-Connection lost", _F, Retry.LATER),
        Status(TIMEOUT, "Heritrix(-4)-Timeout", _F),
        Status(RUNTIME_EXCEPTION, "Heritrix(-5)-Runtime exception", _F, runtime_error=True),
        Status(DOMAIN_PREREQUISITE_FAILURE, "Heritrix(-6)-Domain prerequisite failure", _F),
        Status(UNFETCHABLE, "Heritrix(-7)-Unfetchable URI", _F),
        Status(TOO_MANY_RETRIES, "Heritrix(-8)-Too many retries", _F),
        Status(DEFERRED, "Heritrix(-50)-Deferred", _F, Retry.AT_ONCE, charged=False),
        Status(UNQUEUABLE, "-60", _F),
        Status(ROBOTS_PREREQUISITE_FAILURE, "Heritrix(-61)-Robots prerequisite failure", _F),
        Status(OTHER_PREREQUISITE_FAILURE, "Heritrix(-62)-Other prerequisite failure", _F),
        Status(PREREQUISITE_UNSCHEDULABLE, "Heritrix(-63)-Prerequisite unschedulable failure", _F),
        Status(DEEMED_NOT_FOUND, "-404", _F),
        Status(SERIOUS_ERROR, "Heritrix(-3000)-Serious error", _F, runtime_error=True),
        Status(DEEMED_CHAFF, "Heritrix(-4000)-Deemed chaff", _F),
        Status(TOO_MANY_LINK_HOPS, "Heritrix(-4001)-Too many link hops", _D),
        Status(TOO_MANY_EMBED_HOPS, "Heritrix(-4002)-Too many embed hops", _D),
        Status(OUT_OF_SCOPE, "Heritrix(-5000)-Out of scope", _D),
        Status(BLOCKED_BY_USER, "Heritrix(-5001)-Blocked by user", _D),
        Status(BLOCKED_BY_CUSTOM, "Heritrix(-5002)-Blocked by custom prefetch processor", _D),
        Status(BLOCKED_BY_QUOTA, "-5003", _F),
        Status(BLOCKED_BY_RUNTIME_LIMIT, "-5004", _F),
        Status(DELETED_BY_USER, "Heritrix(-6000)-Deleted by user", _D),
        Status(PROCESSING_KILLED, "Heritrix(-7000)-Processing thread killed", _F),
        Status(ROBOTS_PRECLUDED, "Heritrix(-9998)-Robots precluded", _D),
    )
}

_others: dict[int, Status] = {}

HTTP_CLASSES = {1: "Info", 2: "Success", 3: "Redirect", 4: "ClientErr", 5: "ServerErr"}


@lru_cache(maxsize=2048)
def lookup(code: int) -> Status:
    """The row of a status; protocol answers without a row of their own are plain successes, unknown negative
    ones plain failures."""
    row = STATUS.get(code) or _others.get(code)
    if row is None:
        row = Status(code, label(code), _S if code > 0 else _F)
        if len(_others) < 1000:
            _others[code] = row
    return row


def disposition(code: int, *, credential_pending: bool = False) -> Disposition:
    """Final class of a status. A 401 whose credential still waits to be tried is no success."""
    if code == 401 and credential_pending:
        return _F
    return lookup(code).disposition


def succeeded(code: int, *, credential_pending: bool = False) -> bool:
    """Whether that class is success."""
    if code > 0:
        return not (credential_pending and code == 401)
    return lookup(code).disposition is _S


def wants_retry(code: int, *, credential_pending: bool = False, retiring: bool = False) -> bool:
    """Whether this status asks for another try while tries are left."""
    retry = lookup(code).retry
    if retry is _NEVER:
        return False
    if retry is Retry.WITH_CREDENTIAL:
        return credential_pending
    return retiring if retry is Retry.WITH_RETIREMENT else True


def label(code: int) -> str:
    """Words of Heritrix's response-code report, with every HTTP reason where it belongs.

    Heritrix: CrawlURI.fetchStatusCodesToString; its five displaced labels are not copied.
    """
    row = STATUS.get(code)
    if row is not None:
        return row.label
    try:
        reason = HTTPStatus(code).phrase
    except ValueError:
        return str(code)
    return f"HTTP-{code}-{HTTP_CLASSES[code // 100]}-{reason}"
