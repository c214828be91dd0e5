"""Adapters: every single rule, the scopes of Heritrix 1.x, and sheets."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import DecideRule, DecideRuleSequence, Scope, from_settings
from heritrix_scrapy.scope.catalogue import RULES
from heritrix_scrapy.scope.crawl_scopes import FOCUS_ENDINGS, FOCUS_FILES, DomainScope
from heritrix_scrapy.scope.factory import Factory
from heritrix_scrapy.scope.rule import ACCEPT, NONE, AcceptDecideRule, Decision, RejectDecideRule
from heritrix_scrapy.scope.rules_hops import AddRedirectFromRootServerToScope
from heritrix_scrapy.scope.rules_surt import OnDomainsDecideRule, OnHostsDecideRule
from heritrix_scrapy.scope.rules_text import PathologicalPathDecideRule
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.settings.sheets import Sheets
from heritrix_scrapy.uri.fixup import UriError, fix
from heritrix_scrapy.uri.prefixes import implied_prefix
from heritrix_scrapy.uri.surt_tokens import surt_tokens

Answer = tuple[bool, object]
Case = dict[str, Any]

VIEW = default_view("heritrix")

#: Keys of the vectors that are properties of rules.
PROPERTIES = {
    "regex": "regex",
    "regexList": "regex_list",
    "listLogicalOr": "list_logical_or",
    "timeoutPerRegexSeconds": "timeout_per_regex_seconds",
    "usePreset": "use_preset",
    "lowerBound": "lower_bound",
    "upperBound": "upper_bound",
    "maxHops": "max_hops",
    "maxTransHops": "max_trans_hops",
    "maxSpeculativeHops": "max_speculative_hops",
    "maxRepetitions": "max_repetitions",
    "maxPathDepth": "max_path_depth",
    "useHeaderLength": "use_header_length",
    "contentLengthThreshold": "content_length_threshold",
    "surtPrefixes": "surt_prefixes",
    "decision": "decision",
    "schemes": "schemes",
    "statusCodes": "status_codes",
}


def made(name: str, asked: Case) -> DecideRule:
    name = name if name in RULES else name + "DecideRule"
    given = {PROPERTIES[key]: value for key, value in asked.items() if key in PROPERTIES and value is not None}
    rule = Factory().rule([name, given])
    rule.configure(VIEW)
    return rule


def described(asked: Case) -> CrawlURI:
    """The URI that a case tells of, fetched as far as it says."""
    text = asked.get("uri") or asked.get("string") or "http://a.example/"
    try:
        uri = text if "string" in asked else fix(text, strict=True)
    except UriError:
        uri = text
    via = asked.get("via")
    curi = CrawlURI(uri, path=asked.get("path") or asked.get("pathFromSeed") or "", via=via and fix(via, strict=True))
    curi.settings = VIEW
    curi.seed = bool(asked.get("isSeed"))
    if asked.get("contentType") is not None:
        curi.content_type = asked["contentType"]
    if asked.get("fetchStatus") is not None:
        curi.status = asked["fetchStatus"]
    if asked.get("contentSize") is not None:
        curi.content_size = asked["contentSize"]
    if asked.get("contentLength") is not None:
        curi.content_length = asked["contentLength"]
    if asked.get("contentLengthHeader") is not None:
        curi.headers = [(b"Content-Length", str(asked["contentLengthHeader"]).encode())]
    return curi


def said(name: str, case: Case) -> Answer:
    got = made(name, case["input"]).evaluate(described(case["input"])).name
    return got == case["expected"], got


def of_its_rule(case: Case) -> Answer:
    return said(case["input"]["rule"], case)


def either(name: str, negated: str) -> Any:
    return lambda case: said(negated if case["input"]["negated"] else name, case)


def accepted(name: str) -> Any:
    def adapter(case: Case) -> Answer:
        got = made(name, case["input"]).evaluate(described(case["input"])) is ACCEPT
        return got == case["expected"], got

    return adapter


def resource_length(case: Case) -> Answer:
    """A default that a case leaves open is Heritrix's; a case may leave the header out as well."""
    return of_its_rule(case)


def root_redirect(case: Case) -> Answer:
    rule = AddRedirectFromRootServerToScope()
    rule.configure(VIEW)
    curi = described(case["input"])
    got = {"decision": rule.evaluate(curi).name, "markedSeed": curi.seed}
    return got == case["expected"], got


def domain_scope(case: Case) -> Answer:
    asked = case["input"]
    scope = DomainScope()
    scope.configure(VIEW)
    whole = Scope(DecideRuleSequence([scope]), lambda curi: VIEW, VIEW)
    for seed in asked["seeds"]:
        whole.seed_added(fix(seed, strict=True), seed)
    got = scope.focus_accepts(described(asked))
    return got == case["expected"], got


class Constant(DecideRule):
    def __init__(self, said: Decision) -> None:
        self.said = said

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.said


def constants(case: Case) -> Answer:
    rules: dict[str, DecideRule] = {
        "ACCEPT": AcceptDecideRule(),
        "REJECT": RejectDecideRule(),
        "NONE": Constant(NONE),
    }
    got = DecideRuleSequence([rules[word] for word in case["input"]]).evaluate(described({})).name
    return got == case["expected"], got


def scope_plus_one(case: Case) -> Answer:
    asked = case["input"]
    cls = {"Host": OnHostsDecideRule, "Domain": OnDomainsDecideRule}[asked["mode"]]
    rule = cls(also_check_via=True, surts_source=[f"+{implied_prefix(asked['prefixFromPlain'], strict=True)}"])
    rule.configure(VIEW)
    got = rule.evaluate(described(asked)).name
    return got == case["expected"], got


def pathological_filter(case: Case) -> Answer:
    rule = PathologicalPathDecideRule(max_repetitions=2)
    got = rule.evaluate(described({"uri": case["input"]})) is not NONE
    return got == case["expected"], got


def file_pattern_filter(case: Case) -> Answer:
    uri = case["input"].lower()
    group = next((name for name, endings in FOCUS_FILES.items() if uri.endswith(tuple("." + e for e in endings))), None)
    got = {"all": uri.endswith(FOCUS_ENDINGS), "group": group}
    if "group" not in case["expected"]:
        del got["group"]
    return got == case["expected"], got


#: Where the vectors' beans stand in HERITRIX_SCOPE.
BEANS = {"scope.rules[2]": "2", "other": "other"}


def overlays(case: Case) -> Answer:
    """What the number of hops is under sheets: seen in which paths are refused."""
    sheets: dict[str, dict[str, Any]] = {}
    for sheet in case["input"]["sheets"]:
        values = sheets.setdefault(sheet["name"], {})
        if "key" in sheet:
            bean, _, name = sheet["key"].rpartition(".")
            assert name == "maxHops"
            values[f"HERITRIX_SCOPE[{BEANS.get(bean, bean)}].max_hops"] = sheet["value"]
    forms = [
        "rejectAll",
        "acceptSurts",
        ["tooManyHops", {}],
        ["TooManyHopsDecideRule", {"id": "other", "enabled": False}],
    ]
    view = default_view("heritrix", scope=forms)
    names = list(dict.fromkeys(sheets))
    laid = Sheets(sheets, [{"surt_prefixes": ["http://("], "sheets": names}], view, strict=True)
    scope = from_settings(Settings(view, sheets=laid))
    scope.seed_added("http://a.example/", "http://a.example/")
    got = -1
    while scope.accepts(CrawlURI("http://a.example/x", path="L" * (got + 1))):
        got += 1
    return got == case["expected"], got


def tokens(case: Case) -> Answer:
    got = list(surt_tokens(case["input"], strict=True))
    return got == case["expected"], got


ADAPTERS = {
    "scope/surt_tokenizer": tokens,
    "scope/decide_matches_list_regex": lambda case: said("MatchesListRegex", case),
    "scope/decide_matches_status_code": accepted("MatchesStatusCode"),
    "scope/decide_not_matches_status_code": accepted("NotMatchesStatusCode"),
    "scope/decide_via_surt_prefixed": accepted("ViaSurtPrefixed"),
    "scope/h1_domain_scope": domain_scope,
    "scope/h1_decide_sequence": constants,
    "scope/h1_decide_rules": of_its_rule,
    "scope/h1_scope_plus_one": scope_plus_one,
    "scope/h1_pathological_filter": pathological_filter,
    "scope/h1_file_pattern_filter": file_pattern_filter,
    "scope/probe_file_pattern": lambda case: said("MatchesFilePattern", case),
    "scope/probe_hop_crosses_ald": lambda case: said("HopCrossesAssignmentLevelDomain", case),
    "scope/probe_root_redirect": root_redirect,
    "scope/probe_content_type": either("ContentTypeMatchesRegex", "ContentTypeNotMatchesRegex"),
    "scope/probe_status_range": either("MatchesStatusCode", "NotMatchesStatusCode"),
    "scope/probe_status_regex": either("FetchStatusMatchesRegex", "FetchStatusNotMatchesRegex"),
    "scope/probe_resource_length": resource_length,
    "scope/probe_regex_rules": of_its_rule,
    "scope/probe_overlays": overlays,
}


def unfetched_type(case: Case, got: object) -> tuple[str, str] | None:
    """Heritrix 1.x left the type of an unfetched URI open; Heritrix 3 calls it ``unknown``, and so do we."""
    asked = case["input"]
    if asked["rule"] == "ContentTypeNotMatchesRegex" and asked["contentType"] is None and got == "ACCEPT":
        return "errata: Heritrix 3 differs from 1.x here, and is followed", "scope-unfetched-type"
    return None


DEVIATES = {"scope/h1_decide_rules": unfetched_type}
