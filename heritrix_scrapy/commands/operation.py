"""How is something done to the queues and URIs of a job, running or stopped?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.reach import Job

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Carry it out and print what came of it; exit status 1 when it could not be, 2 when too little was said."""
    try:
        request = asked(opts.subcommand, args, opts)
    except ValueError as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 2
    with Job(Path(args[0]), opts.project) as job:
        answer = carried_out(job, request)
    if answer is None:
        return 1
    print(json.dumps(answer, indent=2) if opts.json else "\n".join(as_text(answer)))
    return 0


def asked(name: str, args: list[str], opts: argparse.Namespace) -> dict[str, Any]:
    """The request that a command line stands for. Raises ValueError for one that says too little."""
    request: dict[str, Any] = {"do": name.replace("-", "_")}
    if name not in ("checkpoints", "changes"):
        request["remark"] = opts.remark
    if name in ("delete", "retire") and not (opts.queue or (name == "delete" and opts.uri)):
        words = "--uri or --queue" if name == "delete" else "--queue"
        raise ValueError(f"{name} needs {words}; .* stands for everything")
    if name in ("delete", "drop", "retire", "reconsider", "wake"):
        request |= {"queue": opts.queue, "count_only": opts.count}
    if name == "reset-quota":
        chosen = {each: getattr(opts, each) for each in ("host", "server", "queue", "source") if getattr(opts, each)}
        if len(chosen) != 1:
            raise ValueError("reset-quota needs one of --host, --server, --queue and --source")
        request |= chosen
    if name == "delete":
        request |= {"uri": opts.uri, "forget": opts.forget, "quiet": opts.quiet}
    elif name == "force":
        request |= {"uri": args[1], "path": opts.path, "via": opts.via, "seed": opts.seed, "now": opts.now}
    elif name == "set":
        request |= {"values": changed(args[1:], opts.file), "reset": opts.reset or [], "check": opts.check}
    elif name in ("add", "remove"):
        request |= {"name": args[1], "value": args[2], "check": opts.check}
    elif name == "kill":
        request |= {"uri": args[1], "keep": opts.keep}
    elif name == "seeds":
        try:
            request["lines"] = Path(args[1]).read_text(encoding="utf-8-sig", errors="replace").splitlines()
        except OSError as error:
            raise ValueError(f"{args[1]}: {error.strerror}") from None
    elif name == "import":
        request |= {"file": str(Path(args[1]).resolve()), "format": opts.format, "include": opts.include}
        request |= {"schedule": opts.schedule, "force": opts.force, "seeds": opts.seed, "scope": opts.scope}
        request["again"] = opts.again
    elif name == "export":
        request |= {"file": str(Path(args[1]).resolve()), "format": opts.format}
        request |= {"queue": opts.queue, "uri": opts.uri}
    return {key: value for key, value in request.items() if value is not None}


def changed(words: list[str], file: str | None) -> dict[str, Any]:
    """Names and values of ``NAME=VALUE`` words and of a file. Raises ValueError."""
    values: dict[str, Any] = {}
    if file:
        try:
            values = json.loads(Path(file).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise ValueError(f"{file}: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{file}: not JSON: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"{file}: expected a JSON object: names and values")
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ValueError(f"{word}: expected NAME=VALUE")
        values[name] = value
    return values


def carried_out(job: Job, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer; None when it could not be carried out, and why was printed."""

    def progress(answer: Mapping[str, Any]) -> None:
        counts = ", ".join(f"{key} {value}" for key, value in answer.items() if type(value) is int)
        print(f"{request['do']}: {counts}", file=sys.stderr)

    try:
        return job.perform(request, progress)
    except (ControlError, Refused, StoreError, StorageFull) as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return None


def as_text(answer: Mapping[str, Any]) -> list[str]:
    """The same for a terminal."""
    lines = []
    for key, value in answer.items():
        if isinstance(value, dict):
            lines += [f"{key}:", *(_entry(name, held) for name, held in value.items())] if value else []
        elif isinstance(value, list):
            lines += [f"{key}:", *("  " + "  ".join(map(str, row)) for row in value)] if value else []
        elif value not in (None, False):
            lines.append(f"{key:18} {value}")
    return lines


def _entry(name: str, held: Any) -> str:
    """A count with what was counted, or what has a value."""
    counted = type(held) is int and not name.startswith("HERITRIX_")
    return f"  {held:8}  {name}" if counted else f"  {name} = {held!r}"
