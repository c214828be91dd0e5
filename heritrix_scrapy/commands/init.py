"""How does one begin? A Scrapy project, ready to edit: settings, a seeds file, a spider."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.jobs.new_project import package_of, texts

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Write the project; exit status 1 when the folder has something in it, or cannot be written to."""
    folder = Path(args[0])
    package = package_of(folder.resolve().name)
    made = texts(package)
    try:
        if folder.exists() and any(folder.iterdir()):
            print(f"heritrix_scrapy: {folder} is not empty: nothing was written", file=sys.stderr)
            return 1
        for name, text in made.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        print(f"heritrix_scrapy: {error.filename or folder}: {error.strerror}", file=sys.stderr)
        return 1
    if opts.json:
        print(json.dumps({"folder": str(folder), "spider": package, "files": list(made)}, indent=2))
    else:
        print(_next_steps(folder, package))
    return 0


def _next_steps(folder: Path, package: str) -> str:
    return f"""A project for an archival crawl is in {folder}. Next:

  1. {folder / package / "settings.py"}: HERITRIX_OPERATOR_CONTACT_URL, a page that tells webmasters who crawls
  2. {folder / "seeds.txt"}: where the crawl begins
  3. cd {folder} && scrapy crawl {package} -s JOBDIR=job1"""
