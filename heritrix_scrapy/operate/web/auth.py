"""Who asks, and what may they do? Digest and basic authentication, without a socket or a clock.

Digest and basic as RFC 7616 and RFC 7617 say, with the realm of Heritrix; passwords and answers are compared in
constant time. Nonces are not kept: each carries its time, signed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

REALM: Final = "Authentication Required"
DEFAULT_USER: Final = "admin"

#: Who may steer, and who may only look.
OPERATOR: Final = "operator"
READER: Final = "reader"

#: Seconds for which a nonce is good; after that the client is told that it is stale.
NONCE_SECONDS: Final = 300

#: ``name=value`` or ``name="value"`` of an Authorization header.
_PARAMETER: Final = re.compile(r'([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')

#: Longest Authorization header that is read.
LONGEST: Final = 4096


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
    was tried and is wrong; ``stale``: right but for the age of the nonce; ``basic``: it came as basic."""

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
        self._now = now
        self._secret = secret or secrets.token_bytes(32)

    def challenges(self, *, stale: bool = False) -> list[str]:
        """The values of WWW-Authenticate."""
        made = {
            "digest": f'Digest realm="{REALM}", domain="/", nonce="{self.nonce()}", algorithm=MD5, qop="auth"'
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

    def nonce(self) -> str:
        """A new one."""
        stamp = format(int(self._now() * 1000), "x")
        return f"{stamp}:{secrets.token_hex(8)}:{self._sign(stamp)}"

    def _sign(self, stamp: str) -> str:
        return hmac.new(self._secret, stamp.encode(), hashlib.sha256).hexdigest()[:32]

    def _age(self, nonce: str) -> float | None:
        """Seconds since a nonce was made; None when it is not ours."""
        stamp, _, rest = nonce.partition(":")
        signature = rest.rpartition(":")[2]
        if not _same(signature, self._sign(stamp)):
            return None
        try:
            return self._now() - int(stamp, 16) / 1000
        except ValueError:
            return None

    def _digest(self, method: str, text: str, target: str) -> Verdict:
        said = parameters(text)
        if said.get("algorithm", "MD5").upper() != "MD5" or said.get("realm") != REALM:
            return FAILED
        if target and not covers(said.get("uri", ""), target):
            return FAILED
        age = self._age(said.get("nonce", ""))
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
        if not 0 <= age <= NONCE_SECONDS:
            return Verdict(stale=True)
        return Verdict(found)


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
    return hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode("utf-8", "surrogateescape"))
