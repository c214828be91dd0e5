"""Archival web crawling with the semantics of Heritrix 3, inside any Scrapy project."""

from __future__ import annotations

__version__ = "0.1.0"
