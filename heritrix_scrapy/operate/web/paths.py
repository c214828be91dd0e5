"""Which path does a request ask for? One that could be read in two ways is refused."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
ANYPATH: Final = "/engine/anypath/"
_AUTHORITY: Final = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x20\x7f-\U0010ffff]")


class Ambiguous(ValueError):
    """The path may mean more than one; the text says what is in it."""


class Outside(ValueError):
    """The path leads out of where it begins."""


def segments(raw: str) -> list[str]:
    """The segments of a raw path, decoded; the last is empty when it ends in a slash. Dots stand for themselves here:
    ``resolved`` follows them. Raises Ambiguous for encoded slashes, dots and percent signs, and for empty segments."""
    path = raw.partition("?")[0].partition("#")[0]
    if not path.startswith("/") or _CONTROL.search(path) or _BAD_ESCAPE.search(path):
        raise Ambiguous("Bad Request")
    parts = path[1:].split("/")
    depth = 0
    for part in parts:
        depth += {"..": -1, ".": 0, "": 0}.get(re.sub("%2e", ".", part, flags=re.IGNORECASE), 1)
        if depth < 0:
            raise Ambiguous("Bad Request")
    lowered = path.lower()
    if "%2f" in lowered or "%5c" in lowered:
        raise Ambiguous("Ambiguous URI path separator")
    if "%25" in lowered:
        raise Ambiguous("Ambiguous URI path encoding")
    if any("%2e" in part.lower() and unquote(part) in (".", "..") for part in parts):
        raise Ambiguous("Ambiguous URI path segment")
    if any(not part for part in parts[:-1]):
        raise Ambiguous("Ambiguous URI empty segment")
    try:
        decoded = [unquote(part, errors="strict") for part in parts]
    except UnicodeDecodeError:
        raise Ambiguous("Bad Request") from None
    if any("\0" in part for part in decoded):
        raise Ambiguous("Bad Request")
    return decoded


def origin(raw: str) -> str:
    """The target of a request without scheme and host, with which a client may send it (RFC 9112 3.2.2)."""
    return _AUTHORITY.sub("", raw) or "/"


def absolute(raw: str) -> str:
    """A raw path with one slash before an absolute one: NetarchiveSuite's client asks for ``anypath//folder/file``."""
    return ANYPATH + raw[len(ANYPATH) + 1 :] if raw.startswith(f"{ANYPATH}/") else raw


def resolved(parts: list[str]) -> list[str]:
    """Segments with ``.`` and ``..`` followed. Raises Outside when they lead above the first."""
    out: list[str] = []
    for part in parts:
        if part == "..":
            if not out:
                raise Outside("the path leads out of the folder")
            out.pop()
        elif part != ".":
            out.append(part)
    return out


def address(*parts: str) -> str:
    """A path of segments, encoded."""
    return "/" + "/".join(quote(part, safe="-._~!$&'()*+,;=:@") for part in parts)
