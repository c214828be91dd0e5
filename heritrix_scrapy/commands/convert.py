"""What would a Heritrix job be in a settings file of ours, and what of it has no counterpart?

``scrapy heritrix convert crawler-beans.cxml -o settings.py``: the settings, a file of the seeds that stand in the
job's, and a report. Exit status 1 when something was left out that changes the crawl or its archive.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.beans import Job, JobError, Verdict, read_job
from heritrix_scrapy.settings.beans.writing import MADE, inline_seeds, settings_file
from heritrix_scrapy.settings.job_file import class_map, located

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Write the settings and the report; exit status 1 on a loss, or when the file cannot be read."""
    profile = opts.project.get("HERITRIX_PROFILE") or "heritrix"
    try:
        job = read_job(
            located(args[0]),
            environment=os.environ,
            class_map=class_map(opts.project.get("HERITRIX_CLASS_MAP")),
            profile=profile if profile in ("modern", "heritrix") else "heritrix",
        )
    except JobError as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    losses = len(job.report.losses)
    refused = bool(losses and opts.strict)
    written: list[Path] = []
    out = sys.stdout
    if not opts.check and not refused:
        if opts.output:
            written = write(job, Path(opts.output), profile)
        else:
            print(settings_file(job, profile=profile), end="")
            out = sys.stderr
    if opts.json:
        print(json.dumps(as_json(job, written), indent=2), file=out)
    else:
        for line in (*job.report.lines(), *told(job, written, refused=refused)):
            print(line, file=out)
    return 1 if losses else 0


def write(job: Job, path: Path, profile: str) -> list[Path]:
    """The settings file and, where seeds stand in the job, the seeds file beside it; what was written. Raises
    ConfigurationError where a file is that was not made by us."""
    if path.is_dir():
        raise ConfigurationError("--output", str(path), "this is a folder; name the file to write")
    try:
        there = path.read_text(encoding="utf-8", errors="replace") if path.exists() else MADE
    except OSError as error:
        raise ConfigurationError("--output", str(path), f"cannot be read: {error.strerror}") from None
    if not there.startswith(MADE):
        raise ConfigurationError("--output", str(path), "the file is there, and was not made by this command")
    written = [path]
    seeds = inline_seeds(job)
    seeds_file = ""
    try:
        if seeds is not None:
            target = path.with_name("seeds.txt")
            text = "\n".join(seeds) + "\n"
            if target.exists() and target.read_text(encoding="utf-8", errors="replace") != text:
                target = path.with_name(f"{path.stem}-seeds.txt")
            target.write_text(text, encoding="utf-8")
            written.append(target)
            seeds_file = target.name
        path.write_text(settings_file(job, seeds_file=seeds_file, profile=profile), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError("--output", str(path), f"cannot be written: {error.strerror}") from None
    return written


def told(job: Job, written: list[Path], *, refused: bool) -> list[str]:
    """The last lines."""
    counts = ", ".join(f"{len(job.report.of(verdict))} {verdict.value}" for verdict in Verdict)
    lines = [f"{job.path}: {counts}"]
    if refused:
        lines.append("nothing was written: --strict")
    return [*lines, *(f"written: {path}" for path in written)]


def as_json(job: Job, written: list[Path]) -> dict[str, Any]:
    """The report for programs."""
    return {
        "file": str(job.path),
        "written": [str(path) for path in written],
        "settings": len(job.settings),
        "losses": len(job.report.losses),
        "entries": [
            {
                "file": entry.place.file if entry.place else None,
                "line": entry.place.line if entry.place else None,
                "column": entry.place.column if entry.place else None,
                "bean": entry.bean,
                "property": entry.prop,
                "verdict": entry.verdict.value,
                "setting": entry.setting,
                "text": entry.text,
            }
            for entry in job.report.entries
        ],
    }
