"""Under which key does each row of the frontier stand?

One sorted store holds all rows; the first byte says what a row is. Rows that are read together stand together:
seen URIs by authority (the links of one page hit the same blocks), queued URIs by queue and in the order in
which they are to be fetched.
"""

from __future__ import annotations

from functools import lru_cache

from xxhash import xxh3_64_digest

SEEN = b"s"
REQUEST = b"r"
QUEUED = b"q"
QUEUE = b"n"
QUEUE_NAME = b"a"
FUTURE = b"f"
UNSYNCED = b"u"
GROWTH = b"g"
META = b"m"

STATE = META + b"state"
LENGTHS = META + b"lengths"
TALLY = META + b"tally/"
SEED = META + b"seed/"
IMPORT = META + b"import/"

#: Bytes of a seen row that all pages of an authority share.
SEEN_PREFIX = 4
#: Value of a seen row once the spider has asked for the page.
BY_SPIDER = b"\x01"

#: Ordinals count up from 1; those of URIs that go newest first stand in their keys counted down from here.
MAX_ORDINAL = (1 << 48) - 1
#: Room on the better side of precedence 0, for a spider's Requests of high priority.
PRECEDENCE_ZERO = 64

_prefixes: dict[str, bytes] = {}


def seen(canonical: str) -> bytes:
    """Row of a canonical URI: 3 bytes of its authority's hash, 8 of its own."""
    mark = canonical.find("://")
    slash = canonical.find("/", mark + 3) if mark > 0 else -1
    authority = canonical if slash < 0 else canonical[:slash]
    prefix = _prefixes.get(authority)
    if prefix is None:
        prefix = seen_prefix(authority)
        if slash >= 0:
            if len(_prefixes) > 50_000:
                _prefixes.clear()
            _prefixes[authority] = prefix
    return prefix + xxh3_64_digest(canonical.encode("utf-8", "surrogatepass"))


def seen_prefix(authority: str) -> bytes:
    """What the rows of all canonical URIs of an authority begin with. ``authority``: its scheme before it."""
    return SEEN + xxh3_64_digest(authority.encode("utf-8", "surrogatepass"))[:3]


def request(fingerprint: bytes) -> bytes:
    """Row of a Request that the spider made, by Scrapy's fingerprint."""
    return REQUEST + fingerprint


def queue(class_key: str) -> bytes:
    """Row of a queue's state."""
    return QUEUE + class_key.encode("utf-8", "surrogatepass")


def queue_name(number: int) -> bytes:
    """Row that leads from a queue's number to its class key."""
    return QUEUE_NAME + number.to_bytes(4, "big")


def queued_prefix(number: int) -> bytes:
    """What the keys of all URIs of one queue begin with."""
    return QUEUED + number.to_bytes(4, "big")


def after(prefix: bytes) -> bytes:
    """The least key that is greater than every key with this prefix."""
    return (int.from_bytes(prefix, "big") + 1).to_bytes(len(prefix), "big")


def queued(prefix: bytes, directive: int, precedence: int, ordinal: int) -> bytes:
    """Row of a queued URI. ``directive`` and ``precedence`` as the bytes that ``rank`` gives, ``ordinal`` as
    ``place_of`` does; its low 48 bits count."""
    return prefix + (directive << 56 | precedence << 48 | ordinal & MAX_ORDINAL).to_bytes(8, "big")


def rank(directive: int, precedence: int, prerequisite: bool, heritrix: bool) -> tuple[int, int]:
    """The two bytes that order URIs inside a queue, lower first.

    A prerequisite goes before everything of its directive, so that it precedes its dependant also at HIGHEST.
    Heritrix ties them, clips precedence at 127 and sorts negative values last; the heritrix profile does too.
    """
    if heritrix:
        return directive, min(precedence, 127) & 0xFF
    return 2 * directive + (not prerequisite), max(0, min(255, PRECEDENCE_ZERO + precedence))


def unrank(key: bytes, *, heritrix: bool) -> tuple[int, int, int]:
    """Directive, precedence and ordinal as they stand in a queued URI's key."""
    return key[5] if heritrix else key[5] >> 1, precedence_of(key, heritrix=heritrix), ordinal_of(key)


def place_of(ordinal: int, *, newest_first: bool) -> int:
    """What stands in a key for an ordinal."""
    return MAX_ORDINAL - ordinal if newest_first else ordinal


def ordinal_of(key: bytes) -> int:
    """The ordinal that a queued URI's key tells. No crawl gives half of them, so that the two ways do not meet."""
    place = int.from_bytes(key[7:13], "big")
    return MAX_ORDINAL - place if place > MAX_ORDINAL >> 1 else place


def precedence_of(key: bytes, *, heritrix: bool) -> int:
    """The precedence in a queued URI's key."""
    byte = key[6]
    if heritrix:
        return byte if byte < 128 else byte - 256
    return byte - PRECEDENCE_ZERO


def future(due_ms: int, sequence: int) -> bytes:
    """Row of a URI that is to be fetched again at a time."""
    return FUTURE + due_ms.to_bytes(8, "big") + sequence.to_bytes(8, "big")


def unsynced(sequence: int) -> bytes:
    """Row of what one flush finished, until the WARC is synced."""
    return UNSYNCED + sequence.to_bytes(8, "big")


def growth(batch: int) -> bytes:
    """Row of the queues that URIs joined in one batch."""
    return GROWTH + batch.to_bytes(8, "big")


@lru_cache(4096)
def tally(name: str) -> bytes:
    """Row of one counter of the reports."""
    return TALLY + name.encode("utf-8", "surrogatepass")


def imported(digest: bytes) -> bytes:
    """Row of how far an import has come, by what was imported and how."""
    return IMPORT + digest


def seed(uri: str) -> bytes:
    """Row of a seed that came as a Request or by a seed's redirect."""
    return SEED + uri.encode("utf-8", "surrogatepass")
