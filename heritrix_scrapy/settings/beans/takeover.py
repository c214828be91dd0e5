"""What is there of a Heritrix job that is under way?

Its journal, its crawl.log, its WARC files and its cookies, in the places where Heritrix puts them: below the folder of
the latest launch, named by 14 digits, to which ``latest`` links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

JOURNAL = "frontier.recover.gz"
CRAWL_LOG = "crawl.log"

_LAUNCH = re.compile(r"\d{14}")
_WARC = re.compile(r".+\.warc(?:\.gz)?(?:\.open)?")
_REFERENCE = re.compile(r"\$\{([^{}]+)\}")

#: What references in a template stand for, as regular expressions.
_PARTS = {
    "timestamp17": r"\d{17}",
    "timestamp14": r"\d{14}",
    "serialno": r"(?P<serial>\d{5,})",
    "heritrix.pid": r"(?P<pid>\d+)",
    "heritrix.hostname": r"(?P<hostname>[\w.\-]+)",
    "heritrix.port": r"(?P<port>\d+)",
}

#: Media types of documents that lead on.
_PAGES = ("text/html", "application/xhtml+xml", "text/css", "application/xml", "text/xml", "application/rss+xml")


@dataclass(frozen=True, slots=True)
class Found:
    """``journals``: the journal's files, the oldest first; ``crawl_log``, ``cookies``: None when there is none."""

    journals: tuple[Path, ...]
    crawl_log: Path | None
    warcs: tuple[Path, ...]
    cookies: Path | None


def launch_of(folder: Path) -> Path:
    """The folder of the latest launch; the job's own where there are none."""
    latest = folder / "latest"
    if latest.is_dir():
        return latest
    launches = sorted(path for path in folder.iterdir() if path.is_dir() and _LAUNCH.fullmatch(path.name))
    return launches[-1] if launches else folder


def found_in(folder: Path, settings: Mapping[str, Any]) -> Found:
    """What is there. ``settings``: of the job."""
    launch = launch_of(folder)
    logs = next((place for place in (launch / "logs", folder / "logs", launch) if place.is_dir()), launch)
    journals = sorted(logs.glob(f"{JOURNAL}*"), key=lambda path: (path.stat().st_mtime, path.name == JOURNAL))
    log = next((place for place in (logs / CRAWL_LOG, launch / CRAWL_LOG) if place.is_file()), None)
    places = [launch / "warcs", folder / "warcs", *(Path(path) for path in stores(settings))]
    warcs = sorted(
        {
            path.resolve()
            for place in places
            for base in ((place,) if place.is_absolute() else (launch / place, folder / place))
            if base.is_dir()
            for path in base.iterdir()
            if _WARC.fullmatch(path.name)
        }
    )
    saved = settings.get("HERITRIX_COOKIES_SAVE_FILE")
    cookies = None
    if saved:
        cookies = next((place for place in (folder / saved, launch / saved) if place.is_file()), None)
    return Found(tuple(journals), log, tuple(warcs), cookies)


def stores(settings: Mapping[str, Any]) -> list[str]:
    """Where the job's writers put their files."""
    found = [str(path) for path in settings.get("HERITRIX_WARC_STORE_PATHS", ())]
    for _, properties in settings.get("HERITRIX_WRITERS", ()):
        found += map(str, properties.get("store_paths", ()))
    return found


def name_parts(names: Iterable[str], template: str, prefix: str) -> dict[str, Any]:
    """The settings with which WARC files go on being called as they were: the next serial number, and the parts of
    the name that say which crawler wrote it."""
    pattern = []
    at = 0
    for found in _REFERENCE.finditer(template):
        pattern += [re.escape(template[at : found.start()]), prefix_or_part(found[1], prefix)]
        at = found.end()
    pattern.append(re.escape(template[at:]))
    text = "".join(pattern)
    for name in ("serial", "pid", "hostname", "port"):
        # a part that the template names twice is looked at once
        first, group, rest = text.partition(f"(?P<{name}>")
        text = first + group + rest.replace(f"(?P<{name}>", "(?:")
    shape = re.compile(text + r"\.warc(?:\.gz)?(?:\.open)?")
    taken = sorted(
        (match for name in names if (match := shape.fullmatch(name))),
        key=lambda match: int(match.groupdict().get("serial") or 0),
    )
    if not taken:
        return {}
    last = taken[-1].groupdict()
    settings: dict[str, Any] = {}
    if last.get("serial"):
        settings["HERITRIX_WARC_FIRST_SERIAL"] = int(last["serial"]) + 1
    parts = {f"heritrix.{name}": last[name] for name in ("pid", "hostname", "port") if last.get(name)}
    if parts:
        settings["HERITRIX_WARC_NAME_PARTS"] = parts
    return settings


def prefix_or_part(reference: str, prefix: str) -> str:
    """What a reference of a template looks like in a name."""
    return re.escape(prefix) if reference == "prefix" else _PARTS.get(reference, r".*?")


def crawl_log_parts(log: Path, folder: Path) -> tuple[Path, Path]:
    """Two files of a crawl.log's lines: the documents that lead on, which have to be fetched again so that their links
    are found, and all others."""
    pages, others = folder / "imported-pages.log", folder / "imported-others.log"
    with (
        log.open("rb") as lines,
        pages.open("wb") as out_pages,
        others.open("wb") as out_others,
    ):
        for line in lines:
            if not line.endswith(b"\n"):
                break
            fields = line.split()
            leads_on = len(fields) > 6 and fields[1].isdigit() and 200 <= int(fields[1]) < 400
            mime = fields[6].decode("latin-1").lower() if len(fields) > 6 else ""
            (out_pages if leads_on and (mime.startswith(_PAGES) or fields[1][:1] == b"3") else out_others).write(line)
    return pages, others
