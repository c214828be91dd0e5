"""Does `explain` have words for every status, and do the settings it names exist?"""

from __future__ import annotations

import argparse
import json
import re
from http import HTTPStatus

import pytest

from heritrix_scrapy.commands import explain
from heritrix_scrapy.model import status
from heritrix_scrapy.model.explanations import CLASSES, EXPLANATIONS, OTHER, explanation, told
from heritrix_scrapy.settings.defaults import GROUPS, PREFIX

SETTINGS = {PREFIX + row.name for group in GROUPS for row in group.rows}


def test_every_status_of_the_table_has_an_entry_of_its_own() -> None:
    assert set(status.STATUS) <= set(EXPLANATIONS)


def test_every_status_constant_is_explained() -> None:
    codes = [value for name, value in vars(status).items() if name.isupper() and isinstance(value, int)]
    assert len(codes) > 25
    assert [code for code in codes if explanation(code) is OTHER] == []


def test_every_class_and_registered_answer_of_http_is_explained() -> None:
    assert set(CLASSES) == set(status.HTTP_CLASSES)
    assert [code.value for code in HTTPStatus if explanation(code.value) is OTHER] == []
    assert explanation(599) is CLASSES[5]


@pytest.mark.parametrize("code", [999, -77, 600])
def test_a_number_that_nobody_gives_is_said_to_be_one(code: int) -> None:
    assert explanation(code) is OTHER
    assert told(code)["counts as"] == ("downloaded" if code > 0 else "failed")


def test_each_entry_says_something_and_names_only_settings_that_there_are() -> None:
    for words in (*EXPLANATIONS.values(), *CLASSES.values(), OTHER):
        assert len(words.means) > 15
        assert words.do
        assert set(re.findall(r"HERITRIX_[A-Z_]*[A-Z]", " ".join(words))) <= SETTINGS


def options(*, as_json: bool = False) -> argparse.Namespace:
    return argparse.Namespace(json=as_json)


def test_the_command_explains_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.run(["-5003"], options()) == 0
    shown = capsys.readouterr().out
    assert "HERITRIX_QUOTAS" in shown
    assert "failed" in shown


def test_the_command_explains_all_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.run(["all"], options(as_json=True)) == 0
    assert {row["status"] for row in json.loads(capsys.readouterr().out)} == set(status.STATUS)


def test_what_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.run(["gone"], options()) == 2
    assert "gone" in capsys.readouterr().err
