"""A small internet on loopback for whole crawls: many hosts, their own DNS server, HTTP and TLS, every fault.

Needs no root and no fixed ports: every host has an address of its own in 127/8, all of them listen on one
free port for HTTP and one for TLS, and URLs carry those ports. What a site can say stands in
``declare.py``.

    with running(SITES) as web:  # a thread of its own; in a coroutine: ``async with Web(SITES)``
        crawl(web.url("www.alpha.test"), dns=web.dns)
        assert web.asked("www.alpha.test") == ["GET /robots.txt", "GET /"]

``python -m tests.web --ready FILE --log FILE SITES.json`` is the same for another process.
"""

from __future__ import annotations

from tests.web.log import Exchange
from tests.web.server import Web
from tests.web.thread import running

__all__ = ["Exchange", "Web", "running"]
