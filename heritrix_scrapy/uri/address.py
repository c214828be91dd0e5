"""Is a host an IP address, in whatever spelling, and how is it written?

Browsers take ``0x7f.1``, ``2130706433`` and ``127.1`` for 127.0.0.1 (WHATWG URL, host parser), and an IPv6 address has
many spellings too (RFC 5952 names one). One spelling for each: else one server is crawled under many names.
"""

from __future__ import annotations

import ipaddress
import re

from .errors import UriError

_NUMBER = re.compile(r"0[xX]([0-9A-Fa-f]*)|0([0-7]*)|([1-9][0-9]*)")


def plain_ipv4(host: str) -> str:
    """Give the four decimal numbers of a host that is an IPv4 address; any other host as it is.

    A part with ``0x`` before it is hexadecimal, one with ``0`` octal; the last part fills what is left of 32 bits.
    """
    parts = host.split(".")
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    if len(parts) > 4 or not parts[-1][:1].isdigit():
        return host
    numbers = []
    for part in parts:
        found = _NUMBER.fullmatch(part)
        if found is None or len(part) > 40:
            return host
        hexadecimal, octal, decimal = found.groups()
        if hexadecimal is not None:
            numbers.append(int(hexadecimal or "0", 16))
        else:
            numbers.append(int(octal or "0", 8) if decimal is None else int(decimal))
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        return host
    value = last + sum(number << 8 * (3 - place) for place, number in enumerate(first))
    return ".".join(str(byte) for byte in value.to_bytes(4, "big"))


def plain_ipv6(literal: str) -> str:
    """Give the shortest spelling of an IPv6 address with its brackets; a zone stays. Raises UriError."""
    address, mark, zone = literal[1:-1].partition("%25")
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError as error:
        raise UriError(f"not an IPv6 address: {literal!r}") from error
    mapped = parsed.ipv4_mapped
    # interpreters differ about these
    text = f"::ffff:{int(mapped) >> 16:x}:{int(mapped) & 0xFFFF:x}" if mapped else parsed.compressed
    return f"[{text}{mark}{zone}]"
