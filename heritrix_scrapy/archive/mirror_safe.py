"""Under which path does a mirror keep a URI so that no two share one and none leaves the directory?

The path depends on the URI and its media type alone: the same in each run, in whatever order URIs come. Segments
stay as the URI writes them. ``~`` is the mark of what was added, and is encoded where a URI has one itself:

| in the path | stands for |
|---|---|
| `host`, `host~443`, `host~http8080` | http on port 80; https on a port; http on another |
| `dir~` | a directory whose name could be a file's: it has a dot |
| `name~.html` | a file without suffix, which its media type has one for |
| `name~HASH.html` | a query, a name that had to be changed or cut, or one that the disk or the mirror has a use for |
| `host~HASH` | user name and password in the URI |
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from heritrix_scrapy.archive.mirror import mapped, suffix_for

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Longest segment, and longest path below the mirror's directory, in bytes.
SEGMENT, PATH = 120, 600

_UNUSUAL = re.compile(r"[^A-Za-z0-9._\-!$'()+,;=@%]|%(?![0-9A-Fa-f]{2})")
_SUFFIX = re.compile(r"[A-Za-z0-9]{1,10}\Z")
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))))


@dataclass(slots=True)
class SafeRules:
    """What can be chosen; the names are Heritrix's. ``case_sensitive_filesystem`` False: names that differ in case
    only get a hash."""

    directory_file: str = "index.html"
    host_map: Sequence[str] = ()
    content_type_map: Sequence[str] = ()
    case_sensitive_filesystem: bool = True


def place(uri: str, content_type: str, rules: SafeRules) -> str:
    """The relative path for an http or https URI, with ``/`` between segments."""
    parts = urlsplit(uri)
    mark = hashed(uri)
    segments = (parts.path or "/").removeprefix("/").split("/")
    top = _host(parts.scheme, parts.hostname or "", parts.port, rules)
    if "@" in parts.netloc:
        top = f"{top}~{hashed(parts.netloc)}"
    directories = [_directory(segment, rules) for segment in segments[:-1]]
    name = _file(segments[-1], parts.query, "?" in uri.partition("#")[0], content_type, mark, rules)
    path = "/".join([top, *directories, name])
    if len(path) > PATH or len(directories) > 60:
        return f"{top}/~/{mark}{_dotted(name)}"
    return path


def hashed(text: str) -> str:
    """A short name that no other text has: 80 bits of SHA-1, in hexadecimal."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:20]


def _host(scheme: str, host: str, port: int | None, rules: SafeRules) -> str:
    # two hosts that a map gives one directory share it: that is what the operator asked for
    name = mapped(rules.host_map, host.lower())
    text, changed = _encoded(name.lower())
    if changed or len(text) > SEGMENT or text in ("", ".", "..") or text.startswith(".") or text.endswith("."):
        text = f"{text.strip('.')[:60]}~{hashed(name)}"
    if scheme == "https":
        return f"{text}~{port or 443}"
    return text if port in (None, 80) else f"{text}~http{port}"


def _directory(segment: str, rules: SafeRules) -> str:
    text, changed = _encoded(segment)
    if changed or not _fits(text, rules):
        return f"{text.strip('. ')[:60]}~{hashed(segment)}~"
    return f"{text}~" if "." in text else text


def _file(segment: str, query: str, asked: bool, content_type: str, mark: str, rules: SafeRules) -> str:
    given = suffix_for(rules.content_type_map, content_type)
    if not segment and not asked:
        return rules.directory_file
    text, changed = _encoded(segment)
    main, dot, suffix = text.rpartition(".")
    if not dot or not main or not _SUFFIX.match(suffix):
        main, suffix = text, ""
    if segment == "":
        main, _, suffix = rules.directory_file.rpartition(".")
    ours = given or suffix or (mimetypes.guess_extension(content_type.partition(";")[0].strip()) or ".bin")[1:]
    if asked or changed or text == rules.directory_file or not _fits(text or "x", rules):
        shown = main.strip(". ")[:60]
        if query:
            shown += "@" + re.sub(r"[^A-Za-z0-9=_-]+", "_", query)[:40]
        return f"{shown}~{mark}.{ours}"
    # the old suffix stays in the name, so that two URIs that differ in it only do not meet
    return text if ours == suffix else f"{text}~.{ours}"


def _encoded(segment: str) -> tuple[str, bool]:
    """The segment as it may stand on a disk, and whether that is another text."""
    if _UNUSUAL.search(segment) is None:
        return segment, False
    text = _UNUSUAL.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), segment)
    return text, True


def _fits(text: str, rules: SafeRules) -> bool:
    """Whether a name can be had on any file system."""
    return (
        0 < len(text) <= SEGMENT
        and text[0] != "."
        and text[-1] not in ". "
        and text.partition(".")[0].lower() not in _RESERVED
        and (rules.case_sensitive_filesystem or text.lower() == text)
    )


def _dotted(name: str) -> str:
    suffix = name.rpartition(".")[2]
    return f".{suffix}" if _SUFFIX.match(suffix) else ""
