"""What do the beans of a job look like: as a tree, and the paths that they name?"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heritrix_scrapy.settings.beans.model import Bean, Beans, Items, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heritrix_scrapy.settings.beans.model import Value

#: Chains of processors, which hang below the controller.
CHAINS: Final = ("CandidateChain", "DispositionChain", "FetchChain")
CONTROLLER: Final = "CrawlController"
#: Beans that only change others.
UNSEEN: Final = ("PropertyOverrideConfigurer", "PreferencesPlaceholderConfigurer", "PropertyPlaceholderConfigurer")


class ConfigFile(NamedTuple):
    """A path that a bean's property names: relative ones from the job's folder."""

    key: str
    name: str
    path: str
    editable: bool = False


#: Class → property → name, and default below the job's folder.
PATHS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "ActionDirectory": {
        "actionDir": ("ActionDirectory source directory", "action"),
        "doneDir": ("ActionDirectory done directory", "${launchId}/actions-done"),
    },
    "BdbModule": {"dir": ("bdbmodule subdirectory", "frontier")},
    "CheckpointService": {"checkpointsDir": ("checkpoints subdirectory", "checkpoints")},
    "CrawlController": {"scratchDir": ("scratch subdirectory", "scratch")},
    "CrawlerLoggerModule": {
        "alertsLogPath": ("alerts.log", "${launchId}/logs/alerts.log"),
        "crawlLogPath": ("crawl.log", "${launchId}/logs/crawl.log"),
        "nonfatalErrorsLogPath": ("nonfatal-errors.log", "${launchId}/logs/nonfatal-errors.log"),
        "path": ("logs subdirectory", "${launchId}/logs"),
        "progressLogPath": ("progress-statistics.log", "${launchId}/logs/progress-statistics.log"),
        "runtimeErrorsLogPath": ("runtime-errors.log", "${launchId}/logs/runtime-errors.log"),
        "uriErrorsLogPath": ("uri-errors.log", "${launchId}/logs/uri-errors.log"),
    },
    "StatisticsTracker": {"reportsDir": ("reports subdirectory", "${launchId}/reports")},
}

WRITERS: Final = ("WARCWriterProcessor", "WARCWriterChainProcessor")
#: Properties that hold the path of a file which the operator writes.
SOURCES: Final = ("ConfigFile",)


def kind_of(bean: Bean) -> str:
    """The class as it is shown."""
    return bean.kind


def named(beans: Beans) -> Iterator[Bean]:
    """The beans that have a part in the crawl."""
    for bean in beans:
        if bean.short not in UNSEEN and not bean.kind.startswith("java.util."):
            yield bean


class Node(NamedTuple):
    """A bean in the tree. ``children``: those that it refers to and that stand nowhere before it."""

    name: str
    kind: str
    children: list[Node]


def tree(beans: Beans) -> list[Node]:
    """Every named bean once, from the controller on: chains, their processors, what those refer to; then the rest in
    the file's order."""
    seen: set[int] = set()
    out: list[Node] = []

    def node(bean: Bean) -> Node:
        seen.add(id(bean))
        return Node(bean.name, bean.kind, [node(each) for each in _below(bean, beans) if id(each) not in seen])

    everything = list(named(beans))
    for bean in sorted(everything, key=lambda each: each.short != CONTROLLER):
        if id(bean) not in seen and not (bean.short in CHAINS and any(each.short == CONTROLLER for each in everything)):
            out.append(node(bean))
    return out


def _below(bean: Bean, beans: Beans) -> Iterator[Bean]:
    if bean.short == CONTROLLER:
        yield from (each for each in named(beans) if each.short in CHAINS)
    for value in (*bean.properties.values(), *bean.arguments):
        yield from _referred(value, beans)


def _referred(value: Value, beans: Beans) -> Iterator[Bean]:
    if isinstance(value, Ref):
        found = beans.get(value.name)
        if found is not None and found.short not in UNSEEN:
            yield found
    elif isinstance(value, Items):
        for each in value.values:
            yield from _referred(each, beans)
    elif isinstance(value, Bean):
        for each in value.properties.values():
            yield from _referred(each, beans)


def inner(beans: Beans) -> Iterator[tuple[str, Bean]]:
    """Every bean with the name that it goes by: its own, or its class and a number that stays the same."""
    for bean in named(beans):
        yield bean.name, bean
        yield from _within(bean, bean.name)


def _within(value: Any, path: str) -> Iterator[tuple[str, Bean]]:
    if isinstance(value, Bean):
        for name, held in value.properties.items():
            yield from _named(held, f"{path}.{name}")
    elif isinstance(value, Items):
        for place, held in enumerate(value.values):
            yield from _named(held, f"{path}[{place}]")


def _named(value: Any, path: str) -> Iterator[tuple[str, Bean]]:
    if isinstance(value, Bean):
        yield f"{value.kind}#{zlib.crc32(path.encode()):x}", value
    yield from _within(value, path)


def config_paths(beans: Beans, launch: str, *, warcs_in_launch: bool = False) -> list[ConfigFile]:
    """The paths, by key. ``launch``: what stands for ``${launchId}``."""
    found: list[ConfigFile] = []
    for name, bean in inner(beans):
        known = PATHS.get(bean.short, {})
        for prop, (title, default) in known.items():
            found.append(ConfigFile(f"{name}.{prop}", title, said(bean.properties.get(prop), beans) or default))
        dump = said(bean.properties.get("surtsDumpFile"), beans)
        if dump:
            found.append(ConfigFile(f"{name}.surtsDumpFile", "surtsDumpFile", dump))
        if bean.short in WRITERS:
            base = said(bean.properties.get("directory"), beans) or "${launchId}"
            warcs = f"{base}/warcs" if warcs_in_launch else "warcs"
            found.append(ConfigFile(f"{name}.directory", "writer base path", base))
            found.append(ConfigFile(f"{name}.defaultStorePaths[0]", "warcs default store path", "warcs"))
            found.append(ConfigFile(f"{name}.storePaths[0]", "warcs default store path", warcs))
        for prop, held in bean.properties.items():
            source = _source(held, beans)
            if source:
                found.append(ConfigFile(f"{name}.{prop}", prop, source, editable=True))
    return sorted(
        (each._replace(path=each.path.replace("${launchId}", launch)) for each in found), key=lambda each: each.key
    )


def said(value: Value | None, beans: Beans) -> str:
    """The text of a path property."""
    if isinstance(value, Text):
        return value.text.strip()
    if isinstance(value, Ref):
        value = beans.get(value.name)
    if isinstance(value, Bean):
        return said(value.properties.get("path"), beans)
    return ""


def _source(value: Value, beans: Beans) -> str:
    bean = beans.get(value.name) if isinstance(value, Ref) else value
    if isinstance(bean, Bean) and bean.short in SOURCES:
        return said(bean.properties.get("path"), beans)
    return ""
