"""Does every setting of the table change what happens, and who decides where two of them speak?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler

import heritrix_scrapy
from heritrix_scrapy.addon import Addon
from heritrix_scrapy.archive.pipeline import WarcWriterPipeline
from heritrix_scrapy.frontier import prepare
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rules_surt import SurtPrefixedDecideRule
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.defaults import SETTINGS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.example/"}


def placed(**values: Any) -> BaseSettings:
    """The settings of a crawler after the add-on has been at them."""
    crawler = Crawler(Spider, CONTACT | values)
    Addon.from_crawler(crawler).update_settings(crawler.settings)
    return crawler.settings


def test_no_row_is_read_by_nobody() -> None:
    package = Path(heritrix_scrapy.__file__).parent
    files = (path for path in package.rglob("*.py") if path.name != "defaults.py")
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    unread = [
        row.name
        for row in SETTINGS
        if not re.search(rf"(\.|\"){row.attribute}\b", source) and f'"{row.key}"' not in source
    ]
    # Heritrix has it too, and uses it nowhere
    assert unread == ["SNOOZE_LONG_MS"]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_one_switch_for_the_text_of_uris(profile: str, strict: bool) -> None:
    view = default_view(profile, strict_uri_fixup=strict)

    def class_key(view: Any) -> str:
        return prepare.Preparer(prepare.canonicaliser, heritrix=False).plan(view).class_key_of("http://[2001:db8::1]/")

    assert (class_key(view) == class_key(default_view("heritrix"))) is strict
    assert [curi.uri for curi in announce(["http://[::1]/"], [], view)] == ([] if strict else ["http://[::1]/"])
    rule = SurtPrefixedDecideRule()
    rule.configure(view)
    assert rule.prefixes.strict is strict


def test_writers() -> None:
    def listed(**values: Any) -> bool:
        return WarcWriterPipeline in placed(**values).getdict("ITEM_PIPELINES")

    assert listed()
    assert listed(HERITRIX_WRITERS=["mirror", ["warc", {}]])
    assert not listed(HERITRIX_WRITERS=[])
    with pytest.raises(ConfigurationError, match="no such writer"):
        listed(HERITRIX_WRITERS=["wrac"])


def test_a_crawl_that_archives_nothing_is_told_so(caplog: pytest.LogCaptureFixture) -> None:
    placed(HERITRIX_WRITERS=["mirror"])
    assert "nothing of this crawl is archived" not in caplog.text
    placed(HERITRIX_WRITERS=[])
    assert "nothing of this crawl is archived" in caplog.text


def test_cookies() -> None:
    assert placed().getbool("COOKIES_ENABLED")
    assert not placed(HERITRIX_IGNORE_COOKIES=True).getbool("COOKIES_ENABLED")
    assert not placed(COOKIES_ENABLED=False).getbool("COOKIES_ENABLED")


def test_ours_decides_where_both_were_written() -> None:
    made = placed(
        CONCURRENT_REQUESTS=16,
        HERITRIX_MAX_TOE_THREADS=4,
        DOWNLOAD_TIMEOUT=30,
        HERITRIX_TIMEOUT_SECONDS=60,
        USER_AGENT="theirs",
        HERITRIX_USER_AGENT_TEMPLATE="ours @OPERATOR_CONTACT_URL@",
        COOKIES_ENABLED=True,
        HERITRIX_IGNORE_COOKIES=True,
    )
    assert made.getint("CONCURRENT_REQUESTS") == 4
    assert made.getint("DOWNLOAD_TIMEOUT") == 0
    assert made.get("USER_AGENT") == "ours http://operator.example/"
    assert not made.getbool("COOKIES_ENABLED")


def test_theirs_stands_where_ours_was_not_written() -> None:
    made = placed(CONCURRENT_REQUESTS=16, DOWNLOAD_TIMEOUT=30, USER_AGENT="theirs")
    assert (made.getint("CONCURRENT_REQUESTS"), made.getint("DOWNLOAD_TIMEOUT")) == (16, 30)
    assert made.get("USER_AGENT") == "theirs"
