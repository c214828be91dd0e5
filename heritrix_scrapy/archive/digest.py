"""Which bytes does a payload digest cover?

Heritrix hashes every byte after the head, chunk framing included. WARC/1.1 means the entity: content coding
kept, transfer coding taken off (ISO 28500:2017, 5.9; Heritrix: RecordingOutputStream).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.model.recorder import dechunk, sha1_base32

if TYPE_CHECKING:
    from heritrix_scrapy.model.recorder import Recorder


def payload_digest(recorder: Recorder, *, entity: bool = True) -> str:
    """``sha1:BASE32`` of the payload. ``entity``: the WARC/1.1 meaning; else Heritrix's."""
    if entity and recorder.chunked:
        return sha1_base32(dechunk(recorder.response.chunks(recorder.body_at)))
    return recorder.body_digest
