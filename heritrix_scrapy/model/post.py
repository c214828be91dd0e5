"""How is form data written into a request?

Heritrix: FetchHTTPRequest.buildPostRequestEntity, FormLoginProcessor.escapeForMultipart.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable


URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


class Post(NamedTuple):
    """What a URI is fetched with by POST. ``content_type``: empty for none."""

    content_type: str
    body: bytes


def urlencoded(pairs: Iterable[tuple[str, str]], charset: str = "utf-8") -> Post:
    """Form data in the common form. What the charset cannot say becomes ``?``."""
    body = "&".join(f"{_quoted(name, charset)}={_quoted(value, charset)}" for name, value in pairs)
    named = {"utf-8": "UTF-8", "iso-8859-1": "ISO-8859-1"}.get(charset.lower(), charset)
    return Post(f"{URLENCODED}; charset={named}", body.encode("ascii"))


def _quoted(text: str, charset: str) -> str:
    return quote_plus(text, safe="*", encoding=charset, errors="replace").replace("~", "%7E")


def multipart(pairs: Iterable[tuple[str, str]]) -> Post:
    """Form data as parts, as browsers write it; other than ASCII as character references."""
    parts = [(escaped(name), escaped(value)) for name, value in pairs]
    # a boundary that depends on nothing but the data: the same form is the same request
    boundary = "-" * 8 + sha256(repr(parts).encode()).hexdigest()[:32]
    lines = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_attribute(name)}"\r\n\r\n{value}\r\n'
        for name, value in parts
    ]
    body = "".join(lines) + f"--{boundary}--\r\n"
    return Post(f"{MULTIPART}; boundary={boundary}", body.encode("ascii"))


def escaped(text: str) -> str:
    """Text in ASCII: every other character as a decimal reference."""
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _attribute(text: str) -> str:
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def encoded(pairs: Iterable[tuple[str, str]], enctype: str | None) -> Post | None:
    """Form data as the form wants it; None for an encoding that there is none of."""
    kind = (enctype or URLENCODED).strip().lower()
    if kind == MULTIPART:
        return multipart(pairs)
    return urlencoded(pairs) if kind == URLENCODED else None
