"""What the fetch handlers record, for the cases of output.json: each http case is one fetch from a real server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from heritrix_scrapy.fetch.resolver import Answer, Lookup, RecordSet
from heritrix_scrapy.model.crawluri import CrawlURI
from tests.adapters.fetch_net import ftp
from tests.fetch.loopback import Server, fetch, handler_of, make_crawler, run

ALPHABET = b"abcdefghijklmnopqrstuvwxyz0123456789\n"

# input of a case → setting
SETTINGS = {
    "accept_compression": "accept_compression",
    "max_length_bytes": "max_length_bytes",
    "send_range": "send_range",
    "http11": "use_http11",
    "timeout_seconds": "timeout_seconds",
    "so_timeout_ms": "so_timeout_ms",
    "max_fetch_kb_sec": "max_fetch_kb_sec",
    "digest_content": "digest_content",
}


def answer(asked: dict[str, Any]) -> bytes:
    """The server's answer to a case."""
    body = ALPHABET
    if "server_body_hex" in asked:
        body = bytes.fromhex(asked["server_body_hex"])
    elif "server_body_bytes" in asked or "body_bytes" in asked:
        size = asked.get("server_body_bytes", asked.get("body_bytes"))
        body = (ALPHABET * (size // len(ALPHABET) + 1))[:size]
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: "
        + asked.get("content_type", "text/plain;charset=US-ASCII").encode()
        + b"\r\n"
    )
    if "server_body_hex" in asked and body[:2] == b"\x1f\x8b":
        head += b"Content-Encoding: gzip\r\n"
    if "chunked" in str(asked.get("server", "")):
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def fetched(asked: dict[str, Any]) -> dict[str, Any]:
    """Everything a case may ask about one fetch, by the names that the vectors use."""
    values = {setting: asked[name] for name, setting in SETTINGS.items() if name in asked}
    if "should_fetch_body_rule" in asked:
        values["should_fetch_body_rule"] = [f"{asked['should_fetch_body_rule'].capitalize()}DecideRule", {}]

    async def work() -> tuple[CrawlURI, bytes]:
        crawler = make_crawler("heritrix", **values)
        async with Server(answer(asked)) as server, handler_of(crawler) as handler:
            curi = CrawlURI(server.url())
            await fetch(handler, curi.uri, internal=True, curi=curi)
            return curi, server.requests[0]

    curi, request = run(work())
    recorder = curi.recorder
    if recorder is None:
        return {"status": curi.status}
    body = recorder.response.read(recorder.body_at)
    entity = recorder.entity(1 << 30, decoded=False)
    content = recorder.entity(1 << 30)
    return {
        "status": curi.status,
        "annotations": curi.annotations,
        "content_length": curi.content_length,
        "content_size": curi.content_size,
        "recorded_equals_content_size": recorder.response.size == curi.content_size,
        "content_size_equals_recorded": recorder.response.size == curi.content_size,
        "message_body": body.decode("latin-1"),
        "message_body_hex": body.hex(),
        "entity": entity.decode("latin-1"),
        "entity_hex": entity.hex(),
        "content": content.decode("latin-1"),
        "recorder_charset": curi.charset,
        "content_type": curi.content_type,
        "content_digest": curi.digest,
        "server_ip": curi.server_ip,
        "request": request.decode("latin-1"),
        "request_recorded": recorder.request.read() == request,
    }


def http_recording(case: dict[str, Any]) -> tuple[bool, object] | None:
    asked, expected = case["input"], case["expected"]
    if any(name.startswith("ftp") for name in asked) or str(asked.get("uri", "http")).startswith(("ftp", "sftp")):
        return ftp(case)
    if "dns_a_records" in asked:
        found = Lookup(Answer.ADDRESSES, (RecordSet("a.example.", 60, "A", tuple(asked["dns_a_records"])),))
        first = next(iter(found.addresses), None)
        return first == expected["first_acceptable_address"], {"first_acceptable_address": first}
    got = fetched(asked)
    ok = True
    shown: dict[str, Any] = {}
    for name, value in expected.items():
        if name == "request_contains":
            wanted = [value] if isinstance(value, str) else value
            ok &= all(text in got["request"] for text in wanted)
            shown[name] = got["request"]
        else:
            ok &= got.get(name) == value
            shown[name] = got.get(name)
    return ok, shown


ADAPTERS = {"output/http_recording": http_recording}
