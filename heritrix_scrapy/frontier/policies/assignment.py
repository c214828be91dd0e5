"""In which queue does a URI wait? (spec 5)

Most policies name the queue after the URI's authority, and share what follows: a queue given before, a forced one,
sub-queues. A prerequisite goes where the URI that needs it waits (Heritrix:
URIAuthorityBasedQueueAssignmentPolicy).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from heritrix_scrapy.frontier.fingerprint import bucket_for
from heritrix_scrapy.frontier.policies.contract import Given, QueueAssignmentPolicy
from heritrix_scrapy.model.crawluri import authority_of, host_of, path_query_of
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.uri.domain import assignment_level
from heritrix_scrapy.uri.surt import authority_part, surt

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

DEFAULT_QUEUE = "default..."
WHOIS_QUEUE = "whois..."

#: An authority that is a name in lower case and nothing else, and cannot be an address: most are.
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?<=[a-z])", re.ASCII)
_surt_keys: tuple[dict[str, str], dict[str, str]] = ({}, {})


def surt_authority(uri: str, *, strict: bool = False) -> str:
    """The authority as a SURT, with ``#`` for ``:``; "" when the URI has none. ``strict``: an IPv6 address is turned
    round as in Heritrix."""
    start = uri.find("://") + 3
    if start < 3:
        return ""
    end = uri.find("/", start)
    authority = uri[start:end] if end > 0 else authority_of(uri)
    known = _surt_keys[strict]
    key = known.get(authority)
    if key is None:
        if len(known) > 50_000:
            known.clear()
        if _NAME.fullmatch(authority):
            key = ",".join(authority.split(".")[::-1]) + ","
        else:
            form = surt(f"http://{authority_of(uri)}/", strict=strict)
            key = authority_part(form).replace(":", "#") if "://(" in form else ""
        known[authority] = key
    return key


def first_segment(uri: str) -> str:
    """The first segment of the URI's path, if another slash follows it; else "" (Heritrix: bucketBasis)."""
    _, slashes, rest = uri.partition("://")
    if not slashes:
        return ""
    path = path_query_of(rest).partition("?")[0]
    end = path.find("/", 1)
    return path[1:end] if end > 0 else ""


class AuthorityBased(QueueAssignmentPolicy):
    """What the policies that go by authority share. ``core_key`` of the policy basis is the queue's name, before
    sub-queues."""

    PROPERTIES: ClassVar[dict[str, str]] = {
        "defer_to_previous": "defer_to_previous",
        "force_queue_assignment": "force_queue_assignment",
        "parallel_queues": "parallel_queues",
        "parallel_queues_random_assignment": "parallel_queues_random_assignment",
    }

    def __init__(self, given: Given) -> None:
        view = given.view
        self.heritrix: bool = view.profile == "heritrix"
        self.strict: bool = view.strict_uri_fixup
        self.hosts = given.hosts
        self.defers: bool = given.value("defer_to_previous", "defer_to_previous")
        self.forced: str = given.value("force_queue_assignment", "force_queue_assignment")
        self.parallel: int = given.value("parallel_queues", "parallel_queues")
        self.whole_uri: bool = given.value("parallel_queues_random_assignment", "parallel_queues_random_assignment")
        self.moves = not self.defers
        self.by_authority = self.parallel <= 1

    def class_key(self, curi: CrawlURI) -> str:
        if self.defers and curi.class_key:
            return curi.class_key
        basis = curi.policy_basis
        return self.finished(curi, basis, self.core_key(basis))

    @abstractmethod
    def core_key(self, uri: str) -> str:
        """The queue's name before anything goes before or behind it."""

    def finished(self, curi: CrawlURI, basis: str, core: str) -> str:
        """A core key with everything that goes before or behind it."""
        if curi.uri.startswith("whois:"):
            return WHOIS_QUEUE
        core = self.forced or core
        if not core:
            return DEFAULT_QUEUE
        if self.parallel > 1:
            text = basis if self.whole_uri else first_segment(basis)
            if text and (bucket := bucket_for(text, self.parallel)):
                return f"{core}+{bucket}"
        return core


class SurtAuthorityQueueAssignmentPolicy(AuthorityBased):
    """One queue for each host and port, named by its SURT: `com,example,www,#8080`."""

    def core_key(self, uri: str) -> str:
        return surt_authority(uri, strict=self.strict)


class WithLimit(AuthorityBased):
    """``limit``: how many segments of the name are kept; -1 keeps all."""

    PROPERTIES: ClassVar[dict[str, str]] = {**AuthorityBased.PROPERTIES, "limit": "queue_assignment_limit"}

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.limit: int = given.value("limit", "queue_assignment_limit")


class SurtAuthorityQueueAssignmentPolicyWithLimits(WithLimit):
    """The same, cut to the first ``limit`` segments: `com,example,#8080` for 2. Addresses stay whole."""

    def core_key(self, uri: str) -> str:
        key = surt_authority(uri, strict=self.strict)
        if not self.heritrix:
            key = key.partition("@")[0]
        if self.limit <= 0:
            return key
        mark = key.find("#")
        name, tail = (key[:mark], key[mark:]) if mark > 0 else (key, "")
        parts = name.split(",")
        if len(parts) <= self.limit:
            return key
        return ",".join([*parts[: self.limit], tail])


class HostnameQueueAssignmentPolicy(AuthorityBased):
    """One queue for each host and port, named as in a URI: `www.example.com`, `www.example.com#443` for https."""

    def core_key(self, uri: str) -> str:
        _, slashes, _ = uri.partition("://")
        if not slashes:
            return ""
        key = authority_of(uri).rpartition("@")[2]
        if key and uri.startswith("https:") and not re.search(r":\d+\Z", key, re.ASCII):
            key += ":443"
        return key.replace(":", "#")


class HostnameQueueAssignmentPolicyWithLimits(WithLimit, HostnameQueueAssignmentPolicy):
    """The same, cut to the last ``limit`` segments of the name: `example.com#443` for 2. Addresses stay whole."""

    def core_key(self, uri: str) -> str:
        key = super().core_key(uri)
        parts = key.split(".")
        if self.limit <= 0 or len(parts) <= self.limit:
            return key
        if not self.heritrix and (key.startswith("[") or numeric_address(key.partition("#")[0])):
            return key
        return ".".join(parts[-self.limit :])


class AssignmentLevelSurtQueueAssignmentPolicy(SurtAuthorityQueueAssignmentPolicy):
    """One queue for each registered domain, whatever the port: `com,example,`."""

    def class_key(self, curi: CrawlURI) -> str:
        if not self.heritrix or (self.defers and curi.class_key):
            return super().class_key(curi)
        # Heritrix reduces a key that is finished already, and finishes it once more
        key = assignment_level(super().class_key(curi), strict=self.strict)
        return key if key == WHOIS_QUEUE else self.finished(curi, curi.policy_basis, key)

    def core_key(self, uri: str) -> str:
        key = super().core_key(uri)
        return key if self.heritrix else assignment_level(key, strict=self.strict)


class IPQueueAssignmentPolicy(HostnameQueueAssignmentPolicy):
    """One queue for each address, `192.0.2.1`; by host name until the address is known. A URI moves when it becomes
    known."""

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.moves, self.by_authority = True, False

    def class_key(self, curi: CrawlURI) -> str:
        address = known_address(curi, self.hosts)
        return super().class_key(curi) if address is None else address.replace(":", "#")


class BucketQueueAssignmentPolicy(AuthorityBased):
    """At most 2,046 queues, by a hash of the address, of the name where it is not known."""

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.moves, self.by_authority = True, False

    def class_key(self, curi: CrawlURI) -> str:
        host = host_name(curi)
        address = known_address(curi, self.hosts) if host else None
        return self.core_key(host) if address is None else str(abs(address_hash(address)) % 1021)

    def core_key(self, uri: str) -> str:
        """``uri``: only the name of its host."""
        return f"NO-IP-{abs(java_hash(uri)) & 1023}" if uri else "NO-HOST"


class SourceTagQueueAssignmentPolicy(AuthorityBased):
    """One queue for each seed, with all that was found from it; needs ``HERITRIX_SOURCE_TAG_SEEDS``. ``level``: `seed`
    names it by the seed as written, `host` by the seed's host, `domain` by its registered domain, so that seeds of one
    host or domain share a queue."""

    PROPERTIES: ClassVar[dict[str, str]] = {**AuthorityBased.PROPERTIES, "level": "source_tag_queue_level"}

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.by_authority = False
        self.level: str = given.value("level", "source_tag_queue_level")
        if self.level not in LEVELS:
            raise ConfigurationError("HERITRIX_SOURCE_TAG_QUEUE_LEVEL", self.level, f"one of {', '.join(LEVELS)}")
        if not given.view.source_tag_seeds:
            raise ConfigurationError(
                "HERITRIX_QUEUE_ASSIGNMENT_POLICY", "SourceTag", "it needs HERITRIX_SOURCE_TAG_SEEDS = True"
            )
        self._names: dict[str, str] = {}

    def class_key(self, curi: CrawlURI) -> str:
        if self.defers and curi.class_key:
            return curi.class_key
        basis = curi.policy_basis
        tag = curi.source_tag
        return self.finished(curi, basis, self.core_key(basis) if tag is None else self._name(tag))

    def core_key(self, uri: str) -> str:
        """Of what has no source: an import, a Request of the spider's."""
        key = surt_authority(uri, strict=self.strict)
        return assignment_level(key, strict=self.strict) if self.level == "domain" else key

    def _name(self, tag: str) -> str:
        if self.level == "seed":
            return tag
        name = self._names.get(tag)
        if name is None:
            if len(self._names) > 50_000:
                self._names.clear()
            name = self._names[tag] = self.core_key(tag if "://" in tag else f"http://{tag}")
        return name


LEVELS = ("seed", "host", "domain")


def host_name(curi: CrawlURI) -> str:
    """The host a URI is fetched from; a ``dns:`` or ``whois:`` URI has a host of that name."""
    scheme, colon, rest = curi.uri.partition(":")
    return host_of(curi.uri) if rest.startswith("//") else f"{scheme}{colon}"


def known_address(curi: CrawlURI, hosts: object) -> str | None:
    """The address of the URI's own host, or None."""
    host = host_of(curi.uri) if "://" in curi.uri else ""
    if not host or hosts is None:
        return None
    addresses: list[str] = hosts.host(host).addresses  # type: ignore[attr-defined]
    return addresses[0] if addresses else None


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``."""
    word = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for place in range(0, len(units), 2):
        word = (31 * word + (units[place] << 8 | units[place + 1])) & 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word


def address_hash(address: str) -> int:
    """Java's ``InetAddress.hashCode``: an IPv4 address as a signed number; of an IPv6 address its four words, added."""
    from ipaddress import ip_address

    packed = ip_address(address).packed
    word = 0
    for start in range(0, len(packed), 4):
        part = 0
        for byte in packed[start : start + 4]:
            part = (part << 8) + (byte - 256 if byte > 127 and len(packed) > 4 else byte)
        word += part
    word &= 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word


CLASSES: tuple[type[AuthorityBased], ...] = (
    SurtAuthorityQueueAssignmentPolicy,
    SurtAuthorityQueueAssignmentPolicyWithLimits,
    HostnameQueueAssignmentPolicy,
    HostnameQueueAssignmentPolicyWithLimits,
    AssignmentLevelSurtQueueAssignmentPolicy,
    IPQueueAssignmentPolicy,
    BucketQueueAssignmentPolicy,
    SourceTagQueueAssignmentPolicy,
)
