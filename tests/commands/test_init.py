"""Is a new project ready to edit, does it crawl, and is nothing of anybody's written over?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.commands import init
from heritrix_scrapy.operate.jobs.new_project import package_of
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.defaults import SETTINGS
from heritrix_scrapy.settings.template import plain, settings_template
from tests.crawls import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

SITE = {
    "www.begun.test": {
        "routes": {"/robots.txt": {"status": 404}, "/": {"body": '<a href="/one">1</a>'}},
        "default": {"body": "page"},
    },
}


def scrapy(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "scrapy", *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)


def test_every_setting_stands_there_with_its_default() -> None:
    text = settings_template({"HERITRIX_SEEDS": "seeds.txt"})
    assert [line for line in text.splitlines() if line and not line.startswith("#")] == ["HERITRIX_SEEDS = 'seeds.txt'"]
    assert max(map(len, text.splitlines())) <= 120
    # what is Python behind the sign; the rest are words
    code = re.sub(r"^# (?=HERITRIX_\w+ = |    |\)$)", "", text, flags=re.MULTILINE)
    names: dict[str, object] = {}
    exec(code, names)
    given = {name: value for name, value in names.items() if name.isupper()}
    assert given == {row.key: plain(row.default) for row in SETTINGS} | {"HERITRIX_SEEDS": "seeds.txt"}
    given |= {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/", "HERITRIX_SEEDS": []}
    # whose being there says something of its own
    del given["HERITRIX_SCOPE"]
    alone = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/"}
    changed, default = (read(Settings(each, priority="project")).view for each in (given, alone))
    for row in SETTINGS:
        assert getattr(changed, row.attribute) == getattr(default, row.attribute), row.key


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("harvest", "harvest"),
        ("News 2026!", "news_2026"),
        ("2026", "crawl_2026"),
        ("class", "crawl_class"),
        ("json", "crawl_json"),
        ("heritrix-scrapy", "crawl_heritrix_scrapy"),
        ("…", "crawl"),
    ],
)
def test_names_of_packages(name: str, package: str) -> None:
    assert package_of(name) == package


@pytest.mark.crawl
@pytest.mark.long
def test_a_new_project_crawls(serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = serve(SITE)
    made = scrapy(tmp_path, "heritrix", "init", "Our Harvest")
    assert made.returncode == 0, made.stderr
    assert "scrapy crawl our_harvest -s JOBDIR=job1" in made.stdout
    folder = tmp_path / "Our Harvest"
    settings = folder / "our_harvest" / "settings.py"

    text = settings.read_text()
    edits = {
        "HERITRIX_OPERATOR_CONTACT_URL = ''": "HERITRIX_OPERATOR_CONTACT_URL = 'http://operator.test/contact'",
        "# HERITRIX_MIN_DELAY_MS = 3000": "HERITRIX_MIN_DELAY_MS = 0",
        "# HERITRIX_DNS_SERVERS = []": f"HERITRIX_DNS_SERVERS = [{web.dns!r}]",
    }
    for old, new in edits.items():
        assert text.count(f"\n{old}\n") == 1
        text = text.replace(f"\n{old}\n", f"\n{new}\n")
    settings.write_text(text)
    with (folder / "seeds.txt").open("a") as file:
        file.write(web.url("www.begun.test") + "\n")
    crawl = scrapy(folder, "crawl", "our_harvest", "-s", "JOBDIR=job1")
    assert crawl.returncode == 0, crawl.stderr
    lines = (folder / "job1" / "logs" / "crawl.log").read_text().splitlines()
    assert web.url("www.begun.test", "/one") in {line.split()[3] for line in lines}

    before = {path: path.read_bytes() for path in folder.rglob("*.py")}
    assert init.run([str(folder)], Namespace(json=False)) == 1
    told = capsys.readouterr()
    assert (told.out, "is not empty: nothing was written" in told.err) == ("", True)
    assert {path: path.read_bytes() for path in folder.rglob("*.py")} == before


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert init.run([str(tmp_path / "file" / "below")], Namespace(json=True)) == 1
    told = capsys.readouterr()
    assert (told.out, "Not a directory" in told.err) == ("", True)
    assert init.run([str(tmp_path / "plain")], Namespace(json=True)) == 0
    assert json.loads(capsys.readouterr().out)["spider"] == "plain"
