"""Where a stranger's redirect or name must not lead a crawl, and what must not go with it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.faults import PAGE, host, links

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

pytestmark = pytest.mark.crawl

NUMBER = "127.9.9.9"
PRIVATE = {
    "one.inner.test": {},
    "many.inner.test": {"ips": ["10.0.0.1", "127.0.0.77", "169.254.1.1", "192.168.1.1", "172.16.0.1"]},
    "mapped.inner.test": {"ips": ["127.0.0.78"], "aaaa": ["::1", "::ffff:127.0.0.78", "fe80::1", "fd00::1"]},
    "alias.inner.test": {"cname": "one.inner.test"},
    NUMBER: {"ip": NUMBER},
}

SPIDER = """
from scrapy import Request, Spider

class Led(Spider):
    name = "led"
    async def start(self):
        yield Request(self.settings["LED"], self.parse, errback=self.failed)
    def parse(self, response):
        yield {"got": response.url}
    def failed(self, failure):
        yield {"refused": repr(failure.value)}
"""


def test_private_addresses_are_refused_however_a_crawl_is_led_there(serve: Serve, run_crawl: RunCrawl) -> None:
    """By a redirect of a page or of a spider's Request, to http or https; whatever the records of the name.
    The site that leads there is on loopback too: a sheet says which of them is the network of the operator."""
    names = [name for name in PRIVATE if "ips" not in PRIVATE[name]]
    routes: dict[str, Any] = {"/": links(*(f"/to/{name}" for name in PRIVATE), *(f"/s/{name}" for name in names))}
    for name in PRIVATE:
        routes[f"/to/{name}"] = {"redirect": f"http://{name}:${{PORT}}/secret"}
    for name in names:
        routes[f"/s/{name}"] = {"redirect": f"https://{name}:${{TLS_PORT}}/secret", "status": 307}
    routes["/led"] = {"redirect": f"http://{NUMBER}:${{PORT}}/led"}
    outer = host(routes=routes)
    inner = {
        name: {
            **host(routes={"/secret": PAGE, "/led": PAGE}),
            **declared,
            "listen": "ips" not in declared,
        }
        for name, declared in PRIVATE.items()
    }
    web = serve({"outer.test": outer, **inner})
    settings = {
        "HERITRIX_SEEDS": [web.url("outer.test")],
        "HERITRIX_FOLLOW": "all",
        "HERITRIX_SHEETS": {"public": {"HERITRIX_REFUSE_PRIVATE_ADDRESSES": True}},
        "HERITRIX_SHEET_ASSOCIATIONS": [
            {"surt_prefixes": [f"{scheme}(test,inner," for scheme in ("http://", "https://")], "sheets": ["public"]},
            {"surt_prefixes": [f"{scheme}({NUMBER}" for scheme in ("http://", "https://")], "sheets": ["public"]},
        ],
        "HERITRIX_MAX_RETRIES": 2,
        "LED": web.url("outer.test", "/led"),
    }
    crawl = run_crawl(settings, SPIDER, "-o", "items.jsonl", name="led", web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert {(row.host or "").partition(":")[0] for row in web.requests} == {"outer.test"}
    for name in PRIVATE:
        assert crawl.statuses[f"http://{name}:{web.port}/secret"] == [-5001], name
    for name in names:
        assert crawl.statuses[f"https://{name}:{web.tls_port}/secret"] == [-5001], name
    items = (crawl.jobdir.parent / "items.jsonl").read_text()
    assert "HERITRIX_REFUSE_PRIVATE_ADDRESSES" in items
    assert "got" not in items


HERE = [["WWW-Authenticate", 'Basic realm="here"']]
VAULT = [["WWW-Authenticate", 'Digest realm="vault", nonce="n1", qop="auth"']]
SECRETS = ("secret", base64.b64encode(b"me:secret").decode(), "Digest", "session", "everywhere")


def away(kind: str, path: str) -> dict[str, Any]:
    """A redirect to another origin: another name, another port, another scheme."""
    return {"status": 307, "redirect": f"{kind}{path}"}


def login(domain: str) -> list[Any]:
    return ["HtmlFormCredential", {"domain": domain, "login_uri": "/enter", "form_items": {"pw": "secret"}}]


FOREIGN = """
from scrapy import FormRequest, Request, Spider

class Foreign(Spider):
    name = "foreign"
    custom_settings = {"REFERRER_POLICY": "no-referrer"}
    async def start(self):
        for path in ("/basic", "/digest", "/cookie"):
            yield Request(self.settings["BASE"] + path + "?by=spider", self.parse, dont_filter=True)
        yield Request(self.settings["BASE"] + "/own", self.parse, headers={"Authorization": "Basic secret"},
                      cookies={"own": "secret"})
    def parse(self, response):
        yield {"got": response.url}
"""


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_credentials_stay_with_their_server(serve: Serve, run_crawl: RunCrawl, profile: str) -> None:
    """Whoever redirects a request that showed a credential, a cookie or a form: the other origin sees none of it."""
    other, port = "${http:other.test}", "${https:site.test}"
    basic = {"if": {"basic": "me:secret"}}
    digest = {"if": {"header_has": ["authorization", "nc=0"]}}
    form = {"if": {"body_has": "pw=secret"}}
    cookies = [["Set-Cookie", "session=1; Path=/"], ["Set-Cookie", "everywhere=1; Domain=test"]]
    routes: dict[str, Any] = {
        "/": links("/basic", "/basic2", "/digest", "/digest2", "/cookie", "/members"),
        "/cookie": {**away(other, "/cookie"), "headers": cookies},
        "POST /enter": {**PAGE, "status": 403, "cases": [{**form, "then": away(other, "/entered")}]},
        "/members": away(other, "/members"),
        "/own": away(other, "/own"),
    }
    for path, headers, good in (("/basic", HERE, basic), ("/digest", VAULT, digest)):
        for number, target in (("", other), ("2", port)):
            declared = {"status": 401, "headers": headers, "cases": [{**good, "then": away(target, path)}]}
            routes[path + number] = declared
            routes[f"{path}{number}?by=spider"] = declared
    routes["/cookie?by=spider"] = routes["/cookie"]
    asks = {"status": 401, "headers": [*HERE, *VAULT], "body": "who are you"}
    patterns = [[r"/.*", asks]]
    web = serve({"site.test": host(routes=routes), "other.test": {**host(routes={}), "patterns": patterns}})
    domain = f"site.test:{web.port}"
    crawl = run_crawl(
        {
            "BASE": web.url("site.test", ""),
            "HERITRIX_PROFILE": profile,
            "HERITRIX_SEEDS": [web.url("site.test")],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_MAX_RETRIES": 12,
            "HERITRIX_SURTS": ["http://(test,", "https://(test,"],
            "HERITRIX_CREDENTIALS": [
                [
                    "HttpAuthenticationCredential",
                    {"domain": domain, "realm": realm, "login": "me", "password": "secret"},
                ]
                for realm in ("here", "vault")
            ]
            # Heritrix never gets as far as to send a form
            + ([login(domain)] if profile == "modern" else []),
        },
        FOREIGN,
        name="foreign",
        web=web,
    )
    assert crawl.returncode == 0, crawl.stderr

    def raw(name: str, kind: str = "") -> list[str]:
        found = [row for row in web.requests if (row.host or "").startswith(name) and kind in ("", row.kind)]
        return [row.raw.decode("latin-1") for row in found]

    own = "".join(raw("site.test", "http"))
    assert "Authorization: Basic " + SECRETS[1] in own
    assert 'Digest username="me"' in own
    foreign = [*raw("other.test"), *raw("site.test", "https")]
    paths = {text.split(" ", 2)[1].partition("?")[0] for text in foreign}
    assert {"/basic", "/digest", "/cookie", "/own"} <= paths
    if profile == "modern":
        assert "pw=secret" in own
        assert "/entered" in paths
    for text in raw("other.test"):
        # Heritrix takes a name of one label for no public suffix
        for secret in SECRETS if profile == "modern" else SECRETS[:-1]:
            assert secret not in text, text
        assert "uthorization:" not in text
    for text in raw("site.test", "https"):
        # cookies are of the host; the credential is of one port of it
        assert "uthorization:" not in text
        assert "pw=" not in text
