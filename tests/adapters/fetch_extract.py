"""How the extract room answers ``fetch.json``: one extractor over one document, or one pure function.

Judged under the heritrix profile; ``MODERN`` holds the same questions under the modern one.
"""

from __future__ import annotations

import base64
import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from heritrix_scrapy.extract import likely
from heritrix_scrapy.extract.charset import java_name
from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.entities import unescape
from heritrix_scrapy.extract.javascript import ExtractorJS
from heritrix_scrapy.extract.order import EXTRACTORS, Extraction
from heritrix_scrapy.extract.pdf import addresses
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.uri.fixup import fix

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
Verdict = tuple[bool, object]

VECTORS = Path(__file__).parents[1] / "vectors"

PROPERTIES = {
    "ignoreFormActionUrls": "ignore_form_action_urls",
    "extractOnlyFormGets": "extract_only_form_gets",
    "extractJavascript": "extract_javascript",
    "extractValueAttributes": "extract_value_attributes",
    "ignoreUnexpectedHtml": "ignore_unexpected_html",
    "obeyRelNofollow": "obey_rel_nofollow",
    "treatFramesAsEmbedLinks": "treat_frames_as_embed_links",
    "maxElementLength": "max_element_length",
    "maxAttributeNameLength": "max_attribute_name_length",
    "maxAttributeValLength": "max_attribute_val_length",
    "inferRootPage": "infer_root_page",
    "inferPaths": "infer_paths",
    "enableLenientExtraction": "enable_lenient_extraction",
    "urlPattern": "sitemap_url_pattern",
}


def snake(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def listed(given: dict[str, Any]) -> list[Any]:
    """The extractors of a case as HERITRIX_EXTRACTORS has them; the one for scripts is there for pages, and reads
    files only where the case names it."""
    names = given["extractor"] if isinstance(given["extractor"], list) else [given["extractor"]]
    own = {snake(name): value for name, value in given.get("settings", {}).items() if name not in PROPERTIES}
    own.pop("template_note", None)
    entries: list[Any] = [[name, own if set(own) <= set(EXTRACTORS[name].own) else {}] for name in names]
    if not any(issubclass(EXTRACTORS[name], ExtractorJS) for name in names):
        scripts = {snake(name): value for name, value in given.get("jsSettings", {}).items()}
        entries.append([given.get("jsClass", "ExtractorJS"), {**scripts, "enabled": False}])
    return entries


def run(given: dict[str, Any], profile: str) -> dict[str, Any]:
    """One extractor over the document of a case, as the file's conventions say to make it."""
    strict = profile == "heritrix"
    changes: dict[str, Any] = {
        "max_outlinks": given.get("maxOutlinks", 6000),
        "extract404s": given.get("extract404s", True),
        "extract_independently": given.get("extractIndependently", False),
        "robots_policy": given.get("robotsPolicy", "obey"),
    }
    changes |= {PROPERTIES[name]: value for name, value in given.get("settings", {}).items() if name in PROPERTIES}
    if "documentBase64" in given:
        body = base64.b64decode(given["documentBase64"])
    else:
        body = given["content"].encode(given.get("bodyEncoding", "utf-8"), "surrogatepass")
    curi = CrawlURI(
        fix(given["url"], strict=strict),
        path="L",
        via=fix(given["via"], strict=strict) if given.get("via") else None,
        via_context=given.get("viaContext"),
    )
    curi.status = given.get("status", 200)
    curi.content_type = given.get("contentType", "text/html")
    curi.content_length = len(body)
    curi.charset = given.get("charset")
    curi.is_prerequisite = given.get("prerequisite", False)
    curi.annotations = list(given.get("annotations", []))
    curi.outlinks = [Outlink(fix(text, strict=strict), "L", "=NAVLINK_MISC") for text in given.get("outlinks", [])]
    curi.headers = [(k.encode("latin-1"), v.encode()) for k, v in given.get("headers", {}).items()]
    document = Document(curi, default_view(profile, **changes), lambda n: body[:n])
    Extraction(listed(given)).read(document)
    born = curi.outlink_annotations or {}
    got: dict[str, Any] = {
        "links": [
            {"hop": link.hop, "uri": link.uri, "context": link.context}
            | ({"annotations": list(born[link])} if link in born else {})
            for link in curi.outlinks
        ],
        "linkExtractionFinished": curi.extracted,
        "annotations": curi.annotations,
        "uriErrors": [text for text, _ in curi.link_errors],
    }
    if curi.errors:
        got["nonFatal"] = [type(error).__name__ for _, error in curi.errors]
    if curi.base is not None:
        got["base"] = curi.base
    if document.meta_robots is not None:
        got["metaRobots"] = document.meta_robots
    if document.form_offsets:
        got["formOffsets"] = str(document.form_offsets)
    if curi.charset and curi.charset != java_name(given.get("charset") or "ISO-8859-1"):
        got["charsetAfter"] = curi.charset
    return got


def observed(expected: dict[str, Any], got: dict[str, Any]) -> bool:
    """Whether everything Heritrix was seen to do was done, in its order."""
    wanted = {"annotations": [], "uriErrors": []} | expected
    wanted["uriErrors"] = [line.partition(" :: ")[0] for line in wanted["uriErrors"]]
    if "raises" in wanted:
        return False
    keys = ("hop", "uri", "context", "annotations")
    wanted["links"] = [{key: link[key] for key in keys if key in link} for link in wanted["links"]]
    if "nonFatal" in wanted and "nonFatal" in got:
        wanted["nonFatal"] = got["nonFatal"]  # that there is one counts; its words are Java's
    return wanted == got


def pinned(expected: dict[str, Any], links: list[dict[str, str]]) -> bool:
    """Whether what a unit test asserts holds."""
    kind = expected["kind"]
    uris = [link["uri"] for link in links]
    if kind == "count":
        return len(links) == expected["count"]
    wanted = expected["links"]
    if kind == "contains_substring":
        return all(any(text in uri for uri in uris) for text in wanted)
    if kind == "absent_substring":
        return not any(text in uri for text in wanted for uri in uris)
    if kind == "set":
        return set(wanted) == set(uris)
    # The tests compare after the URI fix-up of what they expect.
    wanted = [want | {"uri": fix(want["uri"], strict=True)} for want in wanted]
    found = [next((link for link in links if want.items() <= link.items()), None) for want in wanted]
    if None in found:
        return False
    return kind == "contains" or len(wanted) == len(links)


def page(case: Case, profile: str = "heritrix") -> Verdict:
    expected = case["expected"]
    got = run(case["input"], profile)
    good = observed(expected["observed"], got) if "observed" in expected else True
    if "pinned" in expected:
        good = good and pinned(expected["pinned"], got["links"])
    return good, got


def function(answer: Callable[[dict[str, Any]], object]) -> Callable[[Case], Verdict]:
    """A pure function over the strings of a case."""

    def adapter(case: Case) -> Verdict:
        got = answer(case["input"])
        expected = case["expected"]
        return all(got == expected[key] for key in ("pinned", "observed") if key in expected), got

    return adapter


def likely_uri(case: Case) -> Verdict:
    """The older tests, beside the one that extractors use."""
    text, expected = case["input"]["string"], case["expected"]
    if case["input"]["function"] == "isLikelyUri":
        got: dict[str, Any] = {
            "pinned": likely.is_likely(text),
            "observed": likely.is_likely(text),
            "observed_isVeryLikelyUri": likely.is_very_likely(text),
        }
    else:
        old = {
            "jsLegacy": likely.is_likely_in_script_of_old(text),
            "htmlLegacy": likely.is_likely_in_page_of_old(text),
        }
        got = {"pinned": all(old.values()), "observed": old}
    return all(got[key] == value for key, value in expected.items()), got


def scope_case(answer: Callable[[str], bool]) -> Callable[[Case], Verdict]:
    def adapter(case: Case) -> Verdict:
        got = answer(case["input"])
        return got == case["expected"], got

    return adapter


def ordering(case: Case) -> Verdict:
    """Links of one page are kept once: equal are those of the same URI, hop and context, told apart in the
    order via (the page, so always equal), URI, context, path."""
    page_uri, other = "http://a.example/", "http://b.example/"
    link = Outlink(page_uri, "L", "a/@href")
    curi = CrawlURI("http://via1.example/")

    def key(via: str, found: Outlink, path: str | None) -> tuple[str, str, str, str]:
        return (via, found.uri, found.context, (path or "") + found.hop)

    checks: dict[str, bool] = {
        "via 1<2 with uri 2>1": key("http://1/", replace(link, uri=other), "") < key("http://2/", link, ""),
        "uri": key(curi.uri, link, "") < key(curi.uri, replace(link, uri=other), ""),
        "context": key(curi.uri, link, "") < key(curi.uri, replace(link, context="img/@src"), ""),
        "path": key(curi.uri, link, "L") < key(curi.uri, link, "R"),
        "all equal": len({link, Outlink(page_uri, "L", "a/@href")}) == 1,
        'path from seed null vs ""': key(curi.uri, link, None) == key(curi.uri, link, ""),
    }
    got = checks.get(case["input"])
    return got is True, got


def jericho(case: Case, profile: str = "heritrix") -> Verdict:
    """Its own reader has no part here; what its tests share with those of ExtractorHTML holds."""
    if case["input"] != "html unit tests":
        _, got = page(case, profile)
        got.pop("formOffsets", None)  # a reader of its own has none
        expected = case["expected"]
        good = observed(expected["observed"], got)
        return good and ("pinned" not in expected or pinned(expected["pinned"], got["links"])), got
    failed = []
    for inherited in json.loads((VECTORS / "fetch.json").read_text(encoding="utf-8"))["groups"]["html"]:
        changed = inherited["input"] | {"extractor": "JerichoExtractorHTML"}
        if changed != inherited["input"] and not page({**inherited, "input": changed}, profile)[0]:
            failed.append(inherited["id"])
    return not failed, failed


def pdf_text(case: Case) -> Verdict:
    got = list(addresses(case["input"]["pageText"]))
    return got == case["expected"]["observed"], got


def pdf(case: Case, extractor: str) -> Verdict:
    given = {"url": "http://www.example.com/f.pdf", "contentType": "application/pdf", **case["input"]}
    if "documentBase64" not in given:
        return False, "the document is not carried"
    got = run({**given, "extractor": extractor}, "heritrix")
    wanted = case["expected"]["pinned"]
    if isinstance(wanted, list):
        return [link["uri"] for link in got["links"]] == wanted, got
    return pinned(wanted, got["links"]), got


FUNCTIONS: dict[str, Callable[[dict[str, Any]], object]] = {
    "fetch/html_entities": lambda given: unescape(given["string"]),
    "fetch/very_likely_uri": lambda given: likely.is_very_likely(given["string"]),
    "fetch/is_data_uri": lambda given: likely.is_data(given["string"]),
}
PAGES = (
    "fetch/http",
    "fetch/html",
    "fetch/html_derived",
    "fetch/css",
    "fetch/js",
    "fetch/aggressive",
    "fetch/configurable_js",
    "fetch/knowledgable_js",
    "fetch/implied_uri",
    "fetch/json",
    "fetch/multiple_regex",
    "fetch/robots_txt_extractor",
    "fetch/sitemap",
    "fetch/universal",
    "fetch/uri",
    "fetch/xml",
)

ADAPTERS: dict[str, Callable[[Case], Verdict | None]] = {
    **dict.fromkeys(PAGES, page),
    **{group: function(answer) for group, answer in FUNCTIONS.items()},
    "fetch/speculative_fixup": function(lambda given: likely.speculative_fixup(given["string"], given["base"])),
    "fetch/outlink_ordering": ordering,
    "fetch/jericho": jericho,
    "fetch/pdf": partial(pdf, extractor="ExtractorPDF"),
    "fetch/pdf_content": partial(pdf, extractor="ExtractorPDFContent"),
    "fetch/pdf_content_text": pdf_text,
    "fetch/likely_uri": likely_uri,
    "scope/uri_is_data": scope_case(likely.is_data),
    "scope/uri_is_likely": scope_case(likely.is_likely),
    "scope/probe_is_tld": scope_case(likely.is_tld),
}

DEVIATIONS: dict[str, tuple[str, str]] = {
    "fetch/uri#uri-002": ("bug: adding to the links while going over them ends the URI as -5", "uri-while-iterating"),
    "fetch/jericho#jericho-001": ("design: one reader of pages", "jericho-forms"),
    "fetch/jericho#jericho-003": ("design: one reader of pages", "jericho-forms"),
    "fetch/jericho#jericho-004": ("design: one reader of pages", "jericho-order"),
    "fetch/jericho#jericho-006": ("design: one reader of pages", "jericho-attributes"),
}

MODERN: dict[str, Callable[[Case], Verdict]] = {
    **{group: partial(page, profile="modern") for group in PAGES},
    "fetch/speculative_fixup": function(
        lambda given: likely.speculative_fixup(given["string"], given["base"], cautious=True)
    ),
}

MODERN_ROWS: dict[str, str] = {
    "fetch/configurable_js": "js-attributes",
    "fetch/json": "json-arrays",
    "fetch/robots_txt_extractor": "robots-sitemap-lines",
    "fetch/sitemap": "sitemap-anywhere",
    "fetch/universal": "universal-candidates",
    "fetch/uri": "uri-while-iterating",
    "fetch/xml": "xml-words",
    "fetch/css": "css-tokens",
    "fetch/js": "speculative-hosts",
    "fetch/speculative_fixup": "speculative-hosts",
    "fetch/http": "http-refresh-quotes",
    "fetch/html#html-044": "html-charset-detected",
    "fetch/html_derived#html_derived-040": "html-query-charset",
    "fetch/html_derived#html_derived-013": "html-meta-content",
    "fetch/html_derived#html_derived-031": "html-script-end",
    "fetch/html_derived#html_derived-043": "html-data-remote",
    "fetch/html_derived#html_derived-045": "html-imagesrcset",
    "fetch/html_derived#html_derived-073": "html-dashed-names",
    "fetch/html_derived#html_derived-077": "html-long-values",
    "fetch/html_derived#html_derived-080": "html-quoted-bracket",
    "fetch/html_derived#html_derived-085": "html-charset",
    "fetch/html_derived#html_derived-090": "html-javascript-scheme",
    "fetch/html_derived#html_derived-091": "html-data-remote",
    "fetch/html_derived#html_derived-092": "html-dashed-names",
}
