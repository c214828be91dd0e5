"""Job files of the shapes that operators write: scope order, chain changes, sheets and ways to override of files that
were found in public, with values of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler

from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.beans import Job, Verdict, read_job
from heritrix_scrapy.settings.beans.writing import settings_file
from tests import jobs
from tests.jobs import Ref, bean

if TYPE_CHECKING:
    from pathlib import Path

REJECT = "REJECT"

#: Letters of the rules in an order.
RULES: dict[str, Any] = {
    "Reject": bean("RejectDecideRule"),
    "Accept": bean("AcceptDecideRule"),
    "S": bean("SurtPrefixedDecideRule"),
    "H": bean("TooManyHopsDecideRule", maxHops=3),
    "T": bean("TransclusionDecideRule"),
    "S:R": bean("SurtPrefixedDecideRule", **{**jobs.SURTS, "surtsDumpFile": "negative-surts.dump"}),
    "L:R": bean("MatchesListRegexDecideRule", decision=REJECT, regexList=[r".*/calendar/.*", r"^.*\.(?i)exe$"]),
    "L:A": bean("MatchesListRegexDecideRule", decision="ACCEPT", regexList=[r"^https?://a\.example/.*"]),
    "NL:R": bean("NotMatchesListRegexDecideRule", decision=REJECT, regexList=[r".*item.*"]),
    "Pa": bean("PathologicalPathDecideRule", maxRepetitions=3),
    "Seg": bean("TooManyPathSegmentsDecideRule", maxPathDepth=15),
    "Pre": bean("PrerequisiteAcceptDecideRule"),
    "Sch": bean("SchemeNotInSetDecideRule"),
    "Dom": bean("OnDomainsDecideRule", enabled=False),
    "Hosts": bean("OnHostsDecideRule"),
    "NotDom:R": bean("NotOnDomainsDecideRule", decision=REJECT),
    "Pat:R": bean("MatchesFilePatternDecideRule", decision=REJECT),
    "M:A": bean("MatchesRegexDecideRule", regex=r".*\.pdf"),
    "M:R": bean("MatchesRegexDecideRule", decision=REJECT, regex=r"^(?i).*/print/.*$"),
    "HP:R": bean("HopsPathMatchesRegexDecideRule", decision=REJECT, regex=".*X.*X.*"),
}
STOCK = "Reject S H T S:R L:R Pa Seg Pre Sch"
WITHOUT_T = "Reject S H S:R L:R Pa Seg Pre Sch"
HOSTS = "Reject Hosts H T S:R L:R Pa Seg Pre Sch"
UNBLOCK = "Reject S H T S:R L:R L:A Pa Seg Pre Sch"
SPECULATIVE = "Reject S H T S:R L:R Pa Seg Pre Sch HP:R"
SHOP = "Reject S H T S:R NL:R Pa Seg Pre Sch"
LIBRARY = "Reject S Dom M:A H HP:R T M:A S:R L:R Pa Seg Pre Sch HP:R"
COURSE = "Reject L:A L:R H Pa Seg Pre Sch"
ONE_HOP = "Reject S H T S:R L:R NotDom:R M:R Pa Seg Pre Sch"


class Shape(NamedTuple):
    """``age``: 30 for 3.0 to 3.2, 33, 34 for later; ``added`` and ``removed``: processors; ``sheets`` and ``tied``:
    own ones and their associations; ``needs``: On, Op, P."""

    age: int
    scope: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    sheets: int = 0
    tied: int = 0
    needs: str = "On Op"


MIRROR = ("MirrorWriterProcessor",)
DIGESTS = ("ContentDigestHistoryLoader", "ContentDigestHistoryStorer")

SHAPES: dict[str, Shape] = {
    "a remote control": Shape(30, HOSTS, MIRROR),
    "a poet's archive": Shape(34, STOCK),
    "a desktop, job of August": Shape(33, STOCK),
    "a desktop, job of the same day": Shape(33, STOCK),
    "a desktop, testing": Shape(30, STOCK, needs="On"),
    "a desktop, old": Shape(30, STOCK, needs="On"),
    "a desktop, Windows": Shape(30, STOCK, needs="On"),
    "a desktop, kept aside": Shape(30, STOCK, needs="On"),
    "a curator's tool, default": Shape(33, UNBLOCK, needs="Op"),
    "a curator's tool, test": Shape(33, UNBLOCK, needs="Op"),
    "a curator's tool, to be changed": Shape(33, UNBLOCK, needs="Op P"),
    "a harvester, serials": Shape(30, STOCK),
    "a harvester, integration": Shape(30, STOCK),
    "a client, read me": Shape(30, STOCK),
    "a client, answer": Shape(30, STOCK),
    "a client, university": Shape(30, STOCK),
    "a container": Shape(30, STOCK, tied=1),
    "a corpus of translations": Shape(33, STOCK),
    "an appliance": Shape(33, STOCK),
    "a course": Shape(34, COURSE),
    "a search engine": Shape(30, WITHOUT_T, MIRROR),
    "a harvester of feeds": Shape(33, STOCK, DIGESTS, sheets=1, tied=1, needs="Op"),
    "an assembly": Shape(34, STOCK, ("ConfigurableExtractorJS",), ("ExtractorJS",)),
    "a suite's test": Shape(30, STOCK),
    "a library, profile": Shape(34, SPECULATIVE),
    "a library, generated": Shape(34, LIBRARY, ("ExtractorImpliedURI",), sheets=1, tied=1, needs="Op"),
    "a national crawl, May": Shape(30, STOCK, needs="Op"),
    "a national crawl": Shape(30, STOCK, needs="Op"),
    "one hop": Shape(30, ONE_HOP, needs="Op"),
    "a shop": Shape(30, SHOP, MIRROR, needs="On"),
    "a shop, nap": Shape(30, SHOP, MIRROR, needs="On"),
    "a shop, third": Shape(30, SHOP, MIRROR, needs="On"),
    "a checker of documents": Shape(30, STOCK),
    "an election": Shape(30, STOCK, needs="Op"),
    "papers": Shape(30, STOCK, needs="Op"),
    "placeholders of a suite": Shape(33, STOCK, needs="Op P"),
}

#: Heritrix 3.0 had no processors for robots.txt and sitemaps.
LATER = ("extractorRobotsTxt", "extractorSitemap")


def shaped(shape: Shape) -> str:
    """The job file of a shape."""
    beans = jobs.profile()
    order = shape.scope.split()
    beans["scope"]["rules"] = [dict(RULES[letter]) for letter in order]
    chains = {name: [str(ref) for ref in beans[name]["processors"]] for name in jobs.CHAINS}
    if shape.age < 34:
        for name in LATER:
            chains["fetchProcessors"].remove(name)
            del beans[name]
        beans["warcWriter"] = bean("WARCWriterProcessor")
        beans["cookieStorage"] = bean("BdbCookieStorage")
        del beans["cookieStore"]
    for kind in shape.removed:
        name = next(name for name, held in beans.items() if held["class"] == kind)
        chains["fetchProcessors"].remove(name)
    for kind in shape.added:
        name = kind[0].lower() + kind[1:]
        beans[name] = bean(kind)
        if kind == "MirrorWriterProcessor":
            chains["dispositionProcessors"][:1] = [name]
        elif kind == "ContentDigestHistoryStorer":
            chains["dispositionProcessors"].insert(1, name)
        elif kind == "ContentDigestHistoryLoader":
            beans["contentDigestHistory"] = bean("BdbContentDigestHistory")
            chains["dispositionProcessors"].insert(0, name)
        else:
            if kind == "ExtractorImpliedURI":
                beans[name] |= {"regex": r"^https?://a\.example/watch\?v=(.*)$", "format": "http://a.example/v/$1"}
            chains["fetchProcessors"].append(name)
    for name, processors in chains.items():
        beans[name]["processors"] = [Ref(processor) for processor in processors]
    for number in range(shape.sheets):
        beans[f"own{number}"] = bean("Sheet", name=f"own{number}", map={"map": {"disposition.delayFactor": "8.0"}})
    for number in range(shape.tied):
        sheet = f"own{number}" if number < shape.sheets else "veryPolite"
        beans[f"tie{number}"] = bean(
            "SurtPrefixesSheetAssociation",
            surtPrefixes=["http://(example,a,", "http://(example,b,"],
            targetSheetNames=[sheet],
        )
    overrides = {**jobs.OVERRIDES, "metadata.operatorContactUrl": "http://operator.example/", "metadata.jobName": "own"}
    if "Op" in shape.needs:
        beans["frontier"] |= {"maxRetries": "[see override above]", "queueTotalBudget": "[see override above]"}
        overrides |= {"frontier.maxRetries": "5", "frontier.queueTotalBudget": "15000"}
    if "P" in shape.needs.split():
        beans["crawlLimiter"]["maxTimeSeconds"] = "%{MAX_TIME_SECONDS_PLACEHOLDER}"
        overrides["frontier.queueTotalBudget"] = "REPLACE_BUDGET"
    longer = {"seeds.textSource.value": "\nhttp://a.example/\nhttp://b.example/x\n"} if "On" in shape.needs else {}
    if not longer:
        beans["seeds"]["textSource"] = bean("ConfigFile", path="seeds.txt")
    return jobs.document(beans, overrides, longer)


def job_of(folder: Path, text: str, **about: Any) -> Job:
    (folder / "seeds.txt").write_text("http://a.example/\nhttp://b.example/x\n", encoding="utf-8")
    (folder / "crawler-beans.cxml").write_text(text, encoding="utf-8")
    return read_job(folder / "crawler-beans.cxml", **about)


def in_force(job: Job) -> tuple[Any, list[str]]:
    """The View that a job comes to, and the names of the rules in its scope."""
    crawler = Crawler(
        Spider, {"HERITRIX_OPERATOR_CONTACT_URL": "http://a.example/", **job.settings, "HERITRIX_PROFILE": "heritrix"}
    )
    settings = read(crawler.settings)
    return settings.view, [rule.name for rule in from_settings(settings, crawler).sequence.rules]


@pytest.mark.parametrize("name", SHAPES)
def test_files_of_these_shapes_are_taken_over_whole(tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    job = job_of(tmp_path, shaped(shape))
    assert [str(entry) for entry in job.report.losses] == []
    view, rules = in_force(job)
    assert list(view.seeds) == ["http://a.example/", "http://b.example/x"]
    assert [RULES[letter]["class"] for letter in shape.scope.split()] == [
        {"RejectRegexes": "MatchesListRegexDecideRule"}.get(rule, rule) for rule in rules
    ]
    assert view.operator_contact_url == "http://operator.example/"
    assert view.max_retries == (5 if "Op" in shape.needs else 30)
    placeholders = "P" in shape.needs.split()
    assert view.queue_total_budget == (-1 if placeholders or "Op" not in shape.needs else 15000)
    assert len(job.report.of(Verdict.LEFT)) == (2 if placeholders else 0)
    assert len(view.sheets) == (1 if shape.tied else 0)
    assert len(view.sheet_associations) == shape.tied
    names = [entry[0] for entry in view.extractors]
    assert ("ExtractorRobotsTxt" in names) == (shape.age == 34)
    assert ("ConfigurableExtractorJS" in names) == ("ConfigurableExtractorJS" in shape.added)
    assert names.count("ExtractorJS") == (0 if "ExtractorJS" in shape.removed else 1)
    assert ("ExtractorImpliedURI" in names) == ("ExtractorImpliedURI" in shape.added)
    assert [entry[0] for entry in view.writers] == (["mirror"] if shape.added == MIRROR else ["warc"])
    assert view.content_digest_history is (shape.added == DIGESTS)
    namespace: dict[str, Any] = {"__file__": str(tmp_path / "settings.py")}
    exec(compile(settings_file(job), "settings.py", "exec"), namespace)
    assert {key: held for key, held in namespace.items() if key in job.settings} == job.settings


def changed(**beans: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The stock profile with some beans more or others."""
    return {**jobs.profile(), **beans}


def into(beans: dict[str, dict[str, Any]], chain: str, place: int, *names: str) -> None:
    beans[chain]["processors"][place:place] = [Ref(name) for name in names]


def test_places_in_lists_are_overridden(tmp_path: Path) -> None:
    beans = changed(quotaenforcer=bean("QuotaEnforcer", groupMaxAllKb="%{X}", forceRetire=False))
    into(beans, "fetchProcessors", 0, "quotaenforcer")
    overrides = {"scope.rules[2].maxHops": 25, "scope.rules[3].maxTransHops": 5, "fetchHttp.acceptHeaders[0]": "A: 1"}
    job = job_of(tmp_path, jobs.document(beans, overrides))
    assert job.settings == {
        "HERITRIX_MAX_HOPS": 25,
        "HERITRIX_MAX_TRANS_HOPS": 5,
        "HERITRIX_ACCEPT_HEADERS": ["A: 1"],
        "HERITRIX_QUOTAS": {"force_retire": False},
    }
    assert job.report.losses == []


@pytest.mark.parametrize(
    ("chain", "place", "at"),
    [
        ("fetchProcessors", 0, {}),
        ("fetchProcessors", 1, {}),
        ("fetchProcessors", 2, {"at": "after_preconditions"}),
        ("candidateProcessors", 2, {"at": "candidate"}),
    ],
)
def test_quotas_stand_where_the_job_has_them(tmp_path: Path, chain: str, place: int, at: dict[str, str]) -> None:
    beans = changed(quotas=bean("QuotaEnforcer", hostMaxSuccessKb=524288), disk=bean("DiskSpaceMonitor"))
    into(beans, chain, place, "quotas")
    job = job_of(tmp_path, jobs.document(beans))
    assert job.settings["HERITRIX_QUOTAS"] == {**at, "host_max_success_kb": 524288}
    assert job.settings["HERITRIX_PAUSE_THRESHOLD_MIB"] == 8192


def test_absent_beans_are_overridden(tmp_path: Path) -> None:
    beans = jobs.profile()
    del beans["warcWriter"]
    job = job_of(tmp_path, jobs.document(beans, {"warcWriter.prefix": "X", "warcWriter.compress": "false"}))
    assert job.settings["HERITRIX_WARC_PREFIX"] == "X"
    assert job.settings["HERITRIX_WARC_COMPRESS"] is False
    assert "there is no bean 'warcWriter'" in "".join(entry.told for entry in job.report.losses)


def test_the_environment_and_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sheets.xml").write_text(
        jobs.document(
            {
                "slow": bean("Sheet", name="slow", map={"map": {"disposition.delayFactor": "8"}}),
                "tie": bean("SurtPrefixesSheetAssociation", surtPrefixes=["http://(a,"], targetSheetNames=["slow"]),
            }
        )
    )
    beans = changed(
        crawlController=bean("CrawlController", maxToeThreads="#{systemEnvironment['TOES'] ?: 50}"),
        checkpointService=bean("CheckpointService", checkpointIntervalMinutes="#{systemEnvironment['CP'] ?: 720}"),
    )
    more = '<import resource="${SHEETS_FILE:sheets.xml}"/>\n'
    job = job_of(tmp_path, jobs.document(beans, more=more), environment={"TOES": "200"})
    assert job.settings == {
        "HERITRIX_MAX_TOE_THREADS": 200,
        "HERITRIX_CHECKPOINT_INTERVAL_MINUTES": 720,
        "HERITRIX_SHEETS": {"slow": {"HERITRIX_DELAY_FACTOR": 8}},
        "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(a,"], "sheets": ["slow"]}],
    }


def test_sheets_for_one_rule_and_one_extractor(tmp_path: Path) -> None:
    regexes = {"uriRegex": ".*", "template": "http://a.example/${c[0]}", "contentRegexes": {"map": {"c": "x(.)"}}}
    beans = changed(
        hopsCountReject=bean("TooManyHopsDecideRule"),
        onDomainAccept=bean("OnDomainsDecideRule", enabled=False),
        one=bean("ExtractorMultipleRegex", enabled=False, **regexes),
        two=bean("ExtractorMultipleRegex", **regexes),
        sheet=bean(
            "Sheet",
            name="sheet",
            map={
                "map": {
                    "hopsCountReject.maxHops": "1",
                    "onDomainAccept.enabled": "true",
                    "one.enabled": "true",
                    "two.enabled": "false",
                    "scope.rules[0].enabled": "true",
                }
            },
        ),
        tie=bean(
            "DecideRuledSheetAssociation", rules=bean("SeedAcceptDecideRule"), order=3, targetSheetNames=["sheet"]
        ),
    )
    beans["scope"]["rules"] = [bean("AcceptDecideRule"), Ref("onDomainAccept"), Ref("hopsCountReject")]
    into(beans, "fetchProcessors", 11, "one", "two")
    job = job_of(tmp_path, jobs.document(beans))
    assert job.report.losses == []
    assert job.settings["HERITRIX_SCOPE"] == [
        ["AcceptDecideRule", {}],
        ["OnDomainsDecideRule", {"enabled": False, "id": "onDomainAccept"}],
        ["TooManyHopsDecideRule", {"id": "hopsCountReject"}],
    ]
    assert job.settings["HERITRIX_SHEETS"] == {
        "sheet": {
            "HERITRIX_SCOPE[hopsCountReject].max_hops": 1,
            "HERITRIX_SCOPE[onDomainAccept].enabled": True,
            "HERITRIX_EXTRACTORS[one].enabled": True,
            "HERITRIX_EXTRACTORS[two].enabled": False,
            "HERITRIX_SCOPE[0].enabled": True,
        }
    }
    assert job.settings["HERITRIX_SHEET_ASSOCIATIONS"] == [
        {"rules": [["SeedAcceptDecideRule", {}]], "order": 3, "sheets": ["sheet"]}
    ]
    in_force(job)


def test_several_instances_of_one_extractor(tmp_path: Path) -> None:
    beans = changed(
        a=bean("ExtractorImpliedURI", regex="a(.)", format="$1"),
        b=bean("ExtractorImpliedURI", regex="b(.)", format="$1", shouldProcessRule=bean("SeedAcceptDecideRule")),
    )
    into(beans, "fetchProcessors", 11, "a", "b")
    job = job_of(tmp_path, jobs.document(beans))
    assert job.settings["HERITRIX_EXTRACTORS"][-2:] == [
        ["ExtractorImpliedURI", {"regex": "a(.)", "format": "$1"}],
        [
            "ExtractorImpliedURI",
            {"regex": "b(.)", "format": "$1", "id": "b", "should_process": ["SeedAcceptDecideRule", {}]},
        ],
    ]
    assert job.report.losses == []


def test_several_writers_and_gates_and_classes_of_others(tmp_path: Path) -> None:
    infected = {
        "class": "uk.bl.wap.modules.deciderules.AnnotationMatchesListRegexDecideRule",
        "regexList": [".*FOUND.*"],
    }
    beans = changed(
        warcWriter=bean("WARCWriterProcessor", prefix="BL", maxFileSizeBytes=1006632959, storePaths=["warcs"]),
        second=bean("WARCWriterProcessor", prefix="X", storePaths=["viral"], shouldProcessRule=dict(infected)),
        scanner={"class": "uk.bl.wap.crawler.processor.ViralContentProcessor", "clamdPort": 3310},
    )
    beans["fetchHttp"]["shouldFetchBodyRule"] = bean("AcceptDecideRule")
    into(beans, "dispositionProcessors", 1, "second")
    into(beans, "fetchProcessors", 11, "scanner")
    text = jobs.document(beans)
    job = job_of(tmp_path, text)
    told = [entry.told for entry in job.report.losses]
    assert len(told) == 2
    assert "had each body looked at by a virus scanner; here: a step in HERITRIX_STEPS" in "".join(told)
    assert "decided by annotations; here: AnnotationMatchesListRegexDecideRule" in "".join(told)
    mapped = {infected["class"]: "AnnotationMatchesListRegexDecideRule", "ViralContentProcessor": "ours.Scanner"}
    del beans["scanner"]["clamdPort"]
    job = job_of(tmp_path, jobs.document(beans), class_map=mapped)
    assert job.report.losses == []
    assert job.settings == {
        "HERITRIX_STEPS": {"after_fetch": ["ours.Scanner"]},
        "HERITRIX_WRITERS": [
            ["warc", {"id": "warcWriter", "prefix": "BL", "max_file_size_bytes": 1006632959}],
            [
                "warc",
                {
                    "id": "second",
                    "prefix": "X",
                    "store_paths": ["viral"],
                    "should_process": ["AnnotationMatchesListRegexDecideRule", {"regex_list": [".*FOUND.*"]}],
                },
            ],
        ],
    }
