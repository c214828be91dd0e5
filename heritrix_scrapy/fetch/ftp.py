"""What does an FTP server say, and what does a directory of it lead to?

Replies of the control connection, addresses of data connections, and listings (RFC 959, 2428, 3659). Only text and
bytes: nothing is sent here. (Heritrix: FetchFTP, ClientFTP.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_to_bytes

from heritrix_scrapy.model.crawluri import authority_of, path_query_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: Bytes of one line of a reply, lines of one reply, and bytes of a file's name: no honest server needs as many.
MAX_LINE = 8 * 1024
MAX_LINES = 1000
MAX_NAME = 1024

_FIRST = re.compile(rb"([1-5][0-9]{2})([ -]|\Z)")
_PASSIVE = re.compile(r"(?<!\d)(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3})(?!\d)", re.ASCII)
_EXTENDED = re.compile(r"\(([!-~])\1\1(\d{1,5})\1\)", re.ASCII)


class BadReply(OSError):
    """What came is no FTP, or more of it than a reply may have."""


class Reply(NamedTuple):
    """``code``: three digits; ``lines``: as they came, without line ends, the first with its code."""

    code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The last line, which is the reply proper."""
        return self.lines[-1]

    @property
    def is_preliminary(self) -> bool:
        """Another reply follows."""
        return self.code < 200

    @property
    def is_positive(self) -> bool:
        return self.code < 400


class ReplyReader:
    """Lines in, replies out."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._code = b""

    def feed(self, line: bytes) -> Reply | None:
        """One line with or without its end; the Reply that it completes, or None. Raises BadReply."""
        line = line.rstrip(b"\r\n")
        match = _FIRST.match(line)
        if not self._lines:
            if match is None:
                raise BadReply(f"not a reply of FTP: {line[:80]!r}")
            self._code = match[1]
        if len(self._lines) >= MAX_LINES:
            raise BadReply(f"a reply of more than {MAX_LINES} lines")
        self._lines.append(_text(line))
        if match is None or match[1] != self._code or match[2] == b"-":
            return None
        reply = Reply(int(self._code), tuple(self._lines))
        self._lines = []
        return reply


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def passive_port(reply: Reply) -> int:
    """The port in the answer to PASV. The address beside it is not heeded: it may lead anywhere. Raises BadReply."""
    found = _PASSIVE.search(" ".join(reply.lines))
    numbers = [] if found is None else [int(group) for group in found.groups()]
    if not numbers or max(numbers) > 255:
        raise BadReply(f"no address in {reply.text[:80]!r}")
    return _port(numbers[4] * 256 + numbers[5], reply)


def extended_port(reply: Reply) -> int:
    """The port in the answer to EPSV (RFC 2428). Raises BadReply."""
    found = _EXTENDED.search(" ".join(reply.lines))
    return _port(0 if found is None else int(found[2]), reply)


def _port(number: int, reply: Reply) -> int:
    if not 0 < number < 65536:
        raise BadReply(f"no port in {reply.text[:80]!r}")
    return number


def path_of(uri: str) -> bytes:
    """The path that a URI names, as it is said to the server. Raises ValueError for one that would end the command."""
    path = unquote_to_bytes(path_query_of(uri.partition("://")[2]))
    if any(byte in b"\r\n\0" for byte in path):
        raise ValueError("a line end in the path of an ftp URI")
    return path


def login_of(uri: str) -> tuple[str, str] | None:
    """User and password that a URI brings, or None. Raises ValueError for those that would end the command."""
    info, at, _ = authority_of(uri).rpartition("@")
    if not at:
        return None
    user, _, password = info.partition(":")
    return checked(unquote(user)), checked(unquote(password))


def login(uri: str, view: Any, meta: Mapping[str, Any] | None = None) -> tuple[str, str]:
    """Whom a server is told: the URI's own user and password, those in a Request's ``meta``, or those of the settings.
    Raises ValueError for those that would end the command."""
    own = login_of(uri)
    if own is not None:
        return own
    meta = meta or {}
    user, password = meta.get("ftp_user") or view.ftp_username, meta.get("ftp_password") or view.ftp_password
    return checked(str(user)), checked(str(password))


def checked(text: str) -> str:
    """Text that can be said in one command. Raises ValueError."""
    if any(each in text for each in "\r\n\0"):
        raise ValueError("a line end in user or password")
    return text


def names(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The names in a listing that NLST gave. Lines that are longer than any name are left out."""
    held = b""
    too_long = False
    for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            if not too_long and (name := line.rstrip(b"\r")) and len(name) <= MAX_NAME:
                yield name
            too_long = False
        if len(held) > MAX_NAME:
            held, too_long = b"", True
    if not too_long and (name := held.rstrip(b"\r")) and len(name) <= MAX_NAME:
        yield name


def links(uri: str, pieces: Iterable[bytes], *, heritrix: bool) -> Iterator[str]:
    """URIs of what a directory holds, not fixed up yet.

    Names are escaped as a path wants it, byte for byte; Heritrix writes them as a form would, so that a blank becomes
    a plus that no server takes for a blank.
    """
    base = uri.removesuffix("/") + "/"
    for name in names(pieces):
        if heritrix:
            yield base + quote_plus(name.decode("utf-8", "replace"), safe="*-._")
            continue
        own = name.removeprefix(b"./")
        if own in (b"", b".", b"..") or b"/" in own:
            continue  # itself, its parent, and what is no name
        yield base + quote(own, safe="")


def found(uri: str, listing: Iterable[bytes] | None, view: Any) -> tuple[list[str], int]:
    """What the settings want followed from here: URIs, not fixed up yet, and how many names were left out since a
    directory had too many. ``listing``: of a directory; None for a file."""
    heritrix = view.profile == "heritrix"
    most = None if heritrix else view.max_outlinks  # a directory may not be worth more links than a page
    held: list[str] = []
    left_out = 0
    if listing is not None and view.ftp_extract_from_dirs:
        for link in links(uri, listing, heritrix=heritrix):
            if most is not None and len(held) >= most:
                left_out += 1
            else:
                held.append(link)
    if view.ftp_extract_parent and (above := parent(uri, heritrix=heritrix)) is not None:
        held.append(above)
    return held, left_out


def parent(uri: str, *, heritrix: bool) -> str | None:
    """URI of the directory that a file or directory lies in; None for the root. It has no slash at its end, as
    a listing names it; in Heritrix it is the directory itself where the URI had one."""
    scheme, _, rest = uri.partition("://")
    path = path_query_of(rest)
    if path == "/":
        return None
    if not heritrix:
        path = path.rstrip("/")
    above, _, _ = path.rpartition("/")
    return f"{scheme}://{authority_of(uri)}{above or '/'}"
