"""Which cookies does a server set, and which does a request show?

RFC 6265, section 5, with the public suffix check; ``strict`` (the heritrix profile) reads and writes as Heritrix does
(Apache HttpClient's RFC6265LaxSpec, BdbCookieStore). Plain data: the time is an argument. Cookies of one jar and
domain are one row of the store; domains not used lately are dropped from memory.
"""

from __future__ import annotations

import re
from calendar import timegm
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.uri.domain import public_suffixes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Most cookies that a host's requests may show; Heritrix ignores every further one, changes and deletions of those it
#: has included.
MOST_PER_DOMAIN = 50
#: Longest name and value together, in characters (RFC 6265, 6.1; browsers refuse more).
LONGEST = 4096

ROW = b"hc"


class Cookie(msgspec.Struct, array_like=True):
    """``domain``: lower case, no leading dot; ``host_only``: not for its subdomains; ``expires_ms``: None lasts for
    the session, which here is the crawl."""

    name: str
    value: str
    domain: str
    path: str = "/"
    host_only: bool = True
    secure: bool = False
    http_only: bool = False
    expires_ms: int | None = None
    created: int = 0

    @property
    def identity(self) -> str:
        """``domain;name;path``: a cookie with the same one replaces it."""
        return f"{self.domain};{self.name};{self.path}"

    def matches(self, host: str, path: str, *, secure: bool) -> bool:
        """Whether a request shows it (RFC 6265, 5.4); its age is another matter."""
        if self.secure and not secure:
            return False
        if host != self.domain and (self.host_only or not is_below(host, self.domain)):
            return False
        return path_matches(path, self.path)


def is_below(host: str, domain: str) -> bool:
    """Whether a host is a subdomain (RFC 6265, 5.1.3)."""
    return host.endswith("." + domain) and numeric_address(host) is None and ":" not in host


def path_matches(path: str, own: str) -> bool:
    """RFC 6265, 5.1.4."""
    return path == own or (path.startswith(own) and (own.endswith("/") or path[len(own)] == "/"))


def default_path(path: str) -> str:
    """The path of a cookie that names none: the request's, without what stands behind its last slash."""
    return path[: path.rfind("/")] or "/" if path.startswith("/") else "/"


_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)", re.ASCII)
_DAY = re.compile(r"(\d{1,2})(?!\d)", re.ASCII)
_YEAR = re.compile(r"(\d{2,4})(?!\d)", re.ASCII)
_DELIMITERS = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def cookie_date(text: str) -> int | None:
    """Milliseconds since the epoch of a cookie's date (RFC 6265, 5.1.1); None for what is none."""
    time = day = month = year = None
    for token in _DELIMITERS.split(text):
        if time is None and (found := _TIME.match(token)):
            time = tuple(map(int, found.groups()))
        elif day is None and (found := _DAY.match(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR.match(token)):
            year = int(found[1])
    if time is None or day is None or month is None or year is None:
        return None
    if year < 100:
        year += 1900 if year >= 70 else 2000
    hour, minute, second = time
    if year < 1601 or not 1 <= day <= 31 or hour > 23 or minute > 59 or second > 59:
        return None
    return timegm((year, month, day, hour, minute, second)) * 1000


_SPACE = re.compile(r"[ \t\r\n]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SPECIAL = re.compile(r'[ ",;\\]')
_AGE = re.compile(r"-?\d+\Z", re.ASCII)


def parse(line: str, host: str, path: str, now_ms: int, *, strict: bool = False) -> Cookie | None:
    """The cookie of a Set-Cookie value that the answer to a request for ``host`` and ``path`` brought; None for what
    is none, or for another domain. One to be deleted is already over at ``now_ms``."""
    if not strict and (cut := re.search(r"[\x00\r\n]", line)):
        line = line[: cut.start()]
    pair, *attributes = _pieces(line) if strict else line.split(";")
    name, equals, value = pair.partition("=")
    name, value = name.strip(" \t"), value.strip(" \t")
    if not name or not equals:
        return None
    if strict:
        name, value = _SPACE.sub(" ", name), _unquoted(value)
    elif len(name) + len(value) > LONGEST or _CONTROLS.search(name + value):
        return None
    cookie = Cookie(name, value, host.lower(), default_path(path))
    age: int | None = None
    for attribute in attributes:
        key, _, text = attribute.partition("=")
        key, text = key.strip(" \t").lower(), text.strip(" \t")
        if strict:
            text = _unquoted(text)
        if key == "expires":
            expires = cookie_date(text)
            if expires is None and strict:
                return None
            if expires is not None:
                cookie.expires_ms = expires
        elif key == "max-age":
            if _AGE.match(text):
                # beyond what an integer of the store can be, it is for ever
                age = min(max(int(text[:12]), 0), 10**10)
        elif key == "domain":
            if domain := text.lower().removeprefix("."):
                cookie.domain, cookie.host_only = domain, False
        elif key == "path":
            if text.startswith("/") or (strict and text):
                cookie.path = text
            elif strict:
                cookie.path = "/"
            else:
                cookie.path = default_path(path)
        elif key == "secure":
            cookie.secure = True
        elif key == "httponly":
            cookie.http_only = True
    if age is not None:
        cookie.expires_ms = now_ms + age * 1000 if age else 0
    return cookie if _may_set(cookie, host.lower(), strict=strict) else None


def _may_set(cookie: Cookie, host: str, *, strict: bool) -> bool:
    """Whether the host may set a cookie for its domain; one for the host itself that is a public suffix becomes
    host-only (RFC 6265, 5.3, steps 5 and 6)."""
    if cookie.host_only:
        return True
    domain = cookie.domain
    if domain != host and not is_below(host, domain):
        return False
    suffixes = public_suffixes()
    # Heritrix: a single label that is on no list is no public suffix
    public = suffixes.is_top(domain) if strict and "." not in domain else suffixes.is_suffix(domain)
    if numeric_address(domain) is not None or ":" in domain:
        public = domain == host
    if public:
        if domain != host:
            return False
        cookie.host_only = True
    return True


def _pieces(line: str) -> list[str]:
    """The parts between semicolons that stand in no quotes."""
    pieces, begin, quoted, escaped = [], 0, False, False
    for at, char in enumerate(line):
        if escaped:
            escaped = False
        elif quoted and char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char == ";" and not quoted:
            pieces.append(line[begin:at])
            begin = at + 1
    return [*pieces, line[begin:]]


def _unquoted(text: str) -> str:
    """A value without its quotes and escapes; blanks outside of quotes become one."""
    if '"' not in text:
        return _SPACE.sub(" ", text)
    out: list[str] = []
    quoted = escaped = False
    for char in text:
        if escaped:
            out.append(char if char in '"\\' else "\\" + char)
            escaped = False
        elif quoted and char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        else:
            out.append(char)
    return "".join(out)


def header(cookies: Iterable[Cookie], *, strict: bool = False) -> str:
    """The Cookie header's value. Under ``strict`` a value with special characters is put in quotes."""
    shown = []
    for cookie in cookies:
        value = cookie.value
        if strict and _SPECIAL.search(value):
            value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        shown.append(f"{cookie.name}={value}")
    return "; ".join(shown)


class CookieStore:
    """All cookies of a crawl, by jar and domain.

    ``get``: key → row or None, the store's; ``drain`` gives the rows to be written. ``strict``: Heritrix's ways.
    At most ``capacity`` domains without unwritten changes stay in memory.
    """

    def __init__(
        self, get: Callable[[bytes], bytes | None] = lambda key: None, *, strict: bool = False, capacity: int = 20_000
    ) -> None:
        self._get = get
        self._strict = strict
        self._capacity = capacity
        self._kept: OrderedDict[bytes, dict[str, Cookie]] = OrderedDict()
        self._changed: set[bytes] = set()
        self._count = 0

    def add(self, cookie: Cookie, now_ms: int, *, jar: str = "") -> bool:
        """Keep a cookie; one that is over goes. Whether it changed anything."""
        key = _key(jar, cookie.domain)
        mine = self._of(key)
        identity = cookie.identity
        old = mine.get(identity)
        if self._strict:
            self._purge(key, mine, now_ms)
            if sum(len(self._of(_key(jar, domain))) for domain in levels(cookie.domain)) >= MOST_PER_DOMAIN:
                return False
        if cookie.expires_ms is not None and cookie.expires_ms <= now_ms:
            if old is None:
                return False
            mine.pop(identity, None)
            self._changed.add(key)
            return True
        if old is None and not self._strict:
            self._purge(key, mine, now_ms)
            while len(mine) >= MOST_PER_DOMAIN:
                del mine[min(mine, key=lambda one: mine[one].created)]
        self._count += 1
        cookie.created = now_ms if old is None else old.created
        mine[identity] = cookie
        self._changed.add(key)
        return True

    def shown(self, host: str, path: str, now_ms: int, *, secure: bool, jar: str = "") -> list[Cookie]:
        """The cookies that a request shows: longest path first, then the oldest (RFC 6265, 5.4)."""
        found: list[Cookie] = []
        for domain in levels(host):
            key = _key(jar, domain)
            mine = self._of(key)
            if not mine:
                continue
            self._purge(key, mine, now_ms)
            found += [cookie for cookie in mine.values() if cookie.matches(host, path, secure=secure)]
        if len(found) > 1:
            found.sort(key=lambda cookie: (-len(cookie.path), cookie.created))
        return found

    def has(self, cookie: Cookie, *, jar: str = "") -> bool:
        """Whether there is one of the same identity."""
        return cookie.identity in self._of(_key(jar, cookie.domain))

    def drain(self) -> list[tuple[bytes, bytes]]:
        """Rows changed since the last call, for the write batch."""
        if not self._changed:
            return []
        rows = [(key, _packed(list(self._kept[key].values()))) for key in self._changed]
        self._changed.clear()
        return rows

    def of_rows(self, rows: Iterable[tuple[bytes, bytes]], now_ms: int, *, jar: str = "") -> list[Cookie]:
        """All cookies of a jar that last, by identity. ``rows``: those of the store that begin with ``ROW``."""
        prefix = _key(jar, "")
        keys = {key for key, _ in rows if key.startswith(prefix)}
        keys.update(key for key in self._kept if key.startswith(prefix))
        cookies = [
            cookie
            for key in keys
            for cookie in self._of(key).values()
            if cookie.expires_ms is None or cookie.expires_ms > now_ms
        ]
        return sorted(cookies, key=lambda cookie: cookie.identity)

    def __iter__(self) -> Iterator[Cookie]:
        """The cookies in memory."""
        for mine in list(self._kept.values()):
            yield from mine.values()

    def _purge(self, key: bytes, mine: dict[str, Cookie], now_ms: int) -> None:
        for identity, cookie in list(mine.items()):
            if cookie.expires_ms is not None and cookie.expires_ms <= now_ms:
                del mine[identity]
                self._changed.add(key)

    def _of(self, key: bytes) -> dict[str, Cookie]:
        mine = self._kept.get(key)
        if mine is not None:
            self._kept.move_to_end(key)
            return mine
        row = self._get(key)
        cookies = _unpacked(row) if row else []
        mine = self._kept[key] = {cookie.identity: cookie for cookie in cookies}
        if len(self._kept) > self._capacity:
            for old in list(self._kept)[: self._capacity // 10]:
                if old not in self._changed and old != key:
                    del self._kept[old]
        return mine


def levels(host: str) -> list[str]:
    """A host and the domains above it; an address has none."""
    if numeric_address(host) is not None or ":" in host:
        return [host]
    found = [host]
    while (dot := host.find(".")) >= 0:
        host = host[dot + 1 :]
        if host:
            found.append(host)
    return found


def _key(jar: str, domain: str) -> bytes:
    return ROW + f"{jar}\0{domain}".encode("utf-8", "surrogatepass")


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Cookie])


def _packed(cookies: list[Cookie]) -> bytes:
    """Cookies as a row. A text that came in no UTF-8 stands there as its bytes."""
    try:
        return _encoder.encode(cookies)
    except UnicodeEncodeError:
        return _encoder.encode([list(map(_as_bytes, msgspec.structs.astuple(cookie))) for cookie in cookies])


def _unpacked(row: bytes) -> list[Cookie]:
    try:
        return _decoder.decode(row)
    except msgspec.ValidationError:
        return [Cookie(*map(_as_text, fields)) for fields in msgspec.msgpack.decode(row)]


def _as_bytes(value: Any) -> Any:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _as_text(value: Any) -> Any:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
