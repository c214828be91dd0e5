"""What would a start say of a Scrapy project? Run in the project's folder, as a process of its own.

``python -m heritrix_scrapy.operate.jobs.trying [--text] [--spider NAME] [-s NAME=VALUE]...`` loads the project's
settings module, or with ``--text`` what stands on standard input in its place, and prints what there is to be said of
it: a JSON list of ``{level, text, line, file}``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from scrapy.addons import AddonManager
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.conf import init_env
from scrapy.utils.project import get_project_settings

from heritrix_scrapy.operate.doctor import OK, examined
from heritrix_scrapy.operate.jobs.remarks import WRONG, Remark, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MODULE: Final = "SCRAPY_SETTINGS_MODULE"


def module_file(name: str) -> Path | None:
    """The file of a settings module. Raises ImportError, ValueError."""
    found = find_spec(name)
    return Path(found.origin) if found is not None and found.origin else None


def tried(text: str | None, spider: str, more: Mapping[str, str]) -> Iterator[Remark]:
    """What there is to be said of the project in this folder, with ``text`` for its settings module."""
    init_env()
    sys.path.insert(0, os.getcwd())
    name = os.environ.get(MODULE, "")
    path = None
    if name:
        try:
            path = module_file(name)
        except (ImportError, ValueError, SyntaxError) as error:
            yield Remark(WRONG, f"the package of the settings module {name} cannot be loaded: {error}")
            return
    if path is None:
        yield Remark(WRONG, f"scrapy.cfg names no settings module that is there: {name or '[settings] default ='}")
        return
    source = path.read_text(encoding="utf-8", errors="replace") if text is None else text
    file = os.path.relpath(path)
    failure = _loaded(name, path, source)
    if failure is not None:
        yield Remark(WRONG, failure[1], failure[0], file)
        return
    settings = get_project_settings()
    settings.setdict(more, priority="cmdline")
    for finding in examined(settings, Path(settings["JOBDIR"]) if settings["JOBDIR"] else None):
        if finding.level != OK:
            line = line_of(source, finding.text)
            yield Remark(finding.level, f"{finding.what}: {finding.text}", line, file if line else "")
    yield from _spider(spider, settings)


def _loaded(name: str, path: Path, source: str) -> tuple[int, str] | None:
    """Run a settings module's text; the line and the words of what stopped it."""
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = name.rpartition(".")[0]
    sys.modules[name] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except SyntaxError as error:
        return error.lineno or 0, f"{error.msg}: {(error.text or '').strip()}"
    except BaseException as error:
        # whatever it is, SystemExit too: it ends the start
        own = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(path)]
        return (own[-1] if own else 0) or 0, f"{type(error).__name__}: {error}"
    return None


def _spider(name: str, settings: Any) -> Iterator[Remark]:
    if not name:
        return
    try:
        # ours brings a spider
        AddonManager.load_pre_crawler_settings(settings)
        names = SpiderLoader.from_settings(settings).list()
    except Exception as error:
        yield Remark(WRONG, f"the project's spiders cannot be loaded: {type(error).__name__}: {error}")
        return
    if name not in names:
        there = ", ".join(sorted(names)) or "none"
        yield Remark(WRONG, f"there is no spider {name!r} for [heritrix] spider in scrapy.cfg; there are: {there}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="trying")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--spider", default="")
    parser.add_argument("-s", dest="set", action="append", default=[])
    given = parser.parse_args(arguments)
    text = sys.stdin.read() if given.text else None
    more = {name: value for name, _, value in (pair.partition("=") for pair in given.set)}
    with contextlib.redirect_stdout(sys.stderr):
        # what a settings module prints is not the answer
        remarks = list(tried(text, given.spider, more))
    print(json.dumps([each._asdict() for each in remarks]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
