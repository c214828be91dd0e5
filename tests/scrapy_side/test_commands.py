"""Do Scrapy's commands that look at pages work with the add-on, without a contact address, and leave nothing?"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.scrapy_side.sites import HOST, SITE

if TYPE_CHECKING:
    from tests.conftest import Serve
    from tests.crawls import Crawl, Project

pytestmark = pytest.mark.crawl

SPIDER = f"""
from scrapy import Spider

class Pages(Spider):
    name = "pages"
    allowed_domains = ["{HOST}"]

    def parse(self, response):
        '''A page with its title.

        @url START
        @returns items 1 1
        @scrapes title
        '''
        yield {{"title": response.css("title::text").get()}}
"""


def left(made: Project) -> list[str]:
    """What a command left in the project, beside what the project is."""
    mine = ("crawl_project", "scrapy.cfg", "stats.json")
    names = [path.name for path in made.folder.iterdir()]
    return [name for name in names if name not in mine]


@pytest.fixture
def look(serve: Serve, project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``look(command, *words)``: one command in a project with a JOBDIR and no contact; START is the page."""
    web = serve(SITE)
    start = web.url(HOST)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    settings = {"HERITRIX_OPERATOR_CONTACT_URL": "", "JOBDIR": "job", "LOG_LEVEL": "ERROR"}
    made: Project = project(settings, SPIDER.replace("START", start), web=web)

    def run(*words: str) -> Crawl:
        words = tuple(start if word == "START" else word for word in words)
        crawl = made.run(name="", command=words, jobdir=None)
        assert crawl.returncode == 0, crawl.stderr
        assert crawl.stderr == "" or words[0] == "check", crawl.stderr
        assert not left(made)
        assert not list(temporary.iterdir()), "nothing stays in the temporary directory"
        assert web.asked(HOST)
        return crawl

    return run


def test_fetch(look: Any) -> None:
    assert "<title>home</title>" in look("fetch", "START").stdout


def test_fetch_of_headers(look: Any) -> None:
    assert "< Content-Type: text/html" in look("fetch", "--headers", "START").stdout


def test_shell(look: Any) -> None:
    code = "print(response.status, response.css('title::text').get(), settings['JOBDIR'])"
    assert "200 home None" in look("shell", "START", "-c", code).stdout


def test_shell_fetches_another(look: Any) -> None:
    code = "(fetch(response.urljoin('/two')), response.css('title::text').get())"
    assert "two" in look("shell", "START", "-c", code).stdout


def test_parse(look: Any) -> None:
    assert "{'title': 'home'}" in look("parse", "--spider=pages", "START", "--nocolour").stdout


def test_check(look: Any) -> None:
    assert "Ran 2 contracts" in look("check", "pages").stderr


@pytest.mark.parametrize("command", ["list", "settings --get=BOT_NAME", "version", "heritrix"])
def test_commands_that_ask_for_no_page(project: Any, command: str) -> None:
    """They need no contact address and make no JOBDIR."""
    made: Project = project({"HERITRIX_OPERATOR_CONTACT_URL": "", "JOBDIR": "job", "LOG_LEVEL": "ERROR"}, SPIDER)
    crawl = made.run(name="", command=tuple(command.split()), jobdir=None)
    assert crawl.stderr == "" or command == "heritrix", crawl.stderr
    assert not left(made)
    if command == "list":
        assert "pages" in crawl.stdout.split()


def test_temporary_is_where_it_should_be() -> None:
    """The tests above look where Python puts temporary files."""
    assert Path(tempfile.gettempdir()) == Path(os.environ.get("TMPDIR", "/tmp"))
