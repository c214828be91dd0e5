"""Does text that was made to be slow stay cheap to repair?"""

from __future__ import annotations

import time

import pytest

from heritrix_scrapy.uri.fixup import UriError, fix, join

BASE = "http://www.example.com/a/b.html"

HOSTILE = {
    "host": "http://" + "x" * 60 + "!/",
    "host with dots": "http://" + "a." * 500 + "!/",
    "dashes": "http://" + "-" * 1000 + "!",
    "digits": "http://" + "1" * 1500 + ":99999999999",
    "percent": "http://www.example.com/" + "%" * 2000,
    "dot segments": "http://www.example.com/" + "../" * 600,
    "dot segments down": "a/" * 500 + "../" * 500,
    "slashes": "http:" + "/" * 2000,
    "at": "http://" + "@" * 2000 + "x/",
    "colons": "http://" + ":" * 2000,
    "brackets": "http://[" + ":" * 2000 + "]/",
    "white space": " \t" * 1000 + "http://www.example.com/" + " \n" * 500,
    "backslashes": "\\" * 2000,
    "labels": "http://" + ".".join(["xn--" + "a" * 50] * 30) + "/",
    "unicode": "http://" + "\u0130" * 500 + ".com/",
    "query": "?" * 2000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("strict", [False, True])
def test_hostile_text_is_settled_at_once(name, strict):
    text = HOSTILE[name]
    began = time.process_time()
    for repair in (lambda: fix(text, strict=strict), lambda: join(BASE, text, strict=strict)):
        try:
            repaired = repair()
        except UriError:
            continue
        assert repaired
    assert time.process_time() - began < 0.5
