"""Which parts of a request are secrets, and what stands in their place?

Authorization and cookies in the head, passwords and tokens in the three kinds of forms. The operator asks for it
(``HERITRIX_WARC_REDACT_REQUEST_HEADERS``); Heritrix has no such thing.
"""

from __future__ import annotations

import re

#: Request headers whose values are secrets; a folded value goes on in the next lines.
SECRET = re.compile(
    rb"(?im)^(authorization|proxy-authorization|cookie|cookie2):[ \t]*([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)"
)
_SECRET_NAME = rb"[^=&\"\r\n]*(?:pass|pwd|secret|token|(?<![a-z])pin(?![a-z]))[^=&\"\r\n]*"
#: Fields of a form that hold one, as the three ways of sending a form write them.
SECRET_FIELD = re.compile(rb"(?i)(?:^|(?<=&))(" + _SECRET_NAME + rb")=([^&]*)")
SECRET_PART = re.compile(
    rb"(?is)(content-disposition:[^\r\n]*?;[ \t]*name=\"?("
    + _SECRET_NAME
    + rb")\"?[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n)"
    rb"(.*?)(?=\r?\n--)"
)
SECRET_MEMBER = re.compile(rb"(?i)(\"(" + _SECRET_NAME + rb")\"\s*:\s*)(\"(?:[^\"\\]|\\.)*\"|[^\s,}\]\"]+)")
MASK = b"[redacted]"


def redacted(request: bytes) -> tuple[bytes, list[str]]:
    """The request with secrets masked, and the names of what was."""
    names: list[str] = []

    def note(name: bytes) -> None:
        names.append(name.decode("latin-1").lower())

    def mask(found: re.Match[bytes]) -> bytes:
        note(found[1])
        return found[1] + (b": " if found.re is SECRET else b"=") + MASK

    def mask_value(found: re.Match[bytes]) -> bytes:
        note(found[2])
        return found[1] + (b'"' + MASK + b'"' if found.re is SECRET_MEMBER else MASK)

    top, gap, body = request.partition(b"\r\n\r\n")
    top = SECRET.sub(mask, top)
    mime = re.search(rb"(?im)^content-type:[ \t]*([^;\s]*)", top)
    form = mime[1].lower() if mime is not None else b""
    if form == b"application/x-www-form-urlencoded":
        body = SECRET_FIELD.sub(mask, body)
    elif form == b"multipart/form-data":
        body = SECRET_PART.sub(mask_value, body)
    elif form == b"application/json" or form.endswith(b"+json"):
        body = SECRET_MEMBER.sub(mask_value, body)
    return top + gap + body, list(dict.fromkeys(names))
