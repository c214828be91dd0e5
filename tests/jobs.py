"""Job files for tests: Heritrix's own profile as data, changes to it as golden jobs declare them, and XML of both."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

PACKAGES = {
    "CrawlMetadata": "org.archive.modules",
    "CandidateChain": "org.archive.modules",
    "FetchChain": "org.archive.modules",
    "DispositionChain": "org.archive.modules",
    "TextSeedModule": "org.archive.modules.seeds",
    "ConfigString": "org.archive.spring",
    "ConfigFile": "org.archive.spring",
    "ConfigPath": "org.archive.spring",
    "ConfigPathConfigurer": "org.archive.spring",
    "Sheet": "org.archive.spring",
    "SheetOverlaysManager": "org.archive.crawler.spring",
    "SurtPrefixesSheetAssociation": "org.archive.crawler.spring",
    "DecideRuledSheetAssociation": "org.archive.crawler.spring",
    "PropertyOverrideConfigurer": "org.springframework.beans.factory.config",
    "BdbModule": "org.archive.bdb",
}


class Ref(str):
    """The name of another bean."""


def bean(kind: str, **properties: Any) -> dict[str, Any]:
    return {"class": kind, **properties}


SURTS = {"decision": "REJECT", "seedsAsSurtPrefixes": False, "surtsDumpFile": "${launchId}/negative-surts.dump"}

#: Scope of the profile.
SCOPE: list[Any] = [
    bean("RejectDecideRule"),
    Ref("acceptSurts"),
    bean("TooManyHopsDecideRule"),
    bean("TransclusionDecideRule"),
    bean("SurtPrefixedDecideRule", **SURTS),
    bean("MatchesListRegexDecideRule", decision="REJECT"),
    bean("PathologicalPathDecideRule"),
    bean("TooManyPathSegmentsDecideRule"),
    bean("PrerequisiteAcceptDecideRule"),
    bean("SchemeNotInSetDecideRule"),
]

EXTRACTORS = {
    "extractorHttp": "ExtractorHTTP",
    "extractorRobotsTxt": "ExtractorRobotsTxt",
    "extractorSitemap": "ExtractorSitemap",
    "extractorHtml": "ExtractorHTML",
    "extractorCss": "ExtractorCSS",
    "extractorJs": "ExtractorJS",
    "extractorSwf": "ExtractorSWF",
}

CHAINS = {
    "candidateProcessors": ["candidateScoper", "preparer"],
    "fetchProcessors": ["preselector", "preconditions", "fetchDns", "fetchHttp", *EXTRACTORS],
    "dispositionProcessors": ["warcWriter", "candidates", "disposition"],
}

EXAMPLE_SHEETS: dict[str, dict[str, Any]] = {
    "forceRetire": {"disposition.forceRetire": "true"},
    "smallBudget": {"frontier.balanceReplenishAmount": "20", "frontier.queueTotalBudget": "100"},
    "veryPolite": {"disposition.delayFactor": "10", "disposition.minDelayMs": "10000"},
    "highPrecedence": {"frontier.balanceReplenishAmount": "20", "frontier.queueTotalBudget": "100"},
}


def profile() -> dict[str, dict[str, Any]]:
    """The beans of Heritrix's own profile, by id."""
    note = "[see override above]"
    beans: dict[str, dict[str, Any]] = {
        "metadata": bean("CrawlMetadata", operatorContactUrl=note, jobName=note, description=note),
        "seeds": bean("TextSeedModule", textSource=bean("ConfigString", value="\n# [see override above]\n")),
        "acceptSurts": bean("SurtPrefixedDecideRule"),
        "scope": bean("DecideRuleSequence", rules=list(SCOPE)),
        "candidateScoper": bean("CandidateScoper"),
        "preparer": bean("FrontierPreparer"),
        "preselector": bean("Preselector"),
        "preconditions": bean("PreconditionEnforcer"),
        "fetchDns": bean("FetchDNS"),
        "fetchHttp": bean("FetchHTTP"),
        **{name: bean(kind) for name, kind in EXTRACTORS.items()},
        "warcWriter": bean("WARCWriterChainProcessor"),
        "candidates": bean("CandidatesProcessor"),
        "disposition": bean("DispositionProcessor"),
        "crawlController": bean("CrawlController"),
        "frontier": bean("BdbFrontier"),
        "uriUniqFilter": bean("BdbUriUniqFilter"),
        "actionDirectory": bean("ActionDirectory"),
        "crawlLimiter": bean("CrawlLimitEnforcer"),
        "checkpointService": bean("CheckpointService"),
        "statisticsTracker": bean("StatisticsTracker"),
        "loggerModule": bean("CrawlerLoggerModule"),
        "sheetOverlaysManager": bean("SheetOverlaysManager"),
        "bdb": bean("BdbModule"),
        "cookieStore": bean("BdbCookieStore"),
        "serverCache": bean("BdbServerCache"),
        "configPathConfigurer": bean("ConfigPathConfigurer"),
    }
    for kind, name in zip(("CandidateChain", "FetchChain", "DispositionChain"), CHAINS, strict=True):
        beans[name] = bean(kind, processors=[Ref(processor) for processor in CHAINS[name]])
    for name, entries in EXAMPLE_SHEETS.items():
        beans[name] = bean("Sheet", name=name, map={"map": entries})
    return beans


OVERRIDES = {
    "metadata.operatorContactUrl": "ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL",
    "metadata.jobName": "basic",
    "metadata.description": "Basic crawl starting with useful defaults",
}

LONGER = {"seeds.textSource.value": "\n\n# URLS HERE\nhttp://example.example/example\n\n"}

#: What every golden job overrides.
GOLDEN = {
    "metadata.operatorContactUrl": "http://operator.example/contact",
    "metadata.jobName": "golden",
    "metadata.description": "golden crawl",
    "crawlController.maxToeThreads": "1",
    "disposition.delayFactor": "0.0",
    "disposition.minDelayMs": "0",
    "disposition.maxDelayMs": "0",
    "frontier.retryDelaySeconds": "1",
    "frontier.maxRetries": "3",
}


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def xml(value: Any, indent: str = "  ") -> str:
    """A value as an element."""
    deeper = indent + "  "
    match value:
        case None:
            return f"{indent}<null/>\n"
        case Ref():
            return f"{indent}<ref bean={quoteattr(value)}/>\n"
        case {"class": kind, **properties}:
            return bean_xml(kind, properties, indent=indent)
        case {"rule": kind, **properties}:
            return bean_xml(kind, properties, indent=indent)
        case {"ref": name}:
            return f"{indent}<ref bean={quoteattr(name)}/>\n"
        case {"text": lines}:
            return bean_xml("ConfigString", {"value": "\n".join(lines)}, indent=indent)
        case {"file": name}:
            return bean_xml("ConfigFile", {"path": name}, indent=indent)
        case {"map": entries}:
            inner = "".join(entry(key, held, deeper) for key, held in entries.items())
            return f"{indent}<map>\n{inner}{indent}</map>\n"
        case list():
            return f"{indent}<list>\n{''.join(xml(item, deeper) for item in value)}{indent}</list>\n"
    return f"{indent}<value>{escape(text(value))}</value>\n"


def entry(key: str, value: Any, indent: str) -> str:
    if isinstance(value, dict | list):
        return f"{indent}<entry key={quoteattr(key)}>\n{xml(value, indent + '  ')}{indent}</entry>\n"
    return f"{indent}<entry key={quoteattr(key)} value={quoteattr(text(value))}/>\n"


def bean_xml(kind: str, properties: dict[str, Any], *, name: str = "", indent: str = " ") -> str:
    dotted = kind if "." in kind else f"{PACKAGES.get(kind, 'org.archive.modules')}.{kind}"
    head = f"{indent}<bean" + (f" id={quoteattr(name)}" if name else "") + f" class={quoteattr(dotted)}"
    out = []
    for key, value in properties.items():
        if isinstance(value, dict | list | Ref) or value is None or (isinstance(value, str) and "\n" in value):
            out.append(
                f"{indent}  <property name={quoteattr(key)}>\n{xml(value, indent + '    ')}{indent}  </property>\n"
            )
        else:
            out.append(f"{indent}  <property name={quoteattr(key)} value={quoteattr(text(value))}/>\n")
    return head + (">\n" + "".join(out) + f"{indent}</bean>\n" if out else "/>\n")


def document(
    beans: dict[str, dict[str, Any]],
    overrides: dict[str, Any] | None = None,
    longer: dict[str, str] | None = None,
    more: str = "",
) -> str:
    """A whole job file."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<beans xmlns="http://www.springframework.org/schema/beans"']
    parts.append(' xmlns:context="http://www.springframework.org/schema/context">\n <context:annotation-config/>\n')
    if overrides:
        lines = "\n".join(f"{key}={text(value)}".replace("\\", "\\\\") for key, value in overrides.items())
        configurer = "PropertyOverrideConfigurer"
        parts.append(bean_xml(configurer, {"properties": f"\n# a property list\n{lines}\n"}, name="simpleOverrides"))
    if longer:
        props = "".join(f"    <prop key={quoteattr(key)}>{escape(value)}</prop>\n" for key, value in longer.items())
        parts.append(
            ' <bean id="longerOverrides" class="org.springframework.beans.factory.config.PropertyOverrideConfigurer">\n'
            f'  <property name="properties">\n   <props>\n{props}   </props>\n  </property>\n </bean>\n'
        )
    for name, held in beans.items():
        properties = {key: value for key, value in held.items() if key != "class"}
        parts.append(bean_xml(held["class"], properties, name=name))
    return "".join(parts) + more + "</beans>\n"


def stock() -> str:
    """Heritrix's own profile."""
    return document(profile(), OVERRIDES, LONGER)


def golden(job: dict[str, Any]) -> tuple[str, dict[str, list[str]]]:
    """The job file that a golden job declares, and the files beside it: name → lines."""
    beans = profile()
    files: dict[str, list[str]] = {}
    overrides = {**GOLDEN, **job.get("overrides", {})}
    for name, held in job.get("beans", {}).items():
        beans[name] = dict(held)
    for path, value in job.get("values", {}).items():
        name, _, prop = path.partition(".")
        beans[name] = {**beans[name], prop: value}
    if job.get("scope"):
        beans["scope"]["rules"] = job["scope"]
    if job.get("scopeLog"):
        beans["scope"]["logToFile"] = True
    for chain, change in job.get("chains", {}).items():
        names = [str(ref) for ref in beans[chain]["processors"]]
        for where, added in change.get("before", {}).items():
            at = names.index(where)
            names[at:at] = added
        for where, added in change.get("after", {}).items():
            at = names.index(where) + 1
            names[at:at] = added
        names = [name for name in names if name not in change.get("remove", ())]
        beans[chain]["processors"] = [Ref(name) for name in names]
    for sheet in job.get("sheets", ()):
        name = sheet["name"]
        beans[name] = bean("Sheet", name=name, map={"map": sheet["overrides"]})
        if "surts" in sheet:
            beans[f"{name}Association"] = bean(
                "SurtPrefixesSheetAssociation", surtPrefixes=sheet["surts"], targetSheetNames=[name]
            )
        if "rules" in sheet:
            beans[f"{name}Association"] = bean(
                "DecideRuledSheetAssociation",
                rules=bean("DecideRuleSequence", rules=sheet["rules"]),
                targetSheetNames=[name],
            )
    _files(beans, files)
    return document(beans, overrides, {"seeds.textSource.value": "\n".join(["", *job["seeds"], ""])}), files


def _files(value: Any, files: dict[str, list[str]]) -> None:
    if isinstance(value, dict):
        if "file" in value and "lines" in value:
            files[value["file"]] = value["lines"]
        for held in value.values():
            _files(held, files)
    elif isinstance(value, list):
        for held in value:
            _files(held, files)
