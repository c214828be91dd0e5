"""How do cookies stand in a text file?

The Netscape cookies.txt format: seven fields between tabs. ``strict`` reads and writes what Heritrix does
(AbstractCookieStore.readCookies, saveCookies); else the flag for subdomains and ``#HttpOnly_`` are heeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.fetch.cookies import Cookie

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = "# Heritrix Cookie File\n# This file is the Netscape cookies.txt format\n\n"
HTTP_ONLY = "#HttpOnly_"

_BLANKS = "".join(map(chr, range(33)))


class BadLine(ValueError):
    """A line that is no cookie."""


def read_line(line: str, *, strict: bool = False) -> Cookie | None:
    """The cookie of a line, None for a blank line or a comment. Raises BadLine."""
    line = line.rstrip("\r\n")
    text = line.strip(_BLANKS)
    http_only = not strict and text.startswith(HTTP_ONLY)
    if http_only:
        line = line.lstrip(_BLANKS).removeprefix(HTTP_ONLY)
    elif not text or text.startswith("#"):
        return None
    fields = line.split("\t")
    if strict:
        # Java's split drops empty fields at the end
        while fields and not fields[-1]:
            fields.pop()
    elif len(fields) == 6:
        fields.append("")
    if len(fields) != 7:
        raise BadLine("expected 7 tab-delimited tokens")
    domain, flag, path, secure, expiry, name, value = fields
    try:
        seconds = int(expiry.split(".")[0] if not strict else expiry)
    except ValueError:
        raise BadLine(f"the expiry {expiry!r} is no number") from None
    lasting = seconds >= 0 if strict else seconds > 0
    return Cookie(
        name,
        value,
        domain.removeprefix(".").lower(),
        path or "/",
        host_only=strict or not (flag.upper() == "TRUE" or domain.startswith(".")),
        secure=secure.lower() == "true",
        http_only=http_only,
        expires_ms=seconds * 1000 if lasting else None,
    )


def read(lines: Iterable[str], *, strict: bool = False) -> Iterator[tuple[int, Cookie | BadLine]]:
    """The cookies of a file's lines, each with its line number; a BadLine for a line that is none."""
    for number, line in enumerate(lines, 1):
        try:
            cookie = read_line(line, strict=strict)
        except BadLine as error:
            yield number, error
        else:
            if cookie is not None:
                yield number, cookie


def write_line(cookie: Cookie, *, strict: bool = False) -> str:
    """The line of a cookie, with its line end."""
    seconds = -1 if cookie.expires_ms is None else cookie.expires_ms // 1000
    wide = strict or not cookie.host_only
    domain = cookie.domain if strict or cookie.host_only else "." + cookie.domain
    if cookie.http_only and not strict:
        domain = HTTP_ONLY + domain
    fields = (domain, _flag(wide), cookie.path or "/", _flag(cookie.secure), str(seconds), cookie.name, cookie.value)
    return "\t".join(fields) + "\n"


def write(cookies: Iterable[Cookie], *, strict: bool = False) -> str:
    """A whole file."""
    return HEAD + "".join(write_line(cookie, strict=strict) for cookie in cookies)


def _flag(value: bool) -> str:
    return "TRUE" if value else "FALSE"
