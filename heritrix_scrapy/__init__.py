"""Archival web crawling with the semantics of Heritrix 3, inside any Scrapy project."""

from __future__ import annotations

from heritrix_scrapy.model.version import VERSION as __version__

__all__ = ["Addon", "ArchiveSpider", "__version__", "crawl_uri"]


def __getattr__(name: str) -> object:
    """Public names, loaded when first asked for: the version must not cost an import of Scrapy."""
    if name == "Addon":
        from heritrix_scrapy.addon import Addon

        return Addon
    if name == "ArchiveSpider":
        from heritrix_scrapy.spiders import ArchiveSpider

        return ArchiveSpider
    if name == "crawl_uri":
        from heritrix_scrapy.requests import crawl_uri

        return crawl_uri
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
