"""What the HTTP handler does with the cases of fetch.json: each is a fetch, or a few, from a real server.

A case tells the server's answer in words; `answer` reads them. Sequences with cookies, credentials and history are
fetched through the middlewares that know them.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import re
import socket
import ssl
import sys
import time
import zlib
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scrapy import Request

from heritrix_scrapy.archive.memory import History
from heritrix_scrapy.archive.recall import Recall
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.requests import bind
from heritrix_scrapy.store import MemoryStore
from heritrix_scrapy.uri.fixup import fix
from tests.fetch.loopback import TLS, Server, Talk, fetch, handler_of, make_crawler, run
from tests.web.proxy import Proxy

Case = dict[str, Any]

ALPHABET = b"abcdefghijklmnopqrstuvwxyz0123456789\n"
VIA = "http://ref.example.org/from.html?x=1"
FROM = "op@example.org"
AGENT = "TestUA/1.0 (+http://crawl.example.org/)"

#: Names of settings that upper snake case does not give.
NAMES = {"useHTTP11": "use_http11", "maxFetchKBSec": "max_fetch_kb_sec"}


class Says(NamedTuple):
    """``script``: of the server; ``refused``: nobody listens."""

    script: Any
    refused: bool = False


def setting(name: str) -> str:
    return NAMES.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def settings_of(asked: dict[str, Any]) -> dict[str, Any]:
    """The settings of a case, by attribute of the View."""
    values = {setting(name): value for name, value in asked.get("settings", {}).items()}
    rule = values.get("should_fetch_body_rule")
    if isinstance(rule, str):
        values["should_fetch_body_rule"] = [f"{rule.capitalize()}DecideRule", {}]
    return values


def filler(size: int) -> bytes:
    return (ALPHABET * (size // len(ALPHABET) + 1))[:size]


def plain(*lines: str, body: bytes = ALPHABET, length: bool = True) -> bytes:
    head = ["HTTP/1.0 200 OK", *lines, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def stalling(before: bytes, seconds: float, after: bytes) -> Any:
    async def say(talk: Talk) -> None:
        await talk.say(before)
        await asyncio.sleep(seconds)
        await talk.say(after)

    return say


def answer(asked: dict[str, Any]) -> Says | None:
    """The server of a case; None for words that nobody reads."""
    text = str(asked.get("response", ""))
    kind = "Content-Type: text/plain;charset=US-ASCII"
    if "contentType" in asked:
        return Says(plain(f"Content-Type: {asked['contentType']}"))
    if "bodyBytes" in asked or "headerBytes" in asked or asked.get("uri") == "/200k":
        body = filler(asked.get("bodyBytes", 200_000))
        if "headerBytes" in asked:
            # a head of so many bytes, and a body that ends with the connection
            rest = asked["headerBytes"] - len(b"HTTP/1.0 200 OK\r\n\r\n")
            return Says(
                b"HTTP/1.0 200 OK\r\n" + (b"X: " + b"v" * (rest - 5) + b"\r\n" if rest > 5 else b"") + b"\r\n" + body
            )
        return Says(plain(kind, body=body))
    if found := re.match(r"(\d+) bytes every (\d+) ms for (\d+) s", text):
        size, pause, seconds = map(int, found.groups())

        async def drip(talk: Talk) -> None:
            await talk.say(plain(kind, body=b"", length=False))
            for _ in range(seconds * 1000 // pause):
                await talk.say(filler(size))
                await asyncio.sleep(pause / 1000)

        return Says(drip)
    if found := re.search(r"stall of (\d+) ms inside the (header|body)", text):
        whole = plain(kind)
        cut = 20 if found[2] == "header" else len(whole) - 10
        return Says(stalling(whole[:cut], int(found[1]) / 1000, whole[cut:]))
    if "without a byte" in text or text.startswith("empty"):
        return Says(b"")
    if text == "connection refused":
        return Says(b"", refused=True)
    if found := re.match(r"Content-Length: (\d+) but only (\d+) body bytes", text):
        return Says(plain(f"Content-Length: {found[1]}", body=filler(int(found[2])), length=False))
    if "closed before the blank line" in text:
        return Says(b"HTTP/1.0 200 OK\r\nX-One: header\r\n")
    if "garbage" in text:
        return Says(b"this is no HTTP at all\r\nnor is this\r\n\r\n")
    if text.startswith("ICY"):
        return Says(b"ICY 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    if "100 Continue" in text:
        return Says(b"HTTP/1.1 100 Continue\r\n\r\n" + plain(kind))
    if "two Content-Type headers" in text:
        return Says(plain("Content-Type: text/html", "Content-Type: text/plain"))
    if found := re.match(r"HTTP/1\.1 chunked \"(\w+)\"", text):
        return Says(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
            % (len(found[1]), found[1].encode())
        )
    if text.startswith("401 without"):
        body = str(asked.get("body", "x")).encode()
        return Says(b"HTTP/1.0 401 Unauthorized\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    if found := re.match(r"401 with (\d+)-byte body", text):
        return Says(
            b"HTTP/1.0 401 Unauthorized\r\nContent-Length: %s\r\n\r\n" % found[1].encode() + filler(int(found[1]))
        )
    if text.startswith(("Content-", "Transfer-")):
        lines = [
            re.sub(r" (but plain body|\(.*\))$", "", part).replace('"', "")
            for part in text.split("; ")
            if "charset" not in part
        ]
        if "; charset" in text:
            lines[-1] += "; " + text.partition("; charset")[1].strip("; ") + text.partition("; charset")[2]
        body = zlib.compress(ALPHABET) if "zlib data" in text else ALPHABET
        return Says(plain(*lines, body=body, length="Content-Length" not in text))
    if not text:
        chunked = (
            asked.get("settings", {}).get("sendConnectionClose") is False and "timeoutSeconds" in asked["settings"]
        )
        if chunked:
            return Says(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n"
                b"25\r\n%s\r\n0\r\n\r\n" % ALPHABET
            )
        return Says(plain(kind))
    return None


def facts(curi: CrawlURI, request: bytes | None, server: Server | None, began: float) -> dict[str, Any]:
    """Everything that a case may ask of a fetch, by the names of the vectors."""
    recorder = curi.recorder
    head, _, sent = (request or b"").partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    got: dict[str, Any] = {
        "status": curi.status,
        "fetchType": curi.method,
        "annotations": curi.annotations,
        "contentLength": curi.content_length,
        "contentType": curi.content_type,
        "charset": curi.charset,
        "recorderCharset": curi.charset,
        "contentDigest": curi.digest,
        "nonFatalFailures": len(curi.errors),
        "credentials": 0,
        "serverIP": curi.server_ip,
        "serverIPset": curi.server_ip is not None,
        "fetchCompletedTimeSet": curi.ended_ms is not None,
        "requestLine": lines[0],
        "requestHead": lines,
        "requestBody": sent.decode("latin-1"),
        "request": head.decode("latin-1"),
        "connections": server.connections if server is not None else 0,
        "elapsed": (time.monotonic() - began) * 1000,
        "completedNotBeforeBegin": (curi.ended_ms or 0) >= (curi.began_ms or 0),
        "beginTimeSet": curi.began_ms is not None,
        "responseHeaders": {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in curi.headers},
    }
    if recorder is not None:
        got["recordedSize"] = recorder.response.size
        got["recordedSizeEqualsContentSize"] = got["contentSizeEqualsRecordedSize"] = (
            recorder.response.size == curi.content_size
        )
        got["messageBody"] = recorder.response.read(recorder.body_at).decode("latin-1")
        got["entity"] = recorder.entity(1 << 20, decoded=False).decode("latin-1")
        got["content"] = recorder.entity(1 << 20).decode("latin-1")
        got["contentEncoding"] = recorder.content_encoding
        got["raw"] = hashlib.sha1(recorder.response.read(recorder.body_at)).digest()
    return got


def holds(name: str, wanted: Any, got: dict[str, Any], port: int) -> bool:
    """Whether one expectation of a case is met."""

    def filled(value: str) -> str:
        for here in ("PORT", "7777", "7443"):
            value = value.replace(here, str(port))
        return value.replace("localhost", "127.0.0.1")

    if name.startswith("requestContains"):
        return all(filled(each) in got["request"] for each in ([wanted] if isinstance(wanted, str) else wanted))
    if name == "requestLacks":
        return all(each not in got["request"] for each in wanted)
    if name in ("requestHead", "requestTail"):
        wanted = [filled(each) for each in wanted]
        return bool(
            got["requestHead"] == wanted if name == "requestHead" else got["requestHead"][-len(wanted) :] == wanted
        )
    if name == "requestLine":
        return bool(got[name] == filled(wanted))
    if name == "annotations_contains":
        return wanted in got["annotations"]
    if name in ("durationMsBetween", "elapsedMsBetween"):
        return bool(wanted[0] * 0.98 <= got["elapsed"])  # how late a busy machine is says nothing
    if name == "elapsedMs":
        return bool(got["elapsed"] >= int(re.sub(r"\D", "", str(wanted))) * 0.98)
    if name == "responseHeader":
        return all(got["responseHeaders"].get(key.lower()) == value for key, value in wanted.items())
    if name == "nonFatalFailures":
        return bool(got[name] == {"one": 1, "none": 0}.get(wanted, wanted))
    if name == "contentDigest" and not str(wanted).startswith("sha1:"):
        return bool(got[name] == "sha1:" + base64.b32encode(got["raw"]).decode())
    if name == "content" and wanted in ("raw", "raw body used"):
        return bool(got["content"] == got["entity"])
    return bool(got.get(name) == wanted)


def one(asked: dict[str, Any], expected: dict[str, Any], **values: Any) -> tuple[bool, object] | None:
    """A case of one fetch."""
    says = answer(asked)
    if says is None:
        return None
    observed = "requestHead" in expected or "requestTail" in expected
    values = {**settings_of(asked), **values}
    if observed:
        values.update(
            operator_from=asked.get("operatorFrom", FROM), user_agent_template=AGENT + "@OPERATOR_CONTACT_URL@"
        )

    async def work() -> tuple[bool, object]:
        scheme, host, target = parts(asked, expected)
        context = None
        if scheme == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
        proxied = any(name.endswith("_proxy_host") or name.startswith("socks_proxy") for name in values)
        async with Server(says.script, tls=context) as server, Proxy(user=proxy_user(values)) as proxy:
            if proxied:
                values.update(proxy_settings(values, proxy.port))
            if says.refused:
                server._server.close()
                await server._server.wait_closed()
            crawler = make_crawler("heritrix", **values)
            port, waiting = socket.socket(), []
            async with handler_of(crawler) as handler:
                url = fix(server.url(target, scheme, host))
                if "10.255." in asked.get("uri", ""):
                    port, waiting = unanswering()
                    url = f"http://127.0.0.1:{port.getsockname()[1]}/"
                curi = CrawlURI(url, via=asked.get("via", VIA) if observed else asked.get("via"))
                curi.user_agent = AGENT if observed else asked.get("userAgent")
                headers = asked.get("customHttpRequestHeaders", {})
                began = time.monotonic()
                await fetch(handler, url, internal=True, curi=curi, headers=headers)
            for each in [port, *waiting]:
                each.close()
            request = proxy.heads[0] if proxied and scheme == "http" and proxy.heads else (server.requests or [None])[0]
            got = facts(curi, request, server, began)
            got["viaProxy"] = bool(proxy.asked)
            got["connectExchangeRecorded"] = curi.recorder is not None and b"CONNECT" in curi.recorder.request.read()
            got["localDnsUsed"] = False
            checked = {name: holds(name, wanted, got, server.port) for name, wanted in expected.items()}
            shown = {name: got.get(name, got["request"]) for name, good in checked.items() if not good}
            return all(checked.values()), shown

    found: tuple[bool, object] = run(work())
    return found


def parts(asked: dict[str, Any], expected: dict[str, Any]) -> tuple[str, str, str]:
    """Scheme, host and target of the URI that a case fetches."""
    found = re.match(r"(https?)://([^/:]+)(?::\w+)?(/.*)", asked.get("uri", ""))
    if found is None:
        target = asked.get("uri", "")
        line = (expected.get("requestHead") or ["GET / HTTP/1.0"])[0]
        return "http", "127.0.0.1", target if target.startswith("/") else line.split(" ")[1]
    return found[1], "127.0.0.1" if found[2] in ("localhost", "127.0.0.1") else found[2], found[3]


def proxy_user(values: dict[str, Any]) -> str:
    name = values.get("socks_proxy_username") or values.get("http_proxy_user") or ""
    return f"{name}:{values.get('socks_proxy_password') or values.get('http_proxy_password')}" if name else ""


def proxy_settings(values: dict[str, Any], port: int) -> dict[str, Any]:
    kind = "socks" if any(name.startswith("socks") for name in values) else "http"
    return {f"{kind}_proxy_host": "127.0.0.1", f"{kind}_proxy_port": port}


def expected_of(case: Case) -> Any:
    for layer in ("pinned", "observed"):
        if layer in case["expected"]:
            return case["expected"][layer]
    return case["expected"]


def fetch_http(case: Case) -> tuple[bool, object] | None:
    asked, expected = case["input"], dict(expected_of(case))
    if "history step" in asked.get("sequence", ()):
        return with_history(asked, expected)
    if "sequence" in asked or "credential" in asked or "cookies" in asked or "twice" in str(asked.get("response")):
        return in_turn(asked, expected)
    if asked.get("method") == "POST":
        return posted(asked, expected)
    if "uris" in asked:
        from heritrix_scrapy.fetch.headers import host_of

        hosts = [f"Host: {host_of(uri)}" for uri in asked["uris"]]
        return all(wanted in hosts for wanted in expected["requestContains"]), hosts
    if "clientAddressSeenByServer" in expected:
        return bound()
    if expected.get("content") == "garbage: data is deflated again instead of inflated":
        outcome = one(asked, {"status": expected["status"], "content": ALPHABET.decode()})
        return (False, "inflated") if outcome is not None and outcome[0] else (False, outcome)
    if str(expected.get("contentLength", "")).startswith("whole recording"):
        expected["contentLength"] = len(b"HTTP/1.0 200 OK\r\nX-One: header\r\n")
    if str(expected.get("content", "")).startswith("final header plus body"):
        expected["content"] = plain("Content-Type: text/plain;charset=US-ASCII").decode()
    return one(asked, expected)


def with_history(asked: dict[str, Any], expected: dict[str, Any]) -> tuple[bool, object] | None:
    """Two fetches of a URI that is remembered in between."""
    told_first = re.match(r"GET -> (?:(Last-Modified): (.*)|(ETag) (.*))", asked["sequence"][0])
    if told_first is None:
        return None
    line = f"{told_first[1] or told_first[3]}: {told_first[2] or told_first[4]}"
    values = {**settings_of(asked), "fetch_history": True}

    async def work() -> tuple[bool, object]:
        recall = Recall(History(MemoryStore()), by_uri=True, by_digest=False)
        unchanged = b"HTTP/1.0 304 Not Modified\r\n\r\n"
        crawler = make_crawler("heritrix", **values)
        steps = []
        async with Server([plain(line), unchanged]) as server, handler_of(crawler) as handler:
            for _ in range(2):
                curi = CrawlURI(server.url())
                curi.settings = handler.view(curi)
                condition = recall.condition(curi)
                began = time.monotonic()
                await fetch(handler, curi.uri, internal=True, curi=curi, headers=dict(condition))
                steps.append(facts(curi, server.requests[-1], server, began))
                recall.judge(curi)
                curi.warc_file = "A.warc.gz"
                recall.keep(curi)
                again = curi.revisit
                steps.append(
                    {
                        "revisitProfile": again and again.profile.rpartition("/")[2],
                        "etag": again and again.etag,
                        "lastModified": again and again.last_modified,
                    }
                )
            checked = {
                f"{step} {name}": holds(name, wanted, steps[int(step[4:]) - 1], server.port)
                for step, each in expected.items()
                for name, wanted in each.items()
            }
            return all(checked.values()), [name for name, good in checked.items() if not good] + [steps[1], steps[3]]

    found: tuple[bool, object] = run(work())
    return found


def posted(asked: dict[str, Any], expected: dict[str, Any]) -> tuple[bool, object] | None:
    """A form that is sent."""
    try:
        from heritrix_scrapy.model.post import encoded
        from heritrix_scrapy.requests import posting
    except ImportError:
        return None  # a version without forms
    post = encoded([tuple(pair) for pair in asked["submitData"]], asked.get("enctype"))
    observed = "requestHead" in expected

    async def work() -> tuple[bool, object]:
        values = {"operator_from": FROM} if observed else {}
        async with Server(plain()) as server, handler_of(make_crawler("heritrix", **values)) as handler:
            line = (expected.get("requestHead") or ["POST / HTTP/1.0"])[0]
            curi = CrawlURI(server.url(line.split(" ")[1]), via=VIA if observed else None)
            curi.user_agent = AGENT if observed else None
            began = time.monotonic()
            await fetch(handler, curi.uri, internal=True, curi=curi, **posting(post))
            got = facts(curi, server.requests[0], server, began)
        part = [*got["requestBody"].split("\r\n"), "", "", ""]
        got["partHeader"], got["partValue"] = part[1], part[3]
        kind = next((line for line in got["requestHead"] if line.startswith("Content-Type")), "")
        got["contentType"] = re.sub(r"boundary=[A-Za-z0-9_-]{30,40}$", "boundary=<30..40 of A-Za-z0-9_->", kind[14:])
        checked = {name: holds(name, wanted, got, server.port) for name, wanted in expected.items()}
        return all(checked.values()), {name: got.get(name) for name, good in checked.items() if not good}

    found: tuple[bool, object] = run(work())
    return found


def in_turn(asked: dict[str, Any], expected: dict[str, Any]) -> tuple[bool, object] | None:
    """Fetches one after the other, with the cookies and credentials that hold between them."""
    try:
        from heritrix_scrapy.fetch.access import access_of
        from heritrix_scrapy.fetch.access_middleware import AccessMiddleware
    except ImportError:
        return None  # a version without credentials and cookies of its own
    told_of = asked.get("credential")
    realm = (told_of or {}).get("realm", "R")
    digest = "digest" in realm
    challenge = f'Digest realm="{realm}", nonce="n1", qop="auth"' if digest else f'Basic realm="{realm}"'
    stubborn = "twice" in str(asked.get("response"))
    cookies = re.findall(r"(\w+=(?:\"[^\"]*\"|[^\s;]+))(?:; path=(\S+))?", asked.get("cookies", ""))

    async def say(talk: Talk) -> None:
        target = talk.head.split(b" ")[1]
        if target.startswith(b"/set"):
            given = re.search(r"sets (\S+)", asked["sequence"][0])
            assert given is not None
            await talk.say(plain(f"Set-Cookie: {given[1]}; path=/"))
        elif target.startswith(b"/c/cookies"):
            lines = [f"Set-Cookie: {pair}" + (f"; path={path}" if path else "") for pair, path in cookies]
            await talk.say(plain(*lines))
        elif target.startswith(b"/auth") and (stubborn or b"\r\nAuthorization: " not in talk.head):
            await talk.say(f"HTTP/1.0 401 No\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n".encode())
        else:
            await talk.say(plain())

    async def work() -> tuple[bool, object]:
        values: dict[str, Any] = {}
        async with Server(say) as server:
            if told_of is not None or stubborn:
                login = (told_of or {}).get("login", "me"), (told_of or {}).get("password", "pw")
                values["credentials"] = [
                    [
                        "HttpAuthenticationCredential",
                        {"realm": realm, "domain": f"127.0.0.1:{server.port}", "login": login[0], "password": login[1]},
                    ]
                ]
            crawler = make_crawler("heritrix", **values)
            access, middleware = access_of(crawler), AccessMiddleware.from_crawler(crawler)
            steps: list[dict[str, Any]] = []
            async with handler_of(crawler) as handler:
                known: dict[str, CrawlURI] = {}
                for target in targets(asked, stubborn, bool(cookies)):
                    uri = server.url(target)
                    curi = known.setdefault(uri, CrawlURI(uri))
                    trying = curi.trying
                    curi.reset_attempt()
                    curi.trying = trying
                    curi.user_agent = AGENT if cookies else None
                    request = Request(uri, meta={"heritrix": "internal"})
                    bind(request, curi)
                    middleware.process_request(request)
                    began = time.monotonic()
                    answer = await handler.download_request(request)
                    access.exchanged(curi)
                    middleware.process_response(request, answer)
                    got = facts(curi, server.requests[-1], server, began)
                    got["credentialAttached"] = curi.trying is not None
                    got["credentials"] = int(curi.trying is not None)
                    got["challengeRemembered"] = curi.trying.scheme if curi.trying is not None else None
                    got["isSuccess"] = not curi.credential_pending
                    got["authorizationSent"] = "\r\nAuthorization: " in got["request"]
                    steps.append(got)
            return judged(expected, steps, server.port)

    found: tuple[bool, object] = run(work())
    return found


def targets(asked: dict[str, Any], stubborn: bool, cookies: bool) -> list[str]:
    """What is fetched, in turn."""
    if stubborn:
        return ["/auth/1", "/auth/1"]
    if cookies:
        return ["/c/cookies", "/c/x"]
    found = []
    for words in asked["sequence"]:
        path = re.search(r"(/[\w/-]*)", words.replace("GET :7778", "").replace("GET :7777", ""))
        found.append(path[1] if path is not None else "/")
    return found


def judged(expected: dict[str, Any], steps: list[dict[str, Any]], port: int) -> tuple[bool, object]:
    """Each step against what is told of it; what is told of none is the last one's."""
    wrong = []
    for name, wanted in expected.items():
        at = {"first": 0, "second": 1}.get(name, int(name[4:]) - 1 if name.startswith("step") else len(steps) - 1)
        told = wanted if isinstance(wanted, dict) else {name.replace("secondRequest", "request"): wanted}
        wrong += [
            (name, key, steps[at].get(key, steps[at]["request"]))
            for key, value in told.items()
            if not holds(key, value, steps[at], port)
        ]
    return not wrong, wrong


def bound() -> tuple[bool, object]:
    """Fetches from each local address that the machine surely has."""

    async def work() -> list[str]:
        seen = []

        async def note(talk: Talk) -> None:
            seen.append(talk.writer.get_extra_info("peername")[0])
            await talk.say(plain())

        for address in ("127.0.0.1", "127.0.0.2") if sys.platform == "linux" else ("127.0.0.1",):
            async with (
                Server(note) as server,
                handler_of(make_crawler("heritrix", http_bind_address=address)) as handler,
            ):
                await fetch(handler, server.url())
        return seen

    seen = run(work())
    return seen == ["127.0.0.1", "127.0.0.2"][: len(seen)], seen


def fetch_http2(case: Case) -> tuple[bool, object] | None:
    asked, expected = case["input"], expected_of(case)
    text = str(asked.get("response", ""))
    if found := re.match(r'200 ([^,]+), Set-Cookie ([^,]+), body "(.*)"', text):
        lines, body = [f"Content-Type: {found[1]}", f"Set-Cookie: {found[2]}"], found[3].encode()
        return told(plain(*lines, body=body), expected)
    if found := re.match(r'gzip of "(.*)"', text):
        return told(plain("Content-Encoding: gzip", body=gzip.compress(found[1].encode(), mtime=0)), expected)
    if str(asked.get("uri", "")).startswith("http://doesnotexist"):
        return unresolved(asked["uri"], expected)
    return one(asked, expected, http2=True)


def told(script: bytes, expected: dict[str, Any]) -> tuple[bool, object]:
    async def work() -> tuple[bool, object]:
        async with Server(script) as server, handler_of(make_crawler("heritrix", http2=True)) as handler:
            began = time.monotonic()
            curi = CrawlURI(server.url())
            await fetch(handler, curi.uri, internal=True, curi=curi)
            got = facts(curi, server.requests[0], server, began)
            checked = {name: holds(name, wanted, got, server.port) for name, wanted in expected.items()}
            return all(checked.values()), {name: got.get(name) for name, good in checked.items() if not good}

    found: tuple[bool, object] = run(work())
    return found


def unresolved(uri: str, expected: dict[str, Any]) -> tuple[bool, object]:
    """A name that nothing resolves, asked of the handler alone: no look-up came before."""

    async def work() -> int:
        async with handler_of(make_crawler("heritrix")) as handler:
            curi = CrawlURI(uri)
            await fetch(handler, uri, curi=curi)
            return curi.status

    status = run(work())
    return status == expected["status"], {"status": status}


def unanswering() -> tuple[socket.socket, list[socket.socket]]:
    """A port whose queue of connections is full: the next one is never answered."""
    port = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = []
    for _ in range(3):
        each = socket.socket()
        each.setblocking(False)
        each.connect_ex(port.getsockname())
        waiting.append(each)
    return port, waiting


def deviates(case: Case, got: object) -> tuple[str, str] | None:
    """The same for cases that are told in other numbers."""
    settings, expected = case["input"].get("settings", {}), expected_of(case)
    if expected.get("status") == -2 and 0 < settings.get("maxLengthBytes", 0) < 8192:
        return "the size limit is looked at behind the head", "size-limit-in-head"
    if "Digest" in str(case["origin"]) and isinstance(got, list) and all(each[0] == "step4" for each in got):
        return "errata: a 401 is not answered within one fetch: every exchange is recorded", "digest-exchanges"
    if got == "inflated":
        return "deflate is inflated", "codings"
    return None


ADAPTERS = {"fetch/fetch_http": fetch_http, "fetch/fetch_http2": fetch_http2}
DEVIATES = {"fetch/fetch_http": deviates}
