"""What does the crawl call itself?"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from heritrix_scrapy.model.version import VERSION


def user_agent(view: Any) -> str:
    """The User-Agent text that a crawl's settings give (Heritrix: CrawlMetadata.getUserAgent)."""
    return _filled(view.user_agent_template, view.operator_contact_url or "")


@lru_cache(maxsize=64)
def _filled(template: str, contact: str) -> str:
    return template.replace("@VERSION@", VERSION, 1).replace("@OPERATOR_CONTACT_URL@", contact, 1)
