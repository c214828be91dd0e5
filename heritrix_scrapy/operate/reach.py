"""How does another process have something done to a job, whether its crawl runs or not?"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.operations import VERBS
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model.steering import Verb
from heritrix_scrapy.operate.control import ControlError, NotRunning, ask
from heritrix_scrapy.operate.live import deadline
from heritrix_scrapy.operate.offline import Offline
from heritrix_scrapy.operate.standing import PATIENCE, patiently
from heritrix_scrapy.operate.stopped import opened_job
from heritrix_scrapy.operate.why import Reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Self

    from heritrix_scrapy.operate.stopped import Opened

#: Seconds between two looks at a long operation, and the length of a slice where nobody else has to have a turn.
LOOK = 0.3
SLICE = 0.3

#: Seconds after which an answer that takes its time is not waited for any more.
LONGEST = 600.0

#: Several requests of a stopped job, which is opened once for all of them: ``requests``; answered with ``answers``.
SEVERAL = "several"


class Job:
    """One job, as a context: asked through its socket while a crawl runs on it, else opened when it is first needed.

    ``project``: the Scrapy settings that a stopped crawl is opened with; ``patience``: seconds for which another's
    hold on its store is waited for.
    """

    def __init__(self, directory: Path, project: Any, *, patience: float = PATIENCE) -> None:
        self._directory = directory
        self._project = project
        self._patience = patience
        self._open = ExitStack()
        self._opened: Opened | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def perform(
        self, request: Mapping[str, Any], progress: Callable[[Mapping[str, Any]], None] | None = None
    ) -> dict[str, Any]:
        """Carry out one request (see ``Operations.perform``), or ``SEVERAL``, and return its answer. ``progress``: told
        how far a long operation is.

        Raises ControlError, Refused, ConfigurationError or StorageFull.
        """
        return patiently(lambda: self._performed(request, progress), self._patience)

    def _performed(
        self, request: Mapping[str, Any], progress: Callable[[Mapping[str, Any]], None] | None
    ) -> dict[str, Any]:
        if request.get("do") == SEVERAL:
            return {"answers": [self._performed(each, progress) for each in request["requests"]]}
        if self._opened is None:
            try:
                return self._asked(request, progress)
            except NotRunning:
                offline = Offline(self._directory, self._project)
                if request.get("do") in offline:
                    return offline.perform(request)
                if request.get("do") == "kill":
                    raise ControlError(f"no crawl runs on {self._directory}: nothing is in flight") from None
            self._opened = self._open.enter_context(opened_job(self._directory, self._project))
        operations = self._opened.operations
        if request.get("do") == "why":
            verb = Verb("why", Reasons(self._opened.crawl, self._opened.scope, operations).stopped, steers=False)
            return dict(verb.run(**verb.arguments(request)))
        result = operations.perform(request)
        if not isinstance(result, Work):
            return result
        while not result.run(deadline(time.monotonic, SLICE)):
            if progress is not None:
                progress(result.answer())
        answer = result.answer()
        operations.noted(result, answer)
        return {"name": result.name, **answer}

    def _asked(
        self, request: Mapping[str, Any], progress: Callable[[Mapping[str, Any]], None] | None
    ) -> dict[str, Any]:
        if request.get("do") not in VERBS:
            return _without(ask(self._directory, request, timeout=LONGEST), "ok", "protocol")
        answer = ask(self._directory, {**request, "wait": False}, timeout=60)
        while answer.get("done") is False:
            if progress is not None:
                progress(answer)
            time.sleep(LOOK)
            answer = ask(self._directory, {"do": "operation", "operation": answer["operation"]}, timeout=60)
        return _without(answer, "ok", "protocol", "operation", "done")


def _without(answer: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in names}
