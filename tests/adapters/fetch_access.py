"""Do robots rules and policies, cookies, forms and logins come out as the vectors say?"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.form_login import FormLogin, fill_in
from heritrix_scrapy.extract.forms import Form, Input
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.fetch import cookie_file
from heritrix_scrapy.fetch.cookies import Cookie, CookieStore, header, parse
from heritrix_scrapy.fetch.robots_policy import Policies
from heritrix_scrapy.fetch.robots_rules import HeritrixRules, StandardRules
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.post import escaped
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
NOW = 1_750_000_000_000
YEAR = 365 * 86_400_000


def text_of(asked: Case) -> str:
    if "robotsTxt" in asked:
        return str(asked["robotsTxt"])
    return "".join(
        part if isinstance(part, str) else part["repeat"] * part["times"] for part in asked["robotsTxtTemplate"]
    )


POLICY_PROPERTIES = {
    "customRobots": "custom_robots",
    "shouldMasquerade": "should_masquerade",
    "obeyMetaRobotsNofollow": "obey_meta_robots_nofollow",
}
READERS: dict[str, Any] = {"heritrix": HeritrixRules, "modern": StandardRules}


def judged(asked: Case, profile: str, agent: str, uri: str, policy: str, candidates: Any) -> tuple[bool, str | None]:
    """Whether a policy allows a URI, and whom it is fetched as."""
    rules = READERS[profile](text_of(asked))
    name = policy[0].lower() + policy[1:]
    properties: dict[str, Any] = {"candidate_user_agents": candidates} if candidates else {}
    for key, attribute in POLICY_PROPERTIES.items():
        if key in asked:
            properties[attribute] = asked[key]
    view = default_view(profile, robots_policy=[name, properties])
    curi = CrawlURI(uri)
    return Policies().of(view).allows(curi, agent, rules), curi.user_agent


def robots(case: Case, profile: str = "heritrix") -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    told = expected.get("observed") or expected["pinned"]
    text = text_of(asked)
    if isinstance(told, str):
        rules = READERS[profile](text)
        got = [rules.allows(agent, "http://h.example/service/x") for agent in "abcd"]
        return ("directives" not in told or got == [False] * 4), got
    if "allows" not in told:
        got_all = {
            agent: {path: judged(asked, profile, agent, "http://h.example" + path, "obey", None)[0] for path in paths}
            for agent, paths in told.items()
        }
        return got_all == told, got_all
    agent = asked["userAgent"]
    facts: dict[str, Any] = {"allows": {}}
    for path in asked["paths"]:
        allowed, seen_as = judged(
            asked, profile, agent, "http://h.example" + path, asked["policy"], asked.get("candidates")
        )
        facts["allows"][path] = allowed
        if seen_as is not None:
            facts["masqueradeAs"] = seen_as
    rules = READERS[profile](text)
    delay = rules.crawl_delay(agent)
    # Heritrix keeps it in four bytes
    facts["crawlDelay"] = -1.0 if delay is None else struct.unpack("f", struct.pack("f", delay))[0]
    if isinstance(rules, HeritrixRules):
        facts["namedUserAgents"] = rules.agents
    return all(facts.get(key) == value for key, value in told.items() if key in facts or profile == "heritrix"), facts


def policy(case: Case) -> tuple[bool, object]:
    asked = case["input"]
    allowed, seen_as = judged(
        asked, "heritrix", asked["userAgent"], asked["uri"], asked["policy"], asked["candidateUserAgents"]
    )
    got = {"allows": allowed, "curiUserAgent": seen_as}
    return got == case["expected"], got


# ---------------------------------------------------------------- cookies


def cookie_of(step: Case) -> Cookie:
    return Cookie(
        step["name"],
        step.get("value") or "",
        (step.get("domain") or "h.example").lower().removeprefix("."),
        step.get("path") or "/",
        secure=bool(step.get("secure")),
        expires_ms=NOW + YEAR if step.get("expires") else None,
    )


def store_after(steps: list[Case]) -> tuple[CookieStore, list[Cookie]]:
    store = CookieStore(strict=True)
    saved = ""
    before: list[Cookie] = []
    for step in steps:
        match step["op"]:
            case "add":
                store.add(cookie_of(step), NOW)
            case "add_many":
                for number in range(step["count"]):
                    store.add(cookie_of({"name": step["nameTemplate"].format(i=number)}), NOW)
            case "concurrent_add":
                for number in range(3100):
                    store.add(cookie_of({"name": "n", "domain": f"d{number}.example.com"}), NOW)
            case "save":
                before = store.of_rows([], NOW)
                saved = cookie_file.write(before, strict=True)
            case "clear":
                store = CookieStore(strict=True)
            case "load":
                for _, cookie in cookie_file.read(saved.splitlines(), strict=True):
                    assert isinstance(cookie, Cookie)
                    store.add(cookie, NOW)
    return store, before


def cookies(case: Case) -> tuple[bool, object]:
    store, before = store_after(case["input"]["steps"])
    kept = store.of_rows([], NOW)
    told = case["expected"]["pinned"]
    got: dict[str, Any] = {"count": len(kept)}
    good = told.get("count", len(kept)) == len(kept) and len(kept) > told.get("count_greater_than", -1)
    if "values" in told:
        got["values"] = {cookie.name: cookie.value for cookie in kept}
        good = good and got["values"] == told["values"]
    if "values_by_domain" in told:
        got["values_by_domain"] = {cookie.domain: cookie.value for cookie in kept}
        good = good and got["values_by_domain"] == told["values_by_domain"]
    if "identical_after_reload" in told:
        facts = [[(c.domain, c.name, c.path, c.value, c.expires_ms) for c in listed] for listed in (before, kept)]
        good = good and facts[0] == facts[1]
    return good, got


def scoping(case: Case, profile: str = "heritrix") -> tuple[bool, object]:
    strict = profile == "heritrix"
    asked = case["input"]
    store = CookieStore(strict=strict)
    now = NOW
    if "loadedFromCookiesTxt" in asked:
        cookie = cookie_file.read_line(asked["loadedFromCookiesTxt"], strict=strict)
        assert cookie is not None
        store.add(cookie, now)
        got = bool(store.shown(urlsplit(asked["request"]).hostname or "", "/", now, secure=False))
        return got == case["expected"]["observed"]["cookieSent"], got
    sent = []
    wanted = []
    for step in asked["steps"]:
        if "wait_seconds" in step:
            now += step["wait_seconds"] * 1000
            continue
        url = urlsplit(step["request"])
        host = url.hostname or ""
        shown = store.shown(host, url.path or "/", now, secure=url.scheme == "https")
        sent.append(header(shown, strict=strict) or None)
        wanted.append(step["expectCookieSent"])
        if step["serverSetCookie"] is not None:
            made = parse(step["serverSetCookie"], host, url.path or "/", now, strict=strict)
            if made is not None:
                store.add(made, now)
    count = len(store.of_rows([], now))
    return sent == wanted and count == case["expected"]["pinned"]["storeCount"], {"sent": sent, "storeCount": count}


def cookie_text(case: Case, profile: str = "heritrix") -> tuple[bool, object]:
    try:
        cookie = cookie_file.read_line(case["input"], strict=profile == "heritrix")
    except cookie_file.BadLine as error:
        got: dict[str, Any] = {"skipped": True, "warning": str(error)}
    else:
        got = {"skipped": True}
        if cookie is not None:
            got = {
                "domain": cookie.domain,
                "path": cookie.path,
                "secure": cookie.secure,
                "expiry": -1 if cookie.expires_ms is None else cookie.expires_ms // 1000,
                "name": cookie.name,
                "value": cookie.value,
            }
    told = case["expected"]
    return all(got.get(key) == value for key, value in told.items() if key in got or key == "skipped"), got


def stored(case: Case) -> tuple[bool, object]:
    asked, told = case["input"], case["expected"]
    store = CookieStore(strict=True)
    counts = []
    if "add_distinct_names_same_domain" in asked:
        for number in range(asked["add_distinct_names_same_domain"]):
            store.add(cookie_of({"name": f"n{number}"}), NOW)
    if "save_then_load" in asked:
        for name, domain, path, secure, expiry in asked["save_then_load"]:
            step = {"name": name, "domain": domain, "path": path, "secure": secure, "expires": expiry != -1}
            store.add(cookie_of(step), NOW)
        before = store.of_rows([], NOW)
        lines = cookie_file.write(before, strict=True).splitlines()
        store = CookieStore(strict=True)
        for _, cookie in cookie_file.read([line + "v" if line[-1:] == "\t" else line for line in lines], strict=True):
            assert isinstance(cookie, Cookie)
            store.add(cookie, NOW)
        after = store.of_rows([], NOW)
        same = [c.identity for c in before] == [c.identity for c in after]
        return len(after) == told["count"] and same == told["equal"], len(after)
    for one in asked.get("add", ()):
        if isinstance(one, list):
            second = {"path": one[1]} if asked.get("meaning") == "name, path" else {"domain": one[1]}
            one = {"name": one[0], **second}
        store.add(cookie_of(one), NOW)
        counts.append(len(store.of_rows([], NOW)))
    kept = store.of_rows([], NOW)
    got: dict[str, Any] = {"count": len(kept), "counts_after_each": counts}
    if len(kept) == 1:
        got["value"] = kept[0].value
    return all(got[key] == value for key, value in told.items()), got


def file_line(case: Case) -> tuple[bool, object]:
    asked = case["input"]
    if asked.get("header"):
        return case["expected"] == cookie_file.HEAD, cookie_file.HEAD
    cookie = Cookie(
        asked["name"],
        asked["value"] or "",
        asked["domain"],
        asked["path"] or "/",
        secure=asked["secure"],
        expires_ms=asked["expiry_ms"],
    )
    got = cookie_file.write_line(cookie, strict=True)
    return got == case["expected"], got


# ---------------------------------------------------------------- forms


def forms(case: Case, profile: str = "heritrix") -> tuple[bool, object]:
    asked = case["input"]
    settings = asked.get("settings", {})
    every = settings.get("ExtractorHTMLForms", {}).get("extractAllForms", False)
    view = default_view(profile)
    curi = CrawlURI(asked["url"])
    curi.status, curi.content_type = asked["status"], asked["contentType"]
    curi.content_length = len(asked["content"])
    document = Document(curi, view, lambda limit: asked["content"].encode()[:limit])
    Extraction(["ExtractorHTML", ["ExtractorHTMLForms", {"extract_all_forms": every}]]).read(document)
    given = settings.get("FormLoginProcessor", {})
    strict = profile == "heritrix"
    if given:
        login = FormLogin(
            given.get("applicableSurtPrefix", ""), given.get("loginUsername", ""), given.get("loginPassword", "")
        )
        fill_in(curi, [login], Hosts(lambda key: None), strict=strict)
    links = []
    for link in curi.outlinks:
        shown: dict[str, Any] = {"hop": link.hop, "uri": link.uri, "context": link.context}
        if curi.outlink_posts is not None and link in curi.outlink_posts:
            form = next(form for form in curi.forms or () if form.is_login)
            child = curi.child(link)
            shown["fetchType"] = "HTTP_POST"
            data = form.data(login.login_username, login.login_password, strict=strict)
            shown["submitData"] = [list(pair) for pair in data]
            shown["schedulingDirective"] = child.directive
        links.append(shown)
    got = {
        "links": links,
        "linkExtractionFinished": curi.extracted,
        "annotations": curi.annotations,
        "formOffsets": str(document.form_offsets),
        "warcHeaders": f"[{', '.join(curi.warc_headers or ())}]",
    }
    told = case["expected"]["observed"]
    return all(got.get(key) == value for key, value in told.items()), got


def form_login(case: Case) -> tuple[bool, object]:
    asked = case["input"]
    if "function" in asked:
        text = escaped(asked["string"])
        return text == case["expected"]["pinned"], text
    given, told = asked["settings"], case["expected"]["pinned"]
    curi = CrawlURI(asked["uri"])
    curi.status = 200
    if "form" in asked:
        form = asked["form"]
        inputs = [Input(*one) for one in form["fields"]]
        curi.forms = [Form(form.get("method"), form.get("action"), form.get("enctype"), inputs)]
    login = FormLogin(given["applicableSurtPrefix"], given["loginUsername"], given["loginPassword"])
    fill_in(curi, [login], Hosts(lambda key: None), strict=True)
    got: dict[str, Any] = {"warcHeader": (curi.warc_headers or [None])[0], "annotations": curi.annotations}
    good = got["warcHeader"] == told["warcHeader"]
    got["outlinks"] = [link.uri for link in curi.outlinks]
    if "outlinks" in told:
        return good and got["outlinks"] == told["outlinks"], got
    posts = curi.outlink_posts or {}
    link = curi.outlinks[0]
    got |= {"body": posts[link].body.decode(), "enctype": posts[link].content_type}
    good = good and link.uri == told["outlink"]["uri"] and told.get("annotation") in (None, *curi.annotations)
    if "body" in told:
        good = good and got["body"] == told["body"]
    return good and got["enctype"].startswith(told.get("enctype", "")), got


ADAPTERS: dict[str, Callable[[Case], tuple[bool, object] | None]] = {
    "fetch/robots_txt": robots,
    "fetch/robots_policy": robots,
    "scope/robots_policy": policy,
    "fetch/cookies": cookies,
    "fetch/cookie_scoping": scoping,
    "fetch/cookies_txt": cookie_text,
    "output/cookie_store": stored,
    "output/cookie_file_line": file_line,
    "fetch/forms": forms,
    "fetch/form_login": form_login,
}

MODERN: dict[str, Callable[[Case], tuple[bool, object]]] = {
    "fetch/robots_txt": partial(robots, profile="modern"),
    "fetch/robots_policy": partial(robots, profile="modern"),
    "fetch/cookie_scoping": partial(scoping, profile="modern"),
    "fetch/forms": partial(forms, profile="modern"),
}

MODERN_ROWS = {
    "fetch/robots_txt": "robots-parser",
    "fetch/robots_policy": "robots-product-token",
    "fetch/cookie_scoping": "cookies-loaded-subdomains",
    "fetch/forms": "forms-read-as-html",
}


def no_method(case: Case, got: object) -> tuple[str, str] | None:
    """A form without a method is one that is sent by GET."""
    told = case["expected"].get("observed", {})
    if told.get("annotations") == ["err=java.lang.NullPointerException"]:
        return "defect: null method", "form-without-method"
    return None


DEVIATES = {"fetch/forms": no_method}
