"""Which bytes does a payload digest cover?

Every byte after the head, chunk framing included: so Heritrix writes it (RecordingOutputStream), and so those
who verify records read it (``warcio check``, FastWARC). ISO 28500:2017, 5.9 means the entity, with transfer
coding taken off; that value is to be had here for who compares with archives that keep it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.model.recorder import dechunk, sha1_base32

if TYPE_CHECKING:
    from heritrix_scrapy.model.recorder import Recorder


def payload_digest(recorder: Recorder, *, entity: bool = False) -> str:
    """``sha1:BASE32`` of the payload. ``entity``: without transfer coding."""
    if entity and recorder.chunked:
        return sha1_base32(dechunk(recorder.response.chunks(recorder.body_at)))
    return recorder.body_digest
