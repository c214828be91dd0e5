"""Which of Heritrix's classes is which part, and which of their properties need no counterpart here?

Roles are the names that the beans have in Heritrix's own profile; the settings table names its rows by them. A class
that is in none of these tables is not Heritrix's, or has no part here.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Final

#: Class → role, for those whose properties are settings.
ROLES: Final[dict[str, str]] = {
    "CrawlMetadata": "metadata",
    "TextSeedModule": "seeds",
    "CandidateScoper": "candidateScoper",
    "FrontierPreparer": "preparer",
    "Preselector": "preselector",
    "PreconditionEnforcer": "preconditions",
    "FetchDNS": "fetchDns",
    "FetchHTTP": "fetchHttp",
    "FetchFTP": "fetchFtp",
    "FetchSFTP": "fetchSftp",
    "FetchWhois": "fetchWhois",
    "WARCWriterProcessor": "warcWriter",
    "WARCWriterChainProcessor": "warcWriter",
    "MirrorWriterProcessor": "mirrorWriter",
    "CandidatesProcessor": "candidates",
    "DispositionProcessor": "disposition",
    "ReschedulingProcessor": "rescheduler",
    "CrawlController": "crawlController",
    "BdbFrontier": "frontier",
    "ActionDirectory": "actionDirectory",
    "CrawlLimitEnforcer": "crawlLimiter",
    "CheckpointService": "checkpointService",
    "DiskSpaceMonitor": "diskSpaceMonitor",
    "RulesCanonicalizationPolicy": "canonicalizationPolicy",
    "SurtAuthorityQueueAssignmentPolicy": "queueAssignmentPolicy",
    "SurtAuthorityQueueAssignmentPolicyWithLimits": "queueAssignmentPolicy",
    "HostnameQueueAssignmentPolicy": "queueAssignmentPolicy",
    "HostnameQueueAssignmentPolicyWithLimits": "queueAssignmentPolicy",
    "AssignmentLevelSurtQueueAssignmentPolicy": "queueAssignmentPolicy",
    "IPQueueAssignmentPolicy": "queueAssignmentPolicy",
    "BucketQueueAssignmentPolicy": "queueAssignmentPolicy",
    "SourceTagQueueAssignmentPolicy": "queueAssignmentPolicy",
    "CostUriPrecedencePolicy": "uriPrecedencePolicy",
    "BaseUriPrecedencePolicy": "uriPrecedencePolicy",
    "HopsUriPrecedencePolicy": "uriPrecedencePolicy",
    "PreloadedUriPrecedencePolicy": "uriPrecedencePolicy",
    "UnitCostAssignmentPolicy": "costAssignmentPolicy",
    "ZeroCostAssignmentPolicy": "costAssignmentPolicy",
    "WagCostAssignmentPolicy": "costAssignmentPolicy",
    "AntiCalendarCostAssignmentPolicy": "costAssignmentPolicy",
    "BaseQueuePrecedencePolicy": "queuePrecedencePolicy",
    "SuccessCountsQueuePrecedencePolicy": "queuePrecedencePolicy",
    "HighestUriQueuePrecedencePolicy": "queuePrecedencePolicy",
    "CredentialStore": "credentialStore",
    "StatisticsTracker": "statisticsTracker",
    "CrawlerLoggerModule": "loggerModule",
    "BdbCookieStorage": "cookieStore",
    "SimpleCookieStorage": "cookieStore",
    "BdbCookieStore": "cookieStore",
    "SimpleCookieStore": "cookieStore",
    "FileBackedCookieStore": "cookieStore",
    "HashCrawlMapper": "hashCrawlMapper",
    "LexicalCrawlMapper": "lexicalCrawlMapper",
    "FetchHistoryProcessor": "fetchHistory",
    "WbmPersistLoadProcessor": "wbmPersistLoad",
}

#: Roles that share the rows of another one.
SHARES: Final = {
    "lexicalCrawlMapper": "hashCrawlMapper",
    "fetchWhois": "fetchHttp",
    "fetchFtp": "fetchHttp",
    "fetchSftp": "fetchFtp",
}

#: What a queue is assigned by, and so on, under the names they have here.
POLICY_NAMES: Final = {
    "SurtAuthorityQueueAssignmentPolicyWithLimits": "SurtAuthorityWithLimits",
    "HostnameQueueAssignmentPolicyWithLimits": "HostnameWithLimits",
}

#: Extractors: class → role. Those of one role share its settings.
EXTRACTORS: Final[dict[str, str]] = {
    "ExtractorHTTP": "extractorHttp",
    "ExtractorRobotsTxt": "extractorRobotsTxt",
    "ExtractorSitemap": "extractorSitemap",
    "ExtractorHTML": "extractorHtml",
    "AggressiveExtractorHTML": "extractorHtml",
    "JerichoExtractorHTML": "extractorHtml",
    "ExtractorHTMLForms": "extractorHtmlForms",
    "ExtractorCSS": "extractorCss",
    "ExtractorJS": "extractorJs",
    "ConfigurableExtractorJS": "extractorJs",
    "KnowledgableExtractorJS": "extractorJs",
    "ExtractorSWF": "extractorSwf",
    "ExtractorPDF": "extractorPdf",
    "ExtractorPDFContent": "extractorPdfContent",
    "ExtractorDOC": "extractorDoc",
    "ExtractorXML": "extractorXml",
    "ExtractorJson": "extractorJson",
    "ExtractorUniversal": "extractorUniversal",
    "ExtractorURI": "extractorUri",
    "ExtractorImpliedURI": "extractorImpliedUri",
    "ExtractorMultipleRegex": "extractorMultipleRegex",
    "TrapSuppressExtractor": "trapSuppressExtractor",
}

#: Properties of extractors that are no settings: class → property → kind.
EXTRACTOR_PROPERTIES: Final[dict[str, dict[str, str]]] = {
    "ExtractorHTMLForms": {"extractAllForms": "bool"},
    "ConfigurableExtractorJS": {
        "strict": "bool",
        "forceStrictIfUrlMatchingRegexList": "list",
        "maximumCandidateLength": "int",
        "rejectRelativeIgnoreList": "list",
        "rejectRelativeMatchingRegexList": "list",
        "rejectScriptAttributeRegexList": "list",
    },
    "ExtractorPDF": {"maxSizeToParse": "int"},
    "ExtractorPDFContent": {"maxSizeToParse": "int"},
    "ExtractorUniversal": {"maxSizeToParse": "int"},
    "ExtractorImpliedURI": {"regex": "text", "format": "text", "removeTriggerUris": "bool"},
    "ExtractorMultipleRegex": {"uriRegex": "text", "contentRegexes": "map", "template": "text"},
    "ExtractorSitemap": {"urlPattern": "text"},
}

_LIST = {"regexList": "list", "listLogicalOr": "bool", "timeoutPerRegexSeconds": "int", "decision": "decision"}
_REGEX = {"regex": "text", "decision": "decision"}
_SURT = {
    "surtsSource": "lines",
    "surtsSourceFile": "lines",
    "seedsAsSurtPrefixes": "bool",
    "surtsDumpFile": "path",
    "alsoCheckVia": "bool",
    "decision": "decision",
}
_PATTERN = {"usePreset": "text", "regex": "text", "decision": "decision"}
_LENGTH = {"useHeaderLength": "bool", "contentLengthThreshold": "int", "decision": "decision"}
_BOUNDS = {"lowerBound": "int", "upperBound": "int", "decision": "decision"}
_DECISION = {"decision": "decision"}

#: Rules: class → property → kind.
RULES: Final[dict[str, dict[str, str]]] = {
    "AcceptDecideRule": {},
    "RejectDecideRule": {},
    "DecideRuleSequence": {"rules": "rules", "logToFile": "flag", "logExtraInfo": "flag"},
    "AddRedirectFromRootServerToScope": _DECISION,
    "ClassKeyMatchesRegexDecideRule": _REGEX,
    "ContentLengthDecideRule": {"contentLengthThreshold": "int"},
    "ContentTypeMatchesRegexDecideRule": _REGEX,
    "ContentTypeNotMatchesRegexDecideRule": _REGEX,
    "ExternalGeoLocationDecideRule": {"lookup": "object", "countryCodes": "list", "decision": "decision"},
    "FetchStatusDecideRule": {"statusCodes": "ints", "decision": "decision"},
    "FetchStatusMatchesRegexDecideRule": _REGEX,
    "FetchStatusNotMatchesRegexDecideRule": _REGEX,
    "HasViaDecideRule": _DECISION,
    "HopCrossesAssignmentLevelDomainDecideRule": _DECISION,
    "HopsPathMatchesRegexDecideRule": _REGEX,
    "IdenticalDigestDecideRule": _DECISION,
    "IpAddressSetDecideRule": {"ipAddresses": "list", "decision": "decision"},
    "MatchesFilePatternDecideRule": _PATTERN,
    "NotMatchesFilePatternDecideRule": _PATTERN,
    "MatchesRegexDecideRule": _REGEX,
    "NotMatchesRegexDecideRule": _REGEX,
    "MatchesListRegexDecideRule": _LIST,
    "NotMatchesListRegexDecideRule": _LIST,
    "MatchesStatusCodeDecideRule": _BOUNDS,
    "NotMatchesStatusCodeDecideRule": _BOUNDS,
    "PathologicalPathDecideRule": {"maxRepetitions": "int"},
    "PrerequisiteAcceptDecideRule": {},
    "ResourceNoLongerThanDecideRule": _LENGTH,
    "ResourceLongerThanDecideRule": _LENGTH,
    "ResponseContentLengthDecideRule": _BOUNDS,
    "SchemeNotInSetDecideRule": {"schemes": "list", "decision": "decision"},
    "SeedAcceptDecideRule": {},
    "SourceSeedDecideRule": {"sourceSeeds": "list", "decision": "decision"},
    "SurtPrefixedDecideRule": _SURT,
    "NotSurtPrefixedDecideRule": _SURT,
    "OnDomainsDecideRule": _SURT,
    "NotOnDomainsDecideRule": _SURT,
    "OnHostsDecideRule": _SURT,
    "NotOnHostsDecideRule": _SURT,
    "ViaSurtPrefixedDecideRule": {"surtPrefixes": "list", "decision": "decision"},
    "TooManyHopsDecideRule": {"maxHops": "int", "decision": "decision"},
    "TooManyPathSegmentsDecideRule": {"maxPathDepth": "int", "decision": "decision"},
    "TransclusionDecideRule": {"maxTransHops": "int", "maxSpeculativeHops": "int", "decision": "decision"},
}

#: Rules under older names.
OLD_RULES: Final = {
    "ExceedsDocumentLengthThresholdDecideRule": "ResourceLongerThanDecideRule",
    "NotExceedsDocumentLengthThresholdDecideRule": "ResourceNoLongerThanDecideRule",
}

#: Rules of Heritrix's that are not made here → what to do instead.
REFUSED_RULES: Final = {
    "ScriptedDecideRule": "scripts are not run; write the rule as a class with a method evaluate(curi) and name it by its dotted path",
    "ExpressionDecideRule": "Groovy is not run; write the expression as a class with a method evaluate(curi) and name it by its dotted path",
    "DecideRuleSequenceWithAMQPFeed": "no message broker is fed; HERITRIX_SCOPE_LOG_TO_FILE writes the same to scope.log",
    "ScopePlusOneDecideRule": "OnHostsDecideRule or OnDomainsDecideRule with also_check_via says the same",
}

CREDENTIALS: Final[dict[str, dict[str, str]]] = {
    "HttpAuthenticationCredential": {"domain": "text", "realm": "text", "login": "text", "password": "text"},
    "HtmlFormCredential": {"domain": "text", "loginUri": "text", "httpMethod": "text", "formItems": "map"},
}
OLD_CREDENTIALS: Final = {"Rfc2617Credential": "HttpAuthenticationCredential"}

ROBOTS_POLICIES: Final[dict[str, dict[str, str]]] = {
    "CustomRobotsPolicy": {"customRobots": "text", "obeyMetaRobotsNofollow": "bool"},
    "FirstNamedRobotsPolicy": {
        "candidateUserAgents": "list",
        "shouldMasquerade": "bool",
        "obeyMetaRobotsNofollow": "bool",
    },
    "MostFavoredRobotsPolicy": {
        "candidateUserAgents": "list",
        "shouldMasquerade": "bool",
        "obeyMetaRobotsNofollow": "bool",
    },
    "ObeyRobotsPolicy": {},
    "IgnoreRobotsPolicy": {},
    "RobotsTxtOnlyPolicy": {},
}

CANONICAL_RULES: Final[dict[str, dict[str, str]]] = {
    **{
        key: {"enabled": "bool"}
        for key in (
            "LowercaseRule",
            "StripUserinfoRule",
            "StripWWWNRule",
            "StripWWWRule",
            "StripSessionIDs",
            "StripSessionCFIDs",
            "FixupQueryString",
            "StripExtraSlashes",
        )
    },
    "RegexRule": {"enabled": "bool", "regex": "text", "format": "text"},
}

FORM_LOGIN: Final = {"applicableSurtPrefix": "text", "loginUsername": "text", "loginPassword": "text"}

QUOTAS: Final[dict[str, str]] = {
    **{
        f"{whose}Max{what}": "int"
        for whose in ("server", "host", "group")
        for what in ("FetchSuccesses", "FetchResponses", "SuccessKb", "AllKb", "NovelKb", "NovelUrls")
    },
    "forceRetire": "bool",
}

MIRROR: Final[dict[str, str]] = {
    "path": "output",
    "createHostDirectory": "bool",
    "hostMap": "list",
    "createPortDirectory": "bool",
    "directoryFile": "text",
    "contentTypeMap": "list",
    "characterMap": "list",
    "dotBegin": "text",
    "dotEnd": "text",
    "underscoreSet": "list",
    "caseSensitiveFilesystem": "bool",
    "suffixAtEnd": "bool",
    "maxSegLength": "int",
    "maxPathLength": "int",
    "tooLongDirectory": "text",
}

#: Properties of a WARC writer that a second writer has for itself.
WARC: Final[dict[str, str]] = {
    "prefix": "text",
    "template": "text",
    "compress": "bool",
    "directory": "output",
    "storePaths": "outputs",
    "maxFileSizeBytes": "int",
    "poolMaxActive": "int",
    "skipIdenticalDigests": "bool",
    "writeRequests": "bool",
    "writeMetadata": "bool",
}

#: Record builders of a WARC writer → the property that says whether they are there; empty: always so here.
BUILDERS: Final = {
    "DnsResponseRecordBuilder": "",
    "FtpControlConversationRecordBuilder": "",
    "FtpResponseRecordBuilder": "",
    "HttpRequestRecordBuilder": "writeRequests",
    "HttpResponseRecordBuilder": "writeResponses",
    "MetadataRecordBuilder": "writeMetadata",
    "RevisitRecordBuilder": "writeRevisits",
    "WhoisResponseRecordBuilder": "",
}

#: Classes that have no counterpart and need none → why.
NEEDLESS_CLASSES: Final = {
    "PropertyOverrideConfigurer": "its overrides were carried out",
    "PropertyPlaceholderConfigurer": "placeholders are filled in from the environment",
    "PropertySourcesPlaceholderConfigurer": "placeholders are filled in from the environment",
    "PropertyPathFactoryBean": "its value was looked up where it is used",
    "BdbModule": "the frontier keeps its rows in LevelDB below the JOBDIR",
    "BdbServerCache": "what is known of servers lies in the frontier's store",
    "DefaultServerCache": "what is known of servers lies in the frontier's store",
    "BdbUriUniqFilter": "what was seen lies in the frontier's store",
    "BloomUriUniqFilter": "what was seen lies in the frontier's store, exactly",
    "BloomFilter64bit": "what was seen lies in the frontier's store, exactly",
    "FPUriUniqFilter": "what was seen lies in the frontier's store",
    "ConfigPathConfigurer": "paths are relative to the job's file",
    "SheetOverlaysManager": "sheets are collected by themselves",
    "Timer": "reading and writing have timers of their own",
    "KryoMapping": "",
    "BdbContentDigestHistory": "what is remembered lies below HERITRIX_HISTORY_DIR",
}

#: ``role.property`` → why it needs no counterpart.
NEEDLESS: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("crawlController.recorderOutBufferBytes", "crawlController.recorderInBufferBytes"),
        "a recorder keeps 512 KiB in memory and the rest on disk",
    ),
    "crawlController.scratchDir": "what is too large for memory lies in the system's temporary directory (TMPDIR)",
    "crawlController.checkpointsDir": "checkpoints lie in JOBDIR/checkpoints",
    "crawlController.checkpointerPeriod": "see checkpointService.checkpointIntervalMinutes",
    "crawlController.pauseAtFinish": "a crawl that has ended can be looked at with the commands and the page",
    "crawlController.alertThreadGroup": "",
    "checkpointService.checkpointsDir": "checkpoints lie in JOBDIR/checkpoints",
    "frontier.recoveryDir": "the journal lies among the logs",
    "frontier.holdQueues": "a queue is always held until its first URI is there",
    "frontier.outboundQueueCapacity": "no such buffer is needed",
    "frontier.inboundQueueMultiple": "no such buffer is needed",
    "frontier.targetReadyMultiple": "no such buffer is needed",
    "frontier.uriUniqFilter": "what was seen lies in the frontier's store",
    "frontier.bdb": "the frontier keeps its rows in LevelDB",
    "statisticsTracker.reportsDir": "reports lie in JOBDIR/reports",
    "statisticsTracker.liveHostReportSize": "reports name every host",
    "statisticsTracker.keepSnapshotsCount": "rates are kept as long as they are asked for",
    "statisticsTracker.trackSources": "sources are tracked where seeds are tagged",
    "statisticsTracker.trackSeeds": "seeds are always tracked",
    "loggerModule.path": "logs lie in JOBDIR/logs",
    **dict.fromkeys(
        (
            f"loggerModule.{log}LogPath"
            for log in ("crawl", "alerts", "progress", "uriErrors", "runtimeErrors", "nonfatalErrors")
        ),
        "logs have Heritrix's names",
    ),
    "warcWriter.writeBufferSize": "Heritrix never reads it",
    "warcWriter.poolMaxWaitMs": "nothing waits for a free file",
    "warcWriter.maxWaitForIdleMs": "nothing waits for a free file",
    "warcWriter.writeRevisitForIdenticalDigests": "Heritrix reads it no more; see HERITRIX_WARC_WRITE_REVISITS",
    "warcWriter.writeRevisitForNotModified": "Heritrix reads it no more; see HERITRIX_WARC_WRITE_REVISITS",
    "warcWriter.frequentFlushes": "records are flushed before the log calls a URI finished",
    "warcWriter.suffix": "Heritrix reads it no more; see HERITRIX_WARC_TEMPLATE",
    "warcWriter.metadataProvider": "the crawl's metadata are always used",
    "cookieStore.bdb": "cookies lie in the JOBDIR",
    "cookieStore.bdbModule": "cookies lie in the JOBDIR",
    "fetchHttp.cookieStore": "there is one store of cookies",
    "fetchHttp.cookieStorage": "there is one store of cookies",
    "fetchHttp.credentialStore": "there is one list of credentials",
    "preconditions.credentialStore": "there is one list of credentials",
    "fetchHttp.userAgentProvider": "the crawl's metadata are always used",
    "fetchHttp.serverCache": "what is known of servers lies in the frontier's store",
    "fetchDns.serverCache": "what is known of servers lies in the frontier's store",
    "fetchDns.digestContent": "a digest is always taken",
    "actionDirectory.actionDir": "the action directory is JOBDIR/action",
    "actionDirectory.doneDir": "files that were acted upon go to JOBDIR/action/done",
    "fetchHistory.historyDbName": "",
    "diskSpaceMonitor.monitorPaths": "the file systems that the crawl writes to are watched",
    "diskSpaceMonitor.monitorConfigPaths": "JOBDIR and the writers' folders are always watched",
}

#: Properties of any bean that mean nothing to a crawl.
NEEDLESS_ANYWHERE: Final = frozenset(
    {"comment", "beanName", "loggerModule", "serverCache", "metadata", "applicationContext"}
)

_SHA1: Final = (("sha1", "sha-1", "sha"), "digests are SHA-1, as indexes and earlier crawls have them")

#: What is always so here: ``role.property`` → the values that say it, in small letters, and what to say to others.
ALWAYS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "fetchHttp.digestAlgorithm": _SHA1,
    "fetchDns.digestAlgorithm": _SHA1,
    "fetchFtp.digestAlgorithm": _SHA1,
    "fetchWhois.digestAlgorithm": _SHA1,
}
