"""Is a URI in the scope that the project's settings describe, and why?

The scope is built as for a crawl, with the seeds of HERITRIX_SEEDS; nothing is fetched and no JOBDIR is touched. What
only a running crawl knows (addresses, what was seen, seeds of the spider's ``start()``) is not known here.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.crawler import Crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.policies.named import Policies
from heritrix_scrapy.frontier.prepare import Preparer, canonicaliser
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope.describe import described, explained
from heritrix_scrapy.scope.scope import Scope, from_settings
from heritrix_scrapy.settings import read
from heritrix_scrapy.uri.fixup import UriError, fix

if TYPE_CHECKING:
    import argparse

    from heritrix_scrapy.settings import Settings


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print a line for each URI, or what was asked for; exit status 1 when a text is no URI."""
    settings, scope, seeds = built(opts.project)
    if opts.list or not args:
        listed = described(scope.sequence.rules)
        print(json.dumps(listed, indent=2) if opts.json else "\n".join(as_text(listed)))
    status = 0
    for text in args:
        try:
            answer = judged(text, opts, settings, scope, seeds)
        except UriError as error:
            print(f"heritrix_scrapy: {text}: no URI: {error}", file=sys.stderr)
            status = 1
            continue
        if opts.json:
            print(json.dumps(answer))
        else:
            print("\n".join(told(answer, explain=opts.explain)))
    return status


def built(project: Any) -> tuple[Settings, Scope, set[str]]:
    """Settings, scope and seeds of a project. Raises ConfigurationError."""
    crawler = Crawler(Spider, project)
    settings = read(project, contact_required=False)
    Crawl.of(crawler).settings = settings
    scope = from_settings(settings, crawler)
    for rule in scope.listening:
        if hasattr(rule, "surts_dump_file"):
            rule.surts_dump_file = ""
    view = settings.view
    return settings, scope, {seed.uri for seed in announce(view.seeds, [scope], view)}


def judged(text: str, opts: argparse.Namespace, settings: Settings, scope: Scope, seeds: set[str]) -> dict[str, Any]:
    """What is to be said of one URI. Raises UriError."""
    strict = settings.view.strict_uri_fixup
    uri = fix(text, strict=strict)
    via = fix(opts.via, strict=strict) if opts.via else None
    seed = uri in seeds and not opts.via
    curi = CrawlURI(uri, path="" if seed else "L" if opts.path is None else opts.path, via=via, seed=seed)
    verdict = scope.decide(curi)
    Preparer(canonicaliser, Policies(lambda: settings.view), heritrix=settings.profile == "heritrix").prepare(curi)
    accepted = verdict.accepted or (seed and not scope.judges_seeds)
    return {
        "uri": uri,
        "accepted": accepted,
        "decision": "seed" if seed and not scope.judges_seeds else verdict.decision.name,
        "index": verdict.index,
        "rule": verdict.rule,
        "why": verdict.why,
        "sheets": list(curi.settings.sheets_applied),
        "queue": curi.class_key,
        "key": curi.canonical,
        "rules": explained(scope.rules_for(curi).rules, curi),
    }


def told(answer: dict[str, Any], *, explain: bool) -> list[str]:
    """The same for a terminal."""
    why = f" ({answer['why']})" if answer["why"] else ""
    lines = [
        f"{'ACCEPT' if answer['accepted'] else 'REJECT'}  {answer['index']} {answer['rule']}{why}  {answer['uri']}"
    ]
    if explain:
        for row in answer["rules"]:
            mark = "*" if row["index"] == answer["index"] else " "
            because = f"  {row['because']}" if row["because"] else ""
            lines.append(f"  {mark} {row['index']:2} {row['says']:6} {row['rule']}{because}")
        lines.append(f"    sheets {', '.join(answer['sheets']) or 'none'}")
        lines.append(f"    queue  {answer['queue']}")
        lines.append(f"    key    {answer['key']}")
    return lines


def as_text(listed: list[Any], depth: int = 0) -> list[str]:
    """A list of rules, one a line, as it could be written in a settings file."""
    lines = []
    for index, rule in enumerate(listed):
        name, properties = rule
        inner = properties.get("rules")
        shown = {key: value for key, value in properties.items() if key != "rules"}
        lines.append(f"{'  ' * depth}{index:2} {name}" + (f" {shown}" if shown else ""))
        if inner:
            lines += as_text(inner, depth + 1)
    return lines
