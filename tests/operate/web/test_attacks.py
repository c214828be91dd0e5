"""What of strangers' tricks gets through: paths, texts, bodies, slowness, guesses?"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import xml.etree.ElementTree as ElementTree

import pytest

from heritrix_scrapy.operate.web import forms
from heritrix_scrapy.operate.web.delay import Delays
from tests.operate.web.served import OPERATOR, Client, served

OUT = [
    "../secret.txt", "../../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt",
    "..%5csecret.txt",
    "....//secret.txt", "%252e%252e/secret.txt", "./../secret.txt", "x/../../secret.txt", "//etc/hostname",
    "..;/secret.txt", "%c0%ae%c0%ae/secret.txt", "link.txt", "folder/secret.txt", "%00", "secret.txt%00.txt",
]  # fmt: skip


@pytest.fixture
def job(client, jobs):
    """A job with links out of its folder, and a secret beside it."""
    client.post("/engine", action="create", createpath="a")
    (jobs / "secret.txt").write_text("secret")
    (jobs.parent / "secret.txt").write_text("secret")
    (jobs / "a" / "link.txt").symlink_to(jobs.parent / "secret.txt")
    (jobs / "a" / "folder").symlink_to(jobs.parent)
    return jobs / "a"


@pytest.mark.parametrize("path", OUT)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
def test_no_path_leads_out_of_a_job(client, job, method, path):
    form, body = ({"contents": "x"}, None) if method == "POST" else (None, b"x" if method == "PUT" else None)
    answer = client.ask(method, f"/engine/job/a/jobdir/{path}", form=form, body=body)
    assert answer.status in (400, 403, 404)
    assert "secret" not in answer.text.replace("secret.txt", "")
    assert (job.parent / "secret.txt").read_text() == "secret"
    assert (job.parent.parent / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_anypath_is_below_the_jobs_folder(client, job, method):
    outside = job.parent.parent / "secret.txt"
    for path in (
        outside,
        "/etc/hostname",
        f"{job.parent}/../secret.txt",
        f"{job}/link.txt",
        f"{job}/folder/secret.txt",
    ):
        assert client.ask(method, f"/engine/anypath{path}", body=b"x" if method == "PUT" else None).status in (403, 404)
    assert outside.read_text() == "secret"
    assert client.get(f"/engine/anypath{job}/crawler-beans.cxml").status == 200
    assert client.ask("PUT", f"/engine/anypath{job.parent}/b.jobpath", body=b"/etc").status == 403


CRAWLS = [
    "frontier/CURRENT",
    "state.json",
    "control.sock",
    "history/x",
    "checkpoints/x",
    "job/frontier/x",
    "job/state.json",
]


@pytest.mark.parametrize("path", [*CRAWLS, "to/x"])
def test_what_the_crawl_keeps_is_not_written_to(client, job, path):
    for name in ("frontier", "history", "checkpoints", "job/frontier"):
        (job / name).mkdir(parents=True)
    (job / "to").symlink_to("job/frontier")
    for where in ("/engine/job/a/jobdir", f"/engine/anypath{job}"):
        assert client.ask("PUT", f"{where}/{path}", body=b"x").status == 403
    assert not (job / path).exists()


@pytest.mark.parametrize("name", ["..", "../a", "a/../../x", "/etc", "%2e%2e"])
def test_copies_and_additions_stay_in_the_jobs_folder(client, job, name):
    before = sorted(job.parent.parent.rglob("*"))
    client.post("/engine/job/a", copyTo=name)
    client.post("/engine", action="add", addpath=name)
    client.post("/engine", action="add", addpath=str(job.parent.parent))
    assert sorted(job.parent.parent.rglob("*")) == before


HOSTILE = "<script>alert(1)</script>\x01\x1b[2J\u202e\ud800'\"&]]>\ufffe"


def test_hostile_lines_of_logs_are_text(client, job):
    line = HOSTILE.encode("utf-8", "surrogatepass")
    (job / "job.log").write_bytes(b"2026-01-01T00:00:00.000Z INFO " + line + b"\n\xff\xfe\n")
    page = client.get("/engine/job/a", "text/html").text
    assert "<script>alert" not in page
    assert "\x01" not in page
    assert ElementTree.fromstring(client.get("/engine/job/a").text).find("jobLogTail") is not None
    assert json.loads(client.get("/engine/job/a", "application/json").text)["jobLogTail"]
    paged = client.get("/engine/job/a/jobdir/job.log?format=paged", "text/html").text
    assert "<script>alert" not in paged
    assert "\x1b" not in paged


def test_hostile_names_of_files_are_text(client, job):
    (job / "<img src=x onerror=alert(1)>.txt").write_text("<script>alert(2)</script>")
    page = client.get("/engine/job/a/jobdir/", "text/html").text
    assert "<img" not in page
    edit = client.get("/engine/job/a/jobdir/%3Cimg%20src=x%20onerror=alert(1)%3E.txt?format=textedit", "text/html").text
    assert "<script>" not in edit
    assert "<img" not in edit


@pytest.mark.parametrize("name", ["page.html", "page.svg", "page.xhtml", "page"])
def test_files_of_others_run_nothing(client, job, name):
    (job / name).write_text("<html><script>alert(1)</script></html>")
    answer = client.get(f"/engine/job/a/jobdir/{name}", "text/html")
    assert "text/html" not in answer.headers["Content-Type"]
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_hostile_parameters_are_text(client, job):
    for path in (
        "/engine/job/a/jobdir/x%3Cscript%3E",
        "/engine/job/%3Cscript%3Ealert(1)",
        "/engine/job/a/jobdir/job.log?format=<b>",
    ):
        assert "<script>alert" not in client.get(path, "text/html").text
    client.post("/engine", action="create", createpath=HOSTILE.encode("utf-8", "replace").decode())
    answer = client.ask("POST", "/engine", form={"action": "add", "addpath": "<script>alert(1)</script>"})
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    assert "<script>alert" not in client.get("/engine", "text/html", Cookie=cookie).text


def test_a_location_has_no_further_lines(client):
    answer = client.ask("POST", "/engine?x=%0d%0aSet-Cookie:%20a=b", form={"action": "rescan"})
    assert answer.status == 303
    assert "a=b" not in answer.headers.get("Set-Cookie", "")
    answer = client.ask("POST", "/engine", form={"action": "rescan"}, headers={"Host": "evil.example/path?"})
    assert "evil" not in answer.headers.get("Location", "")


def test_oversized_bodies(client, job, monkeypatch):
    assert client.ask("POST", "/engine", form={"action": "x" * (forms.FORM + 1)}).status == 413
    monkeypatch.setattr(forms.body, "__defaults__", (1000,))
    assert client.ask("PUT", "/engine/job/a/jobdir/x.txt", body=b"x" * 1001).status == 413
    assert not (job / "x.txt").exists()


def test_a_body_that_grows_when_unpacked(client, job):
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/x-www-form-urlencoded"}
    bomb = gzip.compress(b"script=" + b"x" * (forms.FORM * 8))
    assert client.ask("POST", "/engine", body=bomb, headers=headers).status in (400, 413)
    assert client.get("/engine").status == 200


def test_a_head_that_does_not_end_is_cut_off(jobs):
    with served(jobs, keepalive=1.0) as (port, _), socket.create_connection(("127.0.0.1", port)) as slow:
        slow.settimeout(0.2)
        slow.sendall(b"GET /engine HTTP/1.1\r\nHost: a\r\nX-A: ")
        assert Client(port).get("/engine").status == 200
        end, cut = time.monotonic() + 20, False
        while not cut and time.monotonic() < end:
            try:
                slow.sendall(b"x")
                cut = slow.recv(100) == b""
            except TimeoutError:
                """It is still listened to."""
            except OSError:
                cut = True
        assert cut


def test_many_who_say_nothing_hold_up_nobody(jobs):
    with served(jobs) as (port, _):
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        try:
            began = time.monotonic()
            assert Client(port).get("/engine").status == 200
            assert time.monotonic() - began < 20
        finally:
            for each in idle:
                each.close()


def test_a_thousand_wrong_passwords_at_once(jobs):
    """Those of one address are refused or wait; the guesser's waiting is by a clock that nobody waits for."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    with served(jobs, delays=Delays(), sleep=sleep) as (port, context):
        wrong = type(OPERATOR)("admin", "wrong")
        statuses: list[int] = []

        def guess() -> None:
            guesser = Client(port, wrong)
            statuses.extend(guesser.get("/engine").status for _ in range(50))

        threads = [threading.Thread(target=guess) for _ in range(20)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(statuses) == 1000
        assert set(statuses) <= {401, 429}
        assert len(context.delays) == 1
        assert waited
        assert min(waited) > 0
        assert context.delays.wait("192.0.2.9", context.now()) == 0


def test_the_session_of_a_browser_says_nothing_to_others(client):
    for cookie in ("heritrix_session=", "heritrix_session=x", "heritrix_session=" + "x" * 5000):
        assert Client(client.port, None).get("/engine", Cookie=cookie).status == 401


DELETE_JOB = "def d; d = { it.eachDir( d ); it.eachFile { it.delete(); }; it.delete(); }; d( job.jobDir )"


def test_a_job_elsewhere_is_not_removed_by_a_script(client, jobs, tmp_path):
    client.post("/engine", action="create", createpath="a")
    far = tmp_path / "far"
    (jobs / "a").rename(far)
    (jobs / "far.jobpath").write_text(f"{far}\n")
    client.post("/engine", action="rescan")
    client.post("/engine/job/far", action="build")
    assert "lies elsewhere" in client.post("/engine/job/far/script", engine="groovy", script=DELETE_JOB).text
    assert (far / "crawler-beans.cxml").exists()
    client.post("/engine", action="create", createpath="b")
    client.post("/engine/job/b", action="build")
    assert client.post("/engine/job/b/script", engine="groovy", script=DELETE_JOB).status == 200
    assert not (jobs / "b").exists()
