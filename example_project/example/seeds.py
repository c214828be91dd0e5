"""A source of seeds of the project's own."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy.crawler import Crawler


class Spreadsheet:
    """The column ``address`` of SITES, a file of comma-separated values, where the column ``wanted`` says ``yes``."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["SITES"])

    def seeds(self) -> Iterator[str]:
        with self.path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["wanted"] == "yes":
                    yield row["address"]
