"""Which character set a document is read in."""

from __future__ import annotations

import pytest

from heritrix_scrapy.extract.charset import PREFIX, choose, declared_in_html, decode, java_name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("utf8", "UTF-8"),
        (" Latin1 ", "ISO-8859-1"),
        ("8859_1", "ISO-8859-1"),
        ("cp1252", "windows-1252"),
        ("sjis", "Shift_JIS"),
        ("x-sjis", "Shift_JIS"),
        ("unicode", "UTF-16"),
        ("utf-16-le", None),
        ("latin-1", None),
        ("base64", None),
        ("rot13", None),
        ("utf 8", None),
        ("nonsense\0", None),
        ("", None),
    ],
)
def test_names(label: str, name: str | None) -> None:
    assert java_name(label) == name


def test_malformed_bytes_are_replaced() -> None:
    assert decode(b"a\xffb", "UTF-8") == "a\ufffdb"
    assert decode("é".encode("utf-16-be"), "UTF-16") == "é"


@pytest.mark.parametrize(
    ("page", "compat", "standard"),
    [
        (b"<meta charset='koi8-r'>", ("KOI8-R", "using"), ("KOI8-R", "using")),
        (b"<meta charset=koi8-r>", ("ISO-8859-1", None), ("KOI8-R", "using")),
        (b"<meta content='a; charset=UTF-8' http-equiv='Content-Type'>", ("UTF-8", "using"), ("UTF-8", "using")),
        (b"<meta http-equiv=content-type content='a; charset=UTF-8'>", ("ISO-8859-1", None), ("UTF-8", "using")),
        (b"<?xml version='1.0' encoding='utf-8'?>", ("UTF-8", "using"), ("UTF-8", "using")),
        (b"<meta charset='iso-8859-1'>", ("ISO-8859-1", None), ("ISO-8859-1", None)),
        (b"<meta charset='x-nobody'>", ("ISO-8859-1", "unsatisfiable"), ("ISO-8859-1", "unsatisfiable")),
        (b"<meta charset='utf-16'>", ("ISO-8859-1", "inconsistent"), ("ISO-8859-1", "inconsistent")),
        (b"\xef\xbb\xbf<p>", ("ISO-8859-1", None), ("UTF-8", "using")),
        (b" " * 1000 + b"<meta charset='koi8-r'>", ("ISO-8859-1", None), ("ISO-8859-1", None)),
        (b"<p charset='utf-8'>", ("ISO-8859-1", None), ("ISO-8859-1", None)),
    ],
)  # fmt: skip
def test_declarations(page: bytes, compat: tuple[str, str | None], standard: tuple[str, str | None]) -> None:
    for expected, heed in ((compat, False), (standard, True)):
        choice = choose(page, "ISO-8859-1", declared_in_html, "HTML", PREFIX, standard=heed)
        word = choice.annotation and choice.annotation.partition("CharsetInHTML:")[0]
        assert (choice.charset, word) == expected
