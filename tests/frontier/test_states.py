"""Is the table of queue states whole?"""

from __future__ import annotations

from heritrix_scrapy.frontier.states import TRANSITIONS, Event, State


def test_every_state_takes_a_uri_and_can_be_retired() -> None:
    for state in State:
        assert (state, Event.STORED) in TRANSITIONS
        assert TRANSITIONS[state, Event.RETIRED] is State.RETIRED


def test_every_event_and_state_is_used() -> None:
    assert {event for _, event in TRANSITIONS} == set(Event)
    assert set(TRANSITIONS.values()) == set(State)


def test_only_a_ready_queue_is_emitted_and_only_an_inactive_one_activated() -> None:
    assert {state for state, event in TRANSITIONS if event is Event.EMITTED} == {State.READY}
    assert {state for state, event in TRANSITIONS if event is Event.ACTIVATED} == {State.INACTIVE}
    assert TRANSITIONS[State.EXHAUSTED, Event.STORED] is State.INACTIVE
