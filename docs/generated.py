"""Which tables of the manual are made from the tables that the code walks?

Each page of the manual that needs one includes ``_generated/NAME.md``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.policies.assignment import AuthorityBased
from heritrix_scrapy.frontier.policies.named import KINDS, shipped
from heritrix_scrapy.model.hops import HOPS
from heritrix_scrapy.model.status import STATUS, Disposition, Retry
from heritrix_scrapy.parts import CHEAPER, COMPONENTS, HANDLERS, SCHEDULER, SLOTS
from heritrix_scrapy.report.log_line import COLUMNS
from heritrix_scrapy.scope.catalogue import GROUPS, properties
from heritrix_scrapy.scope.presets import PRESETS
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.beans.classes import ALWAYS, NEEDLESS, NEEDLESS_CLASSES, REFUSED_RULES
from heritrix_scrapy.settings.beans.standins import STAND_INS
from heritrix_scrapy.settings.defaults import GROUPS as SETTINGS
from heritrix_scrapy.settings.defaults import PREFIX
from heritrix_scrapy.settings.reference import settings_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ENDS = {
    Disposition.SUCCESS: "downloaded",
    Disposition.FAILURE: "failed",
    Disposition.DISREGARDED: "disregarded",
}

#: What each column of crawl.log says, in their order.
SAYS = {
    "time": "when the line was written, UTC, to the millisecond",
    "status": "how the URI ended: see [statuses](statuses.md)",
    "size": "bytes of the body as sent; of a `dns:` URI all recorded bytes; `-` when nothing was received",
    "uri": "the URI as fetched",
    "hop path": "a letter for each step from the seed; `-` for a seed",
    "via": "where it was found",
    "mime": "Content-Type without parameters; `unknown` when nothing was received, `no-type` when none was said",
    "thread": "always `#001`",
    "start+duration": "when the fetch began, 17 digits, and the milliseconds it took",
    "digest": "of the body",
    "source tag": "the seed it came from, with `HERITRIX_SOURCE_TAG_SEEDS`",
    "annotations": "between commas; `-` for none",
}


#: Settings that all queue assignment policies follow.
SHARED = frozenset(AuthorityBased.PROPERTIES.values())


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def statuses() -> str:
    rows = []
    for row in STATUS.values():
        name = "" if row.label.lstrip("-").isdigit() else row.label.partition(")-")[2] or row.label
        again = row.retry.value if row.retry is not Retry.NEVER else ""
        free = "" if row.charged else ", without charge to the queue's budget"
        log = "also in runtime-errors.log" if row.runtime_error else ""
        rows.append((f"`{row.code}`", name, again + free, ENDS[row.disposition], log))
    return table(("status", "what it means", "tried again", "counts as", "log"), rows)


def hop_letters() -> str:
    return table(("letter", "step"), ((f"`{letter}`", says) for letter, says in HOPS.items()))


def crawl_log() -> str:
    return table(("column", "name", "what it says"), ((n, name, SAYS[name]) for n, name in enumerate(COLUMNS, 1)))


def scope() -> str:
    """Every preset as a list of rules, with what its bean is called and what each rule does."""
    parts = []
    for name, rules in PRESETS.items():
        rows = []
        for number, (bean, rule) in enumerate(rules(default_view()).items(), 1):
            decision = getattr(rule, "decision", None) or rule.only
            says = " ".join((type(rule).__doc__ or "").partition("\n\n")[0].split())
            word = f"{decision.name}: " if decision is not None else ""
            rows.append((number, f"`{rule.name}`", f"`{bean}`", word + says))
        parts.append(f"### `{name}`\n\n{table(('', 'rule', 'name in a list', 'what it says'), rows)}")
    return "\n".join(parts)


def rules() -> str:
    parts = []
    for title, classes in GROUPS.items():
        rows = []
        for cls in classes:
            taken = ", ".join(
                f"`{one.name}`" + (f" {given(one.default)}" if given(one.default) else "") for one in properties(cls)
            )
            rows.append((f"`{cls.__name__}`", " ".join((cls.__doc__ or "").partition("\n\n")[0].split()), taken))
        parts.append(f"### {title}\n\n{table(('rule', 'what it looks at', 'properties, with their defaults'), rows)}")
    return "\n".join(parts)


def given(default: object) -> str:
    """A default as the table shows it; nothing where none is to be shown."""
    if default is None or default == () or default == "":
        return ""
    if isinstance(default, tuple):
        return " ".join(str(value) for value in default)
    return str(default).replace("|", "&#124;")


def components() -> str:
    rows: list[tuple[object, ...]] = [("`SCHEDULER`", f"`{SCHEDULER}`", "")]
    rows += [("`DOWNLOAD_HANDLERS`", f"`{path}`", f"`{scheme}`") for scheme, path in HANDLERS.items()]
    for setting, placed in COMPONENTS.items():
        rows += [
            (f"`{setting}`", f"`{path}`", order if order is not None else "removed") for path, order in placed.items()
        ]
    rows += [
        (f"`{setting}`", f"`{path}`", order) for setting, placed in CHEAPER.items() for path, order in placed.items()
    ]
    rows += [("`DOWNLOAD_SLOTS`", f"one slot, `{slot}`, without delay", "") for slot in SLOTS]
    return table(("setting", "component", "order or scheme"), rows)


def policies() -> str:
    """Every shipped policy, by kind, with the settings that its properties are."""
    parts = []
    for kind in KINDS:
        rows = []
        for name, cls in shipped(kind).items():
            says = " ".join((cls.__doc__ or "").partition("\n\n")[0].split())
            taken = ", ".join(
                f"`{prop}` (`{PREFIX}{setting.upper()}`)"
                for prop, setting in cls.PROPERTIES.items()
                if setting not in SHARED
            )
            rows.append((f"`{name}`", says, taken))
        parts.append(f"### `{kind.key}`\n\n{table(('policy', 'what it says', 'properties'), rows)}")
    return "\n".join(parts)


def migration() -> str:
    """Every property of Heritrix that is a setting, under its bean's name in Heritrix's own profile."""
    rows = sorted((row.bean.partition(".")[0], row.bean, row) for group in SETTINGS for row in group.rows if row.bean)
    taken = [
        (f"`{bean}`", f"[`{row.key}`](#setting-{row.key})", "yes" if row.overridable else "")
        for _, bean, row in sorted(rows, key=lambda entry: entry[:2])
    ]
    return table(("in Heritrix", "here", "may a sheet change it"), taken)


def needless() -> str:
    rows = [(f"`{name}`", why) for name, why in sorted(NEEDLESS.items()) if why]
    rows += [(f"`{name}`", why) for name, (_, why) in sorted(ALWAYS.items())]
    rows += [(f"`{name}`, all of it", why) for name, why in sorted(NEEDLESS_CLASSES.items()) if why]
    return table(("in Heritrix", "why it needs none"), rows)


def standins() -> str:
    rows = [(f"`{name}`", did, cell(instead)) for name, (did, instead) in STAND_INS.items()]
    rows += [(f"`{name}`", "is a rule of Heritrix's", cell(instead)) for name, instead in REFUSED_RULES.items()]
    return table(("class", "what it did", "here"), rows)


def cell(text: str) -> str:
    """A text with its settings as code."""
    return re.sub(r"(HERITRIX_[A-Z0-9_]+)", r"`\1`", text)


TABLES: dict[str, Callable[[], str]] = {
    "statuses.md": statuses,
    "hops.md": hop_letters,
    "crawl_log.md": crawl_log,
    "scope.md": scope,
    "rules.md": rules,
    "components.md": components,
    "policies.md": policies,
    "migration.md": migration,
    "needless.md": needless,
    "standins.md": standins,
}


def write(folder: Path) -> None:
    """All tables, and the settings reference, a page of its own."""
    generated = folder / "_generated"
    generated.mkdir(exist_ok=True)
    for name, text in TABLES.items():
        (generated / name).write_text(text(), encoding="utf-8")
    title = "Settings"
    (folder / "settings.rst").write_text(f"{title}\n{'=' * len(title)}\n\n{settings_reference()}", encoding="utf-8")
