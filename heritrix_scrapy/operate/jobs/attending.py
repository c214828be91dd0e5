"""What is asked of a Scrapy project's crawl that does not run, in a process of the project's own.

``python -m heritrix_scrapy.operate.jobs.attending JOBDIR [-s NAME=VALUE]...``, run in the project's folder, reads
requests, a JSON object a line, and answers each with one. The job is open while it answers, not in between; after
some time without a request, or when nobody is there any more, the process ends by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.conf import init_env
from scrapy.utils.project import get_project_settings

from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.reach import Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Seconds without a request after which the process is not needed any more.
IDLE: Final = 60.0


def requests(descriptor: int, idle: float) -> Iterator[bytes]:
    """The lines that come, until none comes for so long or the other side has closed."""
    held = b""
    while True:
        line, end, rest = held.partition(b"\n")
        if end:
            held = rest
            yield line
            continue
        if not select.select([descriptor], [], [], idle)[0]:
            return
        data = os.read(descriptor, 1 << 16)
        if not data:
            return
        held += data


def loaded(more: Mapping[str, str]) -> Any:
    """The project's settings, or why there are none."""
    try:
        init_env()
        sys.path.insert(0, os.getcwd())
        project = get_project_settings()
    except (Exception, SystemExit) as error:
        return f"the project's settings cannot be loaded: {type(error).__name__}: {error}"
    project.setdict(more, priority="cmdline")
    return project


def answer(directory: Path, project: Any, line: bytes) -> dict[str, Any]:
    """What comes of one request. ``project``: as ``loaded`` gives it."""
    if isinstance(project, str):
        return {"ok": False, "error": project, "refused": True}
    try:
        with Job(directory, project) as job:
            return {**job.perform(json.loads(line)), "ok": True}
    except (Refused, ControlError, StoreError, StorageFull) as error:
        return {"ok": False, "error": str(error), "refused": isinstance(error, Refused | ControlError)}
    except ConfigurationError as error:
        return {"ok": False, "error": error.message.removeprefix("heritrix_scrapy: "), "refused": False}
    except Exception as error:
        # of the project's own code, too: the next request may fare better
        return {"ok": False, "error": f"{type(error).__name__}: {error}", "refused": False}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="attending")
    parser.add_argument("jobdir", type=Path)
    parser.add_argument("-s", dest="set", action="append", default=[])
    given = parser.parse_args(arguments)
    with os.fdopen(os.dup(1), "wb") as out:
        # what the project's code prints is no answer
        os.dup2(2, 1)
        project = loaded({name: value for name, _, value in (pair.partition("=") for pair in given.set)})
        for line in requests(0, IDLE):
            out.write(json.dumps(answer(given.jobdir, project, line), default=str).encode() + b"\n")
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
