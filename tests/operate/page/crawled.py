"""Crawls with a page, for its tests: a site that goes on for long, and a client with a session."""

from __future__ import annotations

import html
import http.client
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.durability.watch import until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from tests.crawls import Project
    from tests.operate.web.served import Client

PASSWORD = "right horse 7"
READER = "guest:only looking 7"
ADDRESS = re.compile(r"the crawl's page: (https?)://([^/\s]+)/ui")

#: A page that says what must not be taken for markup.
HOSTILE = "<script>alert(1)</script>"

SETTINGS: dict[str, Any] = {
    "HERITRIX_WEB": "0",
    "HERITRIX_WEB_TLS": False,
    "HERITRIX_WEB_PASSWORD": PASSWORD,
    "HERITRIX_WEB_READER": READER,
    "LOG_FILE": "crawl.txt",
    "HERITRIX_RUN_WHILE_EMPTY": True,
    "HERITRIX_STOP_GRACE_SECONDS": 0,
}


def site(pages: int = 60) -> dict[str, Any]:
    """Two hosts: one answers and links to hostile addresses, one never answers."""
    hostile = "".join(
        f'<a href="/{each}">x</a>' for each in ("%3Cscript%3Ealert(1)%3C/script%3E", "a'onload=alert(2)", 'q"x=1&amp;y')
    )
    links = "".join(f'<a href="/page/{number}">{number}</a>' for number in range(pages))
    other = '<a href="/missing">missing</a><a href="http://outside.test/">outside</a>'
    return {
        "www.page.test": {
            "routes": {
                "/robots.txt": {"status": 404},
                "/": {"body": f"<title>{HOSTILE}</title>{links}{hostile}{other}"},
                "/missing": {"status": 404},
            },
            "default": {"body": f"<title>{HOSTILE}</title><a href='/missing'>m</a>" + "text " * 400},
        },
        "slow.page.test": {
            "routes": {"/robots.txt": {"status": 404}},
            "default": {"stall": 60},
        },
    }


def address(project: Project, process: subprocess.Popen[str], timeout: float = 60) -> tuple[str, str]:
    """Scheme and ``host:port`` of the page, once it is served."""
    log = project.folder / "crawl.txt"
    found: list[tuple[str, str]] = []

    def there() -> bool:
        text = log.read_text() if log.exists() else ""
        found.extend(ADDRESS.findall(text))
        return bool(found)

    until(process, there, "the page was served", timeout)
    return found[0]


class Browser:
    """Keeps a session's cookie and reads forms, as a browser does, without JavaScript."""

    def __init__(self, place: str, user: str = "admin", password: str = PASSWORD) -> None:
        self.place = place
        self.cookies: dict[str, str] = {}
        answer = self.post("/login", user=user, password=password)
        assert answer[0] == 303, answer

    def send(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, str, Any]:
        connection = http.client.HTTPConnection(self.place, timeout=30)
        sent = {"Origin": f"http://{self.place}", "Accept": "text/html", **(headers or {})}
        if self.cookies:
            sent.setdefault("Cookie", self.cookie)
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            for each in response.headers.get_all("Set-Cookie") or []:
                name, _, value = each.partition(";")[0].partition("=")
                self.cookies[name] = value
            return response.status, response.read().decode(), response.headers
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> str:
        status, text, _ = self.send("GET", path, None, headers)
        assert status == 200, (path, status, text)
        return text

    def post(self, path: str, **fields: str) -> tuple[int, str, Any]:
        return self.send("POST", path, urlencode(fields))

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    @property
    def token(self) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self._seen())
        assert found
        return found[1]

    def _seen(self) -> str:
        """A page, without taking up the messages that wait for the next one."""
        return self.send("GET", "/ui/why", None, {"Cookie": f"heritrix_session={self.cookies['heritrix_session']}"})[1]

    def do(self, path: str, **fields: str) -> tuple[int, str, Any]:
        return self.post(path, csrf=self.token, **fields)


def text_of(page: str) -> str:
    """The text of a page, tags left out."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def told(client: Client, path: str, **form: str) -> str:
    """The text of the page that a form leads to, with its message."""
    answer = client.post(path, **form)
    if answer.status != 303:
        assert answer.status == 200
        return text_of(answer.text)
    where = re.sub(r"^https?://[^/]+", "", answer.headers["Location"])
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    return text_of(client.get(where, "text/html", Cookie=cookie).text)
