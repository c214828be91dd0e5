"""Is a request held to what its verb takes, before anything happens?"""

from __future__ import annotations

import asyncio

import pytest

from heritrix_scrapy.model.steering import Refused, Steering


def nothing():
    return {}


def do(steering, **request):
    return asyncio.run(steering.do(request))


@pytest.fixture
def steering():
    steering = Steering()

    def force(uri: str, hops: int = 0, sources: list[str] | None = None, slow: float = 0.0) -> dict[str, object]:
        """Fetch a URI again.

        However often it was seen.
        """
        return {"uri": uri, "hops": hops, "sources": sources}

    def set_(name: str, **more: object) -> dict[str, object]:
        """Set one."""
        return {"name": name, **more}

    steering.add("force", force)
    steering.add("set", set_)
    steering.add("look", nothing, steers=False)
    return steering


def test_a_verb_gets_its_parameters(steering):
    assert do(steering, do="force", uri="http://a/", hops=2) == {"uri": "http://a/", "hops": 2, "sources": None}
    assert do(steering, do="set", name="x", value=[1]) == {"name": "x", "value": [1]}


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"do": "fly"}, "unknown request 'fly'; there are: force, look, set"),
        ({}, "unknown request None"),
        ({"do": ["force"]}, "unknown request"),
        ({"do": "force"}, "force needs uri"),
        ({"do": "force", "uri": 3}, "uri is 3, expected str"),
        ({"do": "force", "uri": "x", "hops": "2"}, "hops is '2', expected int"),
        ({"do": "force", "uri": "x", "hops": True}, "hops is True"),
        ({"do": "force", "uri": "x", "sources": [1]}, "sources is"),
        ({"do": "force", "uri": "x", "slow": "1"}, "expected float"),
        ({"do": "force", "uri": "x", "to": 1}, "force takes uri, hops, sources, slow, not to"),
    ],
)
def test_what_does_not_fit_is_refused(steering, request_, word):
    with pytest.raises(Refused, match=word):
        do(steering, **request_)


def test_verbs_tell_what_they_do(steering):
    verb = steering.verbs()["force"]
    assert (verb.doc, verb.steers) == ("Fetch a URI again.", True)
    assert not steering.verbs()["look"].steers
    assert "force" in steering
    assert "fly" not in steering
