"""Is who may only look told no password, wherever one is written down?

One secret stands in every place of a job where a password may stand; every address is asked for, and none answers with
it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from heritrix_scrapy.operate.jobs.folder import stock
from heritrix_scrapy.operate.web import readable
from heritrix_scrapy.settings.defaults import BY_NAME
from heritrix_scrapy.settings.secrets import HIDDEN, SECRET, secret, told
from tests.operate.web.served import LOOKER, OPERATOR, Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSWORD = "n0body-else-knows"
CONTACT = "ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL"
BEANS = f"""
 <bean id="login" class="org.archive.modules.credential.HttpAuthenticationCredential">
  <property name="domain" value="a.test"/><property name="realm" value="r"/>
  <property name="login" value="somebody"/><property name="password" value="{PASSWORD}"/>
 </bean>
 <bean id="form" class="org.archive.modules.credential.HtmlFormCredential">
  <property name="domain" value="a.test"/><property name="loginUri" value="/in"/>
  <property name="formItems"><map><entry key="who" value="me"/><entry key="word" value="{PASSWORD}"/></map></property>
 </bean>
 <bean id="credentialStore" class="org.archive.modules.credential.CredentialStore">
  <property name="credentials"><map>
   <entry key="one" value-ref="login"/><entry key="two" value-ref="form"/>
  </map></property>
 </bean>
</beans>"""
JOB = (
    stock()
    .replace(
        CONTACT, f"http://operator.test/\nfetchHttp.httpProxyHost=proxy.test\nfetchHttp.httpProxyPassword={PASSWORD}"
    )
    .replace("# One address a line.", "http://a.test/")
    .replace("</beans>", BEANS)
)
SECRETS = (
    "crawler-beans.cxml", "settings.py", "other/settings.py", "scrapy.cfg", ".env", "keys.json", "notes.txt", "log.txt",
    "scrapy.log", "scrapy.out", "state.json", "changes.json", "spider.state", "frontier/000003.log",
    "frontier/crawl.log", "history/LOG", "checkpoints/cp00001-1/changes.json", "20260101000000/crawler-beans.cxml",
    "logs/passwords.txt", "logs/crawl.txt", "reports/settings.py", "mirror/settings.py", "mirror/__init__.py",
    "crawl.log.d/settings.py", ".hidden/logs/crawl.log", "sub/index", "warcs/cookies.txt", "job.log.d/x", "crawl.log",
    "hosts-report.txt",
)  # fmt: skip
#: Beans with one in them.
BEARERS = ("login", "form", "credentialStore", "simpleOverrides")
SHOWN = (
    "job.log", "logs/crawl.log", "logs/crawl.log.cp00001-20260101000000", "20260101000000/logs/alerts.log",
    "20260101000000/reports/seeds-report.txt", "reports/hosts-report.txt", "warcs/a.warc.gz", "warcs/b.warc.gz.open",
    "20260101000000/warcs/c.warc", "warcs/a.cdxj", "mirror/www.a.test/index.html", "mirror/www.a.test/feed.xml",
    "seeds.txt",
)  # fmt: skip


def content(name: str) -> str:
    if name in SHOWN or name == "state.json":
        # the latter has to be one
        return "{}" if name == "state.json" else "open to all\n"
    if name.endswith(".json"):
        return json.dumps({"settings": {"HERITRIX_HTTP_PROXY_PASSWORD": PASSWORD}})
    return JOB if name.endswith(".cxml") else f"x = {PASSWORD!r}\n"


@pytest.fixture
def job(jobs: Path) -> Iterator[tuple[int, Path]]:
    """A port, and a job's folder with everything that a job may have."""
    folder = jobs / "a"
    for name in (*SECRETS, *SHOWN):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content(name))
    (folder / "reports" / "seeds-report.txt").symlink_to("../settings.py")
    (folder / "logs" / "alerts.log").symlink_to("../crawler-beans.cxml")
    (folder / "latest").symlink_to("20260101000000")
    with served(jobs) as (port, _):
        yield port, folder
    for each in folder.rglob("*.w*"):
        # they are none, and others look after those
        each.unlink()


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_no_file_with_a_secret_is_shown_by_any_way(job: tuple[int, Path]) -> None:
    port, folder = job
    reader, operator = Client(port, LOOKER), Client(port, OPERATOR)
    ways = [f"/engine/job/a/jobdir/{{}}{query}" for query in ("", "?format=paged", "?format=textedit")]
    ways += ["/engine/jobsdir/a/{}", f"/engine/anypath{quote(str(folder))}/{{}}"]
    ways += ["/ui/job/a/edit?file={}", "/ui/job/a/log?name={}"]
    told_of = set()
    for name in files(folder):
        for way in ways:
            answer = reader.get(way.format(quote(name)), "text/html")
            assert PASSWORD not in answer.text, (name, way)
            if way == ways[0]:
                real = str((folder / name).resolve().relative_to(folder.resolve()))
                assert answer.status == (200 if real in SHOWN else 403), name
                told_of.add(name)
                assert operator.get(way.format(quote(name)), "text/html").status == 200, name
    assert {*SECRETS, *SHOWN} <= told_of
    assert PASSWORD in operator.get("/engine/job/a/jobdir/settings.py").text
    assert PASSWORD in operator.get("/ui/job/a/edit?file=crawler-beans.cxml", "text/html").text
    # what lies beside the jobs
    (folder.parent / "crawl.log").write_text(PASSWORD)
    for place in ("jobsdir/crawl.log", f"anypath{quote(str(folder.parent))}/crawl.log"):
        assert reader.get(f"/engine/{place}").status == 403


def test_a_part_and_a_head_of_such_a_file_are_refused_too(job: tuple[int, Path]) -> None:
    reader = Client(job[0], LOOKER)
    for method in ("GET", "HEAD"):
        assert reader.ask(method, "/engine/job/a/jobdir/settings.py", headers={"Range": "bytes=0-3"}).status == 403
    assert reader.get("/engine/job/a/jobdir/logs/crawl.log", Range="bytes=0-3").text == "open"


def test_no_page_tells_a_secret(job: tuple[int, Path]) -> None:
    """Every address that a page leads to, from page to page."""
    port, _ = job
    operator, reader = Client(port, OPERATOR), Client(port, LOOKER)
    assert operator.post("/engine/job/a", action="build").status == 303
    assert PASSWORD in operator.get("/engine/job/a/beans/login").text
    seen: set[str] = set()
    wait = ["/engine", "/ui", "/ui/job/a", "/engine/job/a/beans"]
    wait += [
        f"/engine/job/a/beans/{each}"
        for each in (
            "login.password",
            "credentialStore.credentials[one]",
            "form.formItems[word]",
            "simpleOverrides.properties",
            "fetchHttp.httpProxyPassword",
        )
    ]
    refused = 0
    while wait:
        path = wait.pop()
        bean = re.search(r"/beans/(\w+)", path)
        # of files each is asked for elsewhere; and events do not end
        left_out = re.search(r"/events$|/jobdir/.|/jobsdir/.", path)
        if path in seen or left_out or (bean and bean[1] not in BEARERS):
            continue
        seen.add(path)
        assert len(seen) < 3000
        for form in ("text/html",) if path.startswith("/ui") else ("text/html", "application/xml"):
            answer = reader.get(path, form)
            assert PASSWORD not in answer.text, (path, form)
            assert answer.status < 500 or "no job" in answer.text, (path, answer.status, answer.text)
            refused += answer.status == 403
            if answer.headers.get_content_type() == "text/html":
                found = re.findall(r'(?:href|action)="(?:http://[^/"]+)?(/[^"#]*)"', answer.text)
                wait += [each.replace("&amp;", "&") for each in found]
            elif form == "application/xml":
                wait += re.findall(r"<url>http://[^/<]+(/[^<]*)</url>", answer.text)
    assert refused
    assert len([each for each in seen if "/beans/" in each]) > 15
    assert "(not shown)" in reader.get("/engine/job/a/beans/login.password").text
    assert "proxy.test" in reader.get("/engine/job/a/beans/fetchHttp.httpProxyHost").text


def test_secrets_are_known_by_their_names() -> None:
    assert all(name in BY_NAME for name in SECRET)
    named = {name for name in BY_NAME if name.endswith(("PASSWORD", "SECRET", "TOKEN"))}
    assert named <= SECRET
    for name in (
        "password",
        "httpProxyPassword",
        "login_password",
        "Authorization",
        "Cookie",
        "X-Api-Key",
        "formItems",
    ):
        assert secret(name), name
    for name in ("SEEDS", "IGNORE_COOKIES_TOO_OFTEN", "PASSED", "MAX_HOPS", "realm", "loose"):
        assert not secret(name), name


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("HTTP_PROXY_PASSWORD", PASSWORD, HIDDEN),
        ("HTTP_PROXY_PASSWORD", "", ""),
        ("IGNORE_COOKIES", True, True),
        ("COOKIES_LOAD_FILE", [f"a.test\tTRUE\t/\tFALSE\t0\tid\t{PASSWORD}"], HIDDEN),
        ("ACCEPT_HEADERS", [f"Cookie: {PASSWORD}", "Accept: x"], [f"Cookie: {HIDDEN}", "Accept: x"]),
        ("HISTORY_CDX_HEADERS", {"Authorization": PASSWORD, "X": "y"}, {"Authorization": HIDDEN, "X": "y"}),
        ("SEEDS", [f"http://me:{PASSWORD}@a.test/", "http://b.test/@x"], [f"http://{HIDDEN}@a.test/", "http://b.test/@x"]),
        (
            "SHEETS",
            {"s": {"HERITRIX_CREDENTIALS": [["X", {"password": PASSWORD}]], "credentialStore.credentials": [PASSWORD]}},
            {"s": {"HERITRIX_CREDENTIALS": HIDDEN, "credentialStore.credentials": HIDDEN}},
        ),
        ("STEPS", {"p": [["a.B", {"api_key": PASSWORD, "n": 1}]]}, {"p": [["a.B", {"api_key": HIDDEN, "n": 1}]]}),
        ("REPLAY", [], []),
        ("MAX_HOPS", 3, 3),
    ],
)  # fmt: skip
def test_what_is_told_of_a_value(name: str, value: object, shown: object) -> None:
    assert told(name, value) == shown


def test_places_of_files() -> None:
    for name in SHOWN:
        assert readable.file(name.split("/")), name
    for name in (*SECRETS, "", "frontier/a.warc", "a/../settings.py"):
        assert not readable.file(name.split("/")), name
