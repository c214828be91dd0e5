"""What does a line of the crawl log say as JSON? (Heritrix contrib: CrawlLogJsonBuilder)"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.crawluri import host_of
from heritrix_scrapy.model.revisit import counted_size
from heritrix_scrapy.report.log_line import notes_of, truncate_mime
from heritrix_scrapy.report.times import log17, ts17

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Extra information that has members of its own, or is told as ``size``.
OWN = frozenset({"contentSize", "warcFilename", "warcFileOffset"})


def record(
    curi: CrawlURI,
    now_ms: int,
    extra: Mapping[str, Any] | None = None,
    *,
    thread: int = 1,
    content_size: bool = False,
    modern: bool = True,
) -> dict[str, Any]:
    """The members by name. ``extra``: members of the operator's own; a real one of the same name wins;
    ``content_size``: as for the crawl log's line."""
    counted = counted_size(curi, heritrix=not modern)
    began, ended = curi.began_ms, curi.ended_ms
    info = curi.extra_info
    return {
        "timestamp": log17(now_ms),
        **(extra or {}),
        "content_length": curi.content_length if curi.uri.startswith("http") and curi.content_length >= 0 else None,
        "size": counted if counted > 0 else None,
        "status_code": curi.status,
        "url": curi.uri,
        "hop_path": curi.path,
        "via": curi.via,
        "mimetype": truncate_mime(curi.content_type),
        "thread": thread,
        "start_time_plus_duration": None if began is None or ended is None else f"{ts17(began)}+{ended - began}",
        "content_digest": curi.digest,
        "seed": curi.source_tag,
        "host": host_of(curi.uri) or None,
        "annotations": ",".join(notes_of(curi, content_size=content_size, modern=modern)),
        "warc_filename": info.get("warcFilename"),
        "warc_offset": info.get("warcFileOffset"),
        "extra_info": {name: value for name, value in info.items() if name not in OWN},
    }


def line(
    curi: CrawlURI,
    now_ms: int,
    extra: Mapping[str, Any] | None = None,
    *,
    content_size: bool = False,
    modern: bool = True,
) -> str:
    """One object on one line, with its line end; in ASCII, so that no character of a server ends the line."""
    members = record(curi, now_ms, extra, content_size=content_size, modern=modern)
    return json.dumps(members, separators=(",", ":"), default=str) + "\n"
