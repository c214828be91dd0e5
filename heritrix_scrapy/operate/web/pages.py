"""Which templates are there, and how are they filled in? Everything that is put in is escaped."""

from __future__ import annotations

import asyncio
import time
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from heritrix_scrapy.operate.web import markup

#: Seconds of a slice of a page that is drawn.
SLICE: Final = 0.001


@cache
def environment() -> Environment:
    """The templates, with their filters."""
    made = Environment(
        loader=PackageLoader("heritrix_scrapy.operate.web", "templates"),
        autoescape=True,
        # a look at the file each time is a wait for the disk
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["printed"] = printed
    made.filters["segment"] = lambda text: quote(str(text), safe="")
    return made


def prepare() -> None:
    """Read every template, so that nobody waits for it later; those that others take parts from are run once."""
    for name in environment().list_templates():
        template = environment().get_template(name)
        if name == "parts.html":
            str(template.module)


def render(template: str, /, **values: Any) -> str:
    """A filled-in template."""
    return environment().get_template(template).render(**values)


async def drawn(template: str, /, **values: Any) -> str:
    """The same, with a turn for others after each slice: a long page holds nobody up."""
    parts = []
    end = time.monotonic() + SLICE
    for part in environment().get_template(template).generate(**values):
        parts.append(part)
        if time.monotonic() >= end:
            await asyncio.sleep(0)
            end = time.monotonic() + SLICE
    return "".join(parts)


def printed(value: Any) -> str:
    """A value as text; what no page can show is left out."""
    return markup.ILLEGAL.sub("", markup.text(value))
