"""What do the reports know of a crawl? One moment of it, gathered by the extension, running or stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from heritrix_scrapy.crawl import InFlight
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.tally import Tally
    from heritrix_scrapy.report.figures import Course, Figures


@dataclass(slots=True)
class Known:
    """``state``: what is said of the state or the end, ``ran_ms``: how long the crawl ran, pauses left out;
    ``counters``: of the whole crawl, those of parts included; ``frontier``: counts as ``Frontier.status`` tells them;
    ``hosts()``: every host with what is counted of it; ``frontier_lines(kind)``: a report of the frontier's own, None
    where something else may have its turn;
    ``in_process``: URIs that are being worked on; ``in_flight``: what of them is being fetched.
    """

    now_ms: int
    job: str
    state: str
    ran_ms: int
    modern: bool
    view: Any
    counters: Mapping[str, int]
    figures: Figures
    hosts: Callable[[], Iterator[tuple[str, Tally]]]
    frontier: Mapping[str, Any] = field(default_factory=dict)
    frontier_lines: Callable[[str], Iterable[str | None]] = lambda kind: ["frontier unstarted"]
    in_process: Sequence[CrawlURI] = ()
    in_flight: Sequence[InFlight] = ()
    slots: int = 0
    running: bool = False

    @property
    def course(self) -> Course:
        return self.figures.course()
