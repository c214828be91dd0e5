"""How is a server's certificate treated, and which facts of the handshake are kept?

An archive wants the page of a server with an expired or self-signed certificate, or one that speaks only what
was common years ago: OPEN, the default, takes them all (Heritrix: ConfigurableX509TrustManager). Host names are
never verified, at no level.
"""

from __future__ import annotations

import datetime
import hashlib
import ssl
from typing import Any

from cryptography import x509

from heritrix_scrapy.model.crawluri import TlsFacts

LEVELS = ("OPEN", "LOOSE", "NORMAL", "STRICT")


def context(level: str, *, http2: bool = False) -> ssl.SSLContext:
    """A client context of that trust level; ``http2``: it offers HTTP/2.

    LOOSE and STRICT verify as NORMAL does: the system's trust store, without the host name. What LOOSE takes
    besides is told by ``is_lone_and_current``.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    if http2:
        made.set_alpn_protocols(["h2", "http/1.1"])
    if level == "OPEN":
        made.verify_mode = ssl.CERT_NONE
        made.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        made.set_ciphers("DEFAULT:@SECLEVEL=0")
        made.options |= getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)
        made.options |= getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
    else:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_default_certs()
    return made


def facts(connection: Any) -> tuple[TlsFacts, bytes]:
    """The facts of a handshake, and the server's certificate as DER. `connection`: the transport's ssl_object."""
    certificate = connection.getpeercert(True) or b""
    cipher = connection.cipher()
    return (
        TlsFacts(
            connection.version() or "",
            cipher[0] if cipher else "",
            hashlib.sha256(certificate).hexdigest() if certificate else "",
        ),
        certificate,
    )


def server_name(host: str) -> str:
    """The name to send as SNI: a trailing dot is not part of it; none for an address."""
    name = host.rstrip(".")
    return "" if ":" in name else name


def refused_name(error: BaseException) -> bool:
    """Whether the server refused the handshake because it does not know the name sent (alert unrecognized_name)."""
    return isinstance(error, ssl.SSLError) and "UNRECOGNIZED_NAME" in (error.reason or str(error)).upper()


def is_lone_and_current(connection: Any, certificate: bytes) -> bool:
    """Whether the server sent one certificate only, and that is within its dates: what LOOSE takes."""
    # public from CPython 3.13 on; the object behind it has had the method since 3.10
    source = connection if hasattr(connection, "get_unverified_chain") else connection._sslobj
    if len(source.get_unverified_chain() or ()) != 1:
        return False
    try:
        read = x509.load_der_x509_certificate(certificate)
    except ValueError:
        return False
    now = datetime.datetime.now(datetime.UTC)
    return read.not_valid_before_utc <= now <= read.not_valid_after_utc
