"""Which differences from Heritrix's web API are meant? Each has a row in ``docs/deviations/web.md``.

Only what the errata's table of the API names, the script console, and ``anypath`` outside the jobs folder may be here.
A row says of one difference of one exchange whether it explains it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.rest_compare import Difference

#: What has become of jobs so far, where it is otherwise than in Heritrix.
Story = dict[str, Any]
Exchange = dict[str, Any]

MISSING = "<absent>"


def asked_json(step: Exchange) -> bool:
    return "application/json" in step["request"].get("headers", {}).get("Accept", "")


def action(step: Exchange) -> str:
    return str((step["request"].get("form") or {}).get("action"))


def job_of(step: Exchange) -> str:
    found = re.match(r"/engine/job/([^/?]+)", step["request"]["path"])
    return found[1] if found else ""


def json_side(step: Exchange, diff: Difference, story: Story) -> bool:
    return asked_json(step) and diff.path in ("header Content-Type", "body") and step["response"]["status"] == 200


def right_urls(step: Exchange, diff: Difference, story: Story) -> bool:
    if diff.path == "body.url":
        return str(diff.expected).startswith(f"{diff.got}/job/")
    if re.fullmatch(r"body\.jobs\[[^\]]+\]\.primaryConfigUrl", diff.path):
        name = re.sub(r".*\[|\].*", "", diff.path)
        return str(diff.got).startswith(f"https://<engine>/engine/job/{name}/jobdir/")
    return False


def not_in_this_state(step: Exchange, diff: Difference, story: Story) -> bool:
    """A state that does not allow the action: 409 in the place of 500."""
    return diff.path == "status" and (diff.expected, diff.got) == (500, 409)


def no_damage(step: Exchange, diff: Difference, story: Story) -> bool:
    """What a refused action has not done: nothing was moved, so a later teardown does not wait."""
    if job_of(step) in story["spared"]:
        return True
    text = f"{diff.path} {diff.expected} {diff.got}"
    return any(
        re.search(rf"jobs\[{name}\]|/engine/job/{name}\b|ignore__{name}\b|Job '{name}'", text)
        for name in story["spared"]
    )


def finished_stays(step: Exchange, diff: Difference, story: Story) -> bool:
    """FINISHED is the end: nothing moves it, and no checkpoint is made of a crawl with nothing left."""
    if job_of(step) in story["unmade"] and re.search(r"checkpointFiles$|options$", diff.path):
        return True
    return job_of(step) in story["over"] and step["request"]["path"] == f"/engine/job/{job_of(step)}"


def unknown_checkpoint(step: Exchange, diff: Difference, story: Story) -> bool:
    form = step["request"].get("form") or {}
    if diff.path == "status" and (diff.expected, diff.got) == (303, 409) and form.get("checkpoint"):
        return True
    return job_of(step) in story["checkpoint refused"]


def traversal(step: Exchange, diff: Difference, story: Story) -> bool:
    """A link that leads out of the job's folder."""
    return diff.path == "status" and (diff.expected, diff.got) == (200, 403) and "/jobdir/" in step["request"]["path"]


def inside_only(step: Exchange, diff: Difference, story: Story) -> bool:
    """Copy and add write only inside the jobs folder; what was added elsewhere is in no list."""
    form = step["request"].get("form") or {}
    if "<work>/outside" in str(form.get("addpath")) or re.match(r"(?:<work>|\.\.|/)", str(form.get("copyTo"))):
        return True
    if diff.path == "flash" and "<work>/outside" in str(diff.expected):
        return True
    return any(name in f"{diff.path} {diff.expected} {diff.got}" for name in story["outside"])


def before_launch(step: Exchange, diff: Difference, story: Story) -> bool:
    """A report of a job that was not launched is answered at once."""
    return diff.path == "status" and (diff.expected, diff.got) == (303, 200) and "/report/" in step["request"]["path"]


def ranges(step: Exchange, diff: Difference, story: Story) -> bool:
    return (
        "Range" in step["request"].get("headers", {})
        and diff.path == "status"
        and ((diff.expected, diff.got) in ((501, 200), (500, 200), (206, 416)))
    )


def foreign_origin(step: Exchange, diff: Difference, story: Story) -> bool:
    headers = step["request"].get("headers", {})
    return ("Origin" in headers or "Referer" in headers) and diff.path == "status" and diff.got == 403


def names(step: Exchange, diff: Difference, story: Story) -> bool:
    """A name that would not stand in an address as it is: no job of it is made."""
    text = f"{step['request']['path']} {diff.path} {diff.expected} {diff.got}"
    if diff.path == "flash" and "not a job's name" in str(diff.got):
        return True
    return any(name in text or quote(name) in text for name in story["refused names"])


def anypath(step: Exchange, diff: Difference, story: Story) -> bool:
    return step["request"]["path"].startswith("/engine/anypath") and diff.path == "status" and diff.got == 403


def console(step: Exchange, diff: Difference, story: Story) -> bool:
    return (
        job_of(step) != ""
        and step["request"]["path"].partition("?")[0].endswith("/script")
        and (step["request"]["method"] == "POST" and diff.path.startswith("body"))
    )


ROWS: dict[str, Callable[[Exchange, Difference, Story], bool]] = {
    "web-json": json_side,
    "web-urls": right_urls,
    "web-409": not_in_this_state,
    "web-no-damage": no_damage,
    "web-finished": finished_stays,
    "web-checkpoint": unknown_checkpoint,
    "web-links": traversal,
    "web-inside": inside_only,
    "web-report": before_launch,
    "web-ranges": ranges,
    "web-origin": foreign_origin,
    "web-names": names,
    "web-anypath": anypath,
    "web-scripts": console,
}


def new_story() -> Story:
    return {
        "spared": set(),
        "over": set(),
        "unmade": set(),
        "checkpoint refused": set(),
        "outside": set(),
        "refused names": set(),
    }


def told(step: Exchange, status: int, flash: str, story: Story) -> None:
    """Note what an exchange has changed, for those that follow. ``flash``: Heritrix's message about it."""
    form = step["request"].get("form") or {}
    job, did = job_of(step), action(step)
    expected = step["response"]["status"]
    if (
        did in ("pause", "unpause", "terminate")
        and (expected, status) == (500, 409)
        and step["step"].startswith("early")
    ):
        story["spared"].add(job)
    if "finished" in step["note"] and did in ("pause", "unpause", "checkpoint", "terminate"):
        story["over"].add(job)
        if did == "checkpoint":
            story["unmade"].add(job)
    if did == "launch" and form.get("checkpoint") and (expected, status) == (303, 409):
        story["checkpoint refused"].add(job)
    if did in ("teardown", "build"):
        story["checkpoint refused"].discard(job)
    if did in ("launch", "teardown"):
        story["over"].discard(job)
    if did == "add" and flash.startswith("Added") and "<work>/outside" in str(form.get("addpath")):
        story["outside"].add(str(form["addpath"]).rpartition("/")[2])
    created = str(form.get("createpath") or "")
    if did == "create" and flash.startswith("Created") and not re.fullmatch(r"[\w.+-]+", created, re.ASCII):
        story["refused names"].add(created)


def explained(step: Exchange, diff: Difference, story: Story) -> str | None:
    """The row that a difference rests on."""
    return next((name for name, row in ROWS.items() if row(step, diff, story)), None)
