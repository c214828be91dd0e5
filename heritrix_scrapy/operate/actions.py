"""How do files that are put into a folder steer a crawl? The Scrapy extension that looks there.

``JOBDIR/action/`` is looked at every half minute, also while the crawl is paused (Heritrix: ActionDirectory). A file
is moved out of the way before anything is done with it (``.doing/``), so that it is done once, whatever happens; one
that was cut off goes on at the next start. Then it goes to ``actions-done/`` in the launch's folder, with a link in
``action/done/``.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import call_later

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.importing import Skip
from heritrix_scrapy.frontier.journal import Torn, lines
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.actionfiles import Folder, action_of
from heritrix_scrapy.report.times import ts17
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

logger = logging.getLogger(__name__)

DOING, DONE, KEPT = ".doing", "done", "actions-done"

#: How an action file ended → its counter.
COUNTERS = {
    "done": "actions/done",
    "failed": "actions/failed",
    "ignored": "actions/ignored",
    "refused": "actions/refused",
}

#: Seed lines that are announced between two of the crawl's own turns.
SEED_LINES = 200

NO_SCRIPTS = (
    "scripts are not run: there is no script engine. What Heritrix's scripts do is done by the commands of"
    " `scrapy heritrix`, by steps and by a project's own extensions"
)
UNKNOWN = (
    "the name says nothing: expected .seeds, .recover, .include, .schedule or .force, with .s before it and .gz behind"
)


class Failed(Exception):
    """An action could not be carried out; the text says why."""


class Waits(Exception):
    """An action was cut off as the disk is full; it goes on at a later look."""


class ActionExtension:
    """Carries out what files in the action directory ask for."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._folder = Folder()
        self._timer: CallLaterResult | None = None
        #: Seconds until the next look when the timer was set.
        self._delay = 0.0
        self._round: asyncio.Task[None] | None = None
        #: Files that were dealt with and could not be moved.
        self._stuck: set[str] = set()
        #: What was said of the directory last, so that it is said once.
        self._said = ""
        crawler.signals.connect(self.engine_started, signals.engine_started)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # -- where -----------------------------------------------------------------------------------------------

    @property
    def _incoming(self) -> Path:
        root = self._crawl.jobdir.root
        return root / (self._settings.view.action_dir or "action")

    @property
    def _kept(self) -> Path:
        """Where files lie that are done with."""
        jobdir = self._crawl.jobdir
        launch = jobdir.root / jobdir.launch if jobdir.launch else jobdir.root
        written = str(self._settings.view.action_done_dir or f"${{launchId}}/{KEPT}")
        return jobdir.root / written.replace("${launchId}", str(launch))

    # -- when ------------------------------------------------------------------------------------------------

    def engine_started(self) -> None:
        if self._crawl.jobdir.temporary or self._crawl.looking:
            return
        self._begin(self._settings.view.action_initial_delay_seconds)
        self._crawl.settings_changed.append(self._settings_changed)

    def _begin(self, delay: float) -> None:
        """Look for the first time after so many seconds; where no delay is set, never."""
        self._delay = self._settings.view.action_delay_seconds
        if self._delay <= 0:
            return
        try:
            (self._incoming / DOING).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._say(f"there is no action directory {self._incoming}: {error.strerror}")
        self._timer = call_later(delay, self._look)

    def _settings_changed(self) -> None:
        """Another pause between two looks begins now, or at the end of the look that goes on."""
        under_way = self._round is not None and not self._round.done()
        if self._closing() or under_way or self._delay == self._settings.view.action_delay_seconds:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._begin(self._settings.view.action_delay_seconds)

    async def spider_closed(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._round is not None and not self._round.done():
            # what it waits for has been cut off
            await asyncio.wait([self._round], timeout=5)

    def _look(self) -> None:
        self._timer = None
        self._round = asyncio.ensure_future(self._go_round())

    async def _go_round(self) -> None:
        """One look, from whose end the pause until the next is measured."""
        try:
            for path, again in self._next_files():
                if self._closing():
                    return
                await self._deal_with(path, again=again)
        except Exception:
            logger.exception("the action directory could not be looked at")
        self._delay = self._settings.view.action_delay_seconds
        if self._delay > 0 and not self._closing():
            self._timer = call_later(self._delay, self._look)

    def _closing(self) -> bool:
        return self._crawl.operations is None or self._crawl.bridge.is_closing()

    def _next_files(self) -> list[tuple[Path, bool]]:
        """Files to be dealt with, out of the way already: those that were cut off, then those that have come. With
        each, whether one of the same content may be done again."""
        doing = self._incoming / DOING
        try:
            doing.mkdir(parents=True, exist_ok=True)
            found = [(path, False) for path in sorted(doing.iterdir()) if path.name not in self._stuck]
            for path in self._folder.complete(self._incoming, self._crawl.clock.now_ms()):
                claimed = doing / f"{ts17(self._crawl.clock.now_ms())}.{path.name}"
                path.rename(claimed)
                found.append((claimed, True))
        except OSError as error:
            self._say(f"the action directory {self._incoming} cannot be used: {error}")
            return []
        self._said = ""
        return found

    # -- what ------------------------------------------------------------------------------------------------

    async def _deal_with(self, path: Path, *, again: bool) -> None:
        name = path.name.partition(".")[2]
        word, kind = "", "done"
        answer: dict[str, Any] = {}
        action = action_of(name)
        try:
            if action.kind == "script":
                word, kind = NO_SCRIPTS, "refused"
            elif action.kind == "unknown":
                word, kind = UNKNOWN, "ignored"
            elif action.kind == "seeds":
                answer = await self._add_seeds(path)
            else:
                answer = await self._do({"do": "import", **action.request(path, again=again)})
        except Waits as lack:
            self._say(f"the action file {name} waits: {lack}")
            return
        except (Failed, OSError, Skip) as error:
            word, kind = str(error), "failed"
        if self._closing():
            # cut off perhaps: it goes on at the next start
            return
        self._crawl.add_stats({COUNTERS[kind]: 1})
        if word:
            logger.warning("action file %s: %s", name, word)
        else:
            logger.info("action file %s: %s", name, one_line(answer))
        if self._crawl.life is not None:
            self._crawl.life.note(f"action file {name}: {word or one_line(answer)}", "WARNING" if word else "INFO")
        if word:
            self._leave(path.name + ".exception", word + "\n")
        elif answer.get("skipped") or answer.get("torn"):
            self._leave(path.name + ".out", json.dumps(answer, indent=2, default=str) + "\n")
        self._put_away(path)

    async def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return dict(await self._crawl.steering.do(request))
        except (Refused, StorageFull) as refused:
            if self._crawl.bridge.lack is not None:
                raise Waits(str(self._crawl.bridge.lack)) from None
            raise Failed(str(refused)) from None

    async def _add_seeds(self, path: Path) -> dict[str, Any]:
        total = {"lines": 0, "queued": 0}
        for chunk in chunks(path):
            answer = await self._do({"do": "seeds", "lines": chunk, "remark": path.name})
            for count in total:
                total[count] += answer[count]
            await asyncio.sleep(0)
        return total

    # -- afterwards ------------------------------------------------------------------------------------------

    def _leave(self, name: str, text: str) -> None:
        with suppress(OSError):
            self._kept.mkdir(parents=True, exist_ok=True)
            (self._kept / name).write_text(text, encoding="utf-8")

    def _put_away(self, path: Path) -> None:
        try:
            self._kept.mkdir(parents=True, exist_ok=True)
            kept = self._kept / path.name
            move(path, kept)
        except OSError as error:
            self._stuck.add(path.name)
            logger.error("the action file %s is done with, and cannot be moved to %s: %s", path, self._kept, error)
            return
        try:
            done = self._incoming / DONE
            done.mkdir(exist_ok=True)
            (done / path.name).symlink_to(kept)
        except OSError as error:
            logger.warning("no link to %s in %s: %s", kept, self._incoming / DONE, error)

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            logger.warning("%s", text)


def chunks(path: Path) -> Iterator[list[str]]:
    """The lines of a seeds file, packed or not, some at a time; those before a torn end. Raises OSError."""
    rest = lines(path)
    while True:
        found: list[str] = []
        try:
            found.extend(islice(rest, SEED_LINES))
        except Torn:
            yield found
            return
        if not found:
            return
        yield found


def move(path: Path, target: Path) -> None:
    """Move a file, to another disk too. Raises OSError."""
    try:
        path.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        target.write_bytes(path.read_bytes())
        path.unlink()


def one_line(answer: dict[str, Any]) -> str:
    """What came of an import, for a log."""
    return ", ".join(f"{name} {value}" for name, value in answer.items() if type(value) is int and name != "operation")
