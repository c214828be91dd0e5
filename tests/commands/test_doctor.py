"""Does `doctor` say in words what is wrong with a project or a job?"""

from __future__ import annotations

import argparse
import resource
import socket
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.commands import doctor as command
from heritrix_scrapy.operate import doctor, record
from heritrix_scrapy.operate.doctor import examined, of_files
from heritrix_scrapy.store import open_store
from tests.web.dns import Answers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

GOOD: dict[str, Any] = {
    "ADDONS": {"heritrix_scrapy.Addon": 500},
    "HERITRIX_OPERATOR_CONTACT_URL": "https://operator.test/",
    "HERITRIX_SEEDS": ["http://a.test/"],
}


@pytest.fixture(autouse=True)
def name_server(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GOOD, "HERITRIX_DNS_SERVERS", [serve({"a.test": {}}).dns])


def found(jobdir: Path | None, **changes: Any) -> dict[str, list[tuple[str, str]]]:
    """What was looked at → level and words of each finding."""
    told: dict[str, list[tuple[str, str]]] = {}
    for each in examined(Settings({**GOOD, **changes}, priority="project"), jobdir):
        told.setdefault(each.what, []).append((each.level, each.text))
    return told


def test_a_good_project_has_nothing_wrong(tmp_path: Path) -> None:
    told = found(tmp_path / "job")
    assert {level for rows in told.values() for level, _ in rows} == {"ok"}
    assert "begins one" in told["job"][0][1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "what", "level", "words"),
    [
        ({"HERITRIX_OPERATOR_CONTACT_URL": ""}, "settings", "wrong", "HERITRIX_OPERATOR_CONTACT_URL"),
        ({"HERITRIX_MAX_RETRIES": "many"}, "settings", "wrong", "HERITRIX_MAX_RETRIES"),
        ({"ADDONS": {}}, "add-on", "wrong", "not switched on"),
        ({"TWISTED_REACTOR": "twisted.internet.epollreactor.EPollReactor"}, "reactor", "wrong", "asyncio"),
        ({"HERITRIX_DNS_SERVERS": ["127.0.0.1:none"]}, "DNS", "wrong", "HERITRIX_DNS_SERVERS"),
        ({"HERITRIX_DNS_OVER_HTTP_SERVER": "dns.test"}, "DNS", "wrong", "HERITRIX_DNS_OVER_HTTP_SERVER"),
        ({"HERITRIX_DNS_OVER_HTTP_SERVER": "http://127.0.0.1:9/"}, "DNS", "wrong", "does not answer"),
        ({"HERITRIX_SEEDS": []}, "seeds", "warning", "has none"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, changes: dict[str, Any], what: str, level: str, words: str) -> None:
    [(said, text)] = found(tmp_path, **changes)[what]
    assert said == level
    assert words in text


def test_a_name_server_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DNS_SECONDS", 0.1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        [(level, text)] = found(tmp_path, HERITRIX_DNS_SERVERS=[f"127.0.0.1:{silent.getsockname()[1]}"])["DNS"]
    assert level == "wrong"
    assert "does not answer" in text


def test_a_name_server_over_https(tmp_path: Path, serve: Serve) -> None:
    def reply(request: Any) -> dict[str, Any]:
        return {"type": "application/dns-message", "bytes": Answers(web.host).reply(request.body, "tcp")}

    web = serve({"dns.test": {"routes": {"/": reply}}})
    url = f"http://{web.hosts['dns.test']['ips'][0]}:{web.port}/"
    [(level, text)] = found(tmp_path, HERITRIX_DNS_OVER_HTTP_SERVER=url)["DNS"]
    assert (level, text) == ("ok", f"the name server {url} answers")


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = found(tmp_path / "file" / "job")
    assert told["folder"][0][0] == "wrong"


def test_a_limit_of_open_files_that_is_too_low() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    [low] = of_files(limit)
    assert low.level == "wrong"
    assert "CONCURRENT_REQUESTS" in low.text
    [fine] = of_files(1)
    assert fine.level == "ok"


def test_a_job_whose_process_was_killed(tmp_path: Path) -> None:
    open_store(tmp_path / "frontier").close()
    record.write(tmp_path, record.Record(state="RUNNING", end="RUNNING", pid=2**22 + 1, alerts=2))
    (tmp_path / "warcs").mkdir()
    (tmp_path / "warcs" / "damaged.warc.gz.open").write_bytes(b"")
    told = found(tmp_path)
    assert "is gone" in told["job"][0][1]
    assert told["alerts"][0][0] == "warning"
    assert told["frontier"] == [("ok", "it opens; 0 queued, 0 finished")]
    assert "left open" in told["WARC files"][0][1]


def test_a_frontier_that_cannot_be_opened(tmp_path: Path) -> None:
    store = open_store(tmp_path / "frontier")
    try:
        [(level, text)] = found(tmp_path)["frontier"]
    finally:
        store.close()
    assert level == "wrong"
    assert "another crawl or command" in text


def test_the_exit_status_tells_whether_something_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(json=False, project=Settings(GOOD, priority="project"))
    assert command.run([], options) == 0
    assert "cannot be resumed" in capsys.readouterr().out
    options.project.set("HERITRIX_MAX_RETRIES", "many", "cmdline")
    assert command.run([], options) == 1
    assert "wrong" in capsys.readouterr().out
