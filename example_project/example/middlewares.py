"""A downloader middleware that asks what became of a page in the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy import crawl_uri

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class Provenance:
    """Puts the id of the WARC record among the response's flags: callbacks and Scrapy's log see it."""

    def process_response(self, request: Request, response: Response) -> Response:
        curi = crawl_uri(request)
        if curi is not None and curi.record_id:
            response.flags.append(curi.record_id)
        return response
