"""What becomes of a byte of an address that is no text? It stays that byte, percent-encoded.

``ESCAPES`` is the name of that way for ``bytes.decode`` and ``open`` (their argument ``errors``)."""

from __future__ import annotations

import codecs

ESCAPES = "heritrix_scrapy.escapes"


def _escapes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"%{byte:02X}" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPES, _escapes)
