"""What is known of a request before its resource sees it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aiohttp import web

if TYPE_CHECKING:
    from heritrix_scrapy.operate.web.sessions import Session


@dataclass(slots=True)
class Asked:
    """``segments``: of the path, decoded; ``address``: the client's; ``scheme``: by which it came to us or our proxy;
    ``user``, ``role``: who asks; ``session``: the browser's, where it has one."""

    segments: list[str] = field(default_factory=list)
    address: str = ""
    scheme: str = "https"
    user: str = ""
    role: str = ""
    session: Session | None = None


ASKED: Final = web.RequestKey("asked", Asked)
