"""What do Scrapy and its users get of an exchange: the Response that the stock handler would give, or its exception?

The archive keeps whatever came; a spider hears of a cut answer as it would from stock Scrapy.
"""

from __future__ import annotations

import ipaddress
import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
)
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from heritrix_scrapy.fetch.exchange import Ending
from heritrix_scrapy.fetch.stamp import Why
from heritrix_scrapy.model.recorder import content_codings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Response

    from heritrix_scrapy.fetch.exchange import Exchange

logger = logging.getLogger(__name__)

#: Bytes of `response.body` where no callback of a spider waits for it.
BODY_IN_MEMORY = 8 << 20

EXCEPTIONS: dict[Why, type[Exception]] = {
    Why.FAILED: DownloadFailedError,
    Why.TIMEOUT: DownloadTimeoutError,
    Why.REFUSED: DownloadConnectionRefusedError,
    Why.NO_ADDRESS: CannotResolveHostError,
    Why.LOST: ResponseDataLossError,
    Why.UNSUPPORTED: NotSupported,
    Why.BLOCKED: IgnoreRequest,
}


def response(exchange: Exchange, *, url: str, flags: list[str], internal: bool, protocol: str) -> Response:
    """The Response of an exchange that has a head."""
    head, connection, recorder = exchange.head, exchange.connection, exchange.recorder
    assert head is not None
    limit = BODY_IN_MEMORY if internal else recorder.body_size
    if exchange.ending is not Ending.LENGTH:
        limit = min(limit, exchange.entity_size)
    received = head.headers
    # Nobody waits for the whole of it: Scrapy's compression middleware would make up to DOWNLOAD_MAXSIZE of a
    # bomb, and the extractors take the coding off anyway.
    decoded = internal and bool(content_codings(recorder.content_encoding))
    if decoded:
        limit = BODY_IN_MEMORY
        received = [field for field in received if field[0].lower() != b"content-encoding"]
    body = recorder.entity(limit, decoded=decoded) if limit else b""
    url = url.partition("#")[0]
    fields = scrapy_headers(received)
    cls = responsetypes.from_args(headers=fields, url=url, body=body)
    return cls(
        url=url,
        status=head.status,
        headers=fields,
        body=body,
        flags=flags,
        certificate=_certificate(connection.certificate) if connection.certificate else None,
        ip_address=_ip_address(connection.address) if connection.address else None,
        protocol=protocol if connection.link is None else "h2",
    )


def scrapy_headers(fields: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Header fields as Scrapy holds them.

    Filled as the dict that Headers is: names and values are bytes already, and making sure of that for each value
    again was a tenth of a small fetch.
    """
    known: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        known.setdefault(name.title(), []).append(value)
    made = Headers()
    dict.update(made, known)
    return made


_ip_address = lru_cache(maxsize=4096)(ipaddress.ip_address)


@lru_cache(maxsize=256)
def _certificate(der: bytes) -> Any:
    """The certificate as the stock handler gives it; None for one that OpenSSL cannot read."""
    from OpenSSL import crypto
    from twisted.internet.ssl import Certificate

    try:
        return Certificate(crypto.load_certificate(crypto.FILETYPE_ASN1, der))  # type: ignore[no-untyped-call]
    except crypto.Error as error:
        logger.debug("a server's certificate cannot be read: %s", error)
        return None
