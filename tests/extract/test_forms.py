"""Forms of pages, and what is sent when a login is filled in."""

from __future__ import annotations

import time
from typing import Any

import pytest

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.form_login import FormLogin, fill_in, read
from heritrix_scrapy.extract.forms import Form, read_form
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import HIGH, CrawlURI, pack, unpack
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.post import Post, encoded, multipart, urlencoded
from heritrix_scrapy.settings import default_view

LOGIN = FormLogin("", "me", "pw")


def form(text: str, *, strict: bool = False) -> Form:
    found = read_form(text, 0, strict=strict)
    assert found is not None
    return found


def page(body: str, uri: str = "http://h.example/dir/page", profile: str = "modern") -> CrawlURI:
    curi = CrawlURI(uri)
    curi.status, curi.content_type, curi.content_length = 200, "text/html", len(body)
    document = Document(curi, default_view(profile), lambda limit: body.encode()[:limit])
    Extraction(["ExtractorHTML", "ExtractorHTMLForms"]).read(document)
    return curi


FIELDS = "<input name=user><input type=password name=pw>"


def test_without_action_pc_175() -> None:
    """PC-175: it is sent to the page itself."""
    for body in (f"<form method=post>{FIELDS}</form>", f"<form method=post action=''>{FIELDS}</form>"):
        curi = page(body)
        assert fill_in(curi, [LOGIN], Hosts(lambda key: None)) == 1
        assert [link.uri for link in curi.outlinks if link.hop == "S"] == ["http://h.example/dir/page"]


@pytest.mark.parametrize("strict", [False, True])
def test_check_boxes_pc_176(strict: bool) -> None:
    """PC-176: sent only when they are on by default."""
    boxes = "<input type=checkbox name=stay value=1><input type=checkbox name=agree checked>"
    boxes += "<input type=RADIO name=r value=2>"
    pairs = form(f"<form method=post>{FIELDS}{boxes}</form>", strict=strict).data("me", "pw", strict=strict)
    assert pairs == [("user", "me"), ("pw", "pw"), ("agree", "" if strict else "on")]


def test_capitals_are_known_but_to_heritrix() -> None:
    text = f"<form method=post>{FIELDS}<input type=CHECKBOX name=stay value=1></form>"
    assert ("stay", "1") not in form(text).data("me", "pw")
    assert ("stay", "1") in form(text, strict=True).data("me", "pw", strict=True)


def test_a_form_ends_where_the_next_begins() -> None:
    text = f"<form method=post>{FIELDS}<form action=/s><input name=q>"
    assert [one.name for one in form(text).inputs] == ["user", "pw"]
    assert [one.name for one in form(text, strict=True).inputs] == ["user", "pw", "q"]


def test_values_as_html_has_them() -> None:
    text = '<form method="POST" action="a b?x=1&amp;y=2"><input type=hidden name="t" value="a > b &quot;c&quot;">'
    found = form(text)
    assert (found.action, found.inputs[0].value) == ("a b?x=1&y=2", 'a > b "c"')
    found = form(text, strict=True)
    assert found.action == "a"


@pytest.mark.parametrize(
    ("fields", "login"),
    [
        (FIELDS, True),
        ("<input type=email name=e><input type=password name=p>", True),
        ("<input name=a><input name=b><input type=password name=p>", False),
        ("<input name=a><input name=TheUserName><input type=password name=p>", True),
        ("<input name=a><input type=password name=p><input type=password name=q>", False),
        ("<input type=password name=p>", False),
    ],
)
def test_which_is_a_login(fields: str, login: bool) -> None:
    assert form(f"<form method=post>{fields}</form>").is_login is login
    assert not form(f"<form>{fields}</form>").is_login


def test_once_a_province_and_durable() -> None:
    rows: dict[bytes, bytes] = {}
    hosts = Hosts(rows.get)
    body = f"<form method=post action=/in>{FIELDS}</form>"
    first = page(body)
    assert fill_in(first, [LOGIN], hosts) == 1
    assert first.annotations == ["form:Ptp", "submit:/in"]
    assert first.warc_headers == ["WARC-Simple-Form-Province-Status: 0,0,http://(example,h,)/"]
    link = next(link for link in first.outlinks if link.hop == "S")
    child = first.child(link)
    assert (child.forced, child.directive) == (True, HIGH)
    assert child.post == Post("application/x-www-form-urlencoded; charset=UTF-8", b"user=me&pw=pw")
    assert unpack(pack(child)).post == child.post
    rows.update(hosts.drain())
    again = page(body)
    assert fill_in(again, [LOGIN], Hosts(rows.get)) == 0
    assert again.annotations == ["form:Ptp", "nosubmit:1,2,http://(example,h,)/"]
    assert fill_in(page(body), [FormLogin("http://(example,other,", "me", "pw"), FormLogin("", "")], hosts) == 0


@pytest.mark.parametrize("enctype", ["text/plain", "x"])
def test_an_encoding_that_there_is_none_of(enctype: str) -> None:
    curi = page(f"<form method=post action=/in enctype={enctype}>{FIELDS}</form>")
    assert fill_in(curi, [LOGIN], Hosts(lambda key: None)) == 0
    assert [link for link in curi.outlinks if link.hop == "S"] == []
    assert curi.errors


def test_encodings() -> None:
    assert urlencoded([("a b", "\u00fc&=~*"), ("n", "")]).body == b"a+b=%C3%BC%26%3D%7E*&n="
    assert urlencoded([("a", "\u0416\u00fc")], "iso-8859-1").body == b"a=%3F%FC"
    post = multipart([('q"', "\u00e9\r\nx")])
    boundary = post.content_type.partition("boundary=")[2]
    assert post.body == (
        f'--{boundary}\r\nContent-Disposition: form-data; name="q%22"\r\n\r\n&#233;\r\nx\r\n--{boundary}--\r\n'.encode()
    )
    assert multipart([('q"', "\u00e9\r\nx")]) == post
    assert encoded([], "MULTIPART/form-data") == multipart([])


@pytest.mark.parametrize(
    ("entry", "word"), [({"user": "x"}, "no property user"), ({"login_username": 7}, "expected texts")]
)
def test_mistakes(entry: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        read([entry])


@pytest.mark.parametrize(
    "body",
    [
        "<form method=post>" + "<input " * 50_000,
        "<form " * 50_000,
        "<form a='" + "x='" * 50_000,
        "<form " + "\"'" * 50_000 + ">",
        "<form method=post>" + "<input type=password name=a=b=c=" * 20_000,
        "<form " + " " * 100_000 + "=" * 100_000,
    ],
)
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_hostile_forms_are_read_in_time(body: str, profile: str) -> None:
    began = time.process_time()
    fill_in(page(body, profile=profile), [LOGIN], Hosts(lambda key: None))
    assert time.process_time() - began < 5
