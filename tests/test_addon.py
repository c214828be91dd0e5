"""Does the add-on know which command runs, and keep out of the way of those that only look?"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.addon import running_command

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (["python", "-m", "scrapy", "crawl", "name"], "crawl"),
        (["python", "-X", "dev", "-mscrapy", "shell", "http://a/"], "shell"),
        (["/usr/bin/python3", "/venv/bin/scrapy", "--profile=x", "fetch", "http://a/"], "fetch"),
        (["python", "-m", "scrapy.cmdline", "crawl", "name"], "crawl"),
        (["python", "crawl.py", "scrapy.log"], None),
        (["python", "-m", "scrapy"], None),
    ],
)
def test_running_command(line: list[str], command: str | None) -> None:
    assert running_command(line) == command


@pytest.mark.crawl
def test_a_look_at_a_page_needs_no_contact_and_leaves_nothing(serve: Serve, project: Any) -> None:
    web = serve({"www.look.test": {"routes": {"/robots.txt": {"status": 404}, "/": {"body": "<p>the page"}}}})
    made = project({"HERITRIX_OPERATOR_CONTACT_URL": "", "JOBDIR": "job", "LOG_LEVEL": "ERROR"}, web=web)
    ended = subprocess.run(
        [sys.executable, "-m", "scrapy", "fetch", web.url("www.look.test")],
        cwd=made.folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "<p>the page"
    assert not made.jobdir.exists()
    assert not list(made.folder.rglob("*.warc*"))


@pytest.mark.crawl
def test_without_a_jobdir_it_says_so_and_archives_all_the_same(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve({"www.look.test": {"routes": {"/robots.txt": {"status": 404}, "/": {"body": "<p>the page"}}}})
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url("www.look.test")]}, web=web, jobdir=None)
    assert crawl.returncode == 0, crawl.stderr
    told = re.search(r"no JOBDIR: this crawl cannot be resumed; its logs lie in (\S+)", crawl.stderr)
    assert told is not None
    root = Path(told[1])
    assert sorted(path.name for path in root.iterdir()) == ["logs", "reports"]
    assert "www.look.test" in (root / "logs" / "crawl.log").read_text()
    assert len(list(crawl.jobdir.parent.glob("WEB-*.warc.gz"))) == 1
    shutil.rmtree(root)
