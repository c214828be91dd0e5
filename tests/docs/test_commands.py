"""Can every command line that the manual shows be typed, and do those of the operator's pages work on a job?

They are run on a stopped job, each on a copy of it; those that need a running crawl on one that is paused.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.commands import SUBCOMMANDS, Command
from heritrix_scrapy.operate.control import ControlError, ask
from tests.docs.examples import PAGES, example
from tests.durability.watch import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Serve

#: Pages whose command lines are run as well.
RUN = ("manual.md", "console.md")
#: Subcommands of a running crawl, and those that other tests run.
RUNNING = frozenset({"pause", "unpause", "watch", "kill", "terminate"})
ELSEWHERE = frozenset({"init", "serve"})

SITE = {
    "www.example.org": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "home"},
            "/endless": {"stall": True},
        },
        "default": {"body": "page"},
    },
}


class Line(NamedTuple):
    page: str
    text: str


def lines() -> Iterator[Line]:
    """Every ``scrapy heritrix …`` in blocks and in the text."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```(?:sh)?\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        found = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
        outside = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        found += [" ".join(each.split()) for each in re.findall(r"`(scrapy\s+heritrix\s[^`]+)`", outside)]
        for line in dict.fromkeys(found):
            if line.startswith("scrapy heritrix "):
                yield Line(page.name, line)


LINES = list(lines())


def parsed(text: str) -> tuple[list[str], argparse.Namespace]:
    parser = argparse.ArgumentParser()
    command = Command()
    command.settings = Settings()
    command.add_options(parser)
    return parser.parse_known_args(shlex.split(text)[2:])[::-1]  # type: ignore[return-value]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.page}: {line.text}")
def test_it_can_be_typed(line: Line) -> None:
    args, _ = parsed(line.text)
    assert args[0] in SUBCOMMANDS or args[0] == "SUBCOMMAND", args
    assert not [each for each in args if each.startswith("-") and not re.fullmatch(r"-[\d ]*", each)], "no such option"


def test_every_subcommand_is_in_the_manual() -> None:
    said = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in SUBCOMMANDS if not re.search(rf"heritrix\s+{name}\b|`{name}[ `]", said)] == []


def run(words: str, project: Settings, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and what was printed, of a command line in ``folder``."""
    args, opts = parsed(words)
    command = Command()
    command.settings = project
    command.exitcode = 0
    command.run(args, opts)
    told = capsys.readouterr()
    return command.exitcode, told.out + told.err


def project_of(made: Any) -> Settings:
    """The settings of a project, as ``scrapy`` reads them there."""
    names: dict[str, Any] = {}
    exec((made.folder / "crawl_project" / "settings.py").read_text(), names)
    return Settings({name: value for name, value in names.items() if name.isupper()}, priority="project")


@pytest.mark.crawl
@pytest.mark.long
def test_those_of_the_operators_pages_work(
    serve: Serve, project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    web = serve(SITE)
    home, endless = web.url("www.example.org"), web.url("www.example.org", "/endless")
    made = project(
        {
            "HERITRIX_SEEDS": [endless, home],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_PAUSE_AT_START": True,
            # after a fetch that took long the queue rests long, and something is left in it
            "HERITRIX_DELAY_FACTOR": 20.0,
            "HERITRIX_MAX_DELAY_MS": 3_600_000,
        }
    )
    monkeypatch.chdir(made.folder)
    settings = project_of(made)
    process = made.start()

    def told() -> dict[str, Any]:
        try:
            return ask(made.jobdir, {"do": "status"})
        except ControlError:
            return {}

    until(process, lambda: told().get("state") == "PAUSED", "it was paused")
    wanted = [line for line in LINES if line.page in RUN]
    ask(made.jobdir, {"do": "unpause"})
    until(process, lambda: "GET /endless" in web.asked("www.example.org"), "it stalls")
    ran = set()
    order = {name: number for number, name in enumerate(["pause", "unpause", "kill", "terminate"])}
    for line in sorted(wanted, key=lambda line: order.get(line.text.split()[2], 9)):
        name = line.text.split()[2]
        if name in order and name not in ran:
            ran.add(name)
            words = _filled(line.text, made.jobdir).replace("https://www.example.org/endless", endless)
            assert run(words, settings, made.folder, capsys)[0] == 0, line
    crawl = made.finish(process)
    assert crawl.returncode == 3
    assert crawl.statuses[endless] == [-7000]

    (made.folder / "more-seeds.txt").write_text("https://www.example.org/seed\n")
    (made.folder / "uris.txt").write_text("https://www.example.org/imported\n")
    (made.folder / "slow.json").write_text(example("console.md", language="json"))
    json.loads((made.folder / "slow.json").read_text())
    failed = []
    for number, line in enumerate(wanted):
        name = line.text.split()[2]
        if name in RUNNING | ELSEWHERE:
            continue
        copy = made.folder / f"copy{number}"
        shutil.copytree(made.jobdir, copy, symlinks=True)
        if name == "remove":
            assert run(_filled(line.text.replace(" remove ", " add "), copy), settings, made.folder, capsys)[0] == 0
        status, said = run(_filled(line.text, copy), settings, made.folder, capsys)
        if status:
            failed.append((line.text, said))
    assert failed == [], "\n".join(map(str, failed))


def _filled(text: str, jobdir: Path) -> str:
    """With a folder for what stands for it."""
    with_jobdir = re.sub(r"\b(?:JOBDIR|job1)\b", shlex.quote(str(jobdir)), text)
    return re.sub(r"\bQUEUE\b", "org,example,www,", with_jobdir)
