"""Is a crawl shown, on a terminal and elsewhere, beside its log and without harm from what servers say?"""

from __future__ import annotations

import io
import json
import os
import pty
import re
import struct
import termios
import urllib.error
import urllib.request
from argparse import Namespace
from fcntl import ioctl
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scrapy import Spider
from scrapy.crawler import Crawler

from heritrix_scrapy.commands import watch
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.board import Board, size
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.extension import ControlExtension
from heritrix_scrapy.operate.scraped import place
from heritrix_scrapy.operate.terminal import Screen
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

NUMBERS = {
    "event": "numbers",
    "state": "RUNNING",
    "reason": None,
    "elapsed_ms": 61_000,
    "alerts": 2,
    "uris": {
        "succeeded": 7,
        "failed": 2,
        "disregarded": 1,
        "retried": 4,
        "discovered": 30,
        "queued": 30,
        "in_process": 3,
        "future": 0,
    },
    "queues": {"known": 9, "ready": 2, "snoozed": 6, "in_process": 1, "retired": 0},
    "bytes": {"total": 3 * 1024 * 1024, "novel": 2048},
    "rates": {
        "uris_per_second": None,
        "kib_per_second": 12.5,
        "average_uris_per_second": 0.11,
        "average_kib_per_second": 50.0,
    },
    "fetching": {"slots": 25, "in_use": 3, "steps": {"connecting": 1, "receiving": 2}},
    "hosts": [{"host": "a.example\x1b[2J", "uris": 4}, {"host": "b.example", "uris": 3}],
    "disks": [{"path": "/", "free": 5 * 1024**3, "total": 20 * 1024**3}],
    "memory": 90 * 1024 * 1024,
}

SITE = {
    "www.watched.test": {
        "routes": {"/robots.txt": {"status": 404}, "/": {"body": '<a href="/one">1</a><a href="/two">2</a>'}},
        "default": {"body": "page"},
    },
}
UP = re.compile(r"\r(?:\x1b\[\d*[AK])+")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_rows_and_line() -> None:
    board = Board()
    board.hear({"event": "hello", "state": "RUNNING", "jobdir": "job", "reason": None})
    assert board.line() == "RUNNING job"
    board.hear(NUMBERS)
    board.hear({"event": "log", "log": "alerts.log", "lines": ["WARNING x\x1b[31m"]})
    rows = list(board.rows())
    found = dict(rows)
    assert rows[0] == ("RUNNING", "job")
    assert found["URIs"] == "10 of 40: 7 fetched, 2 failed, 1 disregarded; 4 retries"
    assert found["rate"] == "- URIs/s (0.11 on average), 12.5 KiB/s (50.0)"
    assert found["queues"] == "9: 1 in process, 2 ready, 6 snoozed"
    assert found["in flight"] == "3 of 25: 1 connecting, 2 receiving"
    assert found["disk"] == "5.0 GiB free of 20.0 GiB"
    assert (found["data"], found["memory"]) == ("3.0 MiB, 2.0 KiB of it new", "90.0 MiB")
    assert found[""] == "WARNING x [31m"
    assert not any("\x1b" in text for _, text in rows)
    assert board.line().startswith("RUNNING, 1m1s, 10 of 40 URIs, 2 failed, - URIs/s, 12.5 KiB/s, 3.0 MiB, 3/25")


def test_what_happens_is_said_once() -> None:
    board = Board()
    said = [
        board.hear(event)
        for event in (
            {"event": "state_changed", "state": "PAUSED", "end": "FINISHED_ABNORMAL"},
            {"event": "crawl_paused", "reason": "by the operator"},
            NUMBERS,
            {"event": "crawl_resumed"},
            {"event": "checkpointed", "name": "cp00001"},
            {"event": "unknown to this version"},
            {"event": "end", "state": "FINISHED", "end": "ABORTED"},
        )
    ]
    assert said == [
        None,
        "paused: by the operator",
        None,
        "the crawl goes on",
        "checkpoint cp00001",
        None,
        "FINISHED: ABORTED",
    ]


def test_sizes() -> None:
    assert [size(each) for each in (0, 1023, 1024, 150 * 1024, 3 * 1024**4, 5 * 1024**6)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "150 KiB",
        "3.0 TiB",
        "5120.0 PiB",
    ]


def test_what_is_no_terminal_gets_lines() -> None:
    stream = io.StringIO()
    with Screen(stream) as screen:
        screen.hear({"event": "hello", "state": "RUNNING", "jobdir": "job"})
        screen.hear(NUMBERS)
        screen.hear({"event": "end", "state": "FINISHED", "end": "FINISHED"})
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[1] == "FINISHED: FINISHED"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("9410", ("127.0.0.1", 9410)), ("[::1]:1", ("::1", 1)), ("crawler.example:0", ("crawler.example", 0))],
)
def test_where_metrics_are(value: str, expected: tuple[str, int]) -> None:
    assert place(value) == expected


@pytest.mark.parametrize("value", ["x", "1:2:3", ":80", "99999", "a b:1"])
def test_where_metrics_cannot_be(value: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a port, or host:port"):
        place(value)


class Terminal:
    """A pseudo-terminal; ``text`` gathers what is written to it."""

    def __init__(self) -> None:
        self._ours, self.theirs = pty.openpty()
        ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
        self.text = ""
        self._thread = Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            while data := os.read(self._ours, 65536):
                self.text += data.decode("utf-8", "replace")
        except OSError:
            # the other side is closed
            pass

    def close(self) -> str:
        """Everything that was written, without the codes that move the cursor."""
        os.close(self.theirs)
        self._thread.join()
        os.close(self._ours)
        # where the cursor goes up, to draw again, a line ends
        return CODES.sub("", UP.sub("\n", self.text)).replace("\r", "")


def state(jobdir: Path) -> str:
    try:
        return str(ask(jobdir, {"do": "status"})["state"])
    except ControlError:
        return ""


@pytest.mark.crawl
@pytest.mark.long
def test_a_crawl_is_watched_from_outside(
    serve: Serve, project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.watched.test")],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_PAUSE_AT_START": True,
            "HERITRIX_LIVE_VIEW_SECONDS": 0.2,
            "HERITRIX_METRICS": "0",
        }
    )
    with (made.folder / "err").open("w") as err:
        process = made.start(stderr=err)
        until(process, lambda: state(made.jobdir) == "PAUSED", "it was paused")
        address = re.search(r"metrics: (http://127\.0\.0\.1:\d+/metrics)", (made.folder / "err").read_text())
        assert address is not None
        with urllib.request.urlopen(address[1]) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=")
            families = {each.name: each for each in text_string_to_metric_families(answer.read().decode())}
        assert {sample.labels["state"] for sample in families["heritrix_state"].samples} == {"PAUSED"}
        assert families["heritrix_queued_uris"].samples[0].value == 1
        for request, code in (
            (urllib.request.Request(address[1].replace("/metrics", "/")), 404),
            (urllib.request.Request(address[1], method="POST"), 405),
            (urllib.request.Request(address[1], headers={"Host": "rebound.example"}), 403),
        ):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            assert refused.value.code == code
            refused.value.close()

        terminal = Terminal()
        options = {"command": ("heritrix", "watch"), "name": "", "jobdir": None}
        watching = made.start(str(made.jobdir), "--every", "0.2", stdout=terminal.theirs, **options)
        until(process, lambda: "top hosts" in terminal.text, "it was shown")
        lines = Thread(target=watch.run, args=([str(made.jobdir)], Namespace(every=0.2, json=True)))
        lines.start()
        ask(made.jobdir, {"do": "unpause"})
        crawl = made.finish(process)
    assert crawl.returncode == 0
    assert made.finish(watching).returncode == 0
    text = terminal.close()
    assert "\x1b[" in terminal.text
    assert "in flight" in text
    lines.join()
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [events[0]["event"], events[-1]["event"]] == ["hello", "end"]
    plain = crawl.stdout.splitlines()
    assert any(line.startswith("PAUSED") for line in plain)
    assert plain[-1] == "FINISHED: FINISHED"
    assert watch.run([str(made.jobdir)], Namespace(every=None, json=False)) == 1
    assert "no crawl runs on" in capsys.readouterr().err


@pytest.mark.crawl
def test_a_crawl_shows_itself_beside_its_log(serve: Serve, project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    web = serve(SITE)
    terminal = Terminal()
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.watched.test")],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_LIVE_VIEW_SECONDS": 0.1,
        }
    )
    process = made.start(stdout=terminal.theirs, stderr=terminal.theirs)
    crawl = made.finish(process)
    text = terminal.close()
    assert crawl.returncode == 0, text
    assert "top hosts" in text
    assert "www.watched.test" in text
    # log lines begin where lines begin, and none has a part of the frame in it
    logged = [line for line in text.splitlines() if re.search(r"\[(scrapy|heritrix_scrapy)\.[\w.]+\] INFO", line)]
    assert any("Spider closed" in line for line in logged)
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", line) for line in logged), logged
    assert not any(mark in line for line in logged for mark in "╭│╰")


def test_an_address_that_is_none_ends_the_start() -> None:
    crawler = Crawler(
        Spider, {"HERITRIX_METRICS": "somewhere", "HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/"}
    )
    with pytest.raises(ConfigurationError, match="HERITRIX_METRICS = 'somewhere': expected a port, or host:port"):
        ControlExtension.from_crawler(crawler)


def test_what_is_no_file_is_no_terminal() -> None:
    """Scrapy's LOG_STDOUT puts something in the place of standard output that can only be written to."""
    written: list[str] = []

    class Only:
        def write(self, text: str) -> None:
            written.append(text)

        def flush(self) -> None:
            """Nothing waits."""

    with Screen(Only()) as screen:  # type: ignore[arg-type]
        screen.hear(NUMBERS)
    assert len(written) == 1
