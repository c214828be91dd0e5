"""How the product answers the crawls among the vectors: a small site is served and crawled as a user would.

Of the sites that need logins the vectors tell the pages that are reached, and what each is reached by.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from warcio.archiveiterator import ArchiveIterator  # noqa: E402

from tests.crawls import Project  # noqa: E402
from tests.web import running  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]


@cache
def archived(site: str, seed: str) -> list[str]:
    """Paths of the responses in the WARC files of a crawl. ``site``: its pages by name, as JSON."""
    return crawled({f"/{name}": {"body": body} for name, body in json.loads(site).items()}, seed)


def crawled(routes: dict[str, Any], seed: str, settings: Callable[[int], dict[str, Any]] | None = None) -> list[str]:
    """The same for declared routes. ``settings``: more of them, given the port."""
    with tempfile.TemporaryDirectory() as folder, running({"selftest.test": {"routes": routes}}) as web:
        project = Project(
            Path(folder) / "project",
            {
                "HERITRIX_PROFILE": "heritrix",
                "HERITRIX_MAX_RETRIES": 6,
                "HERITRIX_DNS_SERVERS": [web.dns],
                "HERITRIX_SEEDS": [f"http://selftest.test:{web.port}{seed}"],
                **({} if settings is None else settings(web.port)),
            },
        )
        crawl = project.run(name="archive")
        paths = set()
        for path in crawl.warcs:
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream):
                    uri = record.rec_headers["WARC-Target-URI"] or ""
                    if record.rec_type == "response" and uri.startswith("http"):
                        paths.add(urlsplit(uri).path[1:])
        return sorted(paths)


@cache
def behind_basic(index: str) -> list[str]:
    """The index links into a folder that Basic guards."""
    asked = {"status": 401, "headers": [["WWW-Authenticate", 'Basic realm="Hyrule"']]}

    def guarded(body: str) -> dict[str, Any]:
        return {**asked, "cases": [{"if": {"basic": "zelda:gannon"}, "then": {"body": body}}]}

    names = ["link1.html", "link2.html", "link3.html"]
    routes: dict[str, Any] = {"/index.html": {"body": index}, **{f"/{name}": {"body": name} for name in names}}
    routes["/basic/index.html"] = guarded("".join(f'<a href="{name}">x</a>' for name in names))
    routes |= {f"/basic/{name}": guarded(name) for name in names}

    def settings(port: int) -> dict[str, Any]:
        properties = {"domain": f"selftest.test:{port}", "realm": "Hyrule", "login": "zelda", "password": "gannon"}
        return {"HERITRIX_CREDENTIALS": [["HttpAuthenticationCredential", properties]]}

    return crawled(routes, "/index.html", settings)


LOGIN = {
    "status": 403,
    "cases": [{"if": {"body_has": "username=link"}, "then": {"redirect": "/success.html"}}],
}


@cache
def behind_a_form() -> list[str]:
    """The seed is where the form of a credential is sent."""

    def settings(port: int) -> dict[str, Any]:
        items = {"username": "link", "password": "triforce"}
        uri = f"http://selftest.test:{port}/login/login.html"
        properties = {"domain": f"selftest.test:{port}", "login_uri": uri, "form_items": items}
        return {
            "HERITRIX_CREDENTIALS": [["HtmlFormCredential", properties]],
            "HERITRIX_SEEDS_REDIRECT_NEW_SEEDS": False,
        }

    routes = {"POST /login/login.html": LOGIN, "/success.html": {"body": "in"}}
    return crawled(routes, "/login/login.html", settings)


@cache
def behind_a_form_that_is_met(index: str) -> list[str]:
    """The index has the form."""
    login = {"login_username": "link", "login_password": "triforce"}
    routes = {"/index.html": {"body": index}, "POST /login/login.html": LOGIN, "/success.html": {"body": "in"}}
    return crawled(routes, "/index.html", lambda port: {"HERITRIX_FORM_LOGIN": [login]})


def behind_a_login(case: Case) -> tuple[bool, object] | None:
    given = case["input"]
    config = given["config"]
    index = given.get("site", {}).get("index.html", "")
    if "HtmlFormCredential" in config:
        got = behind_a_form()
    elif "FormLoginProcessor" in config:
        got = behind_a_form_that_is_met(index)
    elif "HTTP basic" in config:
        got = behind_basic(index)
    else:
        return None
    return got == case["expected"]["pinned"]["archivedPaths"], got


def selftest(case: Case) -> tuple[bool, object] | None:
    given = case["input"]
    if "config" in given:
        return behind_a_login(case)
    if "site" not in given:
        return None
    got = archived(json.dumps(given["site"]), given["seeds"])
    return got == case["expected"]["pinned"]["archivedPaths"], got


ADAPTERS = {"fetch/selftest": selftest}
