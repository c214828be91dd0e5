"""What is asked of the server, and what comes back?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest

from tests.operate.web.served import LOOKER, OPERATOR, Client, served

PAGES = ["/", "/engine", "/engine/", "/engine/job/a", "/engine/job/a/jobdir/", "/engine/jobsdir/", "/engine/nothing",
         "/engine/anypath/etc/hostname", "/engine/job/a/script", "/engine/job/a/beans", "/engine/beandoc", "/logout",
         "/engine/job/a/report/SeedsReport", "/ui", "/ui/edit/engine/job/a/jobdir/x.txt"]  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nobody_gets_anything(client, jobs, method):
    client.post("/engine", action="create", createpath="a")
    stranger = Client(client.port, None)
    for page in PAGES:
        answer = stranger.ask(method, page, form={"action": "rescan"} if method == "POST" else None)
        assert answer.status == 401, page
        assert answer.headers["WWW-Authenticate"].startswith("Digest ")
        assert str(jobs) not in answer.text


def test_a_looker_may_look_only(client, jobs):
    client.post("/engine", action="create", createpath="a")
    looker = Client(client.port, LOOKER)
    assert looker.get("/engine/job/a").status == 200
    for method, path in (
        ("POST", "/engine"),
        ("PUT", "/engine/job/a/jobdir/x.txt"),
        ("DELETE", "/engine/job/a/jobdir/x"),
    ):
        assert looker.ask(method, path, form={"action": "rescan"}).status == 403
    assert looker.post("/engine/job/a/script", engine="groovy", script="").status == 403
    assert not (jobs / "a" / "x.txt").exists()


def test_a_job_from_its_making_to_its_building(client, jobs):
    made = client.post("/engine", action="create", createpath="a")
    assert made.status == 303
    assert made.headers["Location"].endswith("/engine")
    cookie = made.headers["Set-Cookie"].partition(";")[0]
    assert "Created new crawl job: a" in client.get("/engine", "text/html", Cookie=cookie).text
    assert "Created new crawl job: a" not in client.get("/engine", "text/html", Cookie=cookie).text
    client.post("/engine/job/a", action="build")
    root = ElementTree.fromstring(client.get("/engine/job/a").text)
    assert root.findtext("crawlControllerState") == "NASCENT"
    assert root.findtext("statusDescription") == "Finished: CREATED"
    assert [each.text for each in root.findall("availableActions/value")] == ["teardown"]
    text = (jobs / "a" / "crawler-beans.cxml").read_text()
    text = text.replace(
        "ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL", "http://a.test/"
    )
    assert client.ask("PUT", "/engine/job/a/jobdir/crawler-beans.cxml", body=text.encode()).status == 200
    client.post("/engine/job/a", action="teardown")
    client.post("/engine/job/a", action="build")
    told = json.loads(client.get("/engine/job/a", "application/json").text)
    assert told["statusDescription"] == "Ready"
    assert told["availableActions"] == ["launch", "teardown"]
    assert told["rateReport"]["averageDocsPerSecond"] is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "two words",
        "büro",
        "<i>x",
        "a%20b",
        "x" * 101,
        "-x",
        ".x",
        "a\nb",
        "a\0b",
        "x.jobpath",
    ],
)
def test_names_that_no_job_may_have(client, jobs, name):
    client.post("/engine", action="create", createpath=name)
    client.post("/engine", action="create", createpath="a")
    client.post("/engine/job/a", copyTo=name)
    assert [path.name for path in jobs.iterdir()] == ["a"]


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"},
    {"Referer": "https://evil.example/page"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Origin": "http://127.0.0.1:1"},
])  # fmt: skip
def test_a_form_of_another_site_is_refused(client, headers):
    assert client.ask("POST", "/engine", form={"action": "rescan"}, headers=headers).status == 403


def test_a_form_of_our_own_is_taken(client):
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Host": f"127.0.0.1:{client.port}"}
    assert client.ask("POST", "/engine", form={"action": "rescan"}, headers=headers).status == 303


def test_a_browsers_session(client, jobs):
    browser = Client(client.port, None)
    asked = browser.get("/engine", "text/html", **{"Sec-Fetch-Mode": "navigate"})
    assert asked.status == 303
    assert asked.headers["Location"].endswith("/login")
    assert browser.post("/login", user="admin", password="wrong").status == 401
    entered = browser.post("/login", user=OPERATOR.user, password=OPERATOR.password)
    assert entered.status == 303
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    cookie = cookie.partition(";")[0]
    page = browser.get("/engine", "text/html", Cookie=cookie)
    token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    assert len(token) == 64
    form = {"action": "create", "createpath": "a"}
    assert browser.ask("POST", "/engine", form=form, headers={"Cookie": cookie}).status == 403
    assert browser.ask("POST", "/engine", form={**form, "csrf": "x" * 64}, headers={"Cookie": cookie}).status == 403
    assert not (jobs / "a").exists()
    assert browser.ask("POST", "/engine", form={**form, "csrf": token}, headers={"Cookie": cookie}).status == 303
    assert (jobs / "a").exists()
    assert browser.ask("POST", "/logout", form={"csrf": token}, headers={"Cookie": cookie}).status == 303
    assert browser.get("/engine", Cookie=cookie).status == 401


def test_wrong_passwords_wait_and_a_right_one_is_taken(jobs):
    with served(jobs) as (port, context):
        wrong = Client(port, type(OPERATOR)("admin", "wrong"))
        assert [wrong.get("/engine").status for _ in range(3)] == [401] * 3
        assert Client(port).get("/engine").status == 200
        assert len(context.delays) == 0


def test_every_answer_has_the_headers_of_a_careful_server(client):
    for page in PAGES:
        headers = client.get(page, "text/html").headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"].replace("style-src 'unsafe-inline'; sandbox", "")
        # nothing is left in a browser whose session is over
        assert "no-store" in headers["Cache-Control"]
    assert "Cache-Control" not in client.get("/ui/static/live.js").headers


def test_a_file_is_edited(client, jobs):
    client.post("/engine", action="create", createpath="a")
    page = client.get("/engine/job/a/jobdir/crawler-beans.cxml?format=textedit", "text/html").text
    assert 'action="/ui/edit/engine/job/a/jobdir/crawler-beans.cxml"' in page
    saved = client.post("/ui/edit/engine/job/a/jobdir/crawler-beans.cxml", contents="<a/>\r\n")
    assert saved.status == 303
    assert saved.headers["Location"].endswith("/engine/job/a/jobdir/crawler-beans.cxml?format=textedit")
    assert (jobs / "a" / "crawler-beans.cxml").read_text() == "<a/>\n"
    assert client.post("/ui/edit/engine/job/a", action="build").status == 303
    assert client.post("/ui/edit/engine", action="rescan").status == 303


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_methods_that_are_not_offered(client, method):
    assert client.ask(method, "/engine").status == 405
