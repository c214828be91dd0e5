"""Through which proxy does a fetch go, and what is said to it before the exchange?

`Proxy` is read from the settings or from a URL. `http_tunnel` (RFC 9110, 9.3.6) and `socks5` (RFC 1928, 1929) are
the talk that comes first, without a socket: generators that yield bytes to send and are sent what came, until
they end. What is said there is not part of the recorded exchange (Heritrix: the same).
"""

from __future__ import annotations

import base64
import ipaddress
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    Talk = Generator[bytes, bytes, None]

HTTP, SOCKS5 = "http", "socks5"
SCHEMES: dict[str, str] = {"http": HTTP, "socks5": SOCKS5, "socks5h": SOCKS5, "socks": SOCKS5}
PORTS: dict[str, int] = {HTTP: 8080, SOCKS5: 1080}

#: Bytes of a proxy's answer to CONNECT that are read before it is given up.
MAX_ANSWER = 65536

#: RFC 1928, 6.
SOCKS_ERRORS: dict[int, str] = {
    1: "general failure",
    2: "connection not allowed by ruleset",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "TTL expired",
    7: "command not supported",
    8: "address type not supported",
}

_BLANK_LINE = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d\.\d +(\d{3})(.*)")


class ProxyRefused(ConnectionError):
    """The proxy does not lead to the server; the text says in whose words."""


class Proxy(NamedTuple):
    """``kind``: HTTP or SOCKS5."""

    kind: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    @property
    def url(self) -> str:
        """The address without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}://{host}:{self.port}"

    @property
    def authorization(self) -> bytes | None:
        """The value of Proxy-Authorization, or None without a user."""
        if not self.user:
            return None
        return b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())


def configured(view: Any) -> Proxy | None:
    """The proxy that the settings name; SOCKS goes before HTTP (Heritrix: FetchHTTPRequest)."""
    if view.socks_proxy_host:
        return Proxy(
            SOCKS5,
            view.socks_proxy_host,
            view.socks_proxy_port or PORTS[SOCKS5],
            view.socks_proxy_username,
            view.socks_proxy_password,
        )
    if view.http_proxy_host:
        return Proxy(
            HTTP,
            view.http_proxy_host,
            view.http_proxy_port or PORTS[HTTP],
            view.http_proxy_user,
            view.http_proxy_password,
        )
    return None


def parse(url: str) -> Proxy:
    """A proxy from ``scheme://user:password@host:port``. Raises ValueError for what is none that we can use."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    kind = SCHEMES.get(parts.scheme)
    if kind is None:
        raise ValueError(f"a proxy's scheme is http or socks5, not {parts.scheme!r}")
    if not parts.hostname:
        raise ValueError(f"no host in the proxy {url!r}")
    port = parts.port or PORTS[kind]
    return Proxy(kind, parts.hostname, port, unquote(parts.username or ""), unquote(parts.password or ""))


def of_request(meta: Mapping[str, Any], authorization: bytes | None, view: Any) -> Proxy | None:
    """The proxy of one Request: its ``proxy`` meta (None or empty: a direct connection), else that of the settings.

    ``authorization``: its Proxy-Authorization header, into which Scrapy moves user and password.
    Raises ValueError for a proxy that cannot be used.
    """
    ours = configured(view)
    if "proxy" not in meta:
        return ours
    if not meta["proxy"]:
        return None
    proxy = parse(str(meta["proxy"]))
    if proxy.user:
        return proxy
    if ours is not None and proxy.url == ours.url:
        return ours
    if authorization and authorization[:6].lower() == b"basic ":
        try:
            told = base64.b64decode(authorization[6:]).decode("utf-8")
        except ValueError:
            return proxy
        user, _, password = told.partition(":")
        return proxy._replace(user=user, password=password)
    return proxy


def talk(proxy: Proxy, secure: bool, host: str, port: int, address: str | None) -> Talk | None:
    """What is said to the proxy before the exchange, or None: an HTTP proxy is just asked for http addresses.

    ``address``: that of the server where it is known; SOCKS is told it, so that the address in the archive's
    ``dns:`` record is the one that was used.
    """
    if proxy.kind == SOCKS5:
        return socks5(proxy, host, port, address)
    return http_tunnel(proxy, host, port) if secure else None


def http_tunnel(proxy: Proxy, host: str, port: int) -> Talk:
    """Ask an HTTP proxy for a tunnel. Raises ProxyRefused."""
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    head = "\r\n".join(lines).encode("ascii") + b"\r\n"
    if proxy.authorization is not None:
        head += b"Proxy-Authorization: " + proxy.authorization + b"\r\n"
    got = yield head + b"\r\n"
    while (found := _BLANK_LINE.search(got)) is None:
        if len(got) > MAX_ANSWER:
            raise ProxyRefused(f"{proxy.url} answered CONNECT with {MAX_ANSWER} bytes and no end")
        got += yield b""
    status = _STATUS.match(got)
    if status is None:
        raise ProxyRefused(f"{proxy.url} does not answer CONNECT in HTTP: {got[:80]!r}")
    if not status[1].startswith(b"2"):
        raise ProxyRefused(f"{proxy.url} answered CONNECT with {(status[1] + status[2]).decode('latin-1').strip()}")
    if found.end() != len(got):
        raise ProxyRefused(f"{proxy.url} sent bytes behind its answer to CONNECT")


def socks5(proxy: Proxy, host: str, port: int, address: str | None) -> Talk:
    """Ask a SOCKS5 proxy for a connection. Raises ProxyRefused."""
    got = b""
    methods = b"\x00\x02" if proxy.user else b"\x00"
    out = b"\x05" + bytes((len(methods),)) + methods
    while len(got) < 2:
        got += yield out
        out = b""
    if got[0] != 5:
        raise ProxyRefused(f"{proxy.url} does not speak SOCKS5: {got[:16]!r}")
    method, got = got[1], got[2:]
    if method == 2:
        user, password = proxy.user.encode(), proxy.password.encode()
        if not 0 < len(user) < 256 or len(password) > 255:
            raise ProxyRefused(f"{proxy.url} asks for a user and a password of at most 255 bytes each")
        out = b"\x01" + bytes((len(user),)) + user + bytes((len(password),)) + password
        while len(got) < 2:
            got += yield out
            out = b""
        if got[1] != 0:
            raise ProxyRefused(f"{proxy.url} refused user and password")
        got = got[2:]
    elif method != 0:
        raise ProxyRefused(f"{proxy.url} wants a way to log in that is not known here")
    out = b"\x05\x01\x00" + _destination(host, address) + port.to_bytes(2, "big")
    while len(got) < 5:
        got += yield out
        out = b""
    if got[1] != 0:
        raise ProxyRefused(f"{proxy.url}: {SOCKS_ERRORS.get(got[1], f'error {got[1]}')}")
    size = {1: 10, 3: 7 + got[4], 4: 22}.get(got[3])
    if size is None:
        raise ProxyRefused(f"{proxy.url} answered with an unknown kind of address ({got[3]})")
    while len(got) < size:
        got += yield b""
    if len(got) > size:
        raise ProxyRefused(f"{proxy.url} sent bytes behind its answer")


def _destination(host: str, address: str | None) -> bytes:
    """Kind and address as SOCKS writes them: the address, else the name."""
    try:
        packed = ipaddress.ip_address(address or host).packed
    except ValueError:
        name = host.encode("idna" if not host.isascii() else "ascii")
        if len(name) > 255:
            raise ProxyRefused(f"a name of {len(name)} bytes cannot be asked for by SOCKS") from None
        return b"\x03" + bytes((len(name),)) + name
    return (b"\x01" if len(packed) == 4 else b"\x04") + packed
