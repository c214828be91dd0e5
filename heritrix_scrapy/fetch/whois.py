"""Whom is whois asked about a name, in which words, and whom does an answer refer to?

``whois:name`` names no server: it becomes one ``whois://server/query`` after another, until no answer refers further
(Heritrix: FetchWhois). What was asked and answered stands in `model.hosts`; this decides on it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from heritrix_scrapy.model.crawluri import Outlink, authority_of, path_query_of
from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.uri.domain import registered_domain
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from heritrix_scrapy.model.hosts import Inquiry

PORT = 43
#: Who knows the owners of addresses, and the servers of top-level domains.
OF_ADDRESSES = "whois.arin.net"
OF_TOP_LEVELS = "whois.iana.org"
CONTEXT = "=INFERRED_MISC"

#: Bytes of an answer that are looked through for a referral.
LOOKED_THROUGH = 256 * 1024

_KEYS = ("whois server", "registrar whois server", "referralserver", "whois")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?", re.ASCII)
_NAME = re.compile(r"[-.:\w]+\Z", re.ASCII)
_OPTION = re.compile(r"(?:-\S+|[a-z]{1,2}|domain|\+)\Z", re.ASCII)


class Ask(NamedTuple):
    """Ask this ``whois://server/query`` first."""

    uri: str


class Done(NamedTuple):
    """All that the servers know has been asked."""


class Lost(NamedTuple):
    """There is nobody to ask; ``text`` says why."""

    text: str


def is_generic(uri: str) -> bool:
    """Whether a whois URI names no server."""
    return not uri.partition(":")[2].startswith("//")


def subject(uri: str) -> str:
    """The name that ``whois:name`` asks for, in lower case."""
    return unquote(uri.partition(":")[2].partition("?")[0]).strip("/").lower()


def next_step(uri: str, known: Callable[[str], Inquiry], templates: Mapping[str, str]) -> Ask | Done | Lost:
    """What comes next for a ``whois:name``. ``known(key)``: what is known of a name, or of a ``whois://`` URI."""
    name = subject(uri)
    if not _NAME.match(name):
        return Lost(f"{name!r} is no name that whois knows")
    level = name.rpartition(".")[2]
    if known(name).referral:
        target = query_uri(known(name).referral, name, templates)
    elif numeric_address(name) is not None or ":" in name:
        target = query_uri(OF_ADDRESSES, name, templates)
    elif known(level).referral:
        target = query_uri(known(level).referral, name, templates)
    elif known(asked := query_uri(OF_TOP_LEVELS, level, templates)).ended_ms < 0:
        target = asked
    else:
        return Lost(f"nobody knows the whois server of {level}")
    inquiry = known(target)
    if inquiry.failed:
        return Lost(f"{target} gave no answer")
    return Done() if inquiry.ended_ms >= 0 else Ask(target)


def query_uri(server: str, name: str, templates: Mapping[str, str]) -> str:
    """The URI under which a server is asked about a name, in the words that the server wants."""
    template = templates.get(server.partition(":")[0].lower(), "%s")
    return fix(f"whois://{server.lower()}/{quote(template.replace('%s', name), safe='+-._~:=')}")


def query_line(uri: str, *, heritrix: bool) -> bytes:
    """What is said to the server. Raises ValueError for what would be more than a line. Heritrix says the escaped
    form."""
    text = path_query_of(uri.partition("://")[2]).removeprefix("/")
    line = (text if heritrix else unquote(text)).encode("utf-8")
    if any(byte in b"\r\n\0" for byte in line):
        raise ValueError("a line end in a whois query")
    return line + b"\r\n"


def asked_name(uri: str) -> str:
    """The name that a ``whois://server/query`` asks for: its query without the option words before it."""
    words = unquote(path_query_of(uri.partition("://")[2]).removeprefix("/")).lower().split()
    while len(words) > 1 and _OPTION.match(words[0]):
        del words[0]
    return " ".join(words)


def referral(answer: bytes) -> str:
    """The server (``host`` or ``host:port``) that an answer refers to; the last one counts. Empty when none does."""
    found = ""
    for line in answer.decode("latin-1").splitlines():
        key, colon, rest = line.partition(":")
        if not colon or not key.strip().lower().startswith(_KEYS):
            continue
        rest = rest.strip().rstrip("/")
        scheme, _, tail = rest.rpartition("://")
        if scheme and not scheme.lower().endswith("whois"):
            continue
        hosts = _HOST.findall(tail[:512])
        if hosts and "." in hosts[-1] and _is_server(hosts[-1]):
            found = hosts[-1].lower()
    return found


def _is_server(text: str) -> bool:
    try:
        fix(f"whois://{text}/")
    except UriError:
        return False
    return True


def inferred(uri: str, addresses: Iterable[str], view: Any) -> list[Outlink]:
    """The questions that a fetched URI raises: whose are its host's address and its domain? None where the settings
    do not want them asked."""
    if not view.fetch_whois or uri.startswith("whois:"):
        return []
    host = authority_of(uri).rpartition("@")[2].lower()
    host = host if host.startswith("[") else host.partition(":")[0]
    if not host or host.startswith("["):
        return []
    made = []
    for name in dict.fromkeys((*list(addresses)[:1], registered_domain(host))):
        try:
            made.append(Outlink(fix(f"whois:{name}"), "I", CONTEXT))
        except UriError:
            continue
    return made
