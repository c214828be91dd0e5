"""In which state can a queue be, and what moves it to another?

The table is the whole machine. Choosing the event is left to ``core``: whether a finished queue may go on at
once (RELEASED) or has to give way (YIELDED) depends on what else waits.
"""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """Where a queue is. The numbers are stored."""

    EXHAUSTED = 0
    INACTIVE = 1
    READY = 2
    IN_PROCESS = 3
    SNOOZED = 4
    RETIRED = 5


class Event(IntEnum):
    """What can happen to a queue."""

    STORED = 0
    ACTIVATED = 1
    RAN_DRY = 2
    OVER_SESSION = 3
    OVER_TOTAL = 4
    EMITTED = 5
    DELAYED = 6
    RELEASED = 7
    YIELDED = 8
    RETIRED = 9
    RECONSIDERED = 10
    HELD = 11


_S, _E = State, Event

TRANSITIONS: dict[tuple[State, Event], State] = {
    # a URI came; only a queue that is on no list is listed, and never straight as ready
    (_S.EXHAUSTED, _E.STORED): _S.INACTIVE,
    (_S.INACTIVE, _E.STORED): _S.INACTIVE,
    (_S.READY, _E.STORED): _S.READY,
    (_S.IN_PROCESS, _E.STORED): _S.IN_PROCESS,
    (_S.SNOOZED, _E.STORED): _S.SNOOZED,
    (_S.RETIRED, _E.STORED): _S.RETIRED,
    # nothing was ready, and its turn had come
    (_S.INACTIVE, _E.ACTIVATED): _S.READY,
    # polled
    (_S.READY, _E.RAN_DRY): _S.EXHAUSTED,
    (_S.READY, _E.OVER_SESSION): _S.INACTIVE,
    (_S.READY, _E.OVER_TOTAL): _S.RETIRED,
    (_S.READY, _E.EMITTED): _S.IN_PROCESS,
    # another queue is at its address
    (_S.READY, _E.HELD): _S.SNOOZED,
    # its URI came back
    (_S.IN_PROCESS, _E.DELAYED): _S.SNOOZED,
    (_S.IN_PROCESS, _E.RELEASED): _S.READY,
    (_S.IN_PROCESS, _E.YIELDED): _S.INACTIVE,
    # its time came
    (_S.SNOOZED, _E.RELEASED): _S.READY,
    (_S.SNOOZED, _E.YIELDED): _S.INACTIVE,
    # by force, and back
    (_S.EXHAUSTED, _E.RETIRED): _S.RETIRED,
    (_S.INACTIVE, _E.RETIRED): _S.RETIRED,
    (_S.READY, _E.RETIRED): _S.RETIRED,
    (_S.IN_PROCESS, _E.RETIRED): _S.RETIRED,
    (_S.SNOOZED, _E.RETIRED): _S.RETIRED,
    (_S.RETIRED, _E.RETIRED): _S.RETIRED,
    (_S.RETIRED, _E.RECONSIDERED): _S.INACTIVE,
}

#: States that do not survive the process: a queue found in one of them takes its turn anew.
ACTIVE = frozenset({State.READY, State.IN_PROCESS})
