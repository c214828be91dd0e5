"""How does one begin? A Scrapy project, ready to edit: settings, a seeds file, a spider."""

from __future__ import annotations

import json
import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.settings.template import settings_template

if TYPE_CHECKING:
    import argparse

CFG = """[settings]
default = {package}.settings
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


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Write the project; exit status 1 when the folder has something in it, or cannot be written to."""
    folder = Path(args[0])
    package = package_of(folder.resolve().name)
    texts = {
        "scrapy.cfg": CFG.format(package=package),
        "seeds.txt": SEEDS,
        f"{package}/__init__.py": PACKAGE,
        f"{package}/settings.py": SETTINGS.format(package=package) + settings_template(GIVEN),
        f"{package}/spiders/__init__.py": SPIDERS,
        f"{package}/spiders/crawl.py": SPIDER.format(package=package),
    }
    try:
        if folder.exists() and any(folder.iterdir()):
            print(f"heritrix_scrapy: {folder} is not empty: nothing was written", file=sys.stderr)
            return 1
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        print(f"heritrix_scrapy: {error.filename or folder}: {error.strerror}", file=sys.stderr)
        return 1
    if opts.json:
        print(json.dumps({"folder": str(folder), "spider": package, "files": list(texts)}, indent=2))
    else:
        print(_next_steps(folder, package))
    return 0


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


def _next_steps(folder: Path, package: str) -> str:
    return f"""A project for an archival crawl is in {folder}. Next:

  1. {folder / package / "settings.py"}: HERITRIX_OPERATOR_CONTACT_URL, a page that tells webmasters who crawls
  2. {folder / "seeds.txt"}: where the crawl begins
  3. cd {folder} && scrapy crawl {package} -s JOBDIR=job1"""
