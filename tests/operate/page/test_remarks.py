"""On which line does a sentence about a setting lead, and of which files is a project made?"""

from __future__ import annotations

import pytest

from heritrix_scrapy.operate.jobs.new_project import texts, texts_around
from heritrix_scrapy.operate.jobs.remarks import WRONG, Remark, line_of

SOURCE = """BOT_NAME = "x"
HERITRIX_MIN_DELAY_MS = (
    "soon"
)
HERITRIX_SHEETS = {
    "slow": {"HERITRIX_MAX_DELAY_MS": 5},
    "other": {
        "HERITRIX_MAX_DELAY_MS": "soon",
        "MIN_DELY_MS": 3,
    },
}
HERITRIX_SEEDS: list[str] = []
for each in ("a",):
    HERITRIX_JOB_NAME = each
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("HERITRIX_MIN_DELAY_MS = 'soon': expected a whole number (ms)", 3),
        ("settings: HERITRIX_SEEDS = []: expected something", 12),
        ("HERITRIX_SHEETS['other']['HERITRIX_MAX_DELAY_MS'] = 'soon': expected a whole number (ms)", 8),
        ("HERITRIX_SHEETS['other'] = 'MIN_DELY_MS': no such setting; did you mean HERITRIX_MIN_DELAY_MS?", 9),
        ("HERITRIX_SHEETS['slow'] = 'GONE': no such setting", 6),
        ("HERITRIX_JOB_NAME = 'a': expected another", 14),
        ("HERITRIX_DNS_SERVERS = []: nowhere in the file", 0),
        ("no name server is configured: set HERITRIX_DNS_SERVERS", 0),
        ("nothing is named", 0),
    ],
)
def test_a_sentence_leads_to_its_line(text: str, line: int) -> None:
    assert line_of(SOURCE, text) == line


def test_a_file_that_is_no_python_has_no_lines() -> None:
    assert line_of("HERITRIX_SEEDS = (", "HERITRIX_SEEDS = 1: expected") == 0
    assert line_of("x\0", "HERITRIX_SEEDS = 1: expected") == 0


def test_a_remark_says_where_it_stands() -> None:
    assert str(Remark(WRONG, "no such thing", 3, "a.py")) == "a.py, line 3: no such thing"
    assert str(Remark(WRONG, "no such thing")) == "no such thing"


def test_a_project_is_called_as_its_settings_call_it() -> None:
    made = texts_around('SPIDER_MODULES = ["harvest.spiders"]\n', "other")
    assert made["harvest/settings.py"] == 'SPIDER_MODULES = ["harvest.spiders"]\n'
    assert "default = harvest.settings" in made["scrapy.cfg"]
    assert "spider = harvest" in made["scrapy.cfg"]
    assert "harvest/spiders/crawl.py" in made


@pytest.mark.parametrize("settings", ["HERITRIX_SEEDS = []", "", "HERITRIX_SEEDS = ("])
def test_settings_without_spiders_are_crawled_by_the_packages_own(settings: str) -> None:
    made = texts_around(settings, "north-2")
    assert "spider = archive" in made["scrapy.cfg"]
    assert made["north_2/settings.py"] == settings
    assert not any("spiders/" in path for path in made)


def test_what_is_said_of_spiders_stays_as_it_is() -> None:
    for settings in ("SPIDER_MODULES = ", "SPIDER_MODULES = names()"):
        assert texts_around(settings, "north")["north/settings.py"] == settings


def test_a_spider_module_leads_nowhere_else() -> None:
    made = texts_around('SPIDER_MODULES = ["../../evil.spiders", "/etc.x"]', "safe")
    assert all(path.split("/")[0] in ("safe", "scrapy.cfg", "seeds.txt") for path in made)
    assert texts("a")["a/settings.py"]
