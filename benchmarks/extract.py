"""What does it cost to find the links of a page, beside Scrapy's link extractor in the same run, and who finds more?

``python -m benchmarks.extract [--rounds 3] [--keep DIRECTORY]``

The pages are the HTML files that ship inside the packages named below, the scripts the built front ends in others;
pip downloads them once into DIRECTORY. Each page is read by ours (ExtractorHTML without scripts, then with them), by
Scrapy's ``LxmlLinkExtractor``, and, where selectolax is installed, by one pass of lexbor over the attributes that
ours looks at: the floor of a parser that builds a tree. CPU of this process. Links are compared as sets of
addresses; Scrapy's are those of ``a`` and ``area``. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from heritrix_scrapy.extract.attributes import ATTRIBUTES, EMBED, HREF
from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.javascript import candidates
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.uri.fixup import UriError, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Package and version → whether its source distribution is taken; all others are wheels.
PAGES: dict[str, bool] = {
    "pygame-ce==2.5.8": False,
    "alembic==1.20.1": True,
    "mako==1.4.3": True,
    "docutils==0.23": True,
    "dogpile.cache==1.5.0": True,
    "bokeh==3.9.2": False,
    "notebook==7.6.5": False,
    "swagger-ui-bundle==1.1.0": False,
}
SCRIPTS = ("bokeh", "notebook", "swagger_ui_bundle", "dash", "flask_admin")
MORE = {"dash==4.4.1": False, "flask-admin==2.2.1": False}

URL = "http://www.example.com/docs/{}"
#: A script longer than this is left out, so that one bundle does not decide.
LONGEST_SCRIPT = 3_000_000

SELECTOR = ", ".join(f"[{name}]" for name, kind in ATTRIBUTES.items() if kind in (HREF, EMBED))


def download(folder: Path) -> None:
    """Have pip fetch what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, source in {**PAGES, **MORE}.items():
        name = package.partition("==")[0].replace("-", "_").replace(".", "_")
        if any(path.name.replace(".", "_").replace("-", "_").startswith(name) for path in folder.iterdir()):
            continue
        kind = ["--no-binary", ":all:"] if source else ["--only-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), *kind, package]
        subprocess.run(command, check=True)


def files(folder: Path, suffixes: tuple[str, ...], prefixes: tuple[str, ...] = ("",)) -> Iterator[tuple[str, bytes]]:
    """The files of all packages whose names end and begin so."""
    for path in sorted(folder.iterdir()):
        if not path.name.replace("-", "_").replace(".", "_").startswith(prefixes):
            continue
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for name in sorted(wheel.namelist()):
                    if name.endswith(suffixes):
                        yield name, wheel.read(name)
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                for member in archive.getmembers():
                    content = archive.extractfile(member) if member.name.endswith(suffixes) else None
                    if content is not None:
                        yield member.name, content.read()


def ours(*, scripts: bool) -> Callable[[str, bytes], set[str]]:
    order = Extraction(["ExtractorHTML", ["ExtractorJS", {"enabled": False}]])
    view = default_view("modern", extract_javascript=scripts)

    def read(name: str, body: bytes) -> set[str]:
        curi = CrawlURI(URL.format(name))
        curi.status, curi.content_length, curi.content_type = 200, len(body), "text/html; charset=utf-8"
        curi.charset = "UTF-8"
        order.read(Document(curi, view, lambda limit: body[:limit]))
        return {link.uri for link in curi.outlinks}

    return read


def scrapys() -> Callable[[str, bytes], set[str]]:
    extractor = LinkExtractor(deny_extensions=())

    def read(name: str, body: bytes) -> set[str]:
        response = HtmlResponse(URL.format(name), body=body, encoding="utf-8")
        return {link.url for link in extractor.extract_links(response)}

    return read


def lexbors() -> Callable[[str, bytes], set[str]] | None:
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        return None

    def read(name: str, body: bytes) -> set[str]:
        found = set()
        for node in LexborHTMLParser(body.decode("utf-8", "replace")).css(SELECTOR):
            for attribute, value in node.attributes.items():
                if value and ATTRIBUTES.get(attribute) in (HREF, EMBED):
                    found.add(value)
        return found

    return read


def measure(read: Callable[[str, bytes], set[str]], pages: list[tuple[str, bytes]], rounds: int) -> float:
    """Least microseconds of CPU per page, of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        for name, body in pages:
            read(name, body)
        best = min(best, time.process_time() - began)
    return best / len(pages) * 1e6


def same(uri: str) -> str:
    """An address as both write it: without fragment, and what is escaped in either way."""
    return uri.partition("#")[0].replace("%7E", "~").removesuffix("/")


def compare(
    lexbor: Callable[[str, bytes], set[str]], mine: Callable[[str, bytes], set[str]], pages: list[tuple[str, bytes]]
) -> tuple[int, int]:
    """How many references of lexbor's tree are not among our links, and the other way round."""
    beyond = short = 0
    for name, body in pages:
        theirs = set()
        for value in lexbor(name, body):
            if "," in value or value.strip().lower().startswith(("data:", "javascript:")):
                continue
            try:
                theirs.add(same(join(URL.format(name), value)))
            except UriError:
                continue
        found = {same(uri) for uri in mine(name, body)}
        beyond += len(theirs - found)
        short += len(found - theirs)
    return beyond, short


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, default=Path.home() / ".cache" / "heritrix-scrapy-pages")
    options = parser.parse_args()
    download(options.keep)
    packages = tuple(package.partition("==")[0].replace("-", "_").replace(".", "_") for package in PAGES)
    pages = [(name, body) for name, body in files(options.keep, (".html", ".htm"), packages) if body]
    size = sum(len(body) for _, body in pages)
    result: dict[str, Any] = {"pages": len(pages), "kilobytes": size // 1024}
    print(f"{len(pages)} pages, {size // 1024} KB")

    readers = {"ours": ours(scripts=False), "ours with scripts": ours(scripts=True), "Scrapy": scrapys()}
    lexbor = lexbors()
    if lexbor is not None:
        readers["lexbor"] = lexbor
    for name, read in readers.items():
        result[name] = round(measure(read, pages, options.rounds), 1)
        print(f"{name:20} {result[name]:10.1f} µs a page")
    result["ratio"] = round(result["ours"] / result["Scrapy"], 3)

    missed: list[tuple[str, str]] = []
    counts = dict.fromkeys(("ours", "Scrapy"), 0)
    for name, body in pages:
        mine = {same(uri) for uri in readers["ours"](name, body)}
        theirs = {same(uri) for uri in readers["Scrapy"](name, body)}
        counts["ours"] += len(mine)
        counts["Scrapy"] += len(theirs)
        missed += [(name, uri) for uri in theirs - mine]
    result.update(links=counts, missed=len(missed))
    print(f"links: ours {counts['ours']}, Scrapy {counts['Scrapy']}, Scrapy's that ours missed {len(missed)}")
    for name, uri in missed[:20]:
        print(f"  missed in {name}: {uri}")

    if lexbor is not None:
        beyond, short = compare(lexbor, readers["ours"], pages)
        result["lexbor"] = {"us_per_page": result["lexbor"], "missed_by_ours": beyond, "missed_by_lexbor": short}
        print(f"lexbor: {beyond} that ours missed, {short} of ours that it missed")

    scripts = [
        body.decode("utf-8", "replace")
        for _, body in files(options.keep, (".js",), SCRIPTS)
        if len(body) <= LONGEST_SCRIPT
    ]
    kilobytes = sum(len(text) for text in scripts) / 1024
    for profile, careful in (("heritrix", False), ("modern", True)):
        began = time.process_time()
        found = {uri for text in scripts for uri in candidates(text, URL, cautious=careful, shapes=careful)}
        spent = (time.process_time() - began) / kilobytes * 1e6
        result[f"scripts {profile}"] = {"us_per_kilobyte": round(spent, 1), "candidates": len(found)}
        print(f"scripts, {profile}: {spent:.1f} µs a KB of {kilobytes:.0f}, {len(found)} different candidates")
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
