"""Are lists in files read again when they have changed, and only when they have come to rest?"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.test import get_crawler

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import Scope, from_settings
from heritrix_scrapy.scope.factory import gate
from heritrix_scrapy.scope.scope import scope_of
from heritrix_scrapy.settings import read, settings_of
from heritrix_scrapy.settings.files import Mark, WatchedFile

if TYPE_CHECKING:
    from pathlib import Path

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "https://a.example/"}


def made(**values: Any) -> Scope:
    return from_settings(read(ScrapySettings(CONTACT | values)))


def takes(scope: Scope, host: str, path: str = "L") -> bool:
    return scope.accepts(CrawlURI(f"http://{host}/x", path=path))


def rested(scope: Scope) -> None:
    """Two looks: the file is the same at both."""
    scope.look_at_files()
    scope.look_at_files()


def test_pc_224_a_list_that_is_being_written_is_not_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """PC-224."""
    file = tmp_path / "surts.txt"
    lines = [f"+http://(example,n{number}," for number in range(30_000)]
    file.write_text("\n".join(lines) + "\n")
    scope = made(HERITRIX_SCOPE=["RejectDecideRule", ["SurtPrefixedDecideRule", {"surts_source": str(file)}]])
    scope.non_seed_line("+http://(example,said,")
    caplog.set_level(logging.INFO)
    new = [f"+http://(example,m{number}," for number in range(30_000)]
    whole = "\n".join(new) + "\n"

    def old_holds() -> bool:
        return takes(scope, "n29999.example") and not takes(scope, "m1.example")

    # cut, then half there, at one look each
    for text in ("", whole[: len(whole) // 3], whole[: len(whole) // 2]):
        file.write_text(text)
        scope.look_at_files()
        assert old_holds()
    # a writer that stops in the middle of a line, and one that has not begun
    for text, word in ((whole[:-7], "does not end with a line end"), ("\n", "is empty")):
        file.write_text(text)
        rested(scope)
        assert old_holds()
        assert len([line for line in caplog.messages if word in line]) == 1
    file.unlink()
    rested(scope)
    rested(scope)
    assert old_holds()
    assert len([line for line in caplog.messages if "cannot be read" in line]) == 1
    file.write_bytes(b"+http://(example,\xff\n")
    rested(scope)
    assert old_holds()
    file.write_text(whole)
    scope.look_at_files()
    assert old_holds()
    scope.look_at_files()
    assert takes(scope, "m1.example")
    assert takes(scope, "m29999.example")
    assert not takes(scope, "n29999.example")
    # what seeds and lines of their text said stays
    assert takes(scope, "said.example")
    assert [line for line in caplog.messages if line.endswith("was read again")] == [f"the list {file} was read again"]


def test_every_list_of_the_default_scope(tmp_path: Path) -> None:
    """PC-224: the lists named in settings, expressions too, and those that sheets name."""
    files = {name: tmp_path / name for name in ("surts", "negative", "regexes", "laid", "rule")}
    for name in ("surts", "negative"):
        files[name].write_text(f"{name}.example\n")
    for name in ("regexes", "laid", "rule"):
        files[name].write_text(f".*{name}.*\n")
    scope = made(
        HERITRIX_SURTS=str(files["surts"]),
        HERITRIX_NEGATIVE_SURTS=str(files["negative"]),
        HERITRIX_REJECT_REGEXES=str(files["regexes"]),
        HERITRIX_SHEETS={"s": {"HERITRIX_REJECT_REGEXES": str(files["laid"]), "HERITRIX_SCOPE[extra].enabled": True}},
        HERITRIX_SHEET_ASSOCIATIONS=[{"surt_prefixes": ["http://(example,sheeted,"], "sheets": ["s"]}],
        HERITRIX_SCOPE=[
            "RejectDecideRule",
            "acceptSurts",
            "transclusion",
            "negativeSurts",
            "listRegexFilterOut",
            ["MatchesListRegexDecideRule", {"regex_list": files["rule"], "decision": "REJECT", "id": "extra"}],
        ],
    )

    def said() -> dict[str, bool]:
        hosts = ("surts", "later", "negative", "regexes", "laid.sheeted", "regexes.sheeted", "rule", "rule.sheeted")
        return {host: takes(scope, host + ".example", "LE" if host != "surts" else "L") for host in hosts}

    assert said() == {
        "surts": True,
        "later": True,
        "negative": False,
        "regexes": False,
        "laid.sheeted": False,
        "regexes.sheeted": True,
        "rule": False,
        "rule.sheeted": False,
    }
    for name in ("surts", "negative"):
        files[name].write_text("later.example\n")
    for name in ("regexes", "laid", "rule"):
        files[name].write_text("never\n\n")
    rested(scope)
    assert said() == {
        "surts": False,
        "later": False,
        "negative": True,
        "regexes": True,
        "laid.sheeted": True,
        "regexes.sheeted": True,
        "rule": True,
        "rule.sheeted": True,
    }
    files["regexes"].write_text(".*regexes.*\n(\n")
    rested(scope)
    assert said()["regexes"]


def test_a_list_that_a_sheet_gives_to_a_rule(tmp_path: Path) -> None:
    """PC-224."""
    file = tmp_path / "list"
    file.write_text(".*first.*\n")
    scope = made(
        HERITRIX_SCOPE=["AcceptDecideRule", ["MatchesListRegexDecideRule", {"decision": "REJECT", "id": "list"}]],
        HERITRIX_SHEETS={"s": {"HERITRIX_SCOPE[list].regex_list": file}},
        HERITRIX_SHEET_ASSOCIATIONS=[{"surt_prefixes": ["http://(example,"], "sheets": ["s"]}],
    )
    assert (takes(scope, "first.example"), takes(scope, "second.example"), takes(scope, "first.test")) == (0, 1, 1)
    file.write_text(".*second.*\n")
    rested(scope)
    assert (takes(scope, "first.example"), takes(scope, "second.example"), takes(scope, "second.test")) == (1, 0, 1)
    file.write_text("(\n")
    rested(scope)
    assert (takes(scope, "first.example"), takes(scope, "second.example")) == (1, 0)


@pytest.mark.parametrize("first", ["gate", "scope"])
def test_a_list_of_a_rule_before_a_part(tmp_path: Path, first: str) -> None:
    """PC-224: gates of writers, extractors, the candidate step and the body of an answer, made before the scope or
    after it."""
    file = tmp_path / "list"
    file.write_text(".*first.*\n")
    crawler = get_crawler(settings_dict=CONTACT)
    view = settings_of(crawler).view
    rule = ["MatchesListRegexDecideRule", {"regex_list": file, "decision": "REJECT"}]
    if first == "gate":
        passes = gate(crawler, view, rule)
    scope = scope_of(crawler)
    if first == "scope":
        passes = gate(crawler, view, rule)
    curi = CrawlURI("http://first.example/")
    assert not passes(curi)
    file.write_text(".*second.*\n")
    rested(scope)
    assert passes(curi)
    assert not passes(CrawlURI("http://second.example/"))


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text("a\n")
    taken: list[str] = []
    watched = WatchedFile(file, Mark.of(file), taken.append)
    assert not watched.look()
    file.write_text("a\nb\n")
    assert not watched.look()
    assert watched.look()
    assert not watched.look()
    assert taken == ["a\nb\n"]
    # another file of the same size in its place
    (tmp_path / "other").write_text("a\nc\n")
    (tmp_path / "other").rename(file)
    assert not watched.look()
    assert watched.look()
    assert taken[-1] == "a\nc\n"
