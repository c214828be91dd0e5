"""What did classes do that are not Heritrix's own, and what stands in for them here?

By the end of the class's name; what is not in the table is reported with its name alone.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heritrix_scrapy.settings.beans.model import Bean

#: Class → (what it did, what to write here).
STAND_INS: Final[dict[str, tuple[str, str]]] = {
    "DeDuplicator": (
        "looked an answer up in an index of earlier crawls",
        "HERITRIX_FETCH_HISTORY or HERITRIX_CONTENT_DIGEST_HISTORY, with HERITRIX_HISTORY_PRELOAD for the earlier crawls and HERITRIX_DEDUPLICATE_EXCEPT for media types",
    ),
    "LuceneIndexSearcher": ("was the index of earlier crawls", "HERITRIX_HISTORY_PRELOAD"),
    "DomainnameQueueAssignmentPolicy": (
        "gave each registered domain one queue",
        "HERITRIX_QUEUE_ASSIGNMENT_POLICY = 'AssignmentLevelSurt'",
    ),
    "SeedUriDomainnameQueueAssignmentPolicy": (
        "gave each seed's domain one queue",
        "HERITRIX_QUEUE_ASSIGNMENT_POLICY = 'SourceTag' with HERITRIX_SOURCE_TAG_QUEUE_LEVEL = 'domain'",
    ),
    "ContentSizeAnnotationPostProcessor": (
        "noted content-size:N for each URI",
        "a step in HERITRIX_STEPS that calls curi.annotate",
    ),
    "NasCrawlMetadata": ("put more fields into the warcinfo record", "HERITRIX_WARC_INFO_FIELDS"),
    "NasWARCProcessor": (
        "wrote WARC files with more fields in the warcinfo record",
        "the writer 'warc' with HERITRIX_WARC_INFO_FIELDS",
    ),
    "OnNSDomainsDecideRule": ("accepted the registered domains of the seeds", "OnRegisteredDomainsDecideRule"),
    "NASSurtPrefixedDecideRule": ("was SurtPrefixedDecideRule with www added and removed", "SurtPrefixedDecideRule"),
    "AnnotationMatchesListRegexDecideRule": ("decided by annotations", "AnnotationMatchesListRegexDecideRule"),
    "WatchedFileSurtPrefixedDecideRule": (
        "read its SURT file again when that changed",
        "SurtPrefixedDecideRule with a file, and HERITRIX_LIST_RELOAD_SECONDS",
    ),
    "OutbackCDXRecentlySeenDecideRule": ("rejected what was fetched a short while ago", "RecentlySeenDecideRule"),
    "IpAnnotator": ("noted the address of each fetch", "HERITRIX_ANNOTATE_IP = True"),
    "CountryCodeAnnotator": (
        "noted the country of each address",
        "a step in HERITRIX_STEPS that asks a database of yours",
    ),
    "ExternalGeoLookup": (
        "knew the countries of addresses",
        "an object with lookup(address), named by dotted path in ExternalGeoLocationDecideRule",
    ),
    "ViralContentProcessor": ("had each body looked at by a virus scanner", "a step in HERITRIX_STEPS at after_fetch"),
    "WARCViralWriterProcessor": (
        "wrote what is infected into WARC files of its own",
        "a second ['warc', {'id': …, 'prefix': …, 'should_process': …}] in HERITRIX_WRITERS",
    ),
    "ExtendedWARCWriterProcessor": ("wrote WARC files", "the writer 'warc'"),
    "AccountableDecideRuleSequence": (
        "noted the rule that decided",
        "DecideRuleSequence with HERITRIX_SCOPE_LOG_TO_FILE",
    ),
    "CompressibilityDecideRule": (
        "rejected addresses that compress too well or too badly",
        "a rule of your own, by its dotted path",
    ),
    "RobotsTxtSitemapExtractor": ("found sitemaps in robots.txt", "ExtractorRobotsTxt in HERITRIX_EXTRACTORS"),
    "SitemapExtractor": ("read sitemaps", "ExtractorSitemap in HERITRIX_EXTRACTORS"),
    "ExtractorJson": ("found links in JSON", "ExtractorJson in HERITRIX_EXTRACTORS"),
    "IcelandicExtractorJS": (
        "was a more cautious ExtractorJS",
        "ExtractorJS with HERITRIX_SPECULATIVE_HOSTS and HERITRIX_SPECULATIVE_PATHS = 'cautious'",
    ),
    "OutbackCDXPersistLoadProcessor": ("asked a CDX server about earlier fetches", "HERITRIX_HISTORY_CDX_URL"),
    "OutbackCDXPersistStoreProcessor": ("told a CDX server of each fetch", "HERITRIX_CDXJ, and an upload of the index"),
    "OutbackCDXClient": ("was the connection to a CDX server", "HERITRIX_HISTORY_CDX_URL"),
    "AMQPPublishProcessor": (
        "handed URIs to a browser through a message queue",
        "a step in HERITRIX_STEPS, or an item pipeline",
    ),
    "AMQPUrlReceiver": ("took URIs from a message queue", "`scrapy heritrix seeds` and `import` on the running crawl"),
    "AsynchronousMQExtractor": (
        "handed URIs to a browser through a message queue",
        "a step in HERITRIX_STEPS, or an item pipeline",
    ),
    "WrenderProcessor": ("had pages rendered by a browser", "a download handler of yours for the pages concerned"),
    "PrometheusMetricsExporterBean": ("offered metrics on a port", "Scrapy's statistics under heritrix/"),
    "ARCWriterProcessor": ("wrote ARC files", "the writer 'warc': ARC is not written"),
    "BufferedCrawlerLoggerModule": ("was a logger with a buffer", "nothing: logs are written once a flush"),
    "NoOpSeedsModule": ("took no seeds", "HERITRIX_SEEDS = []"),
    "ScriptedProcessor": ("ran a script", "a step in HERITRIX_STEPS with a method process(curi)"),
    "HTTPContentDigest": (
        "took a digest without some part of a page",
        "heritrix_scrapy.archive.content_digest.HTTPContentDigest in HERITRIX_STEPS, at after_fetch",
    ),
    "ExtractorYoutubeDL": (
        "had a program fetch videos",
        "a step in HERITRIX_STEPS, or an item pipeline, that calls it",
    ),
    "ContentTypeNotMatchesTextDecideRule": ("was a rule about the media type", "ContentTypeNotMatchesRegexDecideRule"),
}

_KINDS: Final = (
    (("DecideRule",), "a rule of your own: a class with evaluate(curi), named by its dotted path"),
    (("Kafka", "AMQP"), "no message queue is fed or read; a step in HERITRIX_STEPS may do it"),
    (("Extractor",), "an extractor of your own: applies(curi) and extract(document), named in HERITRIX_EXTRACTORS"),
    (("WriterProcessor",), "an item pipeline for captures, or a step at disposition in HERITRIX_STEPS"),
    (("QueueAssignmentPolicy", "PrecedencePolicy", "CostAssignmentPolicy"), "a policy of your own, by its dotted path"),
    (("Processor", "Annotator", "Enforcer"), "a step of your own: process(curi), named in HERITRIX_STEPS"),
    (("UriUniqFilter",), "what was seen lies in the frontier's store"),
)

MAP_HINT: Final = "name your own class for it in HERITRIX_CLASS_MAP"


def stand_in(bean: Bean) -> str:
    """What the bean's class did and what to do instead."""
    if bean.script is not None:
        return f"no script is run; it holds: {bean.script[:500]!r}; write a step (process(curi)) or rule (evaluate(curi)) instead"
    if bean.short in STAND_INS:
        did, instead = STAND_INS[bean.short]
        text = f"{bean.kind} {did}; here: {instead}"
    else:
        for ends, instead in _KINDS:
            if any(part in bean.short for part in ends):
                text = f"{bean.kind} is not one of Heritrix's own classes; {instead}"
                break
        else:
            return f"{bean.kind} is not known; nothing stands in for it"
    return f"{text}; or {MAP_HINT}"
