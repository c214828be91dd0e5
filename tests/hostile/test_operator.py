"""What becomes of settings and seeds that nobody meant to write?"""

from __future__ import annotations

import logging

import pytest

from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.defaults import BY_NAME, SETTINGS
from heritrix_scrapy.settings.validate import LARGEST, check

ODD = [
    None,
    "",
    "\0",
    "abc",
    "[",
    "{",
    "[1, 2]",
    "9" * 5000,
    "1e400",
    "nan",
    10**30,
    -(10**30),
    1.5,
    float("nan"),
    float("inf"),
    b"bytes",
    True,
    object(),
    [],
    [1],
    [None],
    [["a"]],
    ["a", {"b": 1}],
    {},
    {1: 2},
    {"map": 1},
    ["ConfigPath", {}],
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_no_value_ends_in_anything_but_a_word_on_it(setting):
    told = []
    for value in ODD:
        try:
            check(setting, value)
        except ConfigurationError as error:
            told.append(str(error))
    assert all(setting.key in line and "\n" not in line for line in told)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.kind in ("int", "number")], ids=lambda s: s.name)
def test_numbers_stay_where_the_frontier_can_store_what_is_made_of_them(setting):
    for value in (10**30, "9" * 5000, 2 * LARGEST):
        with pytest.raises(ConfigurationError):
            check(setting, value)
    assert check(setting, LARGEST) == LARGEST


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("http://a.test/,http://b.test/", ["http://a.test/", "http://b.test/"]),
        ("http://a.test/ https://b.test/x", ["http://a.test/", "https://b.test/x"]),
        (" http://a.test/x,y ", ["http://a.test/x,y"]),
        ("http://a.test/?to=http://b.test/", ["http://a.test/?to=http://b.test/"]),
        ("http://a.test/\nhttp://b.test/", ["http://a.test/", "http://b.test/"]),
    ],
)
def test_addresses_on_the_command_line(text, lines):
    assert check(BY_NAME["SEEDS"], text) == lines


def test_a_seeds_file_cannot_write_to_the_terminal(caplog):
    lines = ["\x1b[2J\x1b]0;gone\x07", "http://[bad/" + "x" * 100_000, "http://a.test/"]
    with caplog.at_level(logging.WARNING):
        seeds = [curi.uri for curi in announce(lines, [], default_view())]
    assert seeds == ["http://a.test/"]
    assert len(caplog.messages) == 2
    assert all(message.isprintable() and len(message) < 1000 for message in caplog.messages)


@pytest.mark.crawl
def test_a_file_without_a_seed_is_said_to_have_none(run_crawl, tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# nothing yet\n\ntwo words\n")
    crawl = run_crawl({"HERITRIX_SEEDS": str(file)})
    assert crawl.returncode == 4, crawl.stderr
    assert "HERITRIX_SEEDS: there is no seed in " in crawl.stderr
    assert "seed line not understood: two words" in crawl.stderr
    assert "the crawl is empty: no seed was given, or none that is a URI" in crawl.stderr
