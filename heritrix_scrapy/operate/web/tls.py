"""With which certificate does the server speak HTTPS? One of its own, made at the first start."""

from __future__ import annotations

import datetime
import ipaddress
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME: Final = "web-server.pem"
#: As long as Heritrix's own.
DAYS: Final = 3650


def context(certificate: Path, key: Path | None = None) -> ssl.SSLContext:
    """A server's TLS context. Raises OSError or ssl.SSLError."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.load_cert_chain(certificate, key)
    return made


def folder() -> Path:
    """Where the certificate is kept between starts: never in a folder that is served."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "heritrix_scrapy"


def own(path: Path, names: Sequence[str], now: datetime.datetime) -> bool:
    """Make a certificate with its key in one file, which only its owner may read, unless it is there; whether it was
    made. ``names``: hosts and addresses that it is for. Raises OSError."""
    if path.exists():
        return False
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "heritrix_scrapy")])
    alternatives: list[x509.GeneralName] = []
    for name in dict.fromkeys(["localhost", "127.0.0.1", "::1", *names]):
        try:
            alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            if name.isascii() and name:
                alternatives.append(x509.DNSName(name))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + certificate.public_bytes(serialization.Encoding.PEM)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, text)
    finally:
        os.close(descriptor)
    os.replace(beside, path)
    return True
