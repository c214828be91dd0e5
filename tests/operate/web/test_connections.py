"""Do those who connect and say nothing, too much, or what is no HTTP leave the server as it was?"""

from __future__ import annotations

import asyncio
import base64
import datetime
import gzip
import logging
import re
import resource
import select
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.web import door, forms, guard, tls
from tests.operate.web.process import serving
from tests.operate.web.served import OPERATOR, Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator

BASIC = "Authorization: Basic " + base64.b64encode(f"{OPERATOR.user}:{OPERATOR.password}".encode()).decode()


def connected(port: int, stack: ExitStack) -> socket.socket:
    made = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    made.settimeout(20)
    return made


def closed(connection: socket.socket) -> bool:
    """Whether the other side ends it, whatever it says before."""
    try:
        while connection.recv(65536):
            """What it says."""
    except TimeoutError:
        return False
    except OSError:
        """Cut off."""
    return True


# -- how many ----------------------------------------------------------------------------------------------------


def test_four_hundred_are_let_in_and_no_more(jobs: Path) -> None:
    with served(jobs) as (port, _), ExitStack() as stack:
        every = [connected(port, stack) for _ in range(door.CONNECTIONS + 20)]
        ended: set[socket.socket] = set()
        end = time.monotonic() + 25
        while len(ended) < 20 and time.monotonic() < end:
            ended.update(select.select([each for each in every if each not in ended], [], [], 0.1)[0])
        assert len(ended) == 20
        assert all(map(closed, ended))
        inside = [each for each in every if each not in ended]
        inside[0].sendall(b"GET /engine HTTP/1.1\r\nHost: x\r\n\r\n")
        assert inside[0].recv(12) == b"HTTP/1.1 401"
        for each in inside[1:]:
            each.close()
        assert answered(port) == 200


def answered(port: int, **more: Any) -> int:
    """The status of a request, made until it is let in."""
    end = time.monotonic() + 20
    while True:
        try:
            return Client(port, **more).get("/engine").status
        except OSError:
            assert time.monotonic() < end, "nobody is let in any more"


@contextmanager
def guarded(most: int, greeting: float, secure: Any) -> Iterator[tuple[int, door.Door]]:
    """A door to a server that says nothing, in a thread of its own."""
    held: dict[str, Any] = {}
    started = threading.Event()
    inside: set[asyncio.BaseTransport] = set()

    class Silent(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport
            inside.add(transport)

        def connection_lost(self, error: Exception | None) -> None:
            inside.discard(self.transport)

    async def main() -> None:
        made = door.Door(Silent, lambda: len(inside), secure, most=most, greeting=greeting)
        await made.open("127.0.0.1", 0)
        held.update(door=made, loop=asyncio.get_running_loop(), end=asyncio.Event())
        started.set()
        await held["end"].wait()
        await made.close()

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert started.wait(20)
    try:
        yield held["door"].addresses[0][1], held["door"]
    finally:
        held["loop"].call_soon_threadsafe(held["end"].set)
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def secure(tmp_path: Path) -> Any:
    path = tmp_path / "certificate.pem"
    tls.own(path, [], datetime.datetime.now(datetime.UTC))
    return tls.context(path)


def test_those_who_never_greet_are_counted_and_cut_off(secure: Any) -> None:
    with guarded(3, 0.5, secure) as (port, made), ExitStack() as stack:
        silent = [connected(port, stack) for _ in range(3)]
        assert closed(connected(port, stack))
        assert made.turned_away == 1
        assert all(map(closed, silent))
        late = connected(port, stack)
        late.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert closed(late), "what is no TLS is let go"


def test_the_end_does_not_wait_for_those_who_never_greet(secure: Any) -> None:
    with ExitStack() as stack:
        with guarded(3, 3600, secure) as (port, _):
            silent = connected(port, stack)
        assert closed(silent)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port))


def test_an_address_that_is_taken(jobs: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(OSError, match="in use"):
        asyncio.run(opened(other.getsockname()[1]))
    with pytest.raises(OSError):  # noqa: PT011 - the words are the system's
        asyncio.run(opened(0, "192.0.2.1"))


async def opened(port: int, host: str = "127.0.0.1") -> None:
    made = door.Door(asyncio.Protocol, lambda: 0, None)
    try:
        await made.open(host, port)
    finally:
        await made.close()


def test_a_process_without_files_goes_on_when_it_has_some(jobs: Path, tmp_path: Path) -> None:
    with serving(jobs, tmp_path / "log.txt", "--web-http") as engine, ExitStack() as stack:
        assert answered(engine.port) == 200
        pid, before = engine.process.pid, resource.prlimit(engine.process.pid, resource.RLIMIT_NOFILE)
        there = [int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir()]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(there) + 5, before[1]))
        for _ in range(40):
            connected(engine.port, stack)
        log = tmp_path / "log.txt"
        end = time.monotonic() + 30
        while "cannot be accepted" not in log.read_text():
            assert time.monotonic() < end, "it had files enough"
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        assert answered(engine.port) == 200
        assert len(log.read_text().splitlines()) < 40, "it has said so too often"


# -- how slow ----------------------------------------------------------------------------------------------------


def test_who_takes_nothing_is_cut_off(jobs: Path) -> None:
    with served(jobs, patience=0.3) as (port, _), ExitStack() as stack:
        big(port, jobs)
        slow = connected(port, stack)
        slow.sendall(f"GET /engine/job/a/jobdir/big.txt HTTP/1.1\r\nHost: x\r\n{BASIC}\r\n\r\n".encode())
        assert slow.recv(12) == b"HTTP/1.1 200"
        end = time.monotonic() + 20
        while open_files("big.txt"):
            assert time.monotonic() < end, "it still waits"
        assert closed(slow)


def test_a_file_that_becomes_shorter_is_no_whole_answer(jobs: Path) -> None:
    with served(jobs) as (port, _), ExitStack() as stack:
        path = big(port, jobs)
        reader = connected(port, stack)
        reader.sendall(f"GET /engine/job/a/jobdir/big.txt HTTP/1.1\r\nHost: x\r\n{BASIC}\r\n\r\n".encode())
        assert reader.recv(12) == b"HTTP/1.1 200"
        with path.open("r+b") as file:
            file.truncate(1)
        assert closed(reader)


def big(port: int, jobs: Path) -> Path:
    Client(port).post("/engine", action="create", createpath="a")
    path = jobs / "a" / "big.txt"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    return path


def open_files(name: str) -> list[str]:
    """Files of that name that this process has open."""
    found = []
    for path in Path("/proc/self/fd").iterdir():
        try:
            target = str(path.readlink())
        except OSError:
            continue
        if target.endswith(name):
            found.append(target)
    return found


# -- how much ----------------------------------------------------------------------------------------------------


def form(port: int, data: bytes, *, path: str = "/engine", **headers: str) -> int:
    sent = {"Content-Type": forms.URLENCODED, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Client(port).ask("POST", path, body=data, headers=sent).status


def test_forms_have_bounds(client: Client) -> None:
    port = client.port
    assert form(port, b"action=rescan") == 303
    assert form(port, b"a&" * (forms.FIELDS + 1)) == 413
    assert form(port, b"action=rescan&contents=" + b"%41" * 20_000) == 303
    assert form(port, b"x" * (forms.FORM + 1)) == 413
    for charset in ("nope", "rot13", "zlib"):
        assert form(port, b"action=rescan", Content_Type=f"{forms.URLENCODED}; charset={charset}") == 415
    for coding in ("gzip", "deflate"):
        assert form(port, b"action=rescan", Content_Encoding=coding) == 400
    assert form(port, gzip.compress(b"action=rescan"), Content_Encoding="gzip") == 303


def test_a_stranger_sends_little(client: Client) -> None:
    stranger = Client(client.port, None)
    assert stranger.post("/login", user="x", password="y" * forms.LOGIN).status == 413
    body = gzip.compress(b"user=x&password=" + b"y" * (1 << 20))
    assert len(body) < forms.LOGIN
    headers = {"Content-Type": forms.URLENCODED, "Content-Encoding": "gzip"}
    assert stranger.ask("POST", "/login", body=body, headers=headers).status == 413


# -- what is no HTTP ---------------------------------------------------------------------------------------------

POST = f"POST /engine HTTP/1.1\r\nHost: x\r\n{BASIC}\r\n"
AMBIGUOUS = {
    "both lengths": POST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET ",
    "two lengths": POST + "Content-Length: 0\r\nContent-Length: 4\r\n\r\nGET ",
    "a coding that is none": POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked is not last": POST + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a tab of another kind": POST + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "a blank before the colon": POST + "Transfer-Encoding : chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "a sign": POST + "Content-Length: +4\r\n\r\nabcd",
    "less than nothing": POST + "Content-Length: -1\r\n\r\n",
    "a number of Python": POST + "Content-Length: 1_0\r\n\r\n0123456789",
    "a chunk of Python": POST + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "a chunk of less than nothing": POST + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "a folded line": POST + "X: a\r\n b\r\n\r\n",
    "no host": f"GET /engine HTTP/1.1\r\n{BASIC}\r\n\r\n",
    "two hosts": f"GET /engine HTTP/1.1\r\nHost: a\r\nHost: b\r\n{BASIC}\r\n\r\n",
    "a NUL": POST + "X: a\0b\r\n\r\n",
    "lines without CR": POST.replace("\r\n", "\n") + "\n",
    "many headers": POST + "".join(f"X{number}: a\r\n" for number in range(1000)) + "\r\n",
    "a long header": POST + f"X: {'a' * 100_000}\r\n\r\n",
    "a long line": f"GET /{'a' * 100_000} HTTP/1.1\r\nHost: x\r\n\r\n",
    "another protocol": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_may_mean_two_requests_is_none(client: Client, name: str, caplog: pytest.LogCaptureFixture) -> None:
    with ExitStack() as stack, caplog.at_level(logging.INFO):
        one = connected(client.port, stack)
        one.sendall(AMBIGUOUS[name].encode("latin-1"))
        said = b""
        try:
            while part := one.recv(65536):
                said += part
        except OSError:
            """It was cut off before all of it was taken."""
        assert len(re.findall(rb"(?m)^HTTP/1\.\d \d", said)) <= 1
        assert said.startswith(b"HTTP/1.0 400 ") or not said
        if b"\r\n\r\n" in said:
            head = said.partition(b"\r\n\r\n")[0].decode()
            assert all(f"{name}: {value}" in head for name, value in guard.SAFE.items()), head
            assert "Server: heritrix_scrapy" in head
    assert client.get("/engine").status == 200
    assert not [record for record in caplog.records if record.exc_info or record.levelno > logging.INFO]


def said(port: int, text: str, stack: ExitStack) -> bytes:
    one = connected(port, stack)
    one.sendall(text.encode("latin-1"))
    return one.recv(65536)


def test_forms_of_requests_that_mean_one_thing(client: Client) -> None:
    get = f"Host: x\r\n{BASIC}\r\n\r\n"
    with ExitStack() as stack:
        assert said(client.port, f"GET /engine HTTP/1.0\r\n{BASIC}\r\n\r\n", stack).startswith(b"HTTP/1.0 200")
        assert said(client.port, f"GET http://x/engine HTTP/1.1\r\n{get}", stack).startswith(b"HTTP/1.1 200")
        assert said(client.port, f"GET http://x/../../etc/passwd HTTP/1.1\r\n{get}", stack).startswith(b"HTTP/1.1 400")
        assert said(client.port, "GET http://x/engine HTTP/1.1\r\nHost: x\r\n\r\n", stack).startswith(b"HTTP/1.1 401")
        assert said(client.port, "GET http://x/login HTTP/1.1\r\nHost: x\r\n\r\n", stack).startswith(b"HTTP/1.1 200")
        assert said(client.port, f"OPTIONS * HTTP/1.1\r\n{get}", stack).startswith(b"HTTP/1.1 400")
        assert said(client.port, f"CONNECT evil.test:443 HTTP/1.1\r\n{get}", stack).startswith(b"HTTP/1.1 400")
        for protocol in ("websocket", "h2c"):
            upgrade = f"Connection: Upgrade\r\nUpgrade: {protocol}\r\n{get}"
            assert said(client.port, f"GET /engine HTTP/1.1\r\n{upgrade}", stack).startswith(b"HTTP/1.1 200")
        expect = f"PUT /engine/job/none/jobdir/x HTTP/1.1\r\nExpect: nonsense\r\nContent-Length: 3\r\n{get}abc"
        assert said(client.port, expect, stack).startswith(b"HTTP/1.1 417")
