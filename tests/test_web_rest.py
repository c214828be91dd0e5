"""Does the engine answer as Heritrix's web API, and is the table of its differences narrow?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rest_rows
from tests.rest_compare import Comparison, Page, fits

HERE = Path(__file__).resolve().parent
TRANSCRIPT = HERE / "golden" / "rest" / "transcript.jsonl"
ROWS = (HERE.parent / "docs" / "deviations" / "operate_web.md").read_text(encoding="utf-8")
STEPS = [json.loads(line) for line in TRANSCRIPT.read_text(encoding="utf-8").splitlines()]


def replay(*groups: str) -> str:
    command = [sys.executable, str(HERE / "rest.py"), str(TRANSCRIPT)]
    command += [part for group in groups for part in ("--group", group)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert re.search(r"^rest: \d+ equal, \d+ deviate, 0 differ$", done.stdout, re.MULTILINE), done.stdout + done.stderr
    return done.stdout


@pytest.mark.netns
def test_logins_engine_and_unbuilt_jobs():
    assert "rest: " in replay("auth", "engine", "unbuilt")


@pytest.mark.netns
@pytest.mark.long
def test_every_exchange():
    out = replay()
    used = set(re.findall(r"^row ([\w-]+):", out, re.MULTILINE))
    assert used == set(rest_rows.ROWS), "a row that nothing rests on"


def test_every_row_is_explained():
    for name in rest_rows.ROWS:
        assert f"| `{name}` |" in ROWS


def difference(step: dict, got: dict) -> set[str]:
    comparison = Comparison(live=bool(step.get("live")))
    comparison.response(step["response"], got)
    return {str(each) for each in comparison.differences if not rest_rows.explained(step, each, rest_rows.new_story())}


@pytest.mark.parametrize(
    "step", [step for step in STEPS if step["response"]["status"] == 200][:120], ids=lambda step: step["step"]
)
def test_another_status_is_told(step):
    assert difference(step, {**step["response"], "status": 500})


def test_a_field_less_is_told():
    step = next(step for step in STEPS if step["note"] == "built and launchable, XML")
    body = step["response"]["body"]
    less = {key: value for key, value in body["body"].items() if key != "alertCount"}
    told = difference(step, {**step["response"], "body": {**body, "body": less}})
    assert "body.alertCount: expected '0', got '<absent>'" in told


def test_placeholders():
    assert fits("Checkpoint cp00001-<ts14> saved", "Checkpoint cp00001-20260101000000 saved")
    assert not fits("Checkpoint cp00001-<ts14> saved", "Checkpoint cp00001-2026 saved")
    assert fits("<bytes>", "12")
    assert not fits("<bytes>", "-")
    assert fits("a<b", "a<b")


def test_the_parts_of_a_page():
    page = Page(
        '<title>t</title><h1>Head</h1><div class="x" data-kind="ACK"><span>done &amp; well</span></div>'
        '<form method="post"><input name="a" type="text"><button name="b" type="submit" value="c" disabled>d</button>'
        '<select name="s"><option>1</option></select></form><a href="/x">x</a><a href="/x">again</a>'
    )
    assert (page.title, page.headings, page.links) == ("t", ["Head"], ["/x"])
    assert page.flash == [{"kind": "ACK", "text": "done & well"}]
    assert page.forms == [
        {
            "action": None,
            "method": "post",
            "fields": [
                {"tag": "input", "name": "a", "type": "text"},
                {"tag": "button", "name": "b", "type": "submit", "value": "c", "disabled": True},
                {"tag": "select", "name": "s", "options": [None]},
            ],
        }
    ]
