"""Small job files, each with one construct of the XML or one mistake: the right settings, or a message with its line."""

# ruff: noqa: E501
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.beans import Job, JobError, read_job
from heritrix_scrapy.settings.job_file import read as job_named

if TYPE_CHECKING:
    from pathlib import Path

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<beans xmlns="http://www.springframework.org/schema/beans" xmlns:p="http://www.springframework.org/schema/p"'
    ' xmlns:xi="http://www.w3.org/2001/XInclude" xmlns:lang="http://www.springframework.org/schema/lang"'
    ' xmlns:util="http://www.springframework.org/schema/util">\n'
)
ENVIRONMENT = {"TOES": "7", "SCOPE_FILE": "more.xml", "EMPTY": ""}
FILES = {
    "more.xml": HEAD
    + '<bean id="frontier" class="org.archive.crawler.frontier.BdbFrontier"><property name="maxRetries" value="5"/></bean>'
    + "</beans>",
    "round.xml": HEAD + '<import resource="job.cxml"/></beans>',
    "regexes.txt": ".*a.*\n\n.*b.*\n",
    "list.xml": '<list xmlns="http://www.springframework.org/schema/beans"><value>.*c.*</value></list>',
    "seeds.txt": "http://a.example/\n",
    "some.properties": "# of a file\nfrontier.maxRetries = 8\n",
    "latin.txt": "gr\u00fcn",
}


def overrides(text: str) -> str:
    return (
        '<bean id="simpleOverrides" class="org.springframework.beans.factory.config.PropertyOverrideConfigurer">\n'
        f'<property name="properties"><value>\n{text}\n</value></property></bean>\n'
    )


def frontier(properties: str = "") -> str:
    return f'<bean id="frontier" class="org.archive.crawler.frontier.BdbFrontier">{properties}</bean>\n'


def controller(value: str) -> str:
    return (
        '<bean id="crawlController" class="org.archive.crawler.framework.CrawlController">'
        f'<property name="maxToeThreads" value="{value}"/></bean>'
    )


def scope(rules: str) -> str:
    return (
        '<bean id="scope" class="org.archive.modules.deciderules.DecideRuleSequence"><property name="rules">'
        f"<list>{rules}</list></property></bean>\n"
    )


def rule(name: str, properties: str = "") -> str:
    return f'<bean class="org.archive.modules.deciderules.{name}">{properties}</bean>\n'


def http(properties: str) -> str:
    return f'<bean id="fetchHttp" class="org.archive.modules.fetcher.FetchHTTP">{properties}</bean>\n'


def prop(name: str, inner: str) -> str:
    return f'<property name="{name}">{inner}</property>'


def value(name: str, text: str) -> str:
    return f'<property name="{name}" value="{text}"/>'


RETRIES = {"HERITRIX_MAX_RETRIES": 5}

#: What the file holds, and the settings it comes to; no loss.
RIGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "a property by attribute": (frontier(value("maxRetries", "5")), RETRIES),
    "a property by element": (frontier(prop("maxRetries", "<value>5</value>")), RETRIES),
    "a property with blanks around it": (frontier(prop("maxRetries", "<value>\n  5\n</value>")), RETRIES),
    "CDATA": (frontier(prop("maxRetries", "<value><![CDATA[5]]></value>")), RETRIES),
    "a description between": (frontier("<description>word</description>" + value("maxRetries", "5")), RETRIES),
    "p: attributes": ('<bean id="f" class="org.archive.crawler.frontier.BdbFrontier" p:maxRetries="5"/>', RETRIES),
    "a bean with a name and no id": (frontier(value("maxRetries", "5")).replace(" id=", " name="), RETRIES),
    "a bean under another id": (frontier(value("maxRetries", "5")).replace('"frontier"', '"ours"'), RETRIES),
    "a value that is the default": (frontier(value("maxRetries", "30")), {}),
    "null": (http(prop("httpProxyHost", "<null/>")), {}),
    "an empty text": (http(value("httpBindAddress", "") + value("httpProxyPort", "0")), {}),
    "a number in hexadecimal": (http(value("maxLengthBytes", "0x10")), {"HERITRIX_MAX_LENGTH_BYTES": 16}),
    "a number with a fraction": (
        '<bean id="d" class="org.archive.crawler.postprocessor.DispositionProcessor"><property name="delayFactor" value="1.5f"/></bean>',
        {"HERITRIX_DELAY_FACTOR": 1.5},
    ),
    "a boolean": (http(value("sendReferer", "False")), {"HERITRIX_SEND_REFERER": False}),
    "a choice": (http(value("sslTrustLevel", "NORMAL")), {"HERITRIX_SSL_TRUST_LEVEL": "NORMAL"}),
    "a list": (
        http(prop("acceptHeaders", "<list><value>A: 1</value><value>B: 2</value></list>")),
        {"HERITRIX_ACCEPT_HEADERS": ["A: 1", "B: 2"]},
    ),
    "a list of one text": (http(value("acceptHeaders", "A: 1")), {"HERITRIX_ACCEPT_HEADERS": ["A: 1"]}),
    "a set": (
        scope(rule("SchemeNotInSetDecideRule", prop("schemes", "<set><value>http</value></set>"))),
        {"HERITRIX_SCOPE": [["SchemeNotInSetDecideRule", {"schemes": ["http"]}]]},
    ),
    "a reference by element": (
        frontier(prop("queuePrecedencePolicy", '<ref bean="q"/>'))
        + '<bean id="q" class="org.archive.crawler.frontier.precedence.HighestUriQueuePrecedencePolicy"/>',
        {"HERITRIX_QUEUE_PRECEDENCE_POLICY": "HighestUriQueuePrecedencePolicy"},
    ),
    "a reference by attribute, through an alias": (
        frontier('<property name="queuePrecedencePolicy" ref="other"/>')
        + '<bean id="q" class="org.archive.crawler.frontier.precedence.HighestUriQueuePrecedencePolicy"/>'
        + '<alias name="q" alias="other"/>',
        {"HERITRIX_QUEUE_PRECEDENCE_POLICY": "HighestUriQueuePrecedencePolicy"},
    ),
    "a map with entries of both kinds": (
        '<bean id="c" class="org.archive.modules.credential.CredentialStore"><property name="credentials"><map>'
        '<entry key="b"><bean class="org.archive.modules.credential.HttpAuthenticationCredential">'
        + value("domain", "b.example")
        + '</bean></entry><entry key="a" value-ref="one"/></map></property></bean>'
        + '<bean id="one" class="org.archive.modules.credential.HtmlFormCredential">'
        + value("loginUri", "/in")
        + prop(
            "formItems",
            '<map><entry key="u" value="v"/><entry><key><value>w</value></key><value>x</value></entry></map>',
        )
        + "</bean>",
        {
            "HERITRIX_CREDENTIALS": [
                ["HtmlFormCredential", {"login_uri": "/in", "form_items": {"u": "v", "w": "x"}}],
                ["HttpAuthenticationCredential", {"domain": "b.example"}],
            ]
        },
    ),
    "an override over a note": (
        overrides("frontier.maxRetries=5") + frontier(value("maxRetries", "see above")),
        RETRIES,
    ),
    "an override with a colon, blanks and a line that goes on": (
        overrides("! a comment\n frontier.maxRetries : \\\n    5") + frontier(),
        RETRIES,
    ),
    "an escape in an override": (
        overrides("metadata.jobName=\\u0061b") + '<bean id="metadata" class="org.archive.modules.CrawlMetadata"/>',
        {"HERITRIX_JOB_NAME": "ab"},
    ),
    "an override of a bean that is not there": (overrides("frontier.maxRetries=5"), RETRIES),
    "an override of a place in a list": (
        overrides("scope.rules[1].maxHops=3") + scope(rule("AcceptDecideRule") + rule("TooManyHopsDecideRule")),
        {"HERITRIX_SCOPE": [["AcceptDecideRule", {}], ["TooManyHopsDecideRule", {"max_hops": 3}]]},
    ),
    "an override that begins a list": (
        overrides("fetchHttp.acceptHeaders[0]=A: 1") + http(""),
        {"HERITRIX_ACCEPT_HEADERS": ["A: 1"]},
    ),
    "an override of a map's key": (
        overrides("c.credentials[a].realm=r")
        + '<bean id="c" class="org.archive.modules.credential.CredentialStore"><property name="credentials"><map>'
        + '<entry key="a"><bean class="org.archive.modules.credential.HttpAuthenticationCredential"/></entry>'
        + "</map></property></bean>",
        {"HERITRIX_CREDENTIALS": [["HttpAuthenticationCredential", {"realm": "r"}]]},
    ),
    "the later override wins": (
        overrides("frontier.maxRetries=4") + overrides("frontier.maxRetries=5").replace("simple", "later") + frontier(),
        RETRIES,
    ),
    "overrides in a file": (
        '<bean id="o" class="org.springframework.beans.factory.config.PropertyOverrideConfigurer">'
        + value("location", "some.properties")
        + "</bean>"
        + frontier(),
        {"HERITRIX_MAX_RETRIES": 8},
    ),
    "a placeholder with a default": (controller("${NOT_THERE:9}"), {"HERITRIX_MAX_TOE_THREADS": 9}),
    "a placeholder that the environment fills": (controller("${TOES:9}"), {"HERITRIX_MAX_TOE_THREADS": 7}),
    "an expression of the environment": (
        controller("#{systemEnvironment['TOES'] ?: 9}"),
        {"HERITRIX_MAX_TOE_THREADS": 7},
    ),
    "an expression with a default": (
        controller(" #{ systemEnvironment['NOT_THERE'] ?: '9' } "),
        {"HERITRIX_MAX_TOE_THREADS": 9},
    ),
    "an expression of another bean": (
        '<bean id="metadata" class="org.archive.modules.CrawlMetadata">'
        + value("jobName", "news")
        + value("description", "#{metadata.jobName} of today")
        + "</bean>",
        {"HERITRIX_JOB_NAME": "news", "HERITRIX_DESCRIPTION": "news of today"},
    ),
    "a foreign placeholder is left": (frontier(value("queueTotalBudget", "%{BUDGET}")), {}),
    "a foreign placeholder in a text": (
        '<bean id="metadata" class="org.archive.modules.CrawlMetadata">' + value("jobName", "{{ name }}") + "</bean>",
        {"HERITRIX_JOB_NAME": "{{ name }}"},
    ),
    "an import": ('<import resource="more.xml"/>', RETRIES),
    "an import by the environment": ('<import resource="${SCOPE_FILE}"/>', RETRIES),
    "an import by a default": ('<import resource="${NOT_THERE:more.xml}"/>', RETRIES),
    "a bean over an imported one": (
        '<import resource="more.xml"/>' + frontier(value("maxRetries", "9")),
        {"HERITRIX_MAX_RETRIES": 9},
    ),
    "an included text": (
        scope(
            rule(
                "MatchesListRegexDecideRule",
                prop("regexList", '<list><xi:include href="regexes.txt" parse="text"/></list>'),
            )
        ),
        {"HERITRIX_SCOPE": [["MatchesListRegexDecideRule", {"regex_list": [".*a.*", ".*b.*"]}]]},
    ),
    "an included text without a list": (
        scope(rule("MatchesListRegexDecideRule", prop("regexList", '<xi:include href="regexes.txt" parse="text"/>'))),
        {"HERITRIX_SCOPE": [["MatchesListRegexDecideRule", {"regex_list": [".*a.*", ".*b.*"]}]]},
    ),
    "an included element": (
        scope(rule("MatchesListRegexDecideRule", prop("regexList", '<xi:include href="list.xml"/>'))),
        {"HERITRIX_SCOPE": [["MatchesListRegexDecideRule", {"regex_list": [".*c.*"]}]]},
    ),
    "a flag in the middle of a regular expression": (
        scope(rule("MatchesRegexDecideRule", value("regex", "^.*(?i)/calendar/.*$"))),
        {"HERITRIX_SCOPE": [["MatchesRegexDecideRule", {"regex": "^.*(?i)/calendar/.*$"}]]},
    ),
    "a rule under an older name": (
        http(prop("shouldFetchBodyRule", rule("NotExceedsDocumentLengthThresholdDecideRule"))),
        {"HERITRIX_SHOULD_FETCH_BODY_RULE": ["ResourceNoLongerThanDecideRule", {}]},
    ),
    "a rule that is switched off": (
        scope(rule("AcceptDecideRule", value("enabled", "false"))),
        {"HERITRIX_SCOPE": [["AcceptDecideRule", {"enabled": False}]]},
    ),
    "the cookie store under its older name": (
        '<bean id="cookieStorage" class="org.archive.modules.fetcher.BdbCookieStorage">'
        + value("cookiesSaveFile", "c.txt")
        + "</bean>",
        {"HERITRIX_COOKIES_SAVE_FILE": "c.txt"},
    ),
    "a policy that nothing refers to": (
        '<bean id="u" class="org.archive.crawler.frontier.precedence.HopsUriPrecedencePolicy">'
        + value("navlinksOnly", "false")
        + "</bean>",
        {"HERITRIX_URI_PRECEDENCE_POLICY": "HopsUriPrecedencePolicy", "HERITRIX_NAVLINKS_ONLY": False},
    ),
    "a list from util": (
        http('<property name="acceptHeaders" ref="l"/>') + '<util:list id="l"><value>A: 1</value></util:list>',
        {"HERITRIX_ACCEPT_HEADERS": ["A: 1"]},
    ),
    "nested beans elements and annotations": (f"<beans>{frontier(value('maxRetries', '5'))}</beans>", RETRIES),
    "a property that is not needed": (
        '<bean id="bdb" class="org.archive.bdb.BdbModule">' + value("cachePercent", "30") + "</bean>",
        {},
    ),
}

#: What the file holds, the line of the message, and words of it; the file is refused.
REFUSED: dict[str, tuple[str, int | None, str]] = {
    "an element that is not closed": ("<bean>\n", 4, "not well-formed XML: mismatched tag"),
    "a comment that is none": ("<-- a comment -->\n", 3, "not well-formed"),
    "a note as markup": (frontier(value("maxRetries", "<YOUR>")), 3, "not well-formed"),
    "an unknown prefix": ('<aop:config xmlns="x"/>', 3, "unbound prefix"),
    "two beans of one name": (frontier() + frontier(), 4, "two beans named 'frontier'; the other one is in line 3"),
    "a property written twice": (frontier(value("maxRetries", "1") * 2), 3, "maxRetries of frontier is written twice"),
    "a property without a name": (frontier('\n<property value="1"/>'), 4, "has no name"),
    "a property with two values": (frontier(prop("x", "<value>1</value>\n<value>2</value>")), 4, "has two values"),
    "a bean without a class": ('\n<bean id="x"/>', 4, "the bean x has no class"),
    "an element that is no value": (frontier(prop("x", "<integer/>")), 3, "integer is no value"),
    "a map's entry without a key": (frontier(prop("x", '<map>\n<entry value="1"/></map>')), 4, "has no key"),
    "a reference to nothing": (frontier(prop("x", "<ref/>")), 3, "ref names no bean"),
    "an import that is not there": ('\n<import resource="nix.xml"/>', 4, "nix.xml: cannot be read"),
    "an import of the network": ('<import resource="http://a.example/x.xml"/>', 3, "only files are imported"),
    "an import from the class path": ('<import resource="classpath:x.xml"/>', 3, "only files are imported"),
    "an import that nothing fills": ('<import resource="${NOT_THERE}"/>', 3, "nothing says what it stands for"),
    "a circle of imports": ('<import resource="round.xml"/>', 3, "imports itself, by way of"),
    "an include that is not there": ('<xi:include href="nix.txt" parse="text"/>', 3, "cannot include"),
    "an include of the network": ('<xi:include href="http://a.example/" parse="text"/>', 3, "only whole files"),
    "an include of itself": ('<xi:include href="job.cxml"/>', 3, "includes itself"),
    "an include that is no text": ('<xi:include href="latin.txt" parse="text"/>', 3, "is no utf-8-sig text"),
}

#: What the file holds, the line, and words of the loss; the rest is read.
LOST: dict[str, tuple[str, int, str]] = {
    "an unknown property": (
        frontier("\n" + value("maxRetrys", "5")),
        4,
        "there is no such setting here; did you mean maxRetries?",
    ),
    "an unknown property of a rule": (
        scope(rule("TooManyHopsDecideRule", "\n" + value("maxHop", "5"))),
        4,
        "TooManyHopsDecideRule has no such property; did you mean maxHops?",
    ),
    "a word where a number belongs": (frontier(value("maxRetries", "many")), 3, "expected a whole number, not 'many'"),
    "a number below what is possible": (
        frontier(value("maxRetries", "-2")),
        3,
        "HERITRIX_MAX_RETRIES: expected a number of at least 0",
    ),
    "a word where a boolean belongs": (http(value("sendReferer", "perhaps")), 3, "expected true or false"),
    "an unknown choice": (http(value("sslTrustLevel", "SOME")), 3, "expected one of OPEN"),
    "a list where a text belongs": (http(prop("defaultEncoding", "<list/>")), 3, "expected a text"),
    "a text where a map belongs": (
        '<bean id="c" class="org.archive.modules.credential.CredentialStore"><property name="credentials" value="x"/></bean>',
        3,
        "expected a map",
    ),
    "a dangling reference": (
        frontier(prop("queuePrecedencePolicy", '\n<ref bean="nix"/>')),
        4,
        "there is no bean 'nix'",
    ),
    "a dangling reference in a scope": (scope('\n<ref bean="nix"/>'), 4, "there is no bean 'nix'"),
    "an override that leads nowhere": (overrides("frontier.a.b=1") + frontier(), 5, "the override leads nowhere"),
    "an override behind the end of a list": (
        overrides("scope.rules[3].maxHops=3") + scope(rule("AcceptDecideRule")),
        5,
        "the override leads nowhere",
    ),
    "an override of an unknown bean": (overrides("\nnix.a=1"), 6, "there is no bean 'nix' in the file"),
    "an unknown bean": ('\n<bean id="x" class="org.archive.crawler.Nix"/>', 4, "org.archive.crawler.Nix is not known"),
    "a bean of contrib": (
        '<bean id="x" class="org.archive.crawler.frontier.AMQPUrlReceiver"/>',
        3,
        "took URIs from a message queue; here:",
    ),
    "a rule of another house": (
        scope('\n<bean class="uk.bl.wap.modules.deciderules.CompressibilityDecideRule"/>'),
        4,
        "HERITRIX_CLASS_MAP",
    ),
    "a scripted rule": (
        scope(rule("ScriptedDecideRule", prop("scriptSource", "<value>return 1</value>"))),
        3,
        "scripts are not run; write the rule as a class with a method evaluate(curi) and name it by its dotted path; it"
        " holds: 'return 1'",
    ),
    "an expression in Groovy": (
        scope(rule("ExpressionDecideRule", value("groovyExpression", "curi.via == null"))),
        3,
        "Groovy is not run",
    ),
    "a script bean": (
        '<lang:groovy id="g"><lang:inline-script>println 1</lang:inline-script></lang:groovy>',
        3,
        "no script is run; it holds: 'println 1'",
    ),
    "an expression that is not known": (controller("#{T(java.lang.Runtime).x()}"), 3, "is not worked out here"),
    "a decision that is none": (
        scope(rule("HasViaDecideRule", value("decision", "MAYBE"))),
        3,
        "expected ACCEPT, REJECT",
    ),
    "a broken regular expression": (
        scope(rule("MatchesRegexDecideRule", value("regex", "("))),
        3,
        "not a regular expression",
    ),
    "a broken expression in a list": (
        scope(rule("MatchesListRegexDecideRule", prop("regexList", "<list><value>[</value></list>"))),
        3,
        "not a regular expression",
    ),
    "a bean with a parent": ('<bean id="x" parent="y"/>', 3, "a bean made by parent is not made"),
    "a profile of beans": ('\n<beans profile="x"/>', 4, "profiles of beans are not chosen"),
    "an element of another kind": ("\n<alien/>", 4, "the element alien is not read"),
    "a seeds file that is not there": (
        '<bean id="seeds" class="org.archive.modules.seeds.TextSeedModule"><property name="textSource">'
        '<bean class="org.archive.spring.ConfigFile"><property name="path" value="nix.txt"/></bean></property></bean>',
        3,
        "nix.txt is not there",
    ),
    "the wrong name of the stock profile's comment": (
        '<bean id="extractorHtml" class="org.archive.modules.extractor.ExtractorHTML">'
        + value("maxAttributeValueLength", "9")
        + "</bean>"
        + '<bean id="f" class="org.archive.modules.FetchChain"><property name="processors"><list><ref bean="preselector"/>'
        + '<ref bean="extractorHtml"/></list></property></bean>',
        3,
        "did you mean maxAttributeValLength?",
    ),
    "a script as a processor": (
        '<bean id="d" class="org.archive.modules.DispositionChain"><property name="processors"><list>\n'
        + '<bean class="org.archive.crawler.processor.ScriptedProcessor"/></list></property></bean>',
        4,
        "ran a script; here: a step in HERITRIX_STEPS",
    ),
    "an ARC writer": (
        '<bean id="d" class="org.archive.modules.DispositionChain"><property name="processors"><list>\n'
        + '<bean class="org.archive.modules.writer.ARCWriterProcessor"/></list></property></bean>',
        4,
        "ARC is not written",
    ),
}


def written(folder: Path, body: str, head: str = HEAD, tail: str = "</beans>\n") -> Path:
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode("latin-1" if name == "latin.txt" else "utf-8"))
    path = folder / "job.cxml"
    path.write_text(head + body + tail, encoding="utf-8")
    return path


def job_of(folder: Path, body: str, **about: Any) -> Job:
    return read_job(written(folder, body), environment=ENVIRONMENT, **about)


@pytest.mark.parametrize("name", RIGHT)
def test_constructs_of_the_xml(tmp_path: Path, name: str) -> None:
    body, settings = RIGHT[name]
    job = job_of(tmp_path, body)
    assert job.settings == settings
    assert [str(entry) for entry in job.report.losses] == []
    assert job.report.entries


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    body, line, words = REFUSED[name]
    with pytest.raises(JobError) as caught:
        job_of(tmp_path, body)
    assert words in str(caught.value)
    assert caught.value.place is not None
    assert caught.value.place.line == line
    assert caught.value.place.column >= 1


@pytest.mark.parametrize("name", LOST)
def test_mistakes_that_the_report_tells(tmp_path: Path, name: str) -> None:
    body, line, words = LOST[name]
    losses = job_of(tmp_path, body).report.losses
    found = [entry for entry in losses if words in entry.told]
    assert found, [str(entry) for entry in losses]
    assert [entry.place.line for entry in found if entry.place] == [line]


@pytest.mark.parametrize(
    ("doctype", "words"),
    [
        ('<!DOCTYPE beans [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "declares the entity 'x'"),
        ('<!DOCTYPE beans [<!ENTITY % x SYSTEM "http://a.example/x.dtd"> %x;]>', "declares the entity 'x'"),
        ('<!DOCTYPE beans [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]>', "declares the entity 'a'"),
        ('<!DOCTYPE beans SYSTEM "http://a.example/x.dtd">', ""),
    ],
)
def test_no_entity_is_read(tmp_path: Path, doctype: str, words: str) -> None:
    """PC-217"""
    head = HEAD.replace("?>\n", f"?>\n{doctype}\n", 1)
    path = written(tmp_path, frontier(value("maxRetries", "5")), head)
    if not words:
        assert read_job(path).settings == RETRIES
        return
    with pytest.raises(JobError, match=words) as caught:
        read_job(path)
    assert caught.value.place is not None
    assert caught.value.place.line == 2


def test_an_entity_that_nobody_declared(tmp_path: Path) -> None:
    head = HEAD.replace("?>\n", '?>\n<!DOCTYPE beans SYSTEM "x.dtd">\n', 1)
    path = written(tmp_path, frontier(prop("x", "<value>&nix;</value>")), head)
    with pytest.raises(JobError, match="the entity 'nix' is not known"):
        read_job(path)


def test_bytes_of_another_encoding(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes((HEAD + "<!-- gr\u00fcn -->\n</beans>").encode("latin-1"))
    with pytest.raises(JobError, match=r"line 3.*bytes that are no UTF-8 text"):
        read_job(path)
    path.write_bytes(path.read_bytes().replace(b'"UTF-8"', b'"ISO-8859-1"'))
    assert read_job(path).settings == {}
    path.write_bytes(path.read_bytes().replace(b'"ISO-8859-1"', b'"no-such"'))
    with pytest.raises(JobError, match="unknown encoding"):
        read_job(path)


def test_elements_without_end(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="more than 200 elements within each other"):
        read_job(written(tmp_path, "<beans>" * 1000 + "</beans>" * 1000))


def test_an_order_of_heritrix_1_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "order.xml"
    path.write_text("<crawl-order/>", encoding="utf-8")
    with pytest.raises(JobError, match=r"order\.xml of Heritrix 1\.x"):
        read_job(path)
    with pytest.raises(ConfigurationError, match="Coming from Heritrix"):
        job_named({"HERITRIX_JOB": str(path)})


@pytest.mark.parametrize(("algorithm", "lost"), [("sha1", 0), ("SHA-1", 0), ("md5", 1)])
def test_digests_are_of_one_kind(tmp_path: Path, algorithm: str, lost: int) -> None:
    body = (
        '<bean id="fetchHttp" class="org.archive.modules.fetcher.FetchHTTP">'
        f'<property name="digestAlgorithm" value="{algorithm}"/></bean>'
    )
    job = job_of(tmp_path, body)
    assert len(job.report.losses) == lost
    assert job.settings == {}


def test_classes_of_ones_own_stand_in(tmp_path: Path) -> None:
    body = scope('<bean class="org.example.Rule"><property name="maxDepth" value="3"/></bean>') + (
        '<bean id="d" class="org.archive.modules.DispositionChain"><property name="processors"><list>'
        '<bean class="org.archive.modules.writer.WARCWriterProcessor"/><bean class="org.example.Step"><property name="maxAge" value="7"/></bean>'
        '<bean class="org.example.Idle"><property name="enabled" value="false"/></bean>'
        '<bean class="org.archive.crawler.postprocessor.CandidatesProcessor"/>'
        '<bean class="org.archive.crawler.postprocessor.DispositionProcessor"/></list></property></bean>'
    )
    job = job_of(
        tmp_path,
        body,
        class_map={"org.example.Rule": "ours.Rule", "org.example.Step": "ours.Step", "org.example.Idle": "ours.Idle"},
    )
    assert job.settings == {
        "HERITRIX_SCOPE": [["ours.Rule", {"max_depth": 3}]],
        "HERITRIX_STEPS": {"disposition": [["ours.Step", {"max_age": 7}]]},
    }
    assert job.report.losses == []
