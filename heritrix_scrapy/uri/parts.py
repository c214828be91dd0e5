"""What are host, port, file name … of a URI, as rules and policies ask for them?

Everything takes a fixed-up URI and gives None where a part is absent.  (Heritrix: UsableURI's accessors.)
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from .fixup import Parts, split

__all__ = [
    "Parts",
    "authority_without_userinfo",
    "decoded",
    "filename",
    "host",
    "host_basename",
    "port",
    "referenced_host",
    "split",
    "unicode_host",
    "userinfo",
]

_HOST_LIKE = re.compile(r"[-_\w.:]+", re.ASCII)
_WWW = re.compile(r"www\d*\.", re.ASCII)
_SERVER = re.compile(r"(\[[^\]]*\]|[^:]*)(?::(\d+))?")
_SCHEME_AND_REST = re.compile(r"([^:/?#]+://)(?:([^/?#@]*)@)?([^/?#:]*)(.*)", re.DOTALL)


def _authority(uri: str) -> str | None:
    return split(uri).authority


def userinfo(uri: str) -> str | None:
    """Give user and password as written."""
    user, at, _ = (_authority(uri) or "").partition("@")
    return user if at else None


def authority_without_userinfo(uri: str) -> str | None:
    """Give host and port as written."""
    authority = _authority(uri)
    return None if authority is None else authority.partition("@")[2] or authority


def host(uri: str) -> str | None:
    """Give the host name; None for ``dns:`` and the like.  An IPv6 address keeps its brackets."""
    found = _SERVER.match(authority_without_userinfo(uri) or "")
    return found.group(1) or None if found else None


def port(uri: str) -> int:
    """Give the port that is written, else -1."""
    found = _SERVER.fullmatch(authority_without_userinfo(uri) or "")
    return int(found.group(2)) if found and found.group(2) else -1


def referenced_host(uri: str) -> str | None:
    """Give the host, or the one that a ``dns:`` URI asks for."""
    taken = split(uri)
    if taken.authority is None and taken.scheme == "dns":
        return taken.path if _HOST_LIKE.fullmatch(taken.path) else None
    return host(uri)


def host_basename(uri: str) -> str | None:
    """Give the referenced host without ``www.``, ``www3.`` …"""
    name = referenced_host(uri)
    return None if name is None else _WWW.sub("", name, count=1) if _WWW.match(name) else name


def decoded(text: str, *, strict: bool = False) -> str:
    """Decode the percent escapes for reading; stray ones stay.  ``strict`` reads ``+`` as a space, too."""
    if strict:
        text = text.replace("+", " ")
    return unquote_to_bytes(text).decode("utf-8", "replace")


def filename(path: str) -> str:
    """Give what follows the last slash of a path or URI."""
    return path.rpartition("/")[2]


def unicode_host(uri: str) -> str:
    """Show a URI with its host decoded from IDNA; one that cannot be decoded stays."""
    found = _SCHEME_AND_REST.fullmatch(uri)
    if not found:
        return uri
    scheme, user, name, rest = found.groups()
    labels = [_shown(label) for label in name.split(".")]
    return f"{scheme}{user + '@' if user is not None else ''}{'.'.join(labels)}{rest}"


def _shown(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
