"""How is a URI written so that text order is domain order (Sort-friendly URI Reordering Transform)?

``http://user@www.archive.org:8080/Path`` becomes ``http://(org,archive,www,:8080@user)/path``.  What is not
``scheme://host…`` stays as it is.  (Heritrix: org.archive.util.SURT, SurtPrefixSet.getCandidateSurt.)
"""

from __future__ import annotations

import re
from functools import lru_cache

_WHOLE = re.compile(
    r"(\w+://)(?:([-\w.!~*'()%;:&=+$,]+?)@)?(?:((?:\d{1,3}\.){3}\d{1,3})|(\S+?))(:\d+)?(/\S*)?", re.ASCII
)
_PIECES = re.compile(r"(\w+://[^/\s]*[^/\s@])(/\S*)?", re.ASCII)
#: A name in lower case without user and port, which cannot be an address: most are.
_PLAIN_HEAD = re.compile(r"([a-z]+://)([a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?<=[a-z]))", re.ASCII)
_USER = re.compile(r"(\w+://)[^/?#]*@", re.ASCII)


def surt(uri: str, *, strict: bool = False) -> str:
    """Give the SURT of a URI, in lower case.

    ``strict`` reverses an IPv6 address as if it were a name of one label, as Heritrix does.
    """
    pieces = _PIECES.fullmatch(uri)
    if pieces is None:
        return _whole(uri, strict)
    head, rest = pieces.groups()
    front = _head(head, strict)
    if front is None:
        return uri
    return front if rest is None else front + lower(rest)


def candidate(uri: str, *, strict: bool = False) -> str:
    """Give the SURT that is compared with prefixes: https counts as http.

    User and password count for nothing, except under ``strict``, as in Heritrix.
    """
    if not strict and "@" in uri:
        uri = _USER.sub(r"\1", uri, count=1)
    form = surt(uri, strict=strict)
    return "http" + form[5:] if form.startswith("https://") else form


def authority_part(form: str) -> str:
    """Give what stands between ``://(`` and the first ``)`` of a SURT, or the whole of another text."""
    start = form.find("://(")
    end = form.find(")", start)
    return form[start + 4 : end] if start >= 0 and end >= 0 else form


def lower(text: str) -> str:
    """Lower-case character by character: no final sigma, one character for one."""
    if text.isascii():
        return text.lower()
    return "".join(["i" if char == "\u0130" else char.lower() for char in text])


@lru_cache(maxsize=16384)
def _head(head: str, strict: bool) -> str | None:
    if plain := _PLAIN_HEAD.fullmatch(head):
        scheme, host = plain.groups()
        return f"{scheme}({','.join(host.split('.')[::-1])},)"
    form = _whole(head, strict)
    return None if form == head and "://(" not in form else form


def _whole(uri: str, strict: bool) -> str:
    found = _WHOLE.fullmatch(uri)
    if found is None:
        return uri
    scheme, user, quad, host, port, rest = found.groups("")
    if quad or (not strict and host.startswith("[") and host.endswith("]")):
        labels = quad or host
    else:
        # A trailing dot belongs to the last label.
        dot = host.endswith(".")
        reverse = (host[:-1] if dot else host).split(".")[::-1]
        labels = ",".join([reverse[0] + "." if dot else reverse[0], *reverse[1:], ""])
    return lower(f"{scheme}({labels}{port}{'@' + user if user else ''}){rest}")
