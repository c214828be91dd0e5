"""How the uri room, and hop paths and server keys of the model, answer ``scope.json``.

Vectors are judged under the heritrix profile, so everything here is strict; ``MODERN`` holds the same
questions without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.uri import parts
from heritrix_scrapy.uri.canonical import Canonicaliser, make_rule
from heritrix_scrapy.uri.domain import SuffixList, assignment_level, reduce_surt
from heritrix_scrapy.uri.fixup import fix, has_scheme, join
from heritrix_scrapy.uri.prefixes import SurtPrefixSet, implied_prefix, prefixes_of, to_domain, to_host
from heritrix_scrapy.uri.seed_lines import seed_lines
from heritrix_scrapy.uri.surt import candidate, surt

Case = dict[str, Any]
Answer = Callable[[Any], object]


def asks(answer: Answer, *, with_errors: bool = True) -> Callable[[Case], tuple[bool, object]]:
    """Compare an answer to the input with what is expected."""

    def adapter(case: Case) -> tuple[bool, object]:
        got: object
        try:
            got = answer(case["input"])
        except ValueError as error:
            if not with_errors:
                raise
            return case["expected"] == {"error": True}, f"raised {error}"
        return got == case["expected"], got

    return adapter


def resolve(given: Any, *, strict: bool) -> str:
    return join(fix(given["base"], strict=strict), given["relative"], strict=strict)


def listed_parts(case: Case) -> tuple[bool, object]:
    uri = fix(case["input"], strict=True)
    taken = parts.split(uri)
    known: dict[str, object] = {
        "scheme": taken.scheme,
        "authority": taken.authority,
        "path": parts.decoded(taken.path, strict=True),
        "query": taken.query and parts.decoded(taken.query, strict=True),
        "host": parts.host(uri),
        "port": parts.port(uri),
        "userinfo": parts.userinfo(uri),
        "referencedHost": parts.referenced_host(uri),
        "hostBasename": parts.host_basename(uri),
        "authorityMinusUserinfo": parts.authority_without_userinfo(uri),
        "decoded": parts.decoded(uri, strict=True),
        "escaped": uri,
    }
    got = {key: known[key] for key in case["expected"]}
    return got == case["expected"], got


def unicode_host(case: Case) -> tuple[bool, object]:
    text = case["input"]
    got = parts.unicode_host(fix(text, strict=True) if "factory" in case.get("note", "") else text)
    return got == case["expected"], got


def prefix_of_seed(line: str) -> str:
    found = SurtPrefixSet(strict=True)
    found.import_uris(line)
    return next(iter(found))


def prefix_set(given: Any) -> object:
    found = SurtPrefixSet(strict=True)
    found.import_literals(given["import"])
    if given["op"] == "members":
        return list(found)
    return found.contains_prefix_of(surt(given["uri"], strict=True))


def import_mixed(given: Any) -> list[str]:
    found = SurtPrefixSet(strict=True)
    found.import_mixed(given["text"], deduce=given["deduce"])
    return list(found)


def add_directive(text: str) -> list[str]:
    found = SurtPrefixSet(strict=True)
    said = found.add_directive(text)
    return [str(said).lower(), *found]


def contains_prefix(given: Any) -> bool:
    return SurtPrefixSet(given["set"], strict=True).contains_prefix_of(given["probe"])


def find_prefixes(given: Any) -> list[str]:
    return prefixes_of(sorted(given["set"]), given["input"])


def custom_suffixes(given: Any) -> str:
    return reduce_surt(given["surt"], SuffixList(given["list"].split(), encoded=False))


def seed_events(text: str) -> list[dict[str, object]]:
    events: list[dict[str, object]] = [
        {"nonseedLine": line.text} if line.uri is None else {"seed": line.uri, "sourceTag": line.text}
        for line in seed_lines(text, strict=True)
    ]
    return [*events, {"concluded": True}]


def old_seed_lines(text: str) -> dict[str, list[str]]:
    lines = list(seed_lines(text, strict=True))
    return {
        "seeds": [line.uri for line in lines if line.uri is not None],
        "ignored": [line.text for line in lines if line.uri is None],
    }


def one_rule(given: Any) -> str:
    properties = {key: value for key, value in given.items() if key not in ("rule", "url")}
    return make_rule([given.get("rule", "RegexRule"), properties]).canonicalize(given["url"])


def named_rule(name: str) -> Answer:
    return make_rule(name).canonicalize


def extend(given: Any) -> str:
    path = given["path"] or ""
    return hops.extend(path, given["hop"]) if given["hop"] else path


ADAPTERS = {
    "scope/uuri_fixup": asks(partial(fix, strict=True)),
    "scope/uuri_fixup_charset": asks(lambda given: fix(given["url"], given["charset"], strict=True)),
    "scope/uuri_error": asks(partial(fix, strict=True)),
    "scope/uuri_resolve": asks(partial(resolve, strict=True)),
    "scope/uuri_parts": listed_parts,
    "scope/uuri_has_scheme": asks(has_scheme),
    "scope/uuri_filename": asks(parts.filename),
    "scope/uuri_unicode_host": unicode_host,
    "scope/probe_uuri": asks(partial(fix, strict=True)),
    "scope/probe_resolve": asks(partial(resolve, strict=True)),
    "scope/surt_from_uri": asks(partial(surt, strict=True)),
    "scope/probe_surt": asks(partial(surt, strict=True)),
    "scope/probe_candidate_surt": asks(lambda text: candidate(fix(text, strict=True), strict=True)),
    "scope/surt_prefix_from_seed": asks(prefix_of_seed),
    "scope/surt_prefix_set": asks(prefix_set),
    "scope/prefix_finder": asks(find_prefixes),
    "scope/probe_prefix_finder": asks(find_prefixes),
    "scope/probe_prefix_from_plain": asks(partial(implied_prefix, strict=True)),
    "scope/probe_prefix_to_host": asks(partial(to_host, strict=True)),
    "scope/probe_prefix_to_domain": asks(partial(to_domain, strict=True)),
    "scope/probe_import_mixed": asks(import_mixed),
    "scope/probe_add_directive": asks(add_directive),
    "scope/probe_prefix_set_add": asks(lambda given: list(SurtPrefixSet(given, strict=True))),
    "scope/probe_contains_prefix": asks(contains_prefix),
    "scope/probe_seed_text": asks(seed_events),
    "scope/h1_seed_lines": asks(old_seed_lines),
    "scope/ald_reduce": asks(partial(assignment_level, strict=True)),
    "scope/ald_reduce_custom_list": asks(custom_suffixes),
    "scope/probe_ald": asks(partial(assignment_level, strict=True)),
    "scope/canon_fixup_query_string": asks(named_rule("FixupQueryString")),
    "scope/canon_lowercase": asks(named_rule("LowercaseRule")),
    "scope/canon_strip_userinfo": asks(named_rule("StripUserinfoRule")),
    "scope/canon_strip_wwwn": asks(named_rule("StripWWWNRule")),
    "scope/canon_strip_www": asks(named_rule("StripWWWRule")),
    "scope/canon_strip_session_ids": asks(named_rule("StripSessionIDs")),
    "scope/canon_strip_session_cfids": asks(named_rule("StripSessionCFIDs")),
    "scope/canon_regex_rule": asks(one_rule),
    "scope/canon_policy_default": asks(Canonicaliser()),
    "scope/probe_canon_policy": asks(Canonicaliser()),
    "scope/probe_canon_rules": asks(one_rule),
    "scope/hops_path_extend": asks(extend),
    "scope/probe_hops_extend": asks(extend),
    "scope/server_key": asks(lambda text: server_key(fix(text, strict=True))),
}

MODERN = {
    "scope/uuri_fixup": asks(fix),
    "scope/uuri_error": asks(fix),
    "scope/uuri_resolve": asks(partial(resolve, strict=False)),
    "scope/probe_uuri": asks(fix),
    "scope/probe_resolve": asks(partial(resolve, strict=False)),
    "scope/surt_from_uri": asks(surt),
    "scope/probe_surt": asks(surt),
    "scope/probe_candidate_surt": asks(lambda text: candidate(fix(text))),
    "scope/probe_prefix_from_plain": asks(implied_prefix),
    "scope/probe_prefix_to_host": asks(to_host),
    "scope/probe_prefix_to_domain": asks(to_domain),
    "scope/ald_reduce": asks(assignment_level),
    "scope/probe_ald": asks(assignment_level),
}

MODERN_ROWS = {
    "scope/probe_uuri#0": "uri-leading-dot",
    "scope/probe_uuri#3": "uri-ipv6",
    "scope/probe_uuri#4": "uri-ipv6",
    "scope/probe_uuri#5": "uri-idn-labels",
    "scope/probe_uuri#6": "uri-idn-labels",
    "scope/probe_uuri#19": "uri-fixpoint",
    "scope/probe_uuri#22": "uri-slashes",
    "scope/probe_uuri#26": "uri-empty-authority",
    "scope/probe_uuri#64": "uri-dots",
    "scope/probe_uuri": "uri-fixpoint",
    "scope/uuri_fixup#22": "uri-idn-today",
    "scope/probe_resolve#9": "uri-fixpoint",
    "scope/probe_resolve#22": "uri-digit-scheme",
    "scope/probe_resolve#26": "uri-percent-ends",
    "scope/probe_resolve#32": "uri-bar",
    "scope/probe_resolve#47": "uri-empty-authority",
    "scope/probe_resolve#55": "uri-fixpoint",
    "scope/probe_resolve": "uri-fixpoint",
    "scope/probe_surt": "surt-ipv6",
    "scope/probe_candidate_surt": "surt-userinfo",
    "scope/probe_prefix_from_plain": "surt-userinfo",
    "scope/probe_prefix_to_host": "prefix-conversion",
    "scope/probe_prefix_to_domain": "prefix-conversion",
    "scope/probe_ald": "idn-suffixes",
}
