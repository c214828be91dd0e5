"""Which credentials has the operator given, and which is for this server?

Heritrix: CredentialStore, HttpAuthenticationCredential, HtmlFormCredential. A credential belongs to one server (host,
port and scheme) and is told to no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.post import Post, urlencoded
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import join

if TYPE_CHECKING:
    from collections.abc import Iterable

SETTING = "HERITRIX_CREDENTIALS"


class HttpCredential(NamedTuple):
    """Login and password for a realm; an empty realm is any. ``domain``: the server key it belongs to."""

    domain: str = ""
    realm: str = "Realm"
    login: str = "login"
    password: str = "password"


class FormCredential(NamedTuple):
    """A login form. ``domain``: the server key it belongs to; ``login_uri``: where the form is sent, absolute, or a
    path on the server; ``items``: its fields, by name."""

    domain: str
    login_uri: str
    items: tuple[tuple[str, str], ...] = ()

    def address(self, uri: str) -> str:
        """Where the form is sent when ``uri`` needs it; empty for none."""
        try:
            return join(uri, self.login_uri) if self.login_uri else ""
        except UriError:
            return ""

    def post(self, *, heritrix: bool = False) -> Post | None:
        """The form as it is sent; None for one without fields. Heritrix writes Latin-1."""
        return urlencoded(self.items, "iso-8859-1" if heritrix else "utf-8") if self.items else None


Credential = HttpCredential | FormCredential


def read(listed: Iterable[Any]) -> tuple[Credential, ...]:
    """The credentials of the setting. Raises ConfigurationError."""
    return tuple(_read(entry) for entry in listed)


_HTTP = {"domain", "realm", "login", "password"}
_FORM = {"domain", "login_uri", "form_items", "http_method"}


def _read(entry: Any) -> Credential:
    match entry:
        case ["HttpAuthenticationCredential", dict(given)]:
            properties = _named(entry, given, _HTTP)
            for name, value in properties.items():
                if not isinstance(value, str):
                    raise _refused(entry, f"expected a text for {name}")
            if not properties.get("domain"):
                raise _refused(entry, "expected the domain: the server it belongs to, host or host:port")
            return HttpCredential(**properties)
        case ["HtmlFormCredential", dict(given)]:
            properties = _named(entry, given, _FORM)
            items = properties.get("form_items") or {}
            if isinstance(items, dict) and set(items) == {"map"}:
                items = items["map"]
            if not isinstance(items, dict):
                raise _refused(entry, "expected form_items to be a mapping")
            domain, login_uri = properties.get("domain", ""), properties.get("login_uri", "")
            if not isinstance(domain, str) or not domain:
                raise _refused(entry, "expected the domain: the server it belongs to, host or host:port")
            if not isinstance(login_uri, str) or not login_uri:
                raise _refused(entry, "expected the login_uri: where the form is sent")
            return FormCredential(domain, login_uri, tuple(sorted((str(k), str(v)) for k, v in items.items())))
    raise _refused(entry, "expected [HttpAuthenticationCredential or HtmlFormCredential, {property: value}]")


def _named(entry: Any, given: dict[str, Any], known: set[str]) -> dict[str, Any]:
    unknown = sorted(set(given) - known - {"id", "enabled"})
    if unknown:
        raise _refused(entry, f"no property {unknown[0]}; known are {', '.join(sorted(known))}")
    return {name: value for name, value in given.items() if name in known}


def _refused(entry: Any, word: str) -> ConfigurationError:
    # the message goes to logs: no password in it
    name = entry[0] if isinstance(entry, list) and entry else entry
    return ConfigurationError(SETTING, name, word)


def belongs(credential: Credential, key: str, *, heritrix: bool = False) -> bool:
    """Whether a credential is for the server of this key. A domain without port stands for https on 443 too, but not
    in Heritrix."""
    domain = credential.domain.lower()
    return domain == key.lower() or (not heritrix and f"{domain}:443" == key.lower())


def for_realm(credentials: Iterable[Credential], key: str, realm: str, *, heritrix: bool) -> HttpCredential | None:
    """The login for a realm of a server."""
    for credential in credentials:
        if (
            isinstance(credential, HttpCredential)
            and credential.realm in ("", realm)
            and belongs(credential, key, heritrix=heritrix)
        ):
            return credential
    return None


def forms(credentials: Iterable[Credential]) -> list[FormCredential]:
    """The login forms among them."""
    return [credential for credential in credentials if isinstance(credential, FormCredential)]


def is_at(credential: FormCredential, uri: str, key: str, *, heritrix: bool = False) -> bool:
    """Whether a URI is where this form is sent. A path alone is one of the credential's own server, but in Heritrix
    of any."""
    if not credential.login_uri or credential.address(uri) != uri:
        return False
    return heritrix or "://" in credential.login_uri or belongs(credential, key)
