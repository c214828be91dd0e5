"""How do captures become a tree of files that can be browsed?

``MirrorWriterPipeline`` writes one file for each http or https URI (Heritrix: MirrorWriterProcessor). The modern
profile writes the decoded body under a path that no other URI has; the heritrix profile writes the body as it
came, under Heritrix's path. Links stay as they are in both; ``browse`` names a second tree, whose links lead to its
own files.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import sqlite3
from errno import EILSEQ, EINVAL, ENAMETOOLONG
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive import mirror, mirror_safe
from heritrix_scrapy.archive.browse_tree import Places, build
from heritrix_scrapy.archive.capture import CapturePipeline
from heritrix_scrapy.archive.mirror import MirrorError, Rules
from heritrix_scrapy.archive.mirror_safe import SafeRules
from heritrix_scrapy.archive.pipeline import gate_of
from heritrix_scrapy.archive.writer import chosen
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Property → what it is when nobody says anything; those of Heritrix's mapping, then ours.
PROPERTIES: dict[str, Any] = {
    "path": "",
    "mapping": "",
    "raw": None,
    "browse": "",
    "create_host_directory": True,
    "host_map": (),
    "create_port_directory": False,
    "directory_file": "index.html",
    "content_type_map": (),
    "character_map": (),
    "dot_begin": "%2E",
    "dot_end": ".",
    "underscore_set": (),
    "case_sensitive_filesystem": True,
    "suffix_at_end": True,
    "max_seg_length": 255,
    "max_path_length": 1023,
    "too_long_directory": "LONG",
}
OURS = frozenset({"path", "mapping", "raw", "browse"})
SAFE = frozenset({"directory_file", "host_map", "content_type_map", "case_sensitive_filesystem"})


class Files:
    """The mirror's directory, as the mapping asks about it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def is_dir(self, path: str) -> bool:
        return (self._root / path.lstrip("/")).is_dir()

    def is_file(self, path: str) -> bool:
        return (self._root / path.lstrip("/")).is_file()

    def names(self, path: str) -> Sequence[str]:
        place = self._root / path.lstrip("/")
        return os.listdir(place) if place.is_dir() else []


class MirrorWriter:
    """Writes captures into one tree. Raises ConfigurationError for properties that cannot be."""

    def __init__(self, crawl: Crawl, properties: Mapping[str, Any]) -> None:
        own = {**PROPERTIES, **chosen("mirror", properties, PROPERTIES)}
        profile = settings_of(crawl.crawler).profile
        heritrix = (own["mapping"] or profile) == "heritrix"
        if own["mapping"] not in ("", "safe", "heritrix"):
            raise ConfigurationError("HERITRIX_WRITERS", own["mapping"], "mapping is safe or heritrix")
        if "/" in own["directory_file"] or not own["directory_file"]:
            raise ConfigurationError("HERITRIX_WRITERS", own["directory_file"], "directory_file is a file's name")
        path = str(own["path"]).replace("${launchId}/", "").replace("${launchId}", "")
        base = Path.cwd() if crawl.jobdir.temporary and not crawl.looking else crawl.jobdir.root
        self.root = base / (path or "mirror")
        self._tree = Files(self.root)
        self._browse = base / str(own["browse"]) if own["browse"] else None
        if self._browse is not None and self._browse.resolve().is_relative_to(self.root.resolve()):
            raise ConfigurationError("HERITRIX_WRITERS", own["browse"], "browse is a folder outside of the mirror's")
        self._places: Places | None = None
        self._raw = profile == "heritrix" if own["raw"] is None else bool(own["raw"])
        self._numbers = itertools.count()
        if self._browse is not None and self._raw:
            raise ConfigurationError("HERITRIX_WRITERS", own["browse"], "browse needs decoded bodies: raw is False")
        self._rules: Rules | None = None
        self._safe: SafeRules | None = None
        if heritrix:
            values = {key: value for key, value in own.items() if key not in OURS}
            self._rules = Rules(**values, base_length=len(str(self.root)))
        else:
            self._safe = SafeRules(**{key: own[key] for key in SAFE})

    def write(self, curi: CrawlURI) -> str | None:
        """Keep the body of a capture; the path below the mirror's directory, None when nothing was written.

        Raises MirrorError for a URI that has no place, StorageFull when the disk refuses.
        """
        recorder = curi.recorder
        if recorder is None or curi.status <= 0 or curi.credential_pending or curi.content_length <= 0:
            return None
        if curi.scheme not in ("http", "https") or curi.status == 304:
            return None
        if self._rules is not None:
            path = mirror.place(curi.uri, curi.content_type, self._rules, self._tree)
        else:
            assert self._safe is not None
            path = mirror_safe.place(curi.uri, curi.content_type, self._safe)
        target = self._below(path)
        body = recorder.response.chunks(recorder.body_at) if self._raw else recorder.decoded()
        self._put(target, body)
        if self._browse is not None:
            try:
                if self._places is None:
                    self._places = Places(self.root)
                self._places.put(curi.uri, path.lstrip("/"), curi.content_type)
            except (OSError, sqlite3.Error) as error:
                raise StorageFull(str(self.root), cause=error) from error
        return path

    def finish(self) -> int:
        """Make the tree for browsing, where one is wanted; the number of documents rewritten. Raises OSError."""
        if self._places is None or self._browse is None:
            return 0
        try:
            return build(self.root, self._places, self._browse)
        finally:
            self._places.close()
            self._places = None

    def _below(self, path: str) -> Path:
        """The place of a file, when it is in the tree: no path ever leaves it, nor by a link that lies in it."""
        target = self.root / path.lstrip("/")
        root = self.root.resolve()
        if not target.parent.resolve().is_relative_to(root):
            raise MirrorError("io", f"{path!r} is outside of {self.root}")
        return target

    def _put(self, target: Path, body: Iterable[bytes]) -> None:
        """Write beside the file and put it in its place."""
        draft = target.parent / f".{os.getpid()}-{next(self._numbers)}.part"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(target, error) from error
        try:
            with draft.open("wb") as file:
                for piece in body:
                    file.write(piece)
            draft.replace(target)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise refusal(target, error) from error


def refusal(target: Path, error: OSError) -> Exception:
    """What a failed write comes to: a name that the disk cannot have is the URI's, the rest is the disk's."""
    if isinstance(error, (FileExistsError, NotADirectoryError, IsADirectoryError)) or error.errno in OF_THE_NAME:
        return MirrorError("io", f"{target}: {error.strerror}")
    return StorageFull(str(target), cause=error)


#: What a disk says of a name that it cannot have: too long, not allowed, not in its character set.
OF_THE_NAME = (ENAMETOOLONG, EINVAL, EILSEQ)


class MirrorWriterPipeline(CapturePipeline):
    """Writes each capture into the trees that ``HERITRIX_WRITERS`` names; a failure is the URI's, not the crawl's."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl = crawl = Crawl.of(crawler)
        view = settings_of(crawler).view
        self._writers = [
            (MirrorWriter(crawl, properties), gate_of(crawl, properties, view.mirror_writer_should_process_rule))
            for name, properties in view.writers
            if name == "mirror" and properties.get("enabled", True)
        ]

    def process_capture(self, curi: CrawlURI) -> None:
        """Write the files of one URI; ``mirrorPath`` in the extra information says where. Raises StorageFull."""
        for writer, gate in self._writers:
            if gate is not None and not gate(curi):
                continue
            try:
                path = writer.write(curi)
            except MirrorError as error:
                curi.errors.append(("mirror", error))
                self._crawl.add_stats({"mirror/refused": 1})
                logger.warning("%s is not in the mirror: %s", curi.uri, error)
                continue
            if path is not None:
                self._crawl.add_stats({"mirror/files": 1, "mirror/bytes": curi.content_length})

    async def close_spider(self) -> None:
        """Make the trees for browsing, beside the loop: the crawl's other ends go on."""
        for writer, _ in self._writers:
            try:
                count = await asyncio.to_thread(writer.finish)
            except (OSError, sqlite3.Error) as error:
                logger.error("the tree for browsing is not whole: %s", error)
                continue
            if count:
                self._crawl.add_stats({"mirror/rewritten": count})
