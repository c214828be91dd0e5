"""Does the loopback web do what its sites declare?"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

from tests.web import Web, running
from tests.web.bulk import page_body, targets
from tests.web.declare import Request, answer, chunked, encoded, message
from tests.web.demo_site import SITES

ROOT = Path(__file__).parents[1]

SITE = {
    "www.alpha.test": {
        "routes": {
            "/": {"body": '<a href="${http:beta.test}/x">x</a>'},
            "/moved": {"redirect": "${https:beta.test}/x"},
            "/short": {"body": "abc", "length": 10},
            "/cut": {"fill": 1000, "cut": 100},
            "/reset": {"fill": 1000, "reset_after": 100},
            "/silent": {"close_now": True},
            "/stall": {"stall": True},
            "/chunks": {"body": "hello world", "chunks": {"sizes": [1, 2, 4], "extension": ";a=b"}},
            "/login": {
                "status": 401,
                "body": "who?",
                "cases": [{"if": {"basic": "me:pw"}, "then": {"body": "in"}}],
            },
            "/twice": {"status": 503, "cases": [{"if": {"nth_from": 2}, "then": {"body": "ok"}}]},
            "/called": lambda request: {"body": "${PORT} " + request.method},
            "/tag": {"body": "tagged", "etag": '"1"'},
        },
        "patterns": [[r"/day/(\d+)", {"body": "$1 then $+1"}]],
    },
    "beta.test": {"routes": {"/x": {"body": "secure"}}},
    "refuses.test": {"listen": False},
    "*.wild.test": {"default": {"body": "wild"}},
    "alias.test": {"cname": "beta.test"},
    "gone.test": {"dns": "nxdomain"},
    "ill.test": {"dns": "servfail"},
    "big.test": {"dns": "truncated"},
    "mute.test": {"dns": "timeout"},
    "odd-tls.test": {"tls": "plain"},
}


def connect(web: Web, host: str, *, tls: bool = False) -> socket.socket:
    declared = web.host(host)
    assert declared is not None
    sock = socket.create_connection((declared["ips"][0], web.tls_port if tls else web.port), timeout=10)
    if tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(sock, server_hostname=host)
    return sock


def ask(web: Web, host: str, target: str, *lines: str, tls: bool = False, method: str = "GET") -> bytes:
    """All bytes that come for one request, until the server closes."""
    with connect(web, host, tls=tls) as sock:
        head = "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *lines, "", ""])
        sock.sendall(head.encode())
        received = b""
        while part := sock.recv(65536):
            received += part
        return received


def look_up(web: Web, name: str, kind: str = "A", *, tcp: bool = False) -> dns.message.Message:
    host, _, port = web.dns.partition(":")
    query = dns.message.make_query(name, kind)
    if tcp:
        return dns.query.tcp(query, host, port=int(port), timeout=5)
    return dns.query.udp(query, host, port=int(port), timeout=5)


@pytest.fixture(scope="module")
def alpha():
    with running(SITE) as web:
        yield web


def test_hosts_have_addresses_of_their_own_and_links_carry_the_port(alpha):
    assert alpha.host("www.alpha.test")["ips"] != alpha.host("beta.test")["ips"]
    assert f'href="http://beta.test:{alpha.port}/x"'.encode() in ask(alpha, "www.alpha.test", "/")
    assert f"Location: https://beta.test:{alpha.tls_port}/x\r\n".encode() in ask(alpha, "www.alpha.test", "/moved")
    assert ask(alpha, "beta.test", "/x", tls=True).endswith(b"secure")
    assert ask(alpha, "a.b.wild.test", "/").endswith(b"wild")
    assert ask(alpha, "www.alpha.test", "/day/7").endswith(b"7 then 8")
    assert ask(alpha, "www.alpha.test", "/called").endswith(f"{alpha.port} GET".encode())
    assert ask(alpha, "www.alpha.test", "/nothing").startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_every_request_is_kept_with_its_bytes_and_what_was_sent(alpha):
    received = ask(alpha, "www.alpha.test", "/chunks", "X-Mark: kept")
    exchange = next(e for e in reversed(alpha.requests) if e.target == "/chunks")
    assert exchange.raw.endswith(b"X-Mark: kept\r\n\r\n")
    assert bytes(exchange.sent) == received
    assert received.endswith(b"1;a=b\r\nh\r\n2;a=b\r\nel\r\n4;a=b\r\nlo w\r\n4;a=b\r\norld\r\n0\r\n\r\n")


def test_faults_of_the_wire(alpha):
    assert ask(alpha, "www.alpha.test", "/short").endswith(b"Content-Length: 10\r\n\r\nabc")
    head, _, body = ask(alpha, "www.alpha.test", "/cut").partition(b"\r\n\r\n")
    assert (b"Content-Length: 1000" in head, len(body)) == (True, 100)
    assert ask(alpha, "www.alpha.test", "/silent") == b""
    with pytest.raises(ConnectionResetError):
        ask(alpha, "www.alpha.test", "/reset")
    with pytest.raises(ConnectionRefusedError):
        connect(alpha, "refuses.test")
    with pytest.raises(ssl.SSLError):
        connect(alpha, "odd-tls.test", tls=True)
    with connect(alpha, "www.alpha.test") as sock:
        sock.sendall(b"GET /stall HTTP/1.1\r\nHost: www.alpha.test\r\n\r\n")
        sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            sock.recv(1)


def test_answers_depend_on_the_request(alpha):
    assert b" 401 " in ask(alpha, "www.alpha.test", "/login")
    assert ask(alpha, "www.alpha.test", "/login", "Authorization: Basic bWU6cHc=").endswith(b"in")
    assert [ask(alpha, "www.alpha.test", "/twice")[9:12] for _ in range(2)] == [b"503", b"200"]
    assert ask(alpha, "www.alpha.test", "/tag", 'If-None-Match: "1"').startswith(b"HTTP/1.1 304 ")
    assert ask(alpha, "www.alpha.test", "/", method="HEAD").endswith(b"\r\n\r\n")


def test_a_connection_serves_several_requests(alpha):
    with connect(alpha, "beta.test") as sock:
        for _ in range(2):
            sock.sendall(b"GET /x HTTP/1.1\r\nHost: beta.test\r\n\r\n")
            received = b""
            while not received.endswith(b"secure"):
                received += sock.recv(65536)
    first, second = [e for e in alpha.requests if e.target == "/x" and e.kind == "http"][-2:]
    assert first.connection == second.connection


def test_names(alpha):
    (record,) = look_up(alpha, "www.alpha.test").answer
    assert [item.address for item in record] == alpha.host("www.alpha.test")["ips"]
    assert [record.rdtype.name for record in look_up(alpha, "alias.test").answer] == ["CNAME", "A"]
    assert look_up(alpha, "gone.test").rcode() == dns.rcode.NXDOMAIN
    assert look_up(alpha, "unheard.of.test").rcode() == dns.rcode.NXDOMAIN
    assert look_up(alpha, "ill.test").rcode() == dns.rcode.SERVFAIL
    assert look_up(alpha, "www.alpha.test", "AAAA").answer == []
    assert look_up(alpha, "big.test").flags & dns.flags.TC
    assert look_up(alpha, "big.test", tcp=True).answer
    host, _, port = alpha.dns.partition(":")
    with pytest.raises(dns.exception.Timeout):
        dns.query.udp(dns.message.make_query("mute.test", "A"), host, port=int(port), timeout=0.2)
    assert ("big.test", "A", "tcp") in {(e.host, e.type, e.over) for e in alpha.questions}


async def _in_a_coroutine() -> list[str]:
    async with Web(SITE) as web:
        await asyncio.to_thread(ask, web, "www.alpha.test", "/day/1")
        return web.asked("www.alpha.test")


def test_it_serves_inside_a_coroutine_too():
    assert asyncio.run(_in_a_coroutine()) == ["GET /day/1"]


def test_bytes_of_a_declaration():
    request = Request.parse(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert message({"status": 299, "reason": "", "type": None, "eol": "\n", "body": "x"}, request, None) == (
        b"HTTP/1.1 299\nContent-Length: 1\n\n",
        b"x",
    )
    assert answer({"interim": ["HTTP/1.1 100 Continue\r\n\r\n"], "wire": "HTTP/1.0 200 OK\n\nhi"}, request) == [
        ("send", b"HTTP/1.1 100 Continue\r\n\r\n"),
        ("send", b"HTTP/1.0 200 OK\n\nhi"),
        ("close",),
    ]
    assert chunked(b"abcd", {"size": 2, "fault": "size"}) == b"2\r\nab\r\nzz\r\ncd\r\n0\r\n\r\n"
    assert chunked(b"", {"trailers": ["A: b"]}) == b"0\r\nA: b\r\n\r\n"
    assert encoded(b"same", "gzip") == encoded(b"same", "gzip")


def test_the_process_writes_its_ports_and_a_line_per_request(tmp_path):
    ready, log = tmp_path / "ready.json", tmp_path / "requests.jsonl"
    command = [sys.executable, "-m", "tests.web", "--ready", str(ready), "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            ports = json.loads(process.stdout.readline())
            assert json.loads(ready.read_text()) == ports
            assert set(ports["hosts"]) == set(SITES)
            with socket.create_connection(("127.0.1.1", ports["port"]), timeout=5) as sock:
                sock.sendall(b"GET /about HTTP/1.1\r\nHost: www.demo.test\r\nConnection: close\r\n\r\n")
                assert sock.recv(100).startswith(b"HTTP/1.1 200 OK")
            (row,) = [json.loads(line) for line in log.read_text().splitlines()]
            assert (row["kind"], row["host"], row["target"]) == ("http", "www.demo.test", "/about")
        finally:
            process.terminate()


def test_bulk_pages_are_all_reachable_and_of_one_size():
    reached, waiting = {0}, [0]
    while waiting:
        for number in targets(waiting.pop(), 500, 20):
            if number not in reached:
                reached.add(number)
                waiting.append(number)
    assert reached == set(range(500))
    assert {len(page_body(n, 10, 500, 20, 10240, 8080)) for n in range(500)} == {10240}
    assert all(len(targets(n, 500, 20)) == 20 for n in range(500))


def test_bulk_serves_on_one_connection(tmp_path):
    log = tmp_path / "bulk.jsonl"
    command = [sys.executable, "-m", "tests.web.bulk", "--hosts", "5", "--pages", "50", "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            ports = json.loads(process.stdout.readline())
            with socket.create_connection(("127.0.0.1", ports["port"]), timeout=5) as sock:
                received = b""
                for target, size in (("/robots.txt", 24), ("/p/3.html", 10240)):
                    sock.sendall(f"GET {target} HTTP/1.1\r\nHost: h3.bulk.test\r\n\r\n".encode())
                    before = len(received)
                    while (end := received.find(b"\r\n\r\n", before)) < 0 or len(received) < end + 4 + size:
                        received += sock.recv(65536)
                assert received.count(b"HTTP/1.1 200 OK") == 2
            rows = [json.loads(line) for line in log.read_text().splitlines()]
            assert [(row["host"], row["target"]) for row in rows] == [
                ("h3.bulk.test", "/robots.txt"),
                ("h3.bulk.test", "/p/3.html"),
            ]
        finally:
            process.terminate()
