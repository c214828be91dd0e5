"""Which server does the authority of a URI name: user, host and port, as they are sent and compared?

Host names become ASCII by IDNA 2003 (RFC 3490 with RFC 3491's nameprep and Unicode 3.2), as Heritrix does it, or, not
strictly, as browsers do today; names that are not quite host names but plain ASCII pass. Default ports of http and
https go, others stay.
"""

from __future__ import annotations

import re
import stringprep
from encodings.idna import nameprep
from unicodedata import category, normalize

from .address import plain_ipv4, plain_ipv6
from .errors import UriError
from .escape import PATH_SAFE, escape

DEFAULT_PORTS = {"http": ":80", "https": ":443"}
MAX_PORT = 65535

_TOLERATED_HOST = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?")
_TOLERATED_LABEL = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN_HOST = re.compile(r"[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")
_KEPT = re.compile("([\u00df\u03c2])")
_NOT_LDH = re.compile(r"[\x00-,./:-@\[-`{-\x7f]")
_PORT = re.compile(r"([^\n]*:)([0-9]+)")
_SERVER_HOST = re.compile(r"[A-Za-z0-9._-]*")
_REGISTRY_NAME = re.compile(r"[A-Za-z0-9\-_.!~*'()%;:@&=+$,]*")
_PORT_NUMBER = re.compile(r"[+-]?\d+")
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%25[\w.~-]+)?\]", re.ASCII)
_MAX_LABEL = 63
_LAST_OF_NUMBER = frozenset("0123456789abcdefx.")


def fix_authority(authority: str, scheme: str | None, charset: str, *, strict: bool) -> str:
    """Repair the authority of a reference whose scheme may be unknown.

    Heritrix: UsableURIFactory.fixupAuthority, fixupDomainlabel, checkPort.  Raises UriError for a host that
    cannot be one, and for a port of http or https outside 1 to 65535.
    """
    while authority.endswith("%20"):
        authority = authority[:-3]
    at = authority.find("@")
    user, rest = authority[: at + 1], authority[at + 1 :]
    if not strict and (literal := _IPV6.match(rest)):
        host, port = plain_ipv6(literal.group().lower()), rest[literal.end() :]
        if port and not port.startswith(":"):
            raise UriError(f"not a host: {rest!r}")
    else:
        colon = rest.find(":")
        if colon < 0:
            colon = len(rest)
        host, port = rest[:colon], rest[colon:]
        if not strict and host.startswith("."):
            host = host[1:]
        host = ascii_host(host, strict=strict)
        if not strict and host[-1:] in _LAST_OF_NUMBER:
            host = plain_ipv4(host)
    authority = escape(user, PATH_SAFE, charset) + host + port
    if default := DEFAULT_PORTS.get(scheme or ""):
        authority = _check_port(authority)
        if authority.endswith(default):
            authority = authority[: -len(default)]
    authority = authority.removesuffix(".")
    # A leading dot of the host is gone or has raised by now; what Heritrix still finds is the user's.
    return authority.removeprefix(".") if strict else authority


def _check_port(authority: str) -> str:
    found = _PORT.fullmatch(authority)
    if not found:
        return authority
    digits = found.group(2).lstrip("0") or "0"
    if not 1 <= int(digits[:6]) <= MAX_PORT or len(digits) > 5:
        raise UriError(f"port out of bounds: {authority!r}")
    return found.group(1) + digits


def ascii_host(host: str, *, strict: bool) -> str:
    """Give a host name in lower-case ASCII.  Raises UriError where neither IDNA nor tolerance allows it."""
    if len(host) <= _MAX_LABEL and _PLAIN_HOST.fullmatch(host):
        return host
    labels = _DOTS.split(host)
    try:
        return ".".join([_ascii_label(label, strict=strict) for label in labels]).lower()
    except UriError:
        if _TOLERATED_HOST.fullmatch(host):
            return host.lower()
        if strict:
            raise
    if len(labels) > 1 and not labels[-1]:
        labels.pop()
    return ".".join(
        [label if _TOLERATED_LABEL.fullmatch(label) else _ascii_label(label, strict=False) for label in labels]
    ).lower()


def _ascii_label(label: str, *, strict: bool) -> str:
    """RFC 3490, 4.1 (ToASCII) with UseSTD3ASCIIRules set and AllowUnassigned unset; not strict: as browsers read names
    today (UTS 46, not transitional), which keeps sharp s and final sigma and knows letters newer than Unicode 3.2."""
    if not label.isascii():
        if strict and any(stringprep.in_table_a1(char) for char in label):
            raise UriError(f"code point unassigned in Unicode 3.2: {label!r}")
        try:
            label = nameprep(label) if strict else "".join(map(_prepared, _KEPT.split(label)))
        except UnicodeError as error:
            raise UriError(f"not a host label: {label!r}") from error
    if _NOT_LDH.search(label) or label.startswith("-") or label.endswith("-"):
        raise UriError(f"not a host label: {label!r}")
    if not label.isascii():
        if label.startswith("xn--"):
            raise UriError(f"a non-ASCII label with the prefix of an encoded one: {label!r}")
        label = "xn--" + label.encode("punycode").decode("ascii")
    if not 1 <= len(label) <= _MAX_LABEL:
        raise UriError(f"a host label has 1 to {_MAX_LABEL} characters: {label!r}")
    return label


def _prepared(text: str) -> str:
    """A piece of a label in lower case and one form. Raises UnicodeError."""
    if _KEPT.fullmatch(text):
        return text
    if not any(stringprep.in_table_a1(char) for char in text):
        return nameprep(text)
    text = "".join(char for char in normalize("NFKC", text.lower()) if not stringprep.in_table_b1(char))
    if any(category(char)[0] in "CZ" for char in text):
        raise UnicodeError("a character that no name has")
    return text


def parse_authority(authority: str, *, strict: bool) -> str:
    """Read user, host and port and put them together again (Heritrix: LaxURI.parseAuthority).

    An empty port and a plus sign vanish; a port that is not a number raises UriError.
    """
    at = authority.find("@")
    rest = authority[at + 1 :]
    if not strict and rest.startswith("[") and "]" in rest:
        colon = rest.index("]") + 1
    else:
        colon = rest.find(":")
        if colon < 0:
            colon = len(rest)
        if not _SERVER_HOST.fullmatch(rest[:colon]):
            if not _REGISTRY_NAME.fullmatch(authority):
                raise UriError(f"not a host or registry name: {authority!r}")
            return authority
    port = rest[colon + 1 :]
    host = authority[: at + 1 + colon]
    if not port:
        return host
    if not _PORT_NUMBER.fullmatch(port) or not -(1 << 31) <= int(port) < 1 << 31:
        raise UriError(f"not a port: {authority!r}")
    number = int(port)
    if number < 0 and not strict:
        raise UriError(f"port out of bounds: {authority!r}")
    return host if number == -1 else f"{host}:{number}"
