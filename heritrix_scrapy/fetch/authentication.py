"""What does a server ask to be told, and how is it told?

RFC 7235 (challenges), 7617 (Basic), 7616 (Digest). Pure: a client's nonce is an argument.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import md5, new, sha256
from typing import TYPE_CHECKING

from heritrix_scrapy.model.challenge import Challenge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PARAMETER = re.compile(rf'[\s,]*({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN}))\s*(?=,|$)', re.DOTALL)
_SCHEME = re.compile(rf"[\s,]*({_TOKEN})(?:\s+|\s*(?=,)|$)")
_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*\s*(?=,|$)")

#: Bytes of challenges that are looked at in one answer.
LONGEST = 8192

#: The schemes that can be answered, the better first.
SCHEMES = ("digest", "basic")

HASHES: dict[str, Callable[[bytes], str]] = {
    "md5": lambda data: md5(data, usedforsecurity=False).hexdigest(),
    "sha-256": lambda data: sha256(data).hexdigest(),
    "sha-512-256": lambda data: new("sha512_256", data).hexdigest(),
}


def challenges(values: Iterable[str]) -> list[Challenge]:
    """The challenges of WWW-Authenticate values, in their order; several may stand in one."""
    found: list[Challenge] = []
    for value in values:
        text = value[:LONGEST]
        at = 0
        while (scheme := _SCHEME.match(text, at)) is not None:
            at = scheme.end()
            parameters: dict[str, str] = {}
            while (pair := _PARAMETER.match(text, at)) is not None:
                quoted = pair[2]
                parameters.setdefault(
                    pair[1].lower(), pair[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
                )
                at = pair.end()
            if not parameters and (data := _TOKEN68.match(text, at)) is not None:
                at = data.end()
            found.append(Challenge(scheme[1].lower(), parameters.get("realm", ""), parameters))
            if at == scheme.start():
                break
    return found


def answerable(asked: Iterable[Challenge]) -> Challenge | None:
    """The challenge to answer: Digest before Basic, with a realm, by an algorithm that is known."""
    candidates = [challenge for challenge in asked if challenge.realm and challenge.scheme in SCHEMES]
    for scheme in SCHEMES:
        for challenge in candidates:
            if challenge.scheme == scheme and (scheme == "basic" or _can_digest(challenge)):
                return challenge
    return None


def _can_digest(challenge: Challenge) -> bool:
    algorithm = challenge.parameters.get("algorithm", "MD5").lower().removesuffix("-sess")
    qop = _qops(challenge)
    return algorithm in HASHES and bool(challenge.parameters.get("nonce")) and (not qop or "auth" in qop)


def _qops(challenge: Challenge) -> list[str]:
    return [option.strip().lower() for option in challenge.parameters.get("qop", "").split(",") if option.strip()]


def is_stale(challenge: Challenge) -> bool:
    """Whether the server only wants a fresh nonce."""
    return challenge.scheme == "digest" and challenge.parameters.get("stale", "").lower() == "true"


def basic(login: str, password: str) -> str:
    """The Authorization value of a Basic credential, in UTF-8."""
    return "Basic " + b64encode(f"{login}:{password}".encode()).decode("ascii")


def digest(challenge: Challenge, login: str, password: str, *, method: str, target: str, cnonce: str) -> str:
    """The Authorization value that answers a Digest challenge. ``target``: as in the request line; ``challenge.count``
    says how often its nonce was used, this time included."""
    asked = challenge.parameters
    algorithm = asked.get("algorithm", "MD5")
    hashed = HASHES[algorithm.lower().removesuffix("-sess")]
    realm, nonce = challenge.realm, asked["nonce"]
    secret = hashed(f"{login}:{realm}:{password}".encode())
    if algorithm.lower().endswith("-sess"):
        secret = hashed(f"{secret}:{nonce}:{cnonce}".encode())
    subject = hashed(f"{method}:{target}".encode())
    count = f"{max(challenge.count, 1):08x}"
    qop = "auth" if _qops(challenge) else ""
    middle = f"{nonce}:{count}:{cnonce}:{qop}" if qop else nonce
    response = hashed(f"{secret}:{middle}:{subject}".encode())
    fields = [f'username="{_escaped(login)}"', f'realm="{_escaped(realm)}"', f'nonce="{_escaped(nonce)}"']
    fields += [f'uri="{target}"', f'response="{response}"']
    if qop:
        fields += [f"qop={qop}", f"nc={count}", f'cnonce="{cnonce}"']
    fields.append(f"algorithm={algorithm}")
    if "opaque" in asked:
        fields.append(f'opaque="{_escaped(asked["opaque"])}"')
    return "Digest " + ", ".join(fields)


def _escaped(text: str) -> str:
    # a quoted text cannot leave its header line
    return re.sub(r"[\r\n]", "", text).replace("\\", "\\\\").replace('"', '\\"')
