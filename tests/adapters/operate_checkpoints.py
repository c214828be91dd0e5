"""Names of checkpoints, of what ends at one, and of action files."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.journal import Journal
from heritrix_scrapy.operate.actionfiles import IMPORTS, action_of
from heritrix_scrapy.operate.checkpoints import name_of, next_number
from heritrix_scrapy.report.logs import Logs

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]


def milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def rotated(log: str, checkpoint: str) -> str:
    """The name that a log has after a checkpoint."""
    with TemporaryDirectory() as folder:
        if log.endswith(".gz"):
            journal = Journal(lambda: Path(folder), lambda: 0)
            journal.append("F+ http://a.com/  \n")
            journal.rotate(checkpoint)
            journal.close()
            [ended] = [path.name for path in Path(folder).iterdir() if path.name != log]
            return ended
        logs = Logs(lambda: Path(folder))
        logs.append(log, "a line\n")
        [path] = logs.rotate(checkpoint)
        return path.name


def checkpoint_naming(case: Case) -> tuple[bool, object]:
    asked = case["in"]
    if "recovered_from" in asked:
        got: Case = {"next_number": next_number([asked["recovered_from"]])}
    elif "journal" in asked:
        got = {"rotated_to": rotated(asked["journal"], asked["checkpoint"])}
    else:
        got = {"name": name_of(asked["number"], milliseconds(asked["utc"]))}
    return got == case["expect"], got


def checkpoint_name(case: Case) -> tuple[bool, object]:
    stamp = datetime.strptime(case["input"]["ts14"] + "+0000", "%Y%m%d%H%M%S%z")
    got = name_of(case["input"]["number"], int(stamp.timestamp() * 1000))
    return got == case["expected"], got


#: What of a journal's tags an import takes, in the words of the vectors.
TAGS = {"*": "every line", "Fs,Fi": "lines matching F[si]", "F+": "lines matching F+"}


def action_file_kinds(case: Case) -> tuple[bool, object]:
    action = action_of(case["in"]["file"])
    got: Case
    if action.kind == "script":
        got = {"action": "script"}
    elif action.kind == "unknown":
        got = {"action": "ignored with a warning, then moved"}
    elif action.kind == "seeds":
        got = {"action": "seeds"}
    else:
        options = IMPORTS[action.kind]
        steps = [f"{step} {TAGS[options[step]]}" for step in ("include", "schedule") if options[step] != "-"]
        got = {"action": steps, "scope": action.scope}
        if options["schedule"] != "-":
            got["force"] = options.get("force", False)
    if action.packed and action.kind != "unknown":
        got["gzip"] = True
    return got == case["expect"], got


ADAPTERS: dict[str, Callable[[Case], tuple[bool, object] | None]] = {
    "frontier/checkpoint_naming": checkpoint_naming,
    "frontier/action_file_kinds": action_file_kinds,
    "output/checkpoint_name": checkpoint_name,
}
