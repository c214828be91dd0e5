"""Which certificates does each trust level take? Handshakes with a real TLS server."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from scrapy.http import Response

from tests.fetch.loopback import Server, fetch, handler_of, make_crawler, run

if TYPE_CHECKING:
    from pathlib import Path

HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
DAY = datetime.timedelta(days=1)


def certificate(name: str, key: Any, *, issuer: str = "", signer: Any = None, begins: int = -1, ends: int = 30) -> Any:
    """A certificate that is good from so many days ahead to so many; signed by itself unless a signer is given."""
    now = datetime.datetime.now(datetime.UTC)

    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    return (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer or name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins * DAY)
        .not_valid_after(now + ends * DAY)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(signer or key, hashes.SHA256())
    )


def server_context(folder: Path, kind: str) -> ssl.SSLContext:
    key, other = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    if kind == "self-signed":
        chain = [certificate("lone", key)]
    elif kind == "expired":
        chain = [certificate("old", key, begins=-30, ends=-1)]
    elif kind == "not yet":
        chain = [certificate("early", key, begins=10, ends=30)]
    elif kind == "issuer not sent":
        chain = [certificate("leaf", key, issuer="authority", signer=other)]
    else:
        authority = certificate("authority", other)
        chain = [certificate("leaf", key, issuer="authority", signer=other), authority]
    file = folder / "server.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + b"".join(each.public_bytes(serialization.Encoding.PEM) for each in chain)
    )
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(file)
    return made


@pytest.mark.parametrize(
    ("trust", "kind", "taken"),
    [
        ("OPEN", "expired", True),
        ("OPEN", "chain", True),
        ("LOOSE", "self-signed", True),
        ("LOOSE", "issuer not sent", True),
        ("LOOSE", "expired", False),
        ("LOOSE", "not yet", False),
        ("LOOSE", "chain", False),
        ("NORMAL", "self-signed", False),
        ("STRICT", "self-signed", False),
    ],
)
def test_what_a_level_takes(trust: str, kind: str, taken: bool, tmp_path: Path) -> None:
    async def work() -> Any:
        context = server_context(tmp_path, kind)
        async with Server(HELLO, tls=context) as server, handler_of(make_crawler(ssl_trust_level=trust)) as handler:
            return *await fetch(handler, server.url(scheme="https")), server.requests

    response, curi, requests = run(work())
    if taken:
        assert isinstance(response, Response)
        assert (curi.status, response.body, len(requests)) == (200, b"hello", 1)
        assert curi.tls is not None
        assert curi.tls.version.startswith("TLSv1.")
    else:
        assert (curi.status, requests) == (-2, []), "nothing is said to a server that is not trusted"
        assert "CERTIFICATE_VERIFY_FAILED" in (curi.error_text or "")
