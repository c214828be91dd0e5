"""Which names can stand in a settings file, and what do they mean? For completion while one types, and as a page.

Made of the settings table, once: it does not change while the process runs.
"""

from __future__ import annotations

import asyncio
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from aiohttp import web

from heritrix_scrapy.frontier.policies.named import KINDS as POLICIES
from heritrix_scrapy.frontier.policies.named import shipped
from heritrix_scrapy.operate.web import answers
from heritrix_scrapy.scope.catalogue import GROUPS as RULES
from heritrix_scrapy.scope.catalogue import properties
from heritrix_scrapy.scope.presets import PRESETS
from heritrix_scrapy.settings.beans.classes import ROLES, SHARES
from heritrix_scrapy.settings.defaults import GROUPS, PREFIX, SAME
from heritrix_scrapy.settings.template import plain
from heritrix_scrapy.settings.validate import KINDS, ROBOTS_POLICIES

if TYPE_CHECKING:
    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.settings.defaults import Setting

_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_SENTENCE: Final = re.compile(r"(?<=[.;])\s+(?=[A-Z`0-9])")


class Name(NamedTuple):
    """What is told of a setting. ``choices``: what it may be, where that can be listed, as Python writes it."""

    key: str
    kind: str
    default: str
    heritrix: str
    words: str
    choices: tuple[str, ...]
    sheet: bool
    bean: str


def listed(row: Setting) -> tuple[str, ...]:
    """The names that a setting may hold, where there are some: it may hold other things too, a dotted path, say."""
    if row.kind == "scope":
        return tuple(PRESETS)
    if row.kind == "robots_policy":
        return ROBOTS_POLICIES
    wanted = row.name.removeprefix("DEFAULT_")
    return next((tuple(shipped(kind)) for kind in POLICIES if kind.key == PREFIX + wanted), ())


def told(row: Setting) -> Name:
    """A row of the table, in words."""
    kind = "one of " + ", ".join(row.choices) if row.choices else KINDS[row.kind][1].replace("`", "")
    kind += f", in {row.unit}" if row.unit else ""
    kind += f", at least {row.minimum:g}" if row.minimum is not None else ""
    choices = ("True", "False") if row.kind == "bool" else tuple(repr(each) for each in row.choices or listed(row))
    heritrix = "" if row.heritrix is SAME else repr(plain(row.heritrix))
    words = _LINK.sub(r"\1", row.doc).replace("`", "")
    return Name(row.key, kind, repr(plain(row.default)), heritrix, words, choices, row.overridable, row.bean)


@cache
def names() -> dict[str, Name]:
    """Every setting by its full name, in the order of the table."""
    return {row.key: told(row) for group in GROUPS for row in group.rows}


def of(name: str) -> Name | None:
    """The setting of a name, with or without its prefix."""
    return names().get(PREFIX + name.removeprefix(PREFIX))


@cache
def completions() -> str:
    """What a browser completes with, as JSON: ``settings``: name → what is told; ``roles``: last part of a bean's
    class → names of beans whose properties it has; ``rules``: rule of a scope → property → its default."""
    settings = {
        each.key: {
            "kind": each.kind,
            "default": each.default,
            "heritrix": each.heritrix,
            "words": _SENTENCE.split(each.words)[0],
            "choices": each.choices,
            "sheet": each.sheet,
            "bean": each.bean,
        }
        for each in names().values()
    }
    roles = {short: [role, *([SHARES[role]] if role in SHARES else [])] for short, role in ROLES.items()}
    rules = {
        cls.__name__: {each.name: "" if each.default is None else str(each.default) for each in properties(cls)}
        for classes in RULES.values()
        for cls in classes
    }
    return json.dumps({"settings": settings, "roles": roles, "rules": rules}, separators=(",", ":"))


async def data(context: Context, request: web.Request) -> web.StreamResponse:
    """The completions."""
    headers = {"Cache-Control": "private, max-age=3600"}
    # long to make, and a crawl's own loop has no time for it
    text = await asyncio.to_thread(completions)
    return web.Response(text=text, content_type="application/json", headers=headers)


async def page(context: Context, request: web.Request) -> web.StreamResponse:
    """Every setting, as a page for those who look one up. ``find``: what its name, its bean or its words contain."""
    wanted = request.query.get("find", "").strip()[:200]

    def made() -> web.StreamResponse:
        groups = []
        for group in GROUPS:
            rows = [names()[row.key] for row in group.rows]
            if rows := [row for row in rows if wanted.lower() in f"{row.key} {row.bean} {row.words}".lower()]:
                groups.append({"title": group.title, "rows": rows})
        of_engine = context.engine is not None
        return answers.page(context, request, "ui/names.html", groups=groups, find=wanted, engine=of_engine)

    return await asyncio.to_thread(made)
