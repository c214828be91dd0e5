"""Which signals does an archival crawl send besides Scrapy's own?

Handlers get ``curi`` (a CrawlURI) where the line says so, and ``spider`` always.
"""

from __future__ import annotations

#: A URI reached its final disposition; ``curi``. Sent before the engine lets go of its Request.
uri_finished = object()

#: A URI stays in its queue for another try; ``curi`` with the status of the try.
uri_retried = object()

#: A queue was retired; ``class_key``.
queue_retired = object()

#: The crawl was paused; ``reason``.
crawl_paused = object()

#: The crawl goes on after a pause.
crawl_resumed = object()
