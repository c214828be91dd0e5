"""Of which files does a Scrapy project for an archival crawl consist, ready to be edited?"""

from __future__ import annotations

import ast
import keyword
import re
from importlib.util import find_spec
from typing import Final

from heritrix_scrapy.settings.template import settings_template

CFG = """[settings]
default = {package}.settings

[heritrix]
spider = {spider}
"""

PACKAGE = '"""An archival crawl."""\n'

SPIDERS = '"""The spiders of this crawl."""\n'

SPIDER = '''"""The spider of this crawl: what the seeds lead to and the scope accepts is archived."""

from heritrix_scrapy import ArchiveSpider


class CrawlSpider(ArchiveSpider):
    name = "{package}"

    # Responses come here of what start() asks for, if it asks for something, and of everything that is archived when
    # HERITRIX_CALLBACK = "parse". What is yielded are items and Requests, as in any Scrapy spider.
    # def parse(self, response):
    #     yield {{"url": response.url, "title": response.css("title::text").get()}}
'''

SEEDS = """# Where the crawl begins: one address a line. What they stand for is in scope, and what their pages embed.
# https://www.example.org/
"""

SETTINGS = '''"""Settings of this crawl.

Below ADDONS every setting of the package stands as a comment, with its default: take the # away and change it.
`scrapy heritrix doctor` says what is wrong with this file, `scrapy heritrix scope --list` which scope it comes to.
"""

BOT_NAME = "{package}"
SPIDER_MODULES = ["{package}.spiders"]
NEWSPIDER_MODULE = "{package}.spiders"
TELNETCONSOLE_ENABLED = False

ADDONS = {{"heritrix_scrapy.Addon": 500}}

'''

GIVEN = {"HERITRIX_OPERATOR_CONTACT_URL": "", "HERITRIX_SEEDS": "seeds.txt", "HERITRIX_FOLLOW": "all"}

_MODULE: Final = re.compile(r"([A-Za-z_]\w*)\.\w+(?:\.\w+)*", re.ASCII)


def texts(package: str) -> dict[str, str]:
    """Path below the project's folder → text."""
    return {
        "scrapy.cfg": CFG.format(package=package, spider=package),
        "seeds.txt": SEEDS,
        f"{package}/__init__.py": PACKAGE,
        f"{package}/settings.py": SETTINGS.format(package=package) + settings_template(GIVEN),
        f"{package}/spiders/__init__.py": SPIDERS,
        f"{package}/spiders/crawl.py": SPIDER.format(package=package),
    }


def texts_around(settings: str, name: str) -> dict[str, str]:
    """The same for a settings module that is there already. Its package is called as it calls it where it names its
    spiders; one that names none is crawled by the spider that comes with the add-on. ``name``: of the project."""
    own = [
        found[1]
        for each in _spider_modules(settings)
        if (found := _MODULE.fullmatch(each)) and found[1] != "heritrix_scrapy"
    ]
    package = own[0] if own else package_of(name)
    made = texts(package)
    if not own:
        made = {path: text for path, text in made.items() if "/spiders/" not in path}
        made["scrapy.cfg"] = CFG.format(package=package, spider="archive")
    made[f"{package}/settings.py"] = settings
    return made


def _spider_modules(settings: str) -> list[str]:
    """What SPIDER_MODULES holds, where that stands there as a list of texts."""
    try:
        tree = ast.parse(settings)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(each, "id", "") == "SPIDER_MODULES" for each in node.targets):
            constants = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            found = [each for each in constants if isinstance(each, str)]
    return found


def package_of(name: str) -> str:
    """A name for the project's package that Python takes, and that nothing else has."""
    package = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_").lower() or "crawl"
    if package[0].isdigit() or keyword.iskeyword(package) or keyword.issoftkeyword(package) or _taken(package):
        package = f"crawl_{package}"
    return package


def _taken(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return True
