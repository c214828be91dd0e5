"""Is this an address of the public internet?

What an operator keeps a crawl away from with ``HERITRIX_REFUSE_PRIVATE_ADDRESSES``: a page, a redirect or a
name server of a stranger must not lead it to machines of the network it runs in.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

#: Ways to write an IPv4 address inside an IPv6 one that lead to that IPv4 address (RFC 6052).
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@lru_cache(maxsize=4096)
def is_private(address: str) -> bool:
    """Whether a textual address is private, loopback, link-local, unspecified, multicast or reserved; what is no
    address counts as one that is."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            ip = inner
    return not ip.is_global or ip.is_multicast
