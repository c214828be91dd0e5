"""What becomes of a user and a password in an address?

They belong to no name of a page: they are taken out of it before it is queued, logged or archived, and travel beside
it, to what it leads to as well. Only the server that they were written for is told (RFC 3986, 3.2.1; RFC 7617)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from heritrix_scrapy.model.hosts import server_key

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

#: Under this name, in what a URI's links inherit: the server, and user and password as they were written.
LOGIN = "login"

_WITH_LOGIN = re.compile(r"(https?://)([^/?#]*)@(.*)", re.DOTALL)


def without_login(uri: str) -> str:
    """A fixed-up http address without user and password."""
    found = _WITH_LOGIN.fullmatch(uri) if "@" in uri else None
    return found[1] + found[3] if found else uri


def take_login(curi: CrawlURI) -> None:
    """Take user and password out of a URI, to be shown to its server."""
    found = _WITH_LOGIN.fullmatch(curi.uri)
    if found is None:
        return
    curi.uri = found[1] + found[3]
    if found[2]:
        curi.heritable = {**(curi.heritable or {}), LOGIN: [server_key(curi.uri), found[2]]}


def login_of(curi: CrawlURI) -> tuple[str, str] | None:
    """User and password to show when a URI is fetched, if its server is the one that they were written for."""
    written = (curi.heritable or {}).get(LOGIN)
    if not written or written[0] != server_key(curi.uri):
        return None
    user, _, password = written[1].partition(":")
    return unquote(user), unquote(password)
