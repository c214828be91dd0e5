"""A server of a folder of jobs on a free port of the loopback, in a thread of its own, and a client for it."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import ssl
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from heritrix_scrapy.operate.jobs.engine import Engine
from heritrix_scrapy.operate.web.auth import READER, Account, Gate, parameters
from heritrix_scrapy.operate.web.context import Context
from heritrix_scrapy.operate.web.delay import Delays
from heritrix_scrapy.operate.web.server import Server, application
from tests.operate.web.described import fitting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OPERATOR = Account("admin", "right horse 7")
LOOKER = Account("guest", "only looking 7", READER)


class Answer:
    """Status, headers and body of a response."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


class Client:
    """Asks a server; what it answers as JSON has to be as it is described. ``account``: whose digest login goes with
    each request; None for none; ``tls``: by HTTPS."""

    def __init__(self, port: int, account: Account | None = OPERATOR, *, tls: bool = False) -> None:
        self.port = port
        self.account = account
        self.tls = ssl._create_unverified_context() if tls else None
        self._nonce = ""
        self._count = 0

    def ask(
        self,
        method: str,
        path: str,
        *,
        form: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        sent = dict(headers or {})
        if form is not None:
            body = urlencode(form).encode()
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        if self.account is None or "Authorization" in sent:
            return self.once(method, path, body, sent)
        if not self._nonce:
            self._challenged(self.once("GET", "/engine", None, {}))
        answer = self.once(method, path, body, {**sent, "Authorization": self._digest(method, path)})
        if answer.status == 401 and "stale=true" in (answer.headers["WWW-Authenticate"] or ""):
            self._challenged(answer)
            answer = self.once(method, path, body, {**sent, "Authorization": self._digest(method, path)})
        return answer

    def _challenged(self, answer: Answer) -> None:
        self._nonce, self._count = parameters(answer.headers["WWW-Authenticate"].partition(" ")[2])["nonce"], 0

    def _digest(self, method: str, path: str) -> str:
        assert self.account is not None
        self._count += 1
        return digest(self.account, self._nonce, method, path, self._count)

    def once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection = (
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            if self.tls is None
            else http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=self.tls)
        )
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        if answer.headers.get_content_type() == "application/json" and method != "HEAD":
            told = fitting(method, path, answer.status, answer.text)
            assert not told, told
        return answer

    def get(self, path: str, accept: str = "application/xml", **headers: str) -> Answer:
        return self.ask("GET", path, headers={"Accept": accept, **headers})

    def post(self, path: str, **form: str) -> Answer:
        return self.ask("POST", path, form=form)


def digest(account: Account, nonce: str, method: str, path: str, count: int = 1) -> str:
    """An Authorization header. ``count``: how often the nonce was used, this time included."""

    def md5(text: str) -> str:
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    first, second = md5(f"{account.user}:Authentication Required:{account.password}"), md5(f"{method}:{path}")
    response = md5(f"{first}:{nonce}:{count:08x}:abc:auth:{second}")
    return (
        f'Digest username="{account.user}", realm="Authentication Required", nonce="{nonce}", uri="{path}",'
        f' response="{response}", algorithm=MD5, qop=auth, nc={count:08x}, cnonce="abc"'
    )


@contextmanager
def served(
    folder: Path | None, *, keepalive: float = 30.0, settings: Mapping[str, str] | None = None, **more: Any
) -> Iterator[tuple[int, Context]]:
    """The port of a server of a folder, None for that of one crawl, and what its parts share. ``settings``: of every
    crawl that it launches."""
    started = threading.Event()
    held: dict[str, Any] = {}

    async def main() -> None:
        context = Context(
            engine=None if folder is None else Engine(folder, settings),
            gate=Gate([OPERATOR, LOOKER], lambda: asyncio.get_running_loop().time(), schemes=("digest", "basic")),
            **{"delays": Delays(0.2), **more},
        )
        server = Server(application(context), keepalive=keepalive)
        await server.start(["127.0.0.1"], 0, None)
        held.update(port=server.addresses[0][1], context=context, loop=asyncio.get_running_loop())
        started.set()
        await context.leave.wait()
        await server.close()

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert started.wait(20)
    try:
        yield held["port"], held["context"]
    finally:
        held["loop"].call_soon_threadsafe(held["context"].leave.set)
        thread.join(20)
        assert not thread.is_alive()
