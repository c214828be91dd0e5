"""What the library for index keys, ``surt``, does with the cases of scope.json: CDXJ keys are its word."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import surt
from surt.handyurl import handyurl

CANONICALIZERS = {
    name: import_module(f"surt.{name}").canonicalize
    for name in ("DefaultIAURLCanonicalizer", "GoogleURLCanonicalizer", "IAURLCanonicalizer")
}


def same(got: object, expected: object) -> bool:
    return text(got) == text(expected)


def text(value: object) -> object:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def pysurt_surt(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    if isinstance(asked, dict):
        options = dict(asked.get("options", {}))
        if options.get("canonicalizer") == "identity":
            options["canonicalizer"] = lambda url, **_: url
        got = surt.surt(asked["url"], **options)
    else:
        got = surt.surt(asked)
    return same(got, case["expected"]), text(got)


def pysurt_canonicalize(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    url = handyurl.parse(asked["url"])
    options = {key: value for key, value in asked.items() if key not in ("canonicalizer", "url", "options")}
    CANONICALIZERS[asked["canonicalizer"]](url, **options, **asked.get("options", {}))
    got = text(url.geturl())
    return same(got, case["expected"]), got


def pysurt_geturl(case: dict[str, Any]) -> tuple[bool, object]:
    got = text(handyurl.parse(case["input"]).geturl())
    return same(got, case["expected"]), got


def pysurt_helpers(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    where, _, name = asked["fn"].partition(".")
    options = {key: value for key, value in asked.items() if key not in ("fn", "arg")}
    if where == "handyurl":
        got = getattr(handyurl(host=asked["arg"]), name)()
    else:
        call = getattr(import_module(f"surt.{where}"), name)
        given = asked["arg"]
        # the functions below the surface speak bytes
        got = call(given.encode() if isinstance(given, str) else given, **options)
    return same(got, case["expected"]), text(got)


ADAPTERS = {
    "scope/pysurt_surt": pysurt_surt,
    "scope/pysurt_canonicalize": pysurt_canonicalize,
    "scope/pysurt_handyurl_geturl": pysurt_geturl,
    "scope/pysurt_helpers": pysurt_helpers,
}

#: A query whose escapes the library decodes before it sorts: so upstream, and so every index made with it.
DEVIATIONS = {
    "scope/pysurt_surt#34": ("design: the library's own answer, which its tests expect to fail", "archive-surt")
}
