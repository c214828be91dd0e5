"""Who asks, and what may they do? Digest and basic authentication, without a socket or a clock.

Digest and basic as RFC 7616 and RFC 7617 say, with the realm of Heritrix; passwords and answers are compared in
constant time. A digest is good once: its count of the nonce's uses is not taken twice.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heritrix_scrapy.operate.web.nonces import SECONDS, Nonces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

REALM: Final = "Authentication Required"
DEFAULT_USER: Final = "admin"

#: Who may steer, and who may only look.
OPERATOR: Final = "operator"
READER: Final = "reader"

#: ``name=value`` or ``name="value"`` of an Authorization header.
_PARAMETER: Final = re.compile(r'([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')

#: How often a nonce was used, as RFC 7616 3.4 writes it.
_COUNT: Final = re.compile(r"[0-9A-Fa-f]{8}")

#: Longest Authorization header that is read.
LONGEST: Final = 4096

#: Requests that change nothing.
LOOKING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Account:
    """A login. ``role``: OPERATOR or READER."""

    user: str
    password: str
    role: str = OPERATOR


class PasswordError(ValueError):
    """No login can be made of what was said: the text says why."""


def account(said: str, role: str = OPERATOR) -> Account:
    """``password``, ``user:password``, or ``@file`` that holds one of these (Heritrix: option ``-a``).

    Raises PasswordError."""
    if said.startswith("@"):
        try:
            said = Path(said[1:]).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeError) as error:
            raise PasswordError(f"the password file {said[1:]} cannot be read: {error}") from None
    user, colon, password = said.partition(":")
    if not colon:
        user, password = DEFAULT_USER, said
    if not user or not password:
        raise PasswordError("a login is user:password, and neither may be empty")
    if any(not char.isprintable() for char in said) or '"' in user or "\\" in user:
        raise PasswordError("a login has no control characters, and the name no quotes or backslashes")
    return Account(user, password, role)


def weak(password: str) -> bool:
    """Whether a password would be guessed soon (spec/output 13)."""
    return (
        len(password) < 8
        or (password.isalpha() and len(password) <= 10)
        or (password.isdigit() and len(password) <= 10)
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an Authorization header comes to. ``account``: whose it is, None when it is nobody's; ``failed``: a login
    was tried and is wrong; ``stale``: the nonce is too old, or was used for a request before: the client has to take
    another."""

    account: Account | None = None
    failed: bool = False
    stale: bool = False


NOBODY: Final = Verdict()
FAILED: Final = Verdict(failed=True)


class Gate:
    """Judges Authorization headers. ``schemes``: ``digest``, ``basic`` or both, in the order in which they are
    offered; ``now``: seconds, any clock that only goes forward."""

    def __init__(
        self,
        accounts: Sequence[Account],
        now: Callable[[], float],
        *,
        schemes: Sequence[str] = ("digest",),
        secret: bytes | None = None,
    ) -> None:
        if not accounts:
            raise PasswordError("there is no login")
        self.schemes = tuple(schemes)
        self._accounts = tuple(accounts)
        self.nonces = Nonces(now, secret)

    def challenges(self, *, stale: bool = False) -> list[str]:
        """The values of WWW-Authenticate."""
        made = {
            "digest": f'Digest realm="{REALM}", domain="/", nonce="{self.nonces.make()}", algorithm=MD5, qop="auth"'
            + (", stale=true" if stale else ""),
            "basic": f'Basic realm="{REALM}"',
        }
        return [made[each] for each in self.schemes]

    def judge(self, method: str, header: str | None, target: str = "") -> Verdict:
        """``header``: the Authorization header; ``target``: the request's target as it was sent."""
        if not header or len(header) > LONGEST:
            return NOBODY
        scheme, _, rest = header.strip().partition(" ")
        scheme = scheme.lower()
        if scheme == "basic":
            return self._basic(rest) if "basic" in self.schemes else FAILED
        if scheme == "digest":
            return self._digest(method, rest, target) if "digest" in self.schemes else FAILED
        return NOBODY

    def password(self, user: str, password: str) -> Account | None:
        """The account of a name and password. Takes the same time whether the name is known or not."""
        found = None
        for each in self._accounts:
            right = _same(each.user, user) & _same(each.password, password)
            if right:
                found = each
        return found

    # -- basic ---------------------------------------------------------------------------------------------------

    def _basic(self, text: str) -> Verdict:
        try:
            user, colon, password = base64.b64decode(text.strip(), validate=True).decode("utf-8").partition(":")
        except (binascii.Error, UnicodeError, ValueError):
            return FAILED
        found = self.password(user, password) if colon else None
        return Verdict(found) if found else FAILED

    # -- digest --------------------------------------------------------------------------------------------------

    def _digest(self, method: str, text: str, target: str) -> Verdict:
        said = parameters(text)
        if said.get("algorithm", "MD5").upper() != "MD5" or said.get("realm") != REALM:
            return FAILED
        if target and not covers(said.get("uri", ""), target):
            return FAILED
        count = 0
        if qop := said.get("qop"):
            if qop.lower() != "auth" or not said.get("cnonce") or not _COUNT.fullmatch(said.get("nc", "")):
                return FAILED
            count = int(said["nc"], 16)
        nonce = said.get("nonce", "")
        age = self.nonces.age(nonce)
        if age is None:
            # a nonce of an engine that was started before: the client has to ask again
            return Verdict(stale=True)
        found = None
        for each in self._accounts:
            right = _same(each.user, said.get("username", "")) & _same(
                response_of(each.user, each.password, method, said), said.get("response", "")
            )
            if right:
                found = each
        if found is None:
            return FAILED
        # without a count, as RFC 2069 had it, a nonce is good for looking, and once for anything else
        fresh = 0 <= age <= SECONDS and ((not qop and method in LOOKING) or self.nonces.use(nonce, count or 1))
        return Verdict(found) if fresh else Verdict(stale=True)


def parameters(text: str) -> Mapping[str, str]:
    """The parameters of a challenge or an answer, names in small letters."""
    return {
        found[1].lower(): re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else found[3]
        for found in _PARAMETER.finditer(text)
    }


def response_of(user: str, password: str, method: str, said: Mapping[str, str]) -> str:
    """The response that a client has to give (RFC 7616 3.4.1; without qop RFC 2069)."""
    first = _md5(f"{user}:{REALM}:{password}")
    second = _md5(f"{method}:{said.get('uri', '')}")
    nonce = said.get("nonce", "")
    if said.get("qop"):
        return _md5(f"{first}:{nonce}:{said.get('nc', '')}:{said.get('cnonce', '')}:{said['qop']}:{second}")
    return _md5(f"{first}:{nonce}:{second}")


def covers(said: str, target: str) -> bool:
    """Whether a digest's ``uri`` is the request's target; some clients leave the query out or send it absolute."""
    path = re.sub(r"^https?://[^/]*", "", said) or "/"
    return path == target or path == target.partition("?")[0]


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def _same(one: str, other: str) -> bool:
    """In a time that tells neither where they differ nor how long they are."""
    first, second = (hashlib.sha256(each.encode("utf-8", "surrogateescape")).digest() for each in (one, other))
    return hmac.compare_digest(first, second)
