"""What may somebody see of a job who may look, and not steer?

How its crawls go, their logs, reports and archives: those by name and place, and nothing else. Settings modules, job
files, what a crawl keeps for itself and what Scrapy logs may hold passwords, so a file that is not known to hold none
is not shown. Of settings those that are secrets are not told (``settings.secrets``).
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from heritrix_scrapy.operate.jobs.folder import JOBDIR
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.auth import OPERATOR
from heritrix_scrapy.report.reports import REPORTS
from heritrix_scrapy.report.tailing import KNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiohttp import web

#: Names of logs; one that is over has what ended it behind its name.
_LOG: Final = re.compile(f"(?:{'|'.join(re.escape(name) for name in sorted(KNOWN))})(?:\\.[A-Za-z0-9.-]+)?")
_REPORTS: Final = frozenset(
    name for each in REPORTS.values() for name in (each.file, f"{each.file.rpartition('.')[0]}.json")
)
#: Archives, and what finds the way in them.
_ARCHIVE: Final = re.compile(r".+\.(?:w?arc(?:\.gz)?(?:\.open)?|cdxj?|wacz)")
#: Seeds, and what a crawl's scope was made of.
_PLAIN: Final = frozenset({"seeds.txt", "surts.dump", "negative-surts.dump"})
MIRROR: Final = "mirror"
#: What is no part of a mirror, though it lies in a folder of that name.
_PROGRAM: Final = (".py", ".pyc", ".cfg", ".cxml", ".groovy", ".ini", ".toml", ".env", ".pem", ".key")
#: What belongs to the crawl's process alone.
CRAWLS: Final = frozenset({"frontier", "history", "checkpoints", "state.json", "control.sock"})


def crawls(parts: Sequence[str]) -> bool:
    """Whether a file belongs to the crawl's process alone: in the job's folder, or in that of a project's crawls."""
    return bool(parts) and (parts[0] in CRAWLS or (len(parts) > 1 and parts[0] == JOBDIR and parts[1] in CRAWLS))


def may_steer(request: web.Request) -> bool:
    """Whether who asks may do everything."""
    return bool(request[ASKED].role == OPERATOR)


def may_see(request: web.Request, name: str) -> bool:
    """Whether who asks may see a file of a job. ``name``: its path below the job's folder, links followed."""
    return may_steer(request) or file(PurePosixPath(name).parts)


def log(name: str) -> bool:
    """Whether a name is that of a log of a crawl or of its job."""
    return _LOG.fullmatch(name) is not None


def file(parts: Sequence[str]) -> bool:
    """Whether a file of a job may be seen by those who may look. ``parts``: of its path below the job's folder."""
    if not parts or any(part.startswith(".") for part in parts) or crawls(parts) or CRAWLS & set(parts[:-1]):
        return False
    *folders, name = parts
    if _ARCHIVE.fullmatch(name) or (name in _PLAIN and len(parts) <= 2):
        return True
    if log(name):
        return name.startswith("job.log") or folders[-1:] == ["logs"]
    if name in _REPORTS:
        return folders[-1:] == ["reports"]
    return MIRROR in folders and not name.lower().endswith(_PROGRAM)
