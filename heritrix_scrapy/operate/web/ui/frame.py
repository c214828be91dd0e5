"""What do all pages of a crawl have around them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.operate.web import answers
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.auth import OPERATOR

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Subject


def shown(
    context: Context, request: web.Request, subject: Subject, template: str, tab: str, **values: Any
) -> web.Response:
    """A page of a crawl. ``tab``: which of the pages it is."""
    return answers.page(
        context, request, template, subject=subject, tab=tab, may=request[ASKED].role == OPERATOR, **values
    )
