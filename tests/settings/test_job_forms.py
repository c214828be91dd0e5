"""Job files in unusual forms: parts nested in others, other ways to write a value, circles, encodings."""

# ruff: noqa: E501
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.commands.convert import write
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.beans import Job, JobError, read_job
from heritrix_scrapy.settings.beans.writing import settings_file

from .test_job_file import HEAD, frontier, http, overrides, prop, rule, scope, value, written

if TYPE_CHECKING:
    from pathlib import Path

MODULES = "org.archive.modules."
CRAWLER = "org.archive.crawler."


def bean(kind: str, inner: str = "", name: str = "") -> str:
    named = f' id="{name}"' if name else ""
    return f'<bean{named} class="{kind}">{inner}</bean>\n'


def listed(*items: str) -> str:
    return f"<list>{''.join(items)}</list>"


def chain(kind: str, *processors: str) -> str:
    return bean(MODULES + kind, prop("processors", listed(*processors)))


def seeds(source: str) -> str:
    return bean(MODULES + "seeds.TextSeedModule", prop("textSource", source), "seeds")


def fetching(*after: str, http_inner: str = "") -> str:
    return chain(
        "FetchChain",
        bean(CRAWLER + "prefetch.Preselector", value("recheckScope", "true")),
        bean(CRAWLER + "prefetch.PreconditionEnforcer", value("robotsValidityDurationSeconds", "5")),
        bean(MODULES + "fetcher.FetchDNS"),
        bean(MODULES + "fetcher.FetchHTTP", http_inner),
        *after,
    )


DISPOSITION = chain(
    "DispositionChain",
    bean(CRAWLER + "postprocessor.CandidatesProcessor"),
    bean(CRAWLER + "postprocessor.DispositionProcessor", value("delayFactor", "3.5")),
)
CONFIG = "org.archive.spring."
CHECKED = {"HERITRIX_RECHECK_SCOPE": True, "HERITRIX_ROBOTS_VALIDITY_DURATION_SECONDS": 5, "HERITRIX_EXTRACTORS": []}

RIGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "processors within their chains": (
        fetching(http_inner=value("timeoutSeconds", "60")) + DISPOSITION,
        CHECKED | {"HERITRIX_TIMEOUT_SECONDS": 60, "HERITRIX_DELAY_FACTOR": 3.5, "HERITRIX_WRITERS": []},
    ),
    "a chain within the controller": (
        bean(CRAWLER + "framework.CrawlController", prop("fetchChain", fetching())),
        CHECKED,
    ),
    "parts that are named where Heritrix finds them by itself": (
        bean(CRAWLER + "postprocessor.CandidatesProcessor", '<property name="seeds" ref="seeds"/>')
        + seeds("<value>seeds.txt</value>"),
        {"HERITRIX_SEEDS": "seeds.txt"},
    ),
    "stores within the fetcher": (
        http(
            prop("cookieStore", bean(MODULES + "fetcher.SimpleCookieStore", value("cookiesSaveFile", "cookies.txt")))
            + prop(
                "credentialStore",
                bean(
                    MODULES + "credential.CredentialStore",
                    prop(
                        "credentials",
                        '<map><entry key="a">'
                        + bean(MODULES + "credential.Rfc2617Credential", value("login", "me"))
                        + "</entry></map>",
                    ),
                ),
            )
        ),
        {
            "HERITRIX_COOKIES_SAVE_FILE": "cookies.txt",
            "HERITRIX_CREDENTIALS": [["HttpAuthenticationCredential", {"login": "me"}]],
        },
    ),
    "a writer in the chain of fetching": (
        fetching(bean(MODULES + "writer.WARCWriterProcessor", value("prefix", "X"))) + DISPOSITION,
        CHECKED | {"HERITRIX_WARC_PREFIX": "X", "HERITRIX_DELAY_FACTOR": 3.5},
    ),
    "a writer in the only chain": (
        fetching(bean(MODULES + "writer.MirrorWriterProcessor", value("path", "m"))),
        CHECKED | {"HERITRIX_WRITERS": [["mirror", {"path": "m"}]]},
    ),
    "history in the chain of fetching, within it": (
        fetching(bean(MODULES + "recrawl.FetchHistoryProcessor", value("historyLength", "3"))),
        CHECKED | {"HERITRIX_FETCH_HISTORY": True, "HERITRIX_FETCH_HISTORY_LENGTH": 3},
    ),
    "parts that are switched off": (
        fetching(
            bean(MODULES + "recrawl.FetchHistoryProcessor", value("enabled", "false")),
            bean(CRAWLER + "processor.HashCrawlMapper", value("enabled", "no") + value("crawlerCount", "3")),
            bean("org.example.Scanner", value("enabled", "false")),
        ),
        CHECKED,
    ),
    "parts that are switched on": (
        fetching(
            bean(MODULES + "recrawl.FetchHistoryProcessor", value("enabled", "true")),
            bean(CRAWLER + "processor.HashCrawlMapper", value("enabled", "yes") + value("crawlerCount", "3")),
        ),
        CHECKED | {"HERITRIX_FETCH_HISTORY": True, "HERITRIX_CRAWL_MAPPER": "Hash", "HERITRIX_CRAWLER_COUNT": 3},
    ),
    "braces within an expression": (
        bean(MODULES + "CrawlMetadata", value("jobName", "#{systemEnvironment['NIX'] ?: 'a-{b}'}")),
        {"HERITRIX_JOB_NAME": "a-{b}"},
    ),
    "seeds as a constructor's argument": (
        seeds(bean(CONFIG + "ConfigString", "<constructor-arg><value>http://a.example/</value></constructor-arg>")),
        {"HERITRIX_SEEDS": ["http://a.example/"]},
    ),
    "a file as a constructor's argument": (
        seeds(bean(CONFIG + "ConfigFile", '<constructor-arg value="seeds"/><constructor-arg value="seeds.txt"/>')),
        {"HERITRIX_SEEDS": "seeds.txt"},
    ),
    "a file below another path": (
        seeds(
            bean(
                CONFIG + "ConfigFile",
                prop("base", bean(CONFIG + "ConfigPath", value("path", "lists"))) + value("path", "more.txt"),
            )
        ),
        {"HERITRIX_SEEDS": "lists/more.txt"},
    ),
    "a number with blanks in it": (
        frontier(prop("maxRetries", "<value>\n 1 000\n</value>")),
        {"HERITRIX_MAX_RETRIES": 1000},
    ),
    "a number in hexadecimal with a hash": (frontier(value("maxRetries", "#10")), {"HERITRIX_MAX_RETRIES": 16}),
    "a number of a bean's": (
        frontier('<property name="maxRetries" ref="n"/>')
        + bean("java.lang.Integer", '<constructor-arg value="7"/>', "n"),
        {"HERITRIX_MAX_RETRIES": 7},
    ),
    "an alias of an alias": (
        frontier('<property name="queuePrecedencePolicy" ref="second"/>')
        + bean(CRAWLER + "frontier.precedence.HighestUriQueuePrecedencePolicy", "", "q")
        + '<alias name="q" alias="first"/><alias name="first" alias="second"/>',
        {"HERITRIX_QUEUE_PRECEDENCE_POLICY": "HighestUriQueuePrecedencePolicy"},
    ),
    "a file imported twice": (
        '<import resource="more.xml"/><import resource="./more.xml"/>',
        {"HERITRIX_MAX_RETRIES": 5},
    ),
    "a description that begins as the stock profile's": (
        bean(MODULES + "CrawlMetadata", value("description", "Basic crawl starting with useful defaults, for news")),
        {"HERITRIX_DESCRIPTION": "Basic crawl starting with useful defaults, for news"},
    ),
    "a key that is a bean": (
        bean(
            MODULES + "credential.CredentialStore",
            prop(
                "credentials",
                '<map><entry><key><ref bean="k"/></key>'
                + bean(
                    MODULES + "credential.HtmlFormCredential",
                    prop("formItems", '<map><entry key-ref="k" value="v"/></map>'),
                )
                + "</entry></map>",
            ),
        )
        + bean("java.lang.String", '<constructor-arg value="user"/>', "k"),
        {"HERITRIX_CREDENTIALS": [["HtmlFormCredential", {"form_items": {"user": "v"}}]]},
    ),
    "placeholders that the job itself fills": (
        bean(
            "org.springframework.beans.factory.config.PropertyPlaceholderConfigurer",
            prop("properties", '<props><prop key="tries">5</prop></props>'),
        )
        + frontier(value("maxRetries", "${tries}"))
        + bean(CRAWLER + "framework.CrawlController", value("maxToeThreads", "${frontier.maxRetries:9}"))
        + bean(
            "org.springframework.context.support.PropertySourcesPlaceholderConfigurer",
            value("location", "some.properties"),
        ),
        {"HERITRIX_MAX_RETRIES": 5, "HERITRIX_MAX_TOE_THREADS": 8},
    ),
    "an include with another way out": (
        scope(
            rule(
                "MatchesListRegexDecideRule",
                prop(
                    "regexList",
                    '<list><xi:include href="nix.txt" parse="text"><xi:fallback><value>.*f.*</value></xi:fallback></xi:include></list>',
                ),
            )
        ),
        {"HERITRIX_SCOPE": [["MatchesListRegexDecideRule", {"regex_list": [".*f.*"]}]]},
    ),
    "comments within a value": (
        bean(MODULES + "CrawlMetadata", prop("jobName", "<!-- a --><value>ne<!-- b -->ws</value><!-- c -->")),
        {"HERITRIX_JOB_NAME": "news"},
    ),
    "an override of a rule within a list, and of a sheet's key": (
        overrides("scope.rules[0].maxHops=2\ns.map['frontier.maxRetries']=4")
        + scope('<ref bean="hops"/>')
        + bean(MODULES + "deciderules.TooManyHopsDecideRule", value("maxHops", "see override"), "hops")
        + frontier()
        + bean("org.archive.spring.Sheet", prop("map", '<map><entry key="frontier.maxRetries" value="x"/></map>'), "s")
        + bean(
            CRAWLER + "spring.SurtPrefixesSheetAssociation",
            prop("surtPrefixes", "<list><value>http://(com,</value></list>")
            + prop("targetSheetNames", '<list><idref bean="s"/></list>'),
        ),
        {
            "HERITRIX_SCOPE": [["TooManyHopsDecideRule", {"max_hops": 2}]],
            "HERITRIX_SHEETS": {"s": {"HERITRIX_MAX_RETRIES": 4}},
            "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(com,"], "sheets": ["s"]}],
        },
    ),
}

#: What the file holds, the line, and words of the loss.
LOST: dict[str, tuple[str, int, str]] = {
    "a number that only Python reads": (frontier(value("maxRetries", "1_0")), 3, "expected a whole number, not '1_0'"),
    "no number": (
        bean(CRAWLER + "postprocessor.DispositionProcessor", "\n" + value("delayFactor", "NaN")),
        4,
        "expected a number, not 'NaN'",
    ),
    "a number without end": (
        bean(CRAWLER + "postprocessor.DispositionProcessor", value("delayFactor", "Infinity")),
        3,
        "expected a number",
    ),
    "an expression without end": (
        bean(MODULES + "CrawlMetadata", value("jobName", "#{systemEnvironment['NIX' ?: {1}")),
        3,
        "is not worked out here",
    ),
    "a rule within itself": (
        scope('<ref bean="x"/>')
        + bean(MODULES + "deciderules.DecideRuleSequence", prop("rules", '<list>\n<ref bean="x"/></list>'), "x"),
        5,
        "has itself among its rules",
    ),
    "a scope within itself": (scope('\n<ref bean="scope"/>'), 4, "has itself among its rules"),
    "a processor within its chain with an unknown property": (
        fetching(http_inner="\n" + value("timeoutSecond", "1")),
        7,
        "did you mean timeoutSeconds?",
    ),
    "another house's part that is named": (
        frontier('\n<property name="part" ref="x"/>') + bean("org.example.Part", "", "x"),
        4,
        "there is no such setting here",
    ),
}


def job_of(folder: Path, body: str) -> Job:
    path = written(folder, body)
    (folder / "lists").mkdir()
    (folder / "lists" / "more.txt").write_text("http://b.example/\n", encoding="utf-8")
    return read_job(path, environment={})


@pytest.mark.parametrize("name", RIGHT)
def test_unusual_forms(tmp_path: Path, name: str) -> None:
    body, settings = RIGHT[name]
    job = job_of(tmp_path, body)
    found = dict(job.settings)
    if isinstance(path := found.get("HERITRIX_SEEDS"), str):
        found["HERITRIX_SEEDS"] = path.removeprefix(f"{tmp_path}/")
    assert found == settings
    assert [str(entry) for entry in job.report.losses] == []
    # what the converter writes of it says the same
    module = {"__file__": str(tmp_path / "settings.py")}
    exec(compile(settings_file(job), "settings.py", "exec"), module)
    assert {key: module[key] for key in job.settings} == job.settings


@pytest.mark.parametrize("name", LOST)
def test_forms_that_come_to_nothing(tmp_path: Path, name: str) -> None:
    body, line, words = LOST[name]
    losses = job_of(tmp_path, body).report.losses
    found = [entry for entry in losses if words in entry.told]
    assert [entry.place.line for entry in found if entry.place] == [line], [str(entry) for entry in losses]


def test_policies_in_a_circle(tmp_path: Path) -> None:
    policy = CRAWLER + "frontier.precedence.PreloadedUriPrecedencePolicy"
    body = bean(policy, '<property name="defaultUriPrecedencePolicy" ref="p"/>', "p")
    with pytest.raises(JobError, match="in a circle"):
        job_of(tmp_path, body)


@pytest.mark.parametrize("encoding", ["GBK", "Shift_JIS", "windows-1252", "UTF-16", "UTF-8"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    name = "gr\u00fcn" if encoding == "windows-1252" else "\u65e5\u672c"
    text = HEAD.replace("UTF-8", encoding) + bean(MODULES + "CrawlMetadata", value("jobName", name)) + "</beans>"
    path = tmp_path / "job.cxml"
    path.write_bytes(text.encode(encoding))
    assert read_job(path).settings == {"HERITRIX_JOB_NAME": name}


def test_bytes_of_no_such_encoding(tmp_path: Path) -> None:
    path = tmp_path / "job.cxml"
    path.write_bytes(HEAD.replace("UTF-8", "GBK").encode() + b"<!-- \xff\xff -->\n</beans>")
    with pytest.raises(JobError, match=r"line 3.*bytes that are no GBK text"):
        read_job(path)


def test_an_import_by_a_file_url(tmp_path: Path) -> None:
    written(tmp_path, "")
    for url in (f"file://{tmp_path}/more.xml", f"file:{tmp_path}/more.xml", "file:more.xml"):
        path = tmp_path / "job.cxml"
        path.write_text(HEAD + f'<import resource="{url}"/></beans>', encoding="utf-8")
        assert read_job(path).settings == {"HERITRIX_MAX_RETRIES": 5}


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    job = job_of(tmp_path, frontier(value("maxRetries", "5")))
    with pytest.raises(ConfigurationError, match="this is a folder"):
        write(job, tmp_path, "heritrix")
