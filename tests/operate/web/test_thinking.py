"""Paths, forms of answers, ranges, pages of files, scripts: the parts of the web server that only think."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.operate.jobs.launches import Launches, counted
from heritrix_scrapy.operate.web import accept, flash, markup, paths, script
from heritrix_scrapy.operate.web.paging import Paging, PagingError
from heritrix_scrapy.operate.web.ranges import Unsatisfiable, chosen


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner)))
def test_every_text_makes_well_formed_xml_and_json(value):
    root = ElementTree.fromstring(markup.xml("doc", {"a": value, "b c<": "x"}))
    assert root.tag == "doc"
    json.loads(markup.to_json({"a": value}))


@given(st.text())
def test_what_xml_allows_comes_back(text):
    kept = markup.ILLEGAL.sub("", text)
    root = ElementTree.fromstring(markup.xml("doc", {"a": text}))
    assert (root[0].text or "") == kept.replace("\r\n", "\r\n")


def test_numbers_that_are_none():
    assert "<a>NaN</a>" in markup.xml("d", {"a": float("nan")})
    assert "<a>Infinity</a>" in markup.xml("d", {"a": float("inf")})
    assert markup.to_json({"a": float("nan"), "b": float("-inf")}) == '{"a": null, "b": null}'


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/%2e%2e/b", "segment"),
        ("/a/b/%2E/c", "segment"),
        ("/a/..%2fb%2fc", "separator"),
        ("/a/b/%2e%2e%2Fc", "separator"),
        ("/a%5cb", "separator"),
        ("/a%2520b", "encoding"),
        ("/a//b", "empty segment"),
        ("/../../etc/hostname", "Bad Request"),
        ("/a/%2e%2e/%2e%2e/%2e%2e/x", "Bad Request"),
        ("a/b", "Bad Request"),
        ("/a%", "Bad Request"),
        ("/a%00b", "Bad Request"),
        ("/a%ff", "Bad Request"),
        ("/a\nb", "Bad Request"),
        ("/ü", "Bad Request"),
    ],
)
def test_ambiguous_paths(path, reason):
    with pytest.raises(paths.Ambiguous, match=reason):
        paths.segments(path)


def test_paths():
    assert paths.segments("/engine/job/b%C3%BCro?x=/..//") == ["engine", "job", "büro"]
    assert paths.segments("/") == [""]
    assert paths.absolute("/engine/anypath//a/b") == "/engine/anypath/a/b"
    assert paths.absolute("/engine/anypath/a//b") == "/engine/anypath/a//b"
    assert paths.segments("/a/../b/") == ["a", "..", "b", ""]
    assert paths.resolved(["a", "..", ".", "b"]) == ["b"]
    with pytest.raises(paths.Outside):
        paths.resolved(["a", "..", "..", "b"])


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_an_address_leads_back(parts):
    try:
        found = paths.segments(paths.address(*parts))
    except (paths.Ambiguous, UnicodeEncodeError):
        return
    assert found == parts


@pytest.mark.parametrize(
    ("header", "form"),
    [
        (None, accept.XML),
        ("*/*", accept.XML),
        ("text/html", accept.HTML),
        ("text/xml", accept.HTML),
        ("text/plain", accept.HTML),
        ("application/json", accept.JSON),
        ("application/json, application/xml;q=0.5", accept.JSON),
        ("text/html;q=0.5, application/xml;q=0.9", accept.XML),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", accept.HTML),
        ("application/*", accept.XML),
        ("text/*", accept.HTML),
        (";;;,,,q=", accept.HTML),
    ],
)
def test_the_form_of_an_answer(header, form):
    assert accept.chosen(header) == form


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (None, None),
        ("bytes=0-9", (0, 10)),
        ("bytes=20-", (20, 104)),
        ("bytes=-10", (94, 104)),
        ("bytes=-1000", (0, 104)),
        ("bytes=100-1000", (100, 104)),
        ("bytes=0-1,5-6", None),
        ("bytes=x-y", None),
        ("bytes=-", None),
        ("bytes=9-3", None),
        ("lines=0-9", None),
        ("bytes=" + "9" * 5000 + "-", None),
    ],
)
def test_ranges(header, part):
    assert chosen(header, 104) == part


@pytest.mark.parametrize("header", ["bytes=104-", "bytes=99999999-", "bytes=-0"])
def test_a_range_behind_the_end(header):
    with pytest.raises(Unsatisfiable):
        chosen(header, 104)


def test_pages_of_a_file(tmp_path):
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n" for number in range(1000)))
    last = Paging.of({"pos": "-1", "lines": "-5"}).read(path)
    assert last.lines == [f"line {number}" for number in range(995, 1000)]
    assert last.at_end
    before = Paging(last.start, -3).read(path)
    assert before.lines == ["line 992", "line 993", "line 994"]
    after = Paging(before.end, 2, reverse=True).read(path)
    assert after.lines == ["line 996", "line 995"]
    first = Paging.of({}).read(path)
    assert first.at_start
    assert len(first.lines) == 128
    assert Paging(first.end - 3, 1).read(path).lines == ["line 128"]


@pytest.mark.parametrize("query", [{"pos": "x"}, {"lines": "y"}, {"pos": "9" * 30}])
def test_what_is_no_page(query):
    with pytest.raises(PagingError):
        Paging.of(query)


def test_an_empty_file_has_a_page(tmp_path):
    (tmp_path / "log").touch()
    shown = Paging(-1, -5).read(tmp_path / "log")
    assert shown.at_start
    assert shown.at_end
    assert shown.percent == 100


def test_messages_are_shown_once_and_few_are_kept():
    flashes = flash.Flashes()
    first = flashes.drop(flash.Message(flash.ACK, "done"))
    cookie = flash.cookie_of("", [first])
    assert [each.text for each in flashes.pick(cookie)] == ["done"]
    assert flashes.pick(cookie) == []
    for number in range(1000):
        flashes.drop(flash.Message(flash.ACK, str(number)))
    assert len(flashes) == flash.MOST
    assert flashes.pick("." * 5000) == []


def test_launches_are_counted_in_the_jobs_log():
    lines = ["t1 INFO Job launched", "t2 INFO PREPARING 20130202120000", "t3 INFO Job launched", "x"]
    assert counted(lines) == Launches(2, "t3", False)


DELETE_ALL = """
def delRecurs;
delRecurs = { it.eachDir( delRecurs );
  it.eachFile { it.delete(); };
  it.delete();
};
delRecurs( job.jobDir );
"""


@pytest.mark.parametrize(
    ("text", "what", "arguments"),
    [
        ("", script.EMPTY, ()),
        ("rawOut.println( appCtx.getCurrentLaunchId() );", script.LAUNCH_ID, ()),
        ("rawOut.println(job.shortName)", script.SHORT_NAME, ()),
        ("rawOut.println(frontier.maxRetries)", script.PROPERTY, ("frontier.maxRetries",)),
        ("htmlOut.print(appCtx.getBean('warcWriter').prefix)", script.PROPERTY, ("warcWriter.prefix",)),
        ('rawOut.println(frontier.deleteURIs("(.*)", ".*x y.*"))', script.DELETE_URIS, ("(.*)", ".*x y.*")),
        ('job.crawlController.frontier.deleteURIs(".*", "a"); // all', script.DELETE_URIS, (".*", "a")),
        (
            'warcDir = new File( job.jobDir, "latest/warcs" )\nwarcDir.eachFile {\n rawOut.println( it );\n};',
            script.LIST_FOLDER,
            ("latest/warcs",),
        ),
        (DELETE_ALL, script.DELETE_JOB, ()),
    ],
)
def test_scripts_that_are_recognised(text, what, arguments):
    found = script.recognised(text)
    assert found is not None
    assert (found.what, found.arguments) == (what, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "rawOut.println(6*7)",
        '"rm -rf /".execute()',
        "rawOut.println(frontier.maxRetries); System.exit(0)",
        'rawOut.println(frontier.deleteURIs("a", "b" + evil()))',
        "rawOut.println(System.getenv())",
        "x" * 100_000,
    ],
)
def test_scripts_that_are_not(text):
    assert script.recognised(text) is None
