"""How does a test that is no coroutine get a web? It runs in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.web.server import Web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.web.declare import Site


@contextmanager
def running(*sites: Site | Path | str, **options: Any) -> Iterator[Web]:
    """The web of these sites, serving until the block ends. *options*: those of `Web`."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    web = Web(*sites, **options)

    async def serve() -> None:
        stop = asyncio.Event()
        try:
            async with web:
                started.set_result((asyncio.get_running_loop(), stop))
                await stop.wait()
        except OSError as error:
            started.set_exception(error)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="tests.web", daemon=True)
    thread.start()
    loop, stop = started.result(timeout=20)
    try:
        yield web
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=20)
