"""What do all parts of one server share?"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.web.delay import Delays
from heritrix_scrapy.operate.web.flash import Flashes
from heritrix_scrapy.operate.web.sessions import Sessions
from heritrix_scrapy.operate.web.ui.drawings import Drawings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from heritrix_scrapy.operate.jobs.engine import Engine
    from heritrix_scrapy.operate.web.auth import Gate
    from heritrix_scrapy.operate.web.ui.subject import Subject


@dataclass
class Context:
    """``engine``: the folder of jobs, None for the page of one crawl, which is the ``subject``; ``gate``: who may ask;
    ``now``: seconds, a clock that only goes forward; ``proxies``: addresses whose word on the client's address and
    scheme is taken; ``leave``: set when the server is to end; ``patience``: seconds that a client may let a part of a
    file wait."""

    engine: Engine | None
    gate: Gate
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    delays: Delays = field(default_factory=Delays)
    flashes: Flashes = field(default_factory=Flashes)
    proxies: frozenset[str] = frozenset()
    leave: asyncio.Event = field(default_factory=asyncio.Event)
    subject: Subject | None = None
    patience: float = 30.0
    sessions: Sessions = field(init=False)
    drawings: Drawings = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.now)
        self.drawings = Drawings(self.now)

    def the_engine(self) -> Engine:
        """The engine, where there is one."""
        assert self.engine is not None
        return self.engine
