"""How are settings, sheets and scope changed while the crawl runs? The Scrapy extension.

What is asked for is read, and everything that is made of it is made, before anything changes: settings, sheets, scope
with its seeds, policies, extractors. Then all of it takes the place of the old between two of the crawl's own turns,
and stands in ``JOBDIR/changes.json``, so that it holds after a restart too.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate import changes as thinking
from heritrix_scrapy.operate.changes import Wish, bare
from heritrix_scrapy.scope import Scope, from_settings, scope_of
from heritrix_scrapy.settings import Settings, read, settings_of
from heritrix_scrapy.settings import changes as kept
from heritrix_scrapy.signals import settings_changed

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ChangeExtension:
    """Offers ``set``, ``add``, ``remove``, ``changes`` and ``settings``."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        steering = self._crawl.steering
        steering.add("set", self.set)
        steering.add("add", self.add)
        steering.add("remove", self.remove)
        steering.add("changes", self.changes, steers=False)
        steering.add("settings", self.settings, steers=False)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def set(
        self, values: dict[str, Any], reset: list[str] | None = None, check: bool = False, remark: str = ""
    ) -> dict[str, Any]:
        """Change settings: all of them or, where one cannot be, none. ``values``: name → value; ``reset``: names for
        which the project's word holds again; ``check``: only see whether it could be done."""
        return self._change(thinking.wish(values, reset or []), check=check, remark=remark)

    def add(self, name: str, value: Any, check: bool = False, remark: str = "") -> dict[str, Any]:
        """Add one entry to a setting that is a list."""
        return self._change(thinking.with_entry(self._settings, name, value), check=check, remark=remark)

    def remove(self, name: str, value: Any, check: bool = False, remark: str = "") -> dict[str, Any]:
        """Remove one entry from a setting that is a list: the entry itself, or a component's name, id or place."""
        return self._change(thinking.without_entry(self._settings, name, value), check=check, remark=remark)

    def changes(self) -> dict[str, Any]:
        """What was changed so, and holds."""
        return {"changes": Wish(kept.read(self._crawl.jobdir.root).settings).told()}

    def settings(self) -> dict[str, Any]:
        """Every setting as it holds where no sheet applies, by its name without prefix."""
        return {"settings": thinking.held(self._settings.view)}

    # -- inside ----------------------------------------------------------------------------------------------

    def _change(self, wish: Wish, *, check: bool, remark: str) -> dict[str, Any]:
        crawl = self._crawl
        if crawl.frontier is None or crawl.bridge.is_closing():
            raise Refused("the crawl has not begun, or is ending")
        thinking.refuse_fixed(wish.names, running=True)
        root = crawl.jobdir.root
        try:
            merged = thinking.merged(kept.read(root), wish)
            settings = read(self._crawler.settings, changes=merged)
            scope = self._scope_for(settings)
            for test in crawl.settings_tests:
                test(settings)
        except ConfigurationError as error:
            raise Refused(error.message.removeprefix("heritrix_scrapy: ")) from None
        answer: dict[str, Any] = {"changed": wish.told(), "reset": wish.reset, "check": check}
        if check:
            return answer
        if not crawl.jobdir.temporary:
            try:
                kept.write(root, merged)
            except OSError as error:
                raise Refused(f"the change could not be kept, so nothing has changed: {error}") from None
        self._settings.become(settings)
        scope_of(self._crawler).become(scope)
        crawl.judges_seeds = scope.judges_seeds
        for tell in crawl.settings_changed:
            tell()
        if "HERITRIX_SEEDS" in wish.names and crawl.operations is not None:
            self._tell(wish, remark)
            try:
                queued = crawl.operations.perform({"do": "seeds", "lines": list(settings.view.seeds), "remark": remark})
            except StorageFull as error:
                crawl.bridge.pause(error)
                raise Refused(f"the settings have changed, and not every seed could be queued: {error}") from error
            answer["seeds queued"] = queued["queued"]
            return answer
        self._tell(wish, remark)
        return answer

    def _scope_for(self, settings: Settings) -> Scope:
        """A scope that has heard of all seeds. Raises ConfigurationError."""
        scope = from_settings(settings, self._crawler, beside=True)
        for _ in announce(settings.view.seeds, [scope], settings.view):
            """Only announced: they are queued, or were."""
        store = self._crawl.store
        if store is not None:
            for key, _ in store.range(keys.SEED, keys.after(keys.SEED)):
                scope.seed_found(CrawlURI(key[len(keys.SEED) :].decode("utf-8", "surrogatepass"), seed=True))
        return scope

    def _tell(self, wish: Wish, remark: str) -> None:
        crawl = self._crawl
        text = wish.line(remark)
        logger.info("%s", text)
        if crawl.life is not None:
            crawl.life.note(text)
        crawl.add_stats({"settings/changes": 1})
        self._crawler.signals.send_catch_log(
            signal=settings_changed, names=[bare(name) for name in wish.names], spider=self._crawler.spider
        )
        crawl.bridge.kick()
