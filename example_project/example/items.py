"""What the example spider tells about a page."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Page:
    """One page, with what the archive knows of it: the digest and the address are those of the WARC record."""

    url: str
    title: str | None
    links: list[str] = field(default_factory=list)
    digest: str | None = None
    server_ip: str | None = None
