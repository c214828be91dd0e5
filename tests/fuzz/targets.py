"""What must hold for any bytes of a stranger, in each reader of them?

A target takes bytes and raises when its reader crashes, contradicts itself, or holds more than its limits let it.
"""

from __future__ import annotations

import asyncio
import contextlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dns.asyncresolver
import dns.exception
import dns.message
import dns.nameserver

from heritrix_scrapy.fetch import cookie_file, ftp, whois
from heritrix_scrapy.fetch.authentication import answerable, basic, challenges, digest
from heritrix_scrapy.fetch.cookies import CookieStore, header, parse
from heritrix_scrapy.fetch.decoding import header_charset
from heritrix_scrapy.fetch.dns_handler import record_text
from heritrix_scrapy.fetch.resolver import MOST_ADDRESSES, Answer, Resolver
from heritrix_scrapy.fetch.robots import update_robots
from heritrix_scrapy.fetch.robots_rules import HeritrixRules, StandardRules
from heritrix_scrapy.fetch.robots_tag import directives
from heritrix_scrapy.fetch.stamp import retry_after, stamp_head
from heritrix_scrapy.fetch.wire import MAX_HEAD, MAX_TRAILERS, Body, Event, Head, WireReader, parse_fields
from heritrix_scrapy.model.crawluri import CrawlURI, pack, unpack
from heritrix_scrapy.model.hosts import Hosts, Inquiry
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.defaults import WHOIS_QUERY_TEMPLATES
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import fix

if TYPE_CHECKING:
    from collections.abc import Callable

CORPUS = Path(__file__).parent / "corpus"


def splits(data: bytes) -> list[bytes]:
    """The bytes in pieces whose sizes the bytes themselves name."""
    pieces = []
    at = 0
    for size in (data[-16:] or b"\x01") * (len(data) // 16 + 1):
        if at >= len(data):
            break
        pieces.append(data[at : at + size % 61 + 1])
        at += size % 61 + 1
    return [*pieces, data[at:]] if at < len(data) else pieces


def events(pieces: list[bytes], method: str) -> list[Event]:
    """What the wire reader makes of a stream, bodies joined."""
    reader = WireReader(method)
    found: list[Event] = []
    for piece in pieces:
        found += reader.feed(piece)
        assert len(reader._buffer) <= MAX_HEAD + MAX_TRAILERS + len(piece), "the reader holds too much"
    found += reader.eof()
    joined: list[Event] = []
    for event in found:
        if isinstance(event, Body) and joined and isinstance(joined[-1], Body):
            joined[-1] = Body(joined[-1].data + event.data)
        elif not isinstance(event, Body) or event.data:
            joined.append(event)
    return joined


def wire(data: bytes) -> None:
    method = "HEAD" if data[:1] == b"\xff" else "GET"
    data = data.removeprefix(b"\xff")
    whole = events([data], method)
    assert whole == events(splits(data), method), "the reading depends on the splits"
    for event in whole:
        if isinstance(event, Head):
            for name, value in event.headers:
                text = value.decode("latin-1")
                if name.lower() == b"retry-after":
                    retry_after(text.strip(), 0)
                if name.lower() == b"content-type":
                    header_charset(text)


def lines(data: bytes) -> None:
    """What the lines of a head say to those who keep it: cookies, challenges, redirects, tags. Their rows are those
    that a crawl is written by."""
    fields, _ = parse_fields(data.split(b"\n"))
    hosts, rows = Hosts(lambda key: rows.get(key)), dict[bytes, bytes]()
    for profile in ("modern", "heritrix"):
        strict = profile == "heritrix"
        view, curi = default_view(profile), CrawlURI("http://www.a.example/robots.txt", path="P")
        curi.settings, curi.recorder = view, Recorder()
        head = Head(b"HTTP/1.1", 301, b"", fields, b"", b"", "none", None, False)
        stamp_head(curi, curi.recorder, head, view)
        curi.recorder.entity(100)
        update_robots(hosts.server("www.a.example"), curi, 1000, view)
        directives([value.decode("latin-1") for _, value in fields], "heritrix")
        store = CookieStore(rows.get, strict=strict)
        set_by = [value.decode("utf-8", "surrogateescape") for name, value in fields if name.lower() == b"set-cookie"]
        for line in set_by:
            cookie = parse(line, "www.a.example", "/robots.txt", 1000, strict=strict)
            if cookie is not None and store.add(cookie, 1000):
                list(cookie_file.read(cookie_file.write([cookie], strict=strict).split("\n"), strict=strict))
        shown = header(store.shown("www.a.example", "/robots.txt", 1000, secure=True), strict=strict)
        rows.update(store.drain())
        again = CookieStore(rows.get, strict=strict).shown("www.a.example", "/robots.txt", 1000, secure=True)
        assert header(again, strict=strict) == shown, "what is written is not what is read"
        assert b"\n" not in shown.encode("utf-8", "surrogateescape")
        rows.clear()
    challenge = answerable(challenges(value.decode("latin-1") for _, value in fields))
    if challenge is not None:
        hosts.server("www.a.example").challenges.append(challenge)
        told = (
            basic("me", "pw")
            if challenge.scheme == "basic"
            else digest(challenge, "me", "pw", method="GET", target="/", cnonce="0")
        )
        assert "\n" not in told, "a line end in a header"
        assert "\r" not in told, "a line end in a header"
    hosts.server_changed("www.a.example")
    rows.update(hosts.drain())
    assert Hosts(rows.get).server("www.a.example").challenges == hosts.server("www.a.example").challenges
    unpack(pack(curi))


AGENT = "Mozilla/5.0 (compatible; heritrix/3.15 +http://operator.example/)"


def robots(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    tail = text[-40:].replace("\n", "/").strip()
    for made in (StandardRules, HeritrixRules):
        rules = made(text)
        for uri in ("http://a.example/", "http://a.example/" + tail, "http://a.example/x?a=b&" + tail):
            assert isinstance(rules.allows(AGENT, uri), bool)
        delay = rules.crawl_delay(AGENT)
        assert delay is None or delay >= 0, "a delay below nothing"
        rules.names(AGENT)


class _Says(dns.nameserver.Nameserver):
    """A name server that says these bytes to every question."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __str__(self) -> str:
        return "Says"

    def kind(self) -> str:
        return "Says"

    def is_always_max_size(self) -> bool:
        return False

    def answer_nameserver(self) -> str:
        return "192.0.2.53"

    def answer_port(self) -> int:
        return 53

    async def async_query(self, request: dns.message.QueryMessage, *args: Any, **more: Any) -> dns.message.Message:
        """As ``dns.asyncquery.udp`` reads a datagram. The id is that of the question, and so is the question where
        the bytes say none: an answer that does not fit is dropped before anybody reads it."""
        wire = request.to_wire()[:2] + self.data[2:]
        message = dns.message.from_wire(wire, ignore_trailing=True)
        message.question = list(request.question)
        if not request.is_response(message):
            raise dns.exception.FormError("no answer to the question")
        return message


_loop: list[asyncio.AbstractEventLoop] = []


def resolver(data: bytes) -> None:
    if not _loop:
        _loop.append(asyncio.new_event_loop())
    asker = Resolver(["192.0.2.53"], try_seconds=0.5, all_seconds=0.5)
    asker._asker.nameservers = [_Says(data)]
    found = _loop[0].run_until_complete(asker.lookup("www.a.example", ("AAAA", "A")))
    assert (found.answer is Answer.ADDRESSES) == bool(found.addresses)
    assert len(found.addresses) <= MOST_ADDRESSES
    assert found.ttl >= 0
    text = record_text(0, found.sets)
    assert text.count(b"\n") == 1 + sum(len(each.addresses) for each in found.sets), "a line end in the record"


def ftp_server(data: bytes) -> None:
    reader = ftp.ReplyReader()
    lines = data.split(b"\n")
    try:
        for line in lines:
            reply = reader.feed(line)
            if reply is not None:
                assert 100 <= reply.code < 600
                for port_of in (ftp.passive_port, ftp.extended_port):
                    with contextlib.suppress(ftp.BadReply):
                        assert 0 < port_of(reply) < 65536
    except ftp.BadReply:
        pass
    whole = list(ftp.names([data]))
    assert whole == list(ftp.names(splits(data))), "the names depend on the splits"
    assert all(len(name) <= ftp.MAX_NAME for name in whole)
    for heritrix in (False, True):
        for link in islice(ftp.links("ftp://a.example/dir/", [data], heritrix=heritrix), 50):
            try:
                uri = fix(link)
            except UriError:
                continue
            if not heritrix:
                assert uri.startswith("ftp://a.example/dir/"), "a name that leads elsewhere"
                with contextlib.suppress(ValueError):
                    assert ftp.path_of(uri).count(b"\n") == 0


def whois_server(data: bytes) -> None:
    server = whois.referral(data)
    known = {"a.example": Inquiry(referral=server)}
    step = whois.next_step("whois:a.example", lambda key: known.get(key, Inquiry()), WHOIS_QUERY_TEMPLATES)
    if isinstance(step, whois.Ask):
        assert step.uri.startswith("whois://")
        assert whois.query_line(step.uri, heritrix=False).count(b"\n") == 1
        assert whois.asked_name(step.uri)
    text = data[:200].decode("latin-1")
    whois.next_step("whois:" + text, lambda key: Inquiry(), WHOIS_QUERY_TEMPLATES)
    with contextlib.suppress(ValueError):  # UriError is one
        whois.query_line(fix("whois://h/" + text), heritrix=False)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "wire": wire,
    "lines": lines,
    "robots": robots,
    "dns": resolver,
    "ftp": ftp_server,
    "whois": whois_server,
}

#: Modules whose lines count as found, by target; words that mutations are made with.
READERS: dict[str, tuple[str, ...]] = {
    "wire": ("fetch/wire.py", "fetch/stamp.py", "fetch/decoding.py"),
    "lines": ("fetch/cookies.py", "fetch/cookie_file.py", "fetch/authentication.py", "fetch/robots_tag.py"),
    "robots": ("fetch/robots_rules.py", "protego/", "protego.py"),
    "dns": ("fetch/resolver.py", "fetch/dns_handler.py", "dns/message.py", "dns/resolver.py", "dns/wire.py"),
    "ftp": ("fetch/ftp.py", "uri/fixup.py"),
    "whois": ("fetch/whois.py", "uri/fixup.py"),
}

WORDS: dict[str, tuple[bytes, ...]] = {
    "wire": (
        *(
            b"HTTP/1.1 ",
            b"HTTP/0.9 ",
            b"ICY 200 OK",
            b"100 Continue",
            b"204",
            b"304",
            b"\r\n\r\n",
            b"\n\n",
            b"\r",
            b"\0",
        ),
        *(
            b"Content-Length: ",
            b"Transfer-Encoding: chunked",
            b"-1",
            b"+5",
            b"99999999999999999999",
            b"0\r\n\r\n",
            b";x=",
        ),
        *(
            b"Connection: close",
            b"Retry-After: ",
            b"Content-Type: text/html; charset=",
            b"FFFFFFFFFFFFFFFF\r\n",
            b" : ",
        ),
    ),
    "lines": (
        *(b"Set-Cookie: ", b"; Domain=", b"; Path=/", b"; Max-Age=", b"; Expires=", b"; Secure", b"; HttpOnly"),
        *(b"WWW-Authenticate: ", b'Digest realm="', b'nonce="', b"qop=auth", b"algorithm=SHA-256-sess", b"stale=true"),
        *(b"Content-Type: text/html; charset=", b"Content-Encoding: ", b"Location: ", b"X-Robots-Tag: "),
        *(
            b"\n",
            b'"',
            b"\\",
            b"\xe9",
            b"\xc3\xa9",
            b"\0",
            b"\r",
            b"=",
            b",",
            b"Thu, 01 Jan 1970 00:00:00 GMT",
            b"9" * 30,
        ),
    ),
    "robots": (
        *(
            b"User-agent: *\n",
            b"User-agent: heritrix\n",
            b"Disallow: /",
            b"Allow: /",
            b"Crawl-delay: ",
            b"Sitemap: ",
            b"*",
            b"$",
        ),
        *(
            b"\xef\xbb\xbf",
            b"%2F",
            b"%",
            b"#",
            b"\r",
            b"nan",
            b"inf",
            b"-1",
            b"1e999",
            b"Request-rate: 1/5",
            b"a*" * 30,
        ),
    ),
    "dns": (
        *(
            b"\xc0\x0c",
            b"\x00\x01\x00\x01",
            b"\x00\x05\x00\x01",
            b"\x00\x1c\x00\x01",
            b"\x00\x06\x00\x01",
            b"\xff\xff\xff\xff",
        ),
        *(
            b"\x81\x80",
            b"\x85\x83",
            b"\x83\x80",
            b"\x03www\x01a\x07example\x00",
            b"\x3f" + b"a" * 63,
            b"\x00\x29\x04\xd0",
        ),
    ),
    "ftp": (
        *(
            b"220-",
            b"220 ",
            b"227 (1,2,3,4,5,6)",
            b"229 (|||1|)",
            b"|||",
            b"226 ",
            b"\r\n",
            b"../",
            b"./",
            b"%0d%0a",
            b"/",
        ),
        *(b"?", b"#", b":", b"//", b"\xff"),
    ),
    "whois": (
        *(
            b"Whois Server: ",
            b"ReferralServer: whois://",
            b"whois:",
            b"refer:",
            b"/",
            b":",
            b"%s",
            b"\r\n",
            b"..",
            b"@",
        ),
        *(b"[::1]", b"%0a", b"rwhois://", b"99999", b"xn--"),
    ),
}
