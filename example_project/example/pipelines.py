"""A pipeline as any project has one: it sees the spider's items, never the captures."""

from __future__ import annotations

from typing import Any


class TidyTitle:
    """Squeezes white space in titles."""

    def process_item(self, item: Any) -> Any:
        if item.title:
            item.title = " ".join(item.title.split())
        return item
