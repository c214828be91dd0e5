"""What can be done to a crawl from its page, and how is it counted before? A table.

Each deed makes two requests of a form: one that only counts or checks, and one that does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import NotRunning
from heritrix_scrapy.operate.web.ui.words import count

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from heritrix_scrapy.operate.web.ui.subject import Subject

    Said = Mapping[str, str]

REMARK: Final = "by the web page"


@dataclass(frozen=True, slots=True)
class Deed:
    """``question``: asked before; ``foresee(subject, said)``: what would come of it, a sentence each; ``do``: does it,
    and says what has come of it. Both raise Refused and what else a request may."""

    question: str
    foresee: Callable[[Subject, Said], Awaitable[list[str]]]
    do: Callable[[Subject, Said], Awaitable[str]]


def needed(said: Said, name: str, words: str) -> str:
    """A field that has to be filled in. Raises Refused."""
    value = said.get(name, "").strip()
    if not value:
        raise Refused(f"{words} is missing")
    return value


# -- URIs out of the queues ------------------------------------------------------------------------------------


def _removal(said: Said) -> dict[str, Any]:
    if said.get("deed") == "drop":
        return {"do": "drop", "queue": said.get("queue", "").strip() or ".*", "remark": REMARK}
    return {
        "do": "delete",
        "uri": needed(said, "uri", "the expression for the URIs"),
        "queue": said.get("queue", "").strip() or ".*",
        "forget": said.get("forget") == "on",
        "remark": REMARK,
    }


async def _count_removal(subject: Subject, said: Said) -> list[str]:
    answer = await subject.do({**_removal(said), "count_only": True})
    counted, retired = answer["counted"], answer["in retired queues"]
    effects = [f"{count(counted)} queued URIs would be taken out of the crawl."]
    if retired:
        effects.append(f"{count(retired)} more of retired queues would be taken out too.")
    if answer["in process"]:
        effects.append(f"{count(answer['in process'])} in process were not looked at, and stay.")
    effects += [f"{name}: {count(number)}" for name, number in list(answer["queues"].items())[:10]]
    return effects


async def _remove(subject: Subject, said: Said) -> str:
    answer = await subject.do(_removal(said))
    return f"{count(answer['deleted'] + answer['in retired queues'])} URIs were taken out of the crawl."


# -- queues ----------------------------------------------------------------------------------------------------


def _queues(said: Said) -> dict[str, Any]:
    return {
        "do": said["deed"],
        "queue": needed(said, "queue", "the expression for the queues"),
        "remark": REMARK,
    }


async def _count_queues(subject: Subject, said: Said) -> list[str]:
    answer = await subject.do({**_queues(said), "count_only": True})
    return [f"{key}: {count(value)}" for key, value in answer.items() if type(value) is int and key != "operation"]


async def _do_queues(subject: Subject, said: Said) -> str:
    answer = await subject.do(_queues(said))
    numbers = [f"{key} {count(value)}" for key, value in answer.items() if type(value) is int and key != "operation"]
    return f"{said['deed']}: {', '.join(numbers)}"


# -- URIs into the queues --------------------------------------------------------------------------------------


def _seed_lines(said: Said) -> list[str]:
    return [line.strip() for line in needed(said, "lines", "the seeds").splitlines() if line.strip()]


async def _count_seeds(subject: Subject, said: Said) -> list[str]:
    lines = _seed_lines(said)
    seeds = [line for line in lines if not line.startswith(("#", "+", "-"))]
    effects = [f"{count(len(seeds))} seeds would be announced; those that are new are queued."]
    if directives := [line for line in lines if line.startswith(("+", "-"))]:
        effects.append(f"{count(len(directives))} lines would change what the scope accepts.")
    return effects + lines[:10]


async def _add_seeds(subject: Subject, said: Said) -> str:
    answer = await subject.do({"do": "seeds", "lines": _seed_lines(said), "remark": REMARK})
    return f"{count(answer['queued'])} of {count(answer['lines'])} seed lines were queued."


async def _foresee_force(subject: Subject, said: Said) -> list[str]:
    uri = needed(said, "uri", "the URI")
    told = await subject.do({"do": "why", "uri": uri})
    return [f"{told['uri']} would be queued once more, whatever the scope says of it.", *told["text"]]


async def _force(subject: Subject, said: Said) -> str:
    uri = needed(said, "uri", "the URI")
    answer = await subject.do({"do": "force", "uri": uri, "now": said.get("now") == "on", "remark": REMARK})
    return f"Queued in {answer.get('queue', 'its queue')}."


async def _foresee_kill(subject: Subject, said: Said) -> list[str]:
    uri = needed(said, "uri", "the URI")
    try:
        detail = await subject.do({"do": "detail"})
    except NotRunning as error:
        raise Refused(f"{error}: nothing is in flight") from None
    flights = [each for each in detail["flights"] if each["uri"] == uri]
    if not flights:
        raise Refused(f"{uri} is not in flight")
    flight = flights[0]
    kept = "What has come is archived." if said.get("keep") == "on" else "Nothing of it is archived."
    return [
        f"{count(len(flights))} fetch would be cut off: {uri}",
        f"It is {flight['step']}, for {flight['seconds']} s, with {count(flight['received'])} bytes so far.",
        kept,
    ]


async def _kill(subject: Subject, said: Said) -> str:
    uri = needed(said, "uri", "the URI")
    answer = await subject.do({"do": "kill", "uri": uri, "keep": said.get("keep") == "on", "remark": REMARK})
    return f"{count(answer['killed'])} fetch was cut off."


# -- settings --------------------------------------------------------------------------------------------------


async def _change(subject: Subject, said: Said) -> dict[str, Any]:
    """The request of a change. Raises Refused."""
    name, way = needed(said, "name", "the setting's name"), said.get("way", "set")
    value = said.get("value", "").strip()
    if way == "reset":
        return {"do": "set", "values": {}, "reset": [name], "remark": REMARK}
    if way in ("add", "remove"):
        return {"do": way, "name": name, "value": value, "remark": REMARK}
    if host := said.get("host", "").strip().lower():
        return await _for_host(subject, host, name, value)
    return {"do": "set", "values": {name: value}, "remark": REMARK}


async def _for_host(subject: Subject, host: str, name: str, value: str) -> dict[str, Any]:
    """A change for a host and the hosts below it: a sheet of its own, which may be there already."""
    if not all(char.isalnum() or char in "-." for char in host) or ".." in host or host[0] in ".-":
        raise Refused(f"{host!r} is no host")
    known = (await subject.do({"do": "settings"}))["settings"]
    sheet, key = f"site {host}", name if name.startswith("HERITRIX_") else f"HERITRIX_{name}"
    sheets = {**known["SHEETS"], sheet: {**known["SHEETS"].get(sheet, {}), key: value}}
    values: dict[str, Any] = {"HERITRIX_SHEETS": sheets}
    associations = list(known["SHEET_ASSOCIATIONS"])
    if not any(sheet in each.get("sheets", ()) for each in associations):
        prefix = "http://(" + ",".join(reversed(host.strip(".").split("."))) + ","
        values["HERITRIX_SHEET_ASSOCIATIONS"] = [*associations, {"surt_prefixes": [prefix], "sheets": [sheet]}]
    return {"do": "set", "values": values, "remark": REMARK}


async def _check(subject: Subject, said: Said) -> list[str]:
    answer = await subject.do({**await _change(subject, said), "check": True})
    effects = [f"{name} would be {value!r}" for name, value in answer["changed"].items()]
    effects += [f"{name} would be as the project has it" for name in answer["reset"]]
    if said.get("host", "").strip():
        effects.append(f"It would hold for {said['host'].strip()} and the hosts below it.")
    if "SCOPE" in said.get("name", "") or "SURTS" in said.get("name", ""):
        effects.append("Queued URIs stay: drop what the new scope refuses afterwards.")
    return effects


async def _set(subject: Subject, said: Said) -> str:
    answer = await subject.do(await _change(subject, said))
    names = ", ".join([*answer["changed"], *answer["reset"]])
    return f"{names}: changed{', ' + answer['holds'] if 'holds' in answer else ''}."


DEEDS: Final = {
    "delete": Deed("Delete these URIs?", _count_removal, _remove),
    "drop": Deed("Drop what the scope refuses?", _count_removal, _remove),
    "retire": Deed("Retire these queues?", _count_queues, _do_queues),
    "reconsider": Deed("Let these queues take their turn again?", _count_queues, _do_queues),
    "wake": Deed("End the rests of these queues?", _count_queues, _do_queues),
    "seeds": Deed("Add these seeds?", _count_seeds, _add_seeds),
    "force": Deed("Queue this URI?", _foresee_force, _force),
    "kill": Deed("Cut off this fetch?", _foresee_kill, _kill),
    "set": Deed("Change this setting?", _check, _set),
}
