"""What became of each bean, property and reference of a job?

One entry for each, with its place. What changes the crawl or its archive and was left out is a loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.settings.beans.model import Place


class Verdict(Enum):
    """What became of something in the file."""

    TAKEN = "taken over"
    RENAMED = "has another name here"
    DEFAULT = "same as default"
    NOT_NEEDED = "not needed here"
    LEFT = "left to be filled in"
    LOST = "not supported"


@dataclass(frozen=True, slots=True)
class Entry:
    """``setting``: our name for it, when it has one; ``text``: what it did and what to do instead."""

    place: Place | None
    bean: str
    prop: str
    verdict: Verdict
    setting: str = ""
    text: str = ""

    @property
    def what(self) -> str:
        return f"{self.bean}.{self.prop}" if self.prop else self.bean

    @property
    def said(self) -> str:
        """What, and what is to be said of it."""
        return ": ".join(part for part in (self.what, self.setting, self.text) if part)

    @property
    def told(self) -> str:
        """The same, with its line."""
        return f"line {self.place.line}: {self.said}" if self.place else self.said

    def __str__(self) -> str:
        return f"{self.verdict.value}: {self.told}"


class Report:
    """The entries, in the order in which they came."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def taken(self, place: Place, bean: str, prop: str, setting: str, text: str = "") -> None:
        self._add(place, bean, prop, Verdict.TAKEN, setting, text)

    def renamed(self, place: Place, bean: str, prop: str, setting: str, text: str = "") -> None:
        self._add(place, bean, prop, Verdict.RENAMED, setting, text)

    def default(self, place: Place, bean: str, prop: str, text: str = "") -> None:
        self._add(place, bean, prop, Verdict.DEFAULT, "", text)

    def not_needed(self, place: Place, bean: str, prop: str, text: str) -> None:
        self._add(place, bean, prop, Verdict.NOT_NEEDED, "", text)

    def left(self, place: Place, bean: str, prop: str, text: str) -> None:
        """A placeholder that is not Heritrix's."""
        self._add(place, bean, prop, Verdict.LEFT, "", text)

    def lost(self, place: Place | None, bean: str, prop: str, text: str) -> None:
        """What changes the crawl or the archive and cannot be said here."""
        self._add(place, bean, prop, Verdict.LOST, "", text)

    def _add(self, place: Place | None, bean: str, prop: str, verdict: Verdict, setting: str, text: str) -> None:
        self.entries.append(Entry(place, bean, prop, verdict, setting, text))

    @property
    def losses(self) -> list[Entry]:
        """What was left out although it matters."""
        return [entry for entry in self.entries if entry.verdict is Verdict.LOST]

    def of(self, verdict: Verdict) -> list[Entry]:
        return [entry for entry in self.entries if entry.verdict is verdict]

    def lines(self) -> list[str]:
        """The report as text: losses first, then what was taken over, and so on; file by file where there are
        several."""
        out: list[str] = []
        files = {entry.place.file for entry in self.entries if entry.place}
        for verdict in (
            Verdict.LOST,
            Verdict.LEFT,
            Verdict.TAKEN,
            Verdict.RENAMED,
            Verdict.NOT_NEEDED,
            Verdict.DEFAULT,
        ):
            entries = self.of(verdict)
            if not entries:
                continue
            out.append(f"{verdict.value} ({len(entries)}):")
            for entry in entries:
                where = f"{entry.place.file}: " if len(files) > 1 and entry.place else ""
                out.append(f"  {where}{entry.told}")
        return out
