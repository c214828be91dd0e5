"""In which state is a job, and how did it end?

Heritrix's eight controller states and its end statuses (spec/output 11.3; spec/frontier 15.2, 15.3), as a state
machine without a clock. Two things are otherwise than in Heritrix: FINISHED is the end, whatever is asked afterwards,
and a pause does not change the end status.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


class State(Enum):
    """State of the controller."""

    NASCENT = "NASCENT"
    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    EMPTY = "EMPTY"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    STOPPING = "STOPPING"
    FINISHED = "FINISHED"


class End(Enum):
    """How a crawl ended; the value is the text that reports print."""

    CREATED = "Created"
    FINISHED_ABNORMAL = "Finished - Abnormal exit from crawling"
    FINISHED = "Finished"
    ABORTED = "Finished - Ended by operator"
    FINISHED_TIME_LIMIT = "Finished - Timelimit hit"
    FINISHED_DATA_LIMIT = "Finished - Maximum amount of data limit hit"
    FINISHED_DOCUMENT_LIMIT = "Finished - Maximum number of documents limit hit"
    FINISHED_WRITE_LIMIT = "Finished - Maximum bytes written"
    MISCONFIGURED = "Could not launch job - Fatal InitializationException"


#: Reason with which Scrapy closes a spider → how the crawl ended. What is not here was said by the spider or an
#: extension of the user's: an end by the operator.
BY_REASON: Final = {
    "finished": End.FINISHED,
    "shutdown": End.ABORTED,
    "closespider_timeout": End.FINISHED_TIME_LIMIT,
    "closespider_timeout_no_item": End.FINISHED_TIME_LIMIT,
    "closespider_itemcount": End.FINISHED_DOCUMENT_LIMIT,
    "closespider_pagecount": End.FINISHED_DOCUMENT_LIMIT,
    "closespider_pagecount_no_item": End.FINISHED_DOCUMENT_LIMIT,
    "closespider_errorcount": End.FINISHED_ABNORMAL,
    "memusage_exceeded": End.FINISHED_ABNORMAL,
}


def end_of(reason: str) -> End:
    """How a crawl ended that was closed for this reason; our own reasons are the names of end statuses."""
    own = End.__members__.get(reason.upper())
    return BY_REASON.get(reason) or own or End.ABORTED


#: Exit status of the process. 1 is a mistake in the settings, 2 in the command line.
EXIT_STATUS: Final = {
    End.FINISHED: 0,
    End.FINISHED_TIME_LIMIT: 0,
    End.FINISHED_DATA_LIMIT: 0,
    End.FINISHED_DOCUMENT_LIMIT: 0,
    End.FINISHED_WRITE_LIMIT: 0,
    End.MISCONFIGURED: 1,
    End.ABORTED: 3,
    End.FINISHED_ABNORMAL: 4,
    End.CREATED: 4,
}

#: Exit status of each crawl of this process that is over.
exit_statuses: list[int] = []


def exit_status(end: End, reason: str) -> int:
    """What the process says of a crawl that ended so. A spider that closes itself (``CloseSpider("enough")``) meant
    to: that is no failure, while a Ctrl-C or a word of the operator's leaves a crawl that is not done."""
    if end is End.ABORTED and reason not in {"shutdown", End.ABORTED.name.lower()}:
        return 0
    return EXIT_STATUS[end]


#: State → word and message of its note in progress-statistics.log; "" stands for the end status's text.
NOTES: Final = {
    State.PREPARING: ("RUNNING", "Preparing"),
    State.RUNNING: ("RUNNING", "Running"),
    State.EMPTY: ("EMPTY", "Running"),
    State.PAUSING: ("WAITING", "Pausing - Waiting for threads to finish"),
    State.PAUSED: ("PAUSED", "Paused"),
    State.STOPPING: ("ENDING", ""),
    State.FINISHED: ("ENDED", ""),
}

#: Between launch and end.
ACTIVE: Final = frozenset({State.PREPARING, State.RUNNING, State.EMPTY, State.PAUSING, State.PAUSED, State.STOPPING})


class Life:
    """One launch of a job. ``changed(state)`` is called once for each change."""

    def __init__(self, changed: Callable[[State], None] | None = None) -> None:
        self.state = State.NASCENT
        self.end = End.CREATED
        self._changed = changed

    def prepare(self) -> None:
        """The launch: seeds are announced, nothing is fetched yet."""
        if self.state is State.NASCENT:
            self.end = End.FINISHED_ABNORMAL
            self._to(State.PREPARING)

    def run(self) -> None:
        """URIs are handed out: at first, after a pause, or when an empty frontier got one."""
        if self.state in {State.PREPARING, State.EMPTY, State.PAUSING, State.PAUSED}:
            self._to(State.RUNNING)

    def empty(self) -> None:
        """Nothing is queued, and the crawl stays alive."""
        if self.state is State.RUNNING:
            self._to(State.EMPTY)

    def pause(self, *, in_flight: int) -> None:
        """Nothing more is handed out; PAUSED when nothing is in flight, until then PAUSING."""
        if self.state in {State.PREPARING, State.RUNNING, State.EMPTY, State.PAUSING}:
            self._to(State.PAUSED if in_flight == 0 else State.PAUSING)

    def settle(self, *, in_flight: int) -> None:
        """What was in flight has moved on."""
        if self.state is State.PAUSING and in_flight == 0:
            self._to(State.PAUSED)

    def stop(self, end: End) -> None:
        """The crawl begins to end. The first word counts: a limit that was hit stays the reason when the operator
        stops the crawl too."""
        if self.state not in {State.STOPPING, State.FINISHED}:
            self.end = end
            if self.state is State.NASCENT:
                self._to(State.FINISHED)
            else:
                self._to(State.STOPPING)

    def finish(self) -> None:
        """All is written and closed."""
        if self.state is not State.FINISHED:
            self._to(State.FINISHED)

    def _to(self, state: State) -> None:
        if state is self.state:
            return
        self.state = state
        if self._changed is not None:
            self._changed(state)


def description(state: State, end: End, *, alive: bool) -> str:
    """Status of a job in Heritrix's words (spec/output 11.2). ``alive``: its process runs."""
    if state is State.NASCENT:
        return "Ready"
    if state in ACTIVE and alive:
        return f"Active: {state.value}"
    return f"Finished: {end.name}"
