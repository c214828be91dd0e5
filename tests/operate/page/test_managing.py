"""Is a job made, edited, checked, built and copied from the pages of an engine, by forms alone?"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.jobs.attendant import Attendant
from heritrix_scrapy.operate.jobs.folder import place_of, stock
from heritrix_scrapy.operate.jobs.job import EngineJob
from heritrix_scrapy.operate.web.ui.names import completions, names
from tests.operate.page.crawled import text_of, told
from tests.operate.web.served import LOOKER, Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTACT = "ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL"
GOOD = stock().replace(CONTACT, "http://operator.test/").replace("# One address a line.", "http://a.test/")
HTML = "text/html"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[Client, Path]]:
    with served(tmp_path / "jobs") as (port, _):
        yield Client(port), tmp_path / "jobs"


def shown(client: Client, path: str) -> str:
    answer = client.get(path, HTML)
    assert answer.status == 200, (path, answer.status)
    return answer.text


def test_a_job_is_made_of_each_source(engine: tuple[Client, Path]) -> None:
    client, folder = engine
    page = shown(client, "/ui")
    assert "There are no jobs yet" in page
    assert "stock is made" in told(client, "/ui", name="stock", source="Defaults (XML)")
    assert (folder / "stock" / "crawler-beans.cxml").read_text() == stock()
    assert "mine is made" in told(client, "/ui", name="mine", source="Scrapy project")
    assert "ADDONS" in (folder / "mine" / "mine" / "settings.py").read_text()
    assert "given is made" in told(client, "/ui", name="given", source="Scrapy project", text=GOOD)
    assert (folder / "given" / "crawler-beans.cxml").read_text() == GOOD
    assert "theirs is made" in told(client, "/ui", name="theirs", text="HERITRIX_SEEDS = []\r\nBOT_NAME = 'x'\r\n")
    assert "HERITRIX_SEEDS = []\nBOT_NAME = 'x'\n" in (folder / "theirs" / "theirs" / "settings.py").read_text()
    assert "Job exists: mine" in told(client, "/ui", name="mine", source="Scrapy project")
    for name in ("../out", "a/b", "", ".hidden", "a" * 101):
        assert client.post("/ui", name=name, source="Scrapy project").status == 303
    assert sorted(path.name for path in folder.iterdir()) == ["given", "mine", "stock", "theirs"]
    assert client.get("/ui/job/mine/job", HTML).status == 200
    assert Client(client.port, LOOKER).post("/ui", name="other").status == 403
    assert 'name="source"' not in shown(Client(client.port, LOOKER), "/ui")


def test_a_job_file_is_checked_before_it_is_kept(engine: tuple[Client, Path]) -> None:
    client, folder = engine
    told(client, "/ui", name="job")
    config = folder / "job" / "crawler-beans.cxml"
    page = told(client, "/ui/job/job/edit", action="check", text=stock())
    assert "A start would not take it: one thing is wrong, see below." in page
    assert "operatorContactUrl" in page
    wrong = GOOD.replace(' <bean id="metadata"', ' <bean id="metadata" lazy="x"').replace("</beans>", "")
    line = len(wrong.splitlines())
    for action in ("check", "save"):
        page = told(client, "/ui/job/job/edit", action=action, text=wrong)
        assert re.search(rf"line ({line}|{line + 1}|{line - 1})", page), page
        assert config.read_text() == stock()
    misspelt = GOOD.replace("metadata.jobName=basic", "metadata.jobNam=basic")
    page = told(client, "/ui/job/job/edit", action="save", text=misspelt)
    assert f"line {misspelt[: misspelt.index('jobNam')].count(chr(10)) + 1}" in page
    assert "Save it nevertheless" in page
    assert config.read_text() == stock()
    assert "is saved" in told(client, "/ui/job/job/edit", action="keep", text=misspelt)
    assert config.read_text() == misspelt
    assert "It is not fit to be launched: crawler-beans.cxml, line" in told(client, "/ui/job/job/job", action="build")
    assert "line" in text_of(shown(client, "/ui/job/job/job"))
    assert "is saved" in told(client, "/ui/job/job/edit", action="save", text=GOOD.replace("\n", "\r\n"))
    assert config.read_text() == GOOD
    assert not list((folder / "job").glob(".check*"))
    assert "It is built, and can be launched." in told(client, "/ui/job/job/job", action="build")
    assert "Ready" in text_of(shown(client, "/ui/job/job/job"))
    # what was built is built anew when the file has changed
    assert "is saved" in told(client, "/ui/job/job/edit", action="keep", text=misspelt)
    assert "not fit" in told(client, "/ui/job/job/job", action="build")
    assert "It is put away" in told(client, "/ui/job/job/job", action="teardown")
    # another has saved it meanwhile
    [seen] = re.findall('name="seen" value="(.*?)"', shown(client, "/ui/job/job/edit"))
    config.write_text(GOOD.replace("basic", "theirs"))
    page = told(client, "/ui/job/job/edit", action="save", text=GOOD, seen=seen)
    assert "is not saved: it was changed meanwhile" in page
    assert "theirs" in config.read_text()
    assert "is saved" in told(client, "/ui/job/job/edit", action="keep", text=GOOD, seen=seen)
    assert "there is no action" in told(client, "/ui/job/job/job", action="explode")


def test_only_the_jobs_own_texts_are_edited(engine: tuple[Client, Path]) -> None:
    client, folder = engine
    told(client, "/ui", name="job")
    (folder / "job" / "seeds.txt").write_text("<script>alert(1)</script>\n")
    (folder / "job" / "state.json").write_text("{}")
    (folder / "outside.txt").write_text("secret")
    (folder / "job" / "link.txt").symlink_to(folder / "outside.txt")
    page = shown(client, "/ui/job/job/edit?file=seeds.txt")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    for name in (
        "../outside.txt",
        "link.txt",
        "state.json",
        "/etc/passwd",
        "job.log",
        "%00",
        "crawler-beans.cxml/../x",
    ):
        assert client.get(f"/ui/job/job/edit?file={name}", HTML).status == 409
        assert client.post("/ui/job/job/edit", file=name, action="keep", text="x").status == 303
    assert (folder / "outside.txt").read_text() == "secret"
    assert (folder / "job" / "state.json").read_text() == "{}"
    (folder / "job" / "crawler-beans.cxml").unlink()
    (folder / "job" / "crawler-beans.cxml").symlink_to(folder / "outside.txt")
    assert client.get("/ui/job/job/edit", HTML).status == 409
    reader = Client(client.port, LOOKER)
    assert reader.post("/ui/job/job/edit", file="seeds.txt", action="keep", text="x").status == 403
    assert "disabled" in shown(reader, "/ui/job/job/edit?file=seeds.txt")


def test_a_projects_settings_name_no_file_elsewhere(engine: tuple[Client, Path]) -> None:
    client, folder = engine
    told(client, "/ui", name="mine", source="Scrapy project")
    for said in ("/etc/passwd", "..outside", "", "a/b", "mine.settings.x y"):
        (folder / "mine" / "scrapy.cfg").write_text(f"[settings]\ndefault = {said}\n")
        page = shown(client, "/ui/job/mine/edit")
        assert ">scrapy.cfg</h1>" in page


def test_a_project_is_looked_at_in_a_process_of_its_own(engine: tuple[Client, Path]) -> None:
    client, folder = engine
    told(client, "/ui", name="mine", source="Scrapy project")
    settings = folder / "mine" / "mine" / "settings.py"
    text = settings.read_text().replace("CONTACT_URL = ''", "CONTACT_URL = 'http://operator.test/'")
    head = "import os\nopen('ran', 'w').write(str(os.getpid()))\nprint('not JSON')\nraise SystemExit('no')\n"
    page = told(client, "/ui/job/mine/edit", action="save", text=head + text)
    assert "line 4" in page
    assert "SystemExit: no" in page
    assert settings.read_text() != head + text
    assert (folder / "mine" / "ran").is_file()
    sheet = "HERITRIX_SHEETS = {\n    'slow': {\n        'MIN_DELAY_MS': 'soon',\n    },\n}\n"
    page = told(client, "/ui/job/mine/edit", action="check", text=sheet + text)
    assert "line 3" in page
    assert "HERITRIX_SHEETS['slow']['MIN_DELAY_MS'] = 'soon': expected a whole number (ms)" in page


def test_a_project_that_never_answers_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    settings = tmp_path / "settings.py"
    settings.write_text("open('begun', 'w').close()\nimport signal\nsignal.pause()\n")
    place = place_of(tmp_path)
    assert place is not None
    attendant = Attendant({}, longest=0.5)
    with pytest.raises(ControlError, match="did not answer"):
        attendant.perform(place, tmp_path, {"do": "queues"})
    # another question is put to another process, of the settings as they are then
    settings.write_text("ADDONS = {}\n")
    with pytest.raises(Refused, match="no JOBDIR of an archival crawl"):
        Attendant({}).perform(place, tmp_path, {"do": "queues"})
    attendant.close()


def test_the_engines_end_waits_for_no_project_that_never_answers(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    settings = "import signal\nopen('begun', 'w').close()\nsignal.pause()\n"
    (tmp_path / "settings.py").write_text(settings)
    place = place_of(tmp_path)
    assert place is not None
    job = EngineJob(place)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(job.perform, {"do": "queues"})
        end, look = time.monotonic() + 60, Event()
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < end
            look.wait(0.02)
        job.close(0.05)
        with pytest.raises(ControlError, match="does not answer"):
            asked.result(30)


def test_a_copy_is_a_job_of_its_own(engine: tuple[Client, Path]) -> None:
    client, folder = engine
    told(client, "/ui", name="job", text=GOOD)
    assert "It is a copy of job." in told(client, "/ui/job/job/job", action="copy", name="other")
    assert (folder / "other" / "crawler-beans.cxml").read_text() == GOOD
    assert "Profile" in told(client, "/ui/job/job/job", action="copy", name="mould", as_profile="on")
    assert "Like the profile mould" in shown(client, "/ui")
    assert "third is made" in told(client, "/ui", name="third", source="mould")
    assert (folder / "third" / "crawler-beans.cxml").read_text() == GOOD
    for name in ("../x", "a/b", "job", ""):
        page = told(client, "/ui/job/job/job", action="copy", name=name)
        assert "not" in page.lower()
    assert sorted(path.name for path in folder.iterdir()) == ["job", "mould", "other", "third"]


def test_every_setting_is_told_and_completed(engine: tuple[Client, Path]) -> None:
    client, _ = engine
    page = text_of(shown(client, "/ui/names"))
    assert all(name in page for name in names())
    found = text_of(shown(client, "/ui/names?find=minDelayMs"))
    assert "HERITRIX_MIN_DELAY_MS" in found
    assert "HERITRIX_JOB_NAME" not in found
    assert client.get("/ui/names.json").text == completions()
    assert names()["HERITRIX_PROFILE"].choices == ("'modern'", "'heritrix'")
    assert all(each.words and each.kind for each in names().values())
