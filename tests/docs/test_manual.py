"""Does the manual say what the code does? Its examples are run, its tables are compared with the code's."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.archive.warcfile import COUNTED
from heritrix_scrapy.report.log_line import COLUMNS
from heritrix_scrapy.report.logs import NAMES
from heritrix_scrapy.report.tally import BYTES, URIS
from heritrix_scrapy.scope import from_settings
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.defaults import BY_NAME, SETTINGS
from heritrix_scrapy.settings.reference import settings_reference
from heritrix_scrapy.settings.validate import GATE
from tests.docs.examples import PAGES, ROOT, Example, assigned, examples

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import generated  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = examples("python")
CODE = sorted((ROOT / "heritrix_scrapy").rglob("*.py"))


def ids(example: Example) -> str:
    return f"{example.page}-{example.number}"


@pytest.mark.parametrize("example", PYTHON, ids=ids)
def test_example(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs; settings that it assigns are valid, parts of the project's own included."""
    monkeypatch.syspath_prepend(str(ROOT / "example_project"))
    values = assigned(example.text)
    given: dict[str, Any] = {"HERITRIX_OPERATOR_CONTACT_URL": "https://a.example/", **values}
    settings = Settings(given, priority="project")
    found = read(settings)
    if "HERITRIX_SCOPE" in values:
        assert from_settings(found).sequence.rules
    assert values or "class " in example.text or "def " in example.text


def words(text: str) -> set[str]:
    return set(re.findall(r"HERITRIX_[A-Z0-9_]*[A-Z0-9]", text))


@pytest.mark.parametrize("page", [*PAGES, *sorted((DOCS / "deviations").glob("*.md"))], ids=lambda page: page.name)
def test_settings_that_a_page_names_exist(page: Path) -> None:
    known = {row.key for row in SETTINGS}
    gates = {name for name in words(page.read_text(encoding="utf-8")) if GATE.fullmatch(name.removeprefix("HERITRIX_"))}
    assert words(page.read_text(encoding="utf-8")) - gates <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    made = {"settings.md"}
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target and target not in made:
            assert (page.parent / target).exists(), target


def test_every_setting_has_an_entry() -> None:
    text = settings_reference()
    for row in SETTINGS:
        assert row.doc.endswith("."), row.key
        assert f"\n{row.key}\n" in text
        assert row.doc.replace("`", "``") in text


def test_every_page_is_in_the_index() -> None:
    listed = set(re.findall(r"^[\w/-]+$", (DOCS / "index.md").read_text(), re.MULTILINE))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= listed
    rooms = {page.stem for page in (DOCS / "deviations").glob("*.md")} - {"index"}
    index = (DOCS / "deviations" / "index.md").read_text()
    assert ":glob:\n\n*\n" in index or all(room in index for room in rooms)


# -- statistics ----------------------------------------------------------------------------------------------


def patterns() -> list[re.Pattern[str]]:
    """The names of the statistics page: a word in capitals stands for any."""
    names = re.findall(r"^\| `(heritrix/[^`]+)`", (DOCS / "statistics.md").read_text(), re.MULTILINE)
    return [re.compile(re.sub(r"\b[A-Z]+\b", "[^ ]+", name)) for name in names]


def undocumented(names: set[str]) -> set[str]:
    known = patterns()
    return {name for name in names if not any(pattern.fullmatch(name) for pattern in known)}


def counted() -> set[str]:
    """Names of counters as they stand in the code: constants, keys of mappings, and f-strings with X for a value."""
    found: set[str] = set()
    for path in CODE:
        # the downloader gathers statistics under Scrapy's own names
        words = ("_count", "add_stats") if path.name == "downloader.py" else ("_count", "add_stats", "_pending")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call | ast.Subscript):
                continue
            of = node.func if isinstance(node, ast.Call) else node.value
            if not isinstance(of, ast.Attribute) or of.attr not in words:
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.add(part.value + "X" if part.value.endswith("/") else part.value)
    return found


def test_every_counter_of_the_code_has_an_entry() -> None:
    names = counted()
    assert {"frontier/unserializable", "scope/errors", "errors/uri"} <= names
    names |= set(URIS.values()) | {"uris/finished", "status/200", "mime/text/html", "mime_bytes/text/html"}
    names |= {f"{kind}/{name}" for kind in ("urls", "bytes") for name in BYTES}
    names |= {f"warc/{kind}/{name}" for kind in ("response", "totals") for name in COUNTED}
    assert not undocumented({f"heritrix/{name}" for name in names})


@pytest.mark.crawl
def test_a_crawl_has_no_statistic_without_an_entry(serve: Any, run_crawl: Any) -> None:
    from tests.scrapy_side.sites import HOST, SITE

    web = serve(SITE)
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url(HOST)]}, web=web)
    mine = {name for name in crawl.stats if name.startswith("heritrix/")}
    assert len(mine) > 20
    assert not undocumented(mine)


# -- logs ----------------------------------------------------------------------------------------------------


def test_every_column_and_log_has_an_entry() -> None:
    assert tuple(generated.SAYS) == COLUMNS
    text = (DOCS / "logs.md").read_text()
    for name in NAMES:
        assert name in text


def test_tables_are_whole() -> None:
    """No cell of a generated table breaks it, and each is included by some page."""
    pages = "".join(page.read_text() for page in DOCS.glob("*.md"))
    for name, make in generated.TABLES.items():
        assert f"_generated/{name}" in pages
        rows = [line for line in make().splitlines() if line.startswith("|")]
        assert len(rows) > 3
        assert len({line.count("|") for line in rows}) == 1, name


# -- deviations ----------------------------------------------------------------------------------------------

ROWS = {
    name
    for page in (DOCS / "deviations").glob("*.md")
    for name in re.findall(r"^\| `([\w/#-]+)` \|", page.read_text(), re.MULTILINE)
}


def named() -> dict[str, str]:
    """Rows that adapters and golden comparisons rest on → the file that says so."""
    found = {}
    for path in sorted((ROOT / "tests" / "adapters").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if isinstance(target, ast.Name) and target.id == "DEVIATIONS" and isinstance(node.value, ast.Dict):
                    for value in node.value.values:
                        if isinstance(value, ast.Tuple) and isinstance(value.elts[1], ast.Constant):
                            found[str(value.elts[1].value)] = path.name
    return found


def test_deviations_that_tests_rest_on_have_a_row() -> None:
    missing = {row: where for row, where in named().items() if row.rpartition("#")[2] not in ROWS}
    assert not missing


def test_rows_are_named_once() -> None:
    names = [
        name
        for page in (DOCS / "deviations").glob("*.md")
        for name in re.findall(r"^\| `([\w/#-]+)` \|", page.read_text(), re.MULTILINE)
    ]
    assert len(names) == len(set(names))


def test_settings_of_rows_exist() -> None:
    keys = {"HERITRIX_" + name for name in BY_NAME}
    for page in (DOCS / "deviations").glob("*.md"):
        assert words(page.read_text()) <= keys, page.name
