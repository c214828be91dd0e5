#!/usr/bin/env python
"""Does the product behave as the vector files say?

``python tests/conformance.py FILE...`` tells by its content what kind of file each is (scope, frontier,
fetch or output), gives every case to the adapter of its group (``tests/adapters``) and prints per group what
passed, failed, deviates, has no adapter or lies outside the product; then every failure; then the totals.
Exit status 0 only when nothing failed and no case was without adapter.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KEPT = HERE / "vectors"
OUTCOMES = ("passed", "failed", "deviates", "no adapter", "outside")
# What a file or a suite calls a defect of the original; in a note any of these words says it.
DEFECT_KEYS = ("heritrix_defect", "port_should", "bug", "defect")
DEFECT_WORDS = ("bug", "odd:", "port should", "sane port", "defect:")
UNMARKED_REASONS = ("errata:", "design:")
SHOWN = 1500

Case = dict[str, Any]
Adapter = Callable[[Case], "tuple[bool, object] | None"]


@dataclass(slots=True)
class Vector:
    """One case of a file: its group (``scope/surt_from_uri``), its id, and whether it is marked a defect."""

    group: str
    name: str
    case: Case
    defect: bool

    @property
    def id(self) -> str:
        return f"{self.group}#{self.name}"


@dataclass(slots=True)
class Result:
    vector: Vector
    outcome: str
    got: object = None
    reason: str = ""
    row: str = ""


@dataclass(slots=True)
class Adapters:
    """What all adapter modules declare, in one place."""

    run: dict[str, Adapter] = field(default_factory=dict)
    modern: dict[str, Adapter] = field(default_factory=dict)
    modern_rows: dict[str, str] = field(default_factory=dict)
    deviations: dict[str, tuple[str, str]] = field(default_factory=dict)
    deviates: dict[str, list[Callable[[Case, object], tuple[str, str] | None]]] = field(default_factory=dict)
    outside: dict[str, tuple[str, str]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def adapter(self, group: str) -> Adapter | None:
        """The adapter of a group; a ``frontier/scenario/NAME`` without one of its own has that of all scenarios."""
        return self.run.get(group) or self.run.get(group.rpartition("/")[0])

    def groups(self) -> set[str]:
        return set(self.run) | {key.partition("#")[0] for key in self.outside}


# ---------------------------------------------------------------- files


def kind_of(data: dict[str, Any], known: set[str]) -> str:
    """Name the kind of file by its shape; scope and output share one and are told apart by their groups."""
    if isinstance(data.get("groups"), dict):
        return "fetch"
    if "suites" in data or "scenarios" in data:
        return "frontier"
    if "_meta" in data:
        return "scope"
    names = {name for name, cases in data.items() if isinstance(cases, list)}
    votes = {kind: sum(f"{kind}/{name}" in known for name in names) for kind in ("scope", "output")}
    best = max(votes, key=lambda kind: votes[kind])
    if not votes[best]:
        raise SystemExit(f"no known vector group in a file with the keys {sorted(data)[:8]}")
    return best


def marked(*texts: dict[str, Any]) -> bool:
    """Tell whether a case, or the suite around it, calls what it pins a defect."""
    for text in texts:
        if any(text.get(key) for key in DEFECT_KEYS):
            return True
        note = json.dumps([text.get(key) for key in ("note", "notes")]).lower()
        if any(word in note for word in DEFECT_WORDS):
            return True
    return False


def name_of(case: Case, index: int) -> str:
    return str(case.get("id") or case.get("name") or index)


def vectors(data: dict[str, Any], kind: str) -> Iterator[Vector]:
    """Give the cases of one file, whatever its shape."""
    if kind == "frontier":
        for suite in data.get("suites", ()):
            about = {key: value for key, value in suite.items() if key != "cases"}
            for index, case in enumerate(suite["cases"]):
                yield Vector(f"frontier/{suite['id']}", name_of(case, index), case, marked(about, case))
        for scenario in data.get("scenarios", ()):
            group = f"frontier/scenario/{scenario['id']}"
            yield Vector(group, scenario["id"], scenario, marked(scenario, *scenario.get("ops", ())))
        return
    groups = data["groups"] if kind == "fetch" else data
    for group, cases in groups.items():
        if not isinstance(cases, list):
            continue
        for index, case in enumerate(cases):
            yield Vector(f"{kind}/{group}", name_of(case, index), case, marked(case))


def load(path: Path, known: set[str]) -> list[Vector]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return list(vectors(data, kind_of(data, known)))


def kept() -> list[Vector]:
    """Give the cases of the project's own copies."""
    return [
        vector
        for name in ("scope", "frontier", "fetch", "output")
        if (KEPT / f"{name}.json").exists()
        for vector in vectors(json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")), name)
    ]


def fingerprint(case: Case) -> str:
    return hashlib.sha1(json.dumps(case, sort_keys=True).encode()).hexdigest()


# ---------------------------------------------------------------- adapters


def adapters() -> Adapters:
    """Load every module of ``tests/adapters``; one that cannot be imported is remembered as broken."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    package = importlib.import_module("adapters")
    found = Adapters()
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        try:
            module = importlib.import_module(f"adapters.{info.name}")
        except Exception:
            found.broken[info.name] = traceback.format_exc()
            continue
        for target, name in ((found.run, "ADAPTERS"), (found.modern, "MODERN")):
            for group, adapter in getattr(module, name, {}).items():
                if group in target:
                    found.broken[info.name] = f"{group} has an adapter in another module already"
                target[group] = adapter
        found.modern_rows.update(getattr(module, "MODERN_ROWS", {}))
        found.deviations.update(getattr(module, "DEVIATIONS", {}))
        found.outside.update(getattr(module, "OUTSIDE", {}))
        for group, rule in getattr(module, "DEVIATES", {}).items():
            found.deviates.setdefault(group, []).append(rule)
    return found


class Judge:
    """Gives every vector its outcome."""

    def __init__(self, table: Adapters) -> None:
        self.table = table
        own = kept()
        self.known = {vector.group for vector in own} | table.groups()
        # An index names another case in another file, so tables keyed by index follow the case itself.
        self._ids: dict[tuple[str, str], str] = {}
        for vector in own:
            self._ids[vector.group, fingerprint(vector.case)] = vector.id

    def _row(self, rows: dict[str, Any], vector: Vector) -> Any:
        own_name = vector.case.get("id") or vector.case.get("name")
        known = vector.id if own_name else self._ids.get((vector.group, fingerprint(vector.case)))
        return rows.get(known or "") or rows.get(vector.group)

    def judge(self, vector: Vector) -> Result:
        outside = self._row(self.table.outside, vector)
        if outside:
            return Result(vector, "outside", None, *outside)
        adapter = self.table.adapter(vector.group)
        if adapter is None:
            return Result(vector, "no adapter")
        try:
            answer = adapter(vector.case)
        except Exception:
            answer = (False, traceback.format_exc(limit=-4))
        if answer is None:
            return Result(vector, "no adapter")
        passed, got = answer
        if passed:
            return Result(vector, "passed", got)
        deviation = self._row(self.table.deviations, vector)
        for rule in self.table.deviates.get(vector.group, ()):
            deviation = deviation or rule(vector.case, got)
        if deviation is None:
            return Result(vector, "failed", got)
        reason, row = deviation
        if vector.defect or reason.startswith(UNMARKED_REASONS):
            return Result(vector, "deviates", got, reason, row)
        return Result(vector, "failed", got, f"not marked as a defect, yet listed as deviating: {reason}", row)

    def modern(self, vector: Vector) -> Result | None:
        """Give the modern profile's answer where it differs from the file."""
        adapter = self.table.modern.get(vector.group)
        if adapter is None:
            return None
        try:
            answer = adapter(vector.case)
        except Exception:
            answer = (False, traceback.format_exc(limit=-4))
        if answer is None or answer[0]:
            return None
        return Result(vector, "modern", answer[1], row=self._row(self.table.modern_rows, vector) or "no row")


# ---------------------------------------------------------------- printing


def shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def parts(case: Case) -> tuple[object, object]:
    """Give input and expectation of a case, whatever the file calls them."""
    asked = case.get("input", case.get("in", case.get("ops")))
    if asked is None:
        asked = {key: value for key, value in case.items() if key not in ("expected", "expect")}
    return asked, case.get("expected", case.get("expect"))


def detail(result: Result) -> str:
    asked, expected = parts(result.vector.case)
    lines = [f"{result.outcome.upper()} {result.vector.id}"]
    if note := result.vector.case.get("note"):
        lines.append(f"  note:     {shown(note)}")
    lines.append(f"  input:    {shown(asked)}")
    lines.append(f"  expected: {shown(expected)}")
    lines.append(f"  got:      {shown(result.got)}")
    if result.reason or result.row:
        lines.append(f"  row:      {result.row}  {result.reason}".rstrip())
    return "\n".join(lines)


def table(results: list[Result]) -> str:
    counts: dict[str, dict[str, int]] = {}
    for result in results:
        counts.setdefault(result.vector.group, dict.fromkeys(OUTCOMES, 0))[result.outcome] += 1
    width = max((len(group) for group in counts), default=5)
    lines = [f"{'group':<{width}}" + "".join(f"{name:>12}" for name in OUTCOMES)]
    for group, row in counts.items():
        lines.append(f"{group:<{width}}" + "".join(f"{row[name] or '.':>12}" for name in OUTCOMES))
    return "\n".join(lines)


def totals(results: list[Result]) -> str:
    count = {name: sum(result.outcome == name for result in results) for name in OUTCOMES}
    return (
        f"total: {count['passed']} passed, {count['failed']} failed, {count['deviates']} deviate, "
        f"{count['no adapter']} without adapter, {count['outside']} outside"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--group", action="append", default=[], help="only this group, as FILE/NAME or NAME")
    parser.add_argument("--deviating", action="store_true", help="print the cases that deviate, too")
    options = parser.parse_args(arguments)

    found = adapters()
    judge = Judge(found)
    wanted = [
        vector
        for path in options.files
        for vector in load(path, judge.known)
        if not options.group or vector.group in options.group or vector.group.partition("/")[2] in options.group
    ]
    results = [judge.judge(vector) for vector in wanted]
    print(table(results))
    for outcome in ("failed", "deviates") if options.deviating else ("failed",):
        for result in results:
            if result.outcome == outcome:
                print("\n" + detail(result))
    differing = [result for vector in wanted if (result := judge.modern(vector))]
    if differing:
        print("\nunder the modern profile these differ:")
        for result in differing:
            print(f"  {result.vector.id}: {shown(result.got)}  ({result.row})")
    for name, trace in found.broken.items():
        print(f"\nadapters.{name} cannot be used:\n{trace}")
    print("\n" + totals(results))
    bad = any(result.outcome in ("failed", "no adapter") for result in results)
    return 1 if bad or found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
