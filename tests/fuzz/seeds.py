"""``python -m tests.fuzz.seeds``: writes the inputs that fuzzing begins with, from what the other tests have."""

from __future__ import annotations

import dns.message
import dns.rcode
import dns.rrset

from tests.fuzz.targets import CORPUS
from tests.web.exchanges import EXCHANGES

ROBOTS = {
    "plain": "User-agent: *\nDisallow: /private\nAllow: /private/open$\nCrawl-delay: 2.5\nSitemap: /s.xml\n",
    "groups": "# note\nuser-agent: heritrix\nuser-agent: other\ndisallow: /*.php$\r\n\r\nUser-Agent: *\rDisallow:\r",
    "odd": "\ufeffUser-agent:*\nDisallow:/%7Ea\nDisallow: /a*b*c*d\nCrawl-delay: nan\nDisallow /\nRequest-rate: 1/9\n",
}
FTP = {
    "greeting": b"220-Hello\r\n of many lines\r\n220 ready\r\n331 user\r\n230 in\r\n227 Passive (127,0,0,1,4,5)\r\n",
    "extended": b"229 Extended (|||6446|)\r\n150 here\r\n226 done\r\n",
    "listing": b"a b.txt\r\nsub\r\n\xe9.txt\r\n./c\r\n..\r\nd/e\r\n",
}
LINES = {
    "cookies": b"Set-Cookie: a=1; Domain=a.example; Path=/; Max-Age=60\r\nSet-Cookie: caf\xe9=\xe9; Secure; HttpOnly",
    "quoted": b'set-cookie: q="a;b\\"c"; Expires=1 Jan 2038 00:00:00 GMT\r\nset-cookie: d=\xc3\xa9; path=robots.txt',
    "digest": b'WWW-Authenticate: Digest realm="v \\"x\\"\xe9", nonce="n", qop="auth,auth-int", opaque="o", stale=TRUE',
    "basic": b'WWW-Authenticate: Negotiate abc==, Basic realm="here", charset="UTF-8"\r\n',
    "redirect": b'Location: //other.example/r\xe9 x\r\nContent-Type: text/html; charset="x-\xe9"\r\n',
    "tags": b"X-Robots-Tag: heritrix: none, unavailable_after: 1 Jan\r\nContent-Encoding: gzip, br\r\n",
}
WHOIS = {
    "iana": b"% IANA\n\ndomain:       COM\nwhois:        whois.verisign-grs.com\n",
    "registry": b"   Domain: A.COM\r\n   Registrar WHOIS Server: whois.a.example\r\n   Whois Server: b.test\r\n",
    "arin": b"OrgName: RIPE\nReferralServer:  whois://whois.ripe.net:43/\n",
}


def answers() -> dict[str, bytes]:
    """Answers of name servers."""
    asked = dns.message.make_query("www.a.example.", "A")
    asked.id = 0
    made = {}
    for name, sets in {
        "address": [("www.a.example.", "A", "192.0.2.1", "0.0.0.0")],
        "alias": [("www.a.example.", "CNAME", "b.example."), ("b.example.", "A", "192.0.2.1")],
        "loop": [("www.a.example.", "CNAME", "b.example."), ("b.example.", "CNAME", "www.a.example.")],
        "six": [("www.a.example.", "AAAA", "2001:db8::1", "::")],
        "empty": [],
    }.items():
        reply = dns.message.make_response(asked, recursion_available=True)
        for owner, kind, *values in sets:
            reply.answer.append(dns.rrset.from_text(owner, 300, "IN", kind, *values))
        made[name] = reply.to_wire()
    reply = dns.message.make_response(asked)
    reply.set_rcode(dns.rcode.NXDOMAIN)
    reply.authority.append(dns.rrset.from_text("example.", 60, "IN", "SOA", "a.example. b.example. 1 2 3 4 5"))
    made["none"] = reply.to_wire()
    return made


def main() -> None:
    seeds: dict[str, dict[str, bytes]] = {
        "wire": {name: exchange.sent[:4096] for name, exchange in EXCHANGES.items()},
        "lines": LINES,
        "robots": {name: text.encode() for name, text in ROBOTS.items()},
        "dns": answers(),
        "ftp": FTP,
        "whois": WHOIS,
    }
    for target, inputs in seeds.items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
