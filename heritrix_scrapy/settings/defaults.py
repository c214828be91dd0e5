"""Which settings are there, what do they mean, and what holds when nobody says anything?

One table. The views that every room reads, the validation, the settings reference and (later) sheets and the
reader of Heritrix job files walk it. A setting is called ``HERITRIX_`` and its name in capitals; Heritrix's own
properties keep their names and units.
"""

# ruff: noqa: E501
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from heritrix_scrapy.uri.canonical import DEFAULT_RULES, MODERN_RULES

PREFIX: Final = "HERITRIX_"

#: Stands where the heritrix profile has the modern profile's default.
SAME: Final = "same as the default"

PROFILES: Final = ("modern", "heritrix")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row.

    ``kind``: a name of ``validate.KINDS``; ``choices``: for kind ``choice``; ``overridable``: whether a sheet may
    give another value for some URIs; ``bean``: the ``bean.property`` of Heritrix that it stands for, or empty.
    """

    name: str
    default: Any
    kind: str
    unit: str
    overridable: bool
    bean: str
    doc: str
    heritrix: Any = SAME
    choices: tuple[str, ...] = ()
    minimum: float | None = None

    @property
    def key(self) -> str:
        """The name in a project's settings."""
        return PREFIX + self.name

    @property
    def attribute(self) -> str:
        """The name on a View."""
        return self.name.lower()

    def default_in(self, profile: str) -> Any:
        """The default that holds in a profile."""
        return self.heritrix if profile == "heritrix" and self.heritrix is not SAME else self.default


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong to one matter, as the reference shows them."""

    title: str
    rows: tuple[Setting, ...]


def row(
    name: str,
    default: Any,
    kind: str,
    doc: str,
    *,
    unit: str = "",
    ov: bool = False,
    bean: str = "",
    heritrix: Any = SAME,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
) -> Setting:
    return Setting(name, default, kind, unit, ov, bean, doc, heritrix, choices, minimum)


USER_AGENT = "Mozilla/5.0 (compatible; heritrix/@VERSION@ +@OPERATOR_CONTACT_URL@)"
ACCEPT = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
WARC_TEMPLATE = "${prefix}-${timestamp17}-${serialno}-${heritrix.pid}~${heritrix.hostname}~${heritrix.port}"

WHOIS_QUERY_TEMPLATES = {
    "whois.verisign-grs.com": "domain %s",
    "whois.arin.net": "z + %s",
    "whois.denic.de": "-T dn %s",
}

EXTRACTORS = (
    "ExtractorHTTP",
    "ExtractorRobotsTxt",
    "ExtractorSitemap",
    "ExtractorHTML",
    "ExtractorCSS",
    "ExtractorJS",
    "ExtractorSWF",
)
# One row a line, however long: this is a table.
# fmt: off
GROUPS: tuple[Group, ...] = (
    Group(
        "The crawl",
        (
            row("PROFILE", "modern", "choice", "Which set of defaults holds: `modern`, or `heritrix` for Heritrix's own ways.", choices=PROFILES),
            row("JOB", None, "path", "A Heritrix job, its `crawler-beans.cxml` or the folder of it, that says how to crawl. Stands above the project's settings, below the command line's; with it the profile is `heritrix` unless one is named. See [coming from Heritrix](coming-from-heritrix.md)."),
            row("JOB_STRICT", False, "bool", "True ends the start when something in the job file cannot be taken over that changes the crawl or its archive."),
            row("CLASS_MAP", {}, "mapping", "What stands for classes of a job file that are not Heritrix's: `{Java class: dotted path of a class of yours, or a name of HERITRIX_SCOPE or HERITRIX_EXTRACTORS}`."),
            row("OPERATOR_CONTACT_URL", "", "str", "Where a webmaster finds out who crawls: an http(s) address. Required; goes into the User-Agent.", ov=True, bean="metadata.operatorContactUrl"),
            row("JOB_NAME", "basic", "str", "Name of the crawl; `isPartOf` in the warcinfo record.", bean="metadata.jobName"),
            row("OPERATOR", "", "str", "Who runs the crawl; in the warcinfo record.", bean="metadata.operator"),
            row("OPERATOR_FROM", "", "str", "E-mail address, sent as `From` header; empty sends none.", ov=True, bean="metadata.operatorFrom"),
            row("ORGANIZATION", "", "str", "On whose behalf; `publisher` in the warcinfo record.", bean="metadata.organization"),
            row("AUDIENCE", "", "str", "For whom; in the warcinfo record.", bean="metadata.audience"),
            row("DESCRIPTION", "", "str", "What for; in the warcinfo record.", bean="metadata.description"),
            row("USER_AGENT_TEMPLATE", USER_AGENT, "str", "User-Agent with the places `@VERSION@` and `@OPERATOR_CONTACT_URL@`; the latter must stand in it.", ov=True, bean="metadata.userAgentTemplate"),
            row("MAX_TOE_THREADS", 25, "int", "URIs in process at once; Scrapy's CONCURRENT_REQUESTS follows it.", bean="crawlController.maxToeThreads", minimum=1),
            row("NEW_CRAWL", False, "bool", "True starts a new crawl on a JOBDIR instead of going on with the one in it."),
            row("LAUNCH_DIRS", False, "bool", "True puts `logs/`, `reports/` and `warcs/` into a folder named by the launch's 14 digits, linked as `latest`.", heritrix=True),
            row("PAUSE_AT_START", False, "bool", "True starts paused, until `scrapy heritrix unpause JOBDIR`.", bean="crawlController.pauseAtStart"),
            row("RUN_WHILE_EMPTY", False, "bool", "True stays alive with an empty frontier.", bean="crawlController.runWhileEmpty"),
            row("STEPS", {}, "mapping", "Steps of your own: `{point: [dotted paths]}`, or `[dotted path, {property: value}]` in place of a path, with the points `before_fetch`, `after_fetch`, `after_extract` and `disposition`."),
            row("STOP_GRACE_SECONDS", 30, "number", "How long fetches in flight may go on after a stop.", unit="s", minimum=0),
            row("ALLOW_FOREIGN_HANDLER", False, "bool", "True lets a project's own http handler stand; what it fetches is logged as not archived."),
        ),
    ),
    Group(
        "Limits",
        (
            row("MAX_BYTES_DOWNLOAD", 0, "int", "The crawl ends when so much was fetched; 0: no limit.", unit="bytes", bean="crawlLimiter.maxBytesDownload", minimum=0),
            row("MAX_NOVEL_BYTES", 0, "int", "The same, counting only what repeats nothing.", unit="bytes", bean="crawlLimiter.maxNovelBytes", minimum=0),
            row("MAX_WARC_NOVEL_BYTES", 0, "int", "The same, counting the content of response and resource records.", unit="bytes", bean="crawlLimiter.maxWarcNovelBytes", minimum=0),
            row("MAX_DOCUMENTS_DOWNLOAD", 0, "int", "The crawl ends when so many URIs were answered; 0: no limit.", bean="crawlLimiter.maxDocumentsDownload", minimum=0),
            row("MAX_NOVEL_URLS", 0, "int", "The same, counting only answers that repeat nothing.", bean="crawlLimiter.maxNovelUrls", minimum=0),
            row("MAX_WARC_NOVEL_URLS", 0, "int", "The same, counting response and resource records.", bean="crawlLimiter.maxWarcNovelUrls", minimum=0),
            row("MAX_TIME_SECONDS", 0, "int", "The crawl ends when it has run so long, pauses left out; 0: no limit.", unit="s", bean="crawlLimiter.maxTimeSeconds", minimum=0),
            row("WARC_LIMITS", {}, "mapping", "The crawl ends when WARC files hold so much: `{record type or totals: {numRecords, contentBytes, totalBytes or sizeOnDisk: number}}`.", bean="warcLimitEnforcer.limits"),
            row("RUNTIME_SECONDS", 0, "int", "What happens to URIs that come after so long is said by HERITRIX_RUNTIME_EXPIRATION_OPERATION; 0: no limit.", unit="s", ov=True, bean="runtimeLimitEnforcer.runtimeSeconds", minimum=0),
            row("RUNTIME_EXPIRATION_OPERATION", "PAUSE", "choice", "`PAUSE` pauses the crawl, `TERMINATE` ends it, `BLOCK_URIS` ends each URI as -5004.", choices=("PAUSE", "TERMINATE", "BLOCK_URIS"), ov=True, bean="runtimeLimitEnforcer.expirationOperation"),
            row("QUOTAS", [], "mappings", "What may be fetched of a host, server, queue or source: a list of entries, or one.", ov=True, bean="quotaEnforcer"),
            row("PAUSE_THRESHOLD_MIB", 512, "number", "The crawl pauses when a file system it writes to has less room, and goes on when there is room again; 0: never. The default takes at most an eighth of a small file system.", unit="MiB", bean="diskSpaceMonitor.pauseThresholdMiB", heritrix=0, minimum=0),
            row("MONITOR_PATHS", [], "list", "Further places whose file systems must have that room.", bean="diskSpaceMonitor.monitorPaths"),
            row("MONITOR_CONFIG_PATHS", True, "bool", "False looks at HERITRIX_MONITOR_PATHS alone, not at where the job itself writes.", bean="diskSpaceMonitor.monitorConfigPaths"),
            row("MEMORY_LIMIT_MIB", 0, "int", "The crawl ends, to be resumed, when its process holds more memory than that (mapped files left out); 0: no limit.", unit="MiB", minimum=0),
            row("IDLE_LIMIT_SECONDS", 0, "int", "The crawl ends when no URI has moved for so long while it ran, or waited with an empty frontier; 0: no limit.", unit="s", minimum=0),
            row("SEEDS_UNANSWERED_SHARE", 1, "number", "A crawl of which more than this share of the seeds did not answer, or none did, ends as FINISHED_ABNORMAL; 0: as FINISHED all the same.", heritrix=0, minimum=0),
        ),
    ),
    Group(
        "Seeds and spider",
        (
            row("SEEDS", [], "lines", "Seed lines, or the path of a seeds file; added to what the spider's `start()` asks for.", bean="seeds.textSource"),
            row("SOURCE_TAG_SEEDS", False, "bool", "True tags each URI with the seed it came from.", bean="seeds.sourceTagSeeds"),
            row("SEED_SOURCE", "", "str", "A source of seeds of your own, by dotted path: `seeds()` gives seed lines, read one by one."),
            row("SEED_FILE_APPEND", False, "bool", "True appends where seeds redirect to, when that becomes a seed, to the file of HERITRIX_SEEDS.", heritrix=True),
            row("BLOCK_AWAITING_SEED_LINES", -1, "int", "After so many seed lines the crawl begins, and the others are read while it runs; -1: after all.", bean="seeds.blockAwaitingSeedLines", minimum=-1),
            row("SEED_SLASH_SEMANTICS", "as_written", "choice", "`as_written`: a seed without path and trailing slash covers its subdomains; `fixed_up`: the slash is added first, and it does not.", choices=("as_written", "fixed_up"), heritrix="fixed_up"),
            row("SEEDS_REDIRECT_NEW_SEEDS", True, "bool", "Where a seed redirects to becomes a seed.", ov=True, bean="candidates.seedsRedirectNewSeeds"),
            row("SEEDS_REDIRECT_NEW_SEEDS_ALLOW_TLDS", True, "bool", "False: not when the target's host is a top-level domain.", ov=True, bean="candidates.seedsRedirectNewSeedsAllowTLDs"),
            row("FOLLOW", "embeds", "choice", "Which links that extractors found are crawled besides what the spider asks for: `all`, `embeds` or `none`.", choices=("all", "embeds", "none")),
            row("CALLBACK", None, "str", "Name of a spider method that gets the responses of URIs the extractors found."),
            row("CAPTURES_TO_PIPELINES", False, "bool", "True sends captures through every item pipeline, as items."),
        ),
    ),
    Group(
        "Scope",
        (
            row("SCOPE", "default", "scope", "Name of a preset, list of rules, or dotted path of a class.", bean="scope.rules"),
            row("SCOPE_RESPONSE_RULES", "refuse", "choice", "What becomes of a rule in HERITRIX_SCOPE that looks at an answer, which no URI has at that time: `refuse` ends the start; `as_unfetched` lets it see status 0 and content type `unknown`.", choices=("refuse", "as_unfetched"), heritrix="as_unfetched"),
            row("SCOPE_LOG_TO_FILE", False, "bool", "True writes a line for each judged URI to `scope.log`: which rule settled it.", bean="scope.logToFile"),
            row("SCOPE_LOG_EXTRA_INFO", False, "bool", "True adds hop path, via, seed and host to the lines of `scope.log`, as JSON.", bean="scope.logExtraInfo"),
            row("CANDIDATE_SCOPER_LOG_TO_FILE", False, "bool", "True writes a line for each judged candidate to `candidateScoper.log`.", bean="candidateScoper.logToFile"),
            row("CANDIDATES_SHOULD_PROCESS_RULE", None, "rule", "A rule asked before the links of a URI become candidates; REJECT: none does.", bean="candidates.shouldProcessRule"),
            row("SCOPE_SPIDER_REQUESTS", None, "bool", "Whether the spider's own Requests are judged by scope too; unset: when the project set HERITRIX_SCOPE."),
            row("SURTS", [], "lines", "More SURT prefixes to accept: lines, or the path of a file.", bean="acceptSurts.surtsSource"),
            row("NEGATIVE_SURTS", [], "lines", "SURT prefixes to reject: lines, or the path of a file.", bean="negativeSurts.surtsSource"),
            row("REJECT_REGEXES", [], "lines", "Regular expressions; a URI that one of them matches as a whole is rejected. Lines, or the path of a file.", ov=True, bean="listRegexFilterOut.regexList"),
            row("LIST_RELOAD_SECONDS", 30, "number", "How often lists that scope reads from files are looked at; one that has changed counts when it has stayed the same for so long. 0: never.", unit="s", minimum=0, heritrix=0),
            row("MAX_HOPS", 20, "int", "Longest hop path that is not rejected.", ov=True, bean="tooManyHops.maxHops", minimum=0),
            row("MAX_TRANS_HOPS", 2, "int", "How many hops other than L may follow the last L of a path that scope would not take otherwise.", ov=True, bean="transclusion.maxTransHops", minimum=0),
            row("MAX_SPECULATIVE_HOPS", 1, "int", "How many of those may be speculative (X).", ov=True, bean="transclusion.maxSpeculativeHops", minimum=0),
            row("MAX_REPETITIONS", 2, "int", "How often a path segment may be repeated in a row; 0 allows any number.", ov=True, bean="pathological.maxRepetitions", minimum=0),
            row("MAX_PATH_DEPTH", 20, "int", "How many slashes a URI's path may have.", ov=True, bean="tooManyPathSegments.maxPathDepth", minimum=0),
        ),
    ),
    Group(
        "Sheets",
        (
            row("SHEETS", {}, "mapping", "Named sets of values that hold for some URIs only: `{name: {setting: value}}`; `HERITRIX_SCOPE[2].max_hops` or `HERITRIX_SCOPE[id].max_hops` is a property of one rule."),
            row("SHEET_ASSOCIATIONS", [], "associations", "Where sheets hold: a list of `{surt_prefixes: [...], sheets: [...]}` and `{rules: [...], order: 0, sheets: [...]}`."),
        ),
    ),
    Group(
        "Frontier",
        (
            row("QUEUE_TOTAL_BUDGET", -1, "int", "Cost that a queue may spend before it is retired; -1 is no limit.", ov=True, bean="frontier.queueTotalBudget", minimum=-1),
            row("BALANCE_REPLENISH_AMOUNT", 3000, "int", "Cost that a queue may spend before others get their turn.", ov=True, bean="frontier.balanceReplenishAmount", minimum=0),
            row("ERROR_PENALTY_AMOUNT", 100, "int", "What a failure costs its queue on top.", ov=True, bean="frontier.errorPenaltyAmount", minimum=0),
            row("PRECEDENCE_FLOOR", 255, "int", "A queue of this precedence or higher is not worked on.", bean="frontier.precedenceFloor", minimum=0),
            row("RETRY_DELAY_SECONDS", 900, "number", "Pause before a URI is tried again.", unit="s", ov=True, bean="frontier.retryDelaySeconds", minimum=0),
            row("MAX_RETRIES", 30, "int", "Attempts after which a URI is given up.", ov=True, bean="frontier.maxRetries", minimum=0),
            row("PREFERENCE_DEPTH_HOPS", -1, "int", "0 goes depth first; n lifts the hops 1 to n before others of their queue; -1 neither.", ov=True, bean="preparer.preferenceDepthHops", minimum=-1),
            row("PREFERENCE_EMBED_HOPS", 1, "int", "Embeds up to so many hops from their page come before its links; 0 never.", ov=True, bean="preparer.preferenceEmbedHops"),
            row("STRICT_URI_FIXUP", False, "bool", "True repairs, compares and reduces URIs exactly as Heritrix does, its defects included.", heritrix=True),
            row("CANONICALIZATION_RULES", [[name, {}] for name in MODERN_RULES], "components", "What makes two addresses the same page: a list of `[rule, {property: value}]`, applied in order.", ov=True, heritrix=[[name, {}] for name in DEFAULT_RULES], bean="canonicalizationPolicy.rules"),
            row("QUEUE_ASSIGNMENT_POLICY", "SurtAuthority", "policy", "Which queue a URI waits in: `SurtAuthority`, `SurtAuthorityWithLimits`, `Hostname`, `HostnameWithLimits`, `AssignmentLevelSurt`, `IP`, `Bucket`, `SourceTag`, or a dotted path. See [policies](frontier-policies.md).", ov=True, bean="preparer.queueAssignmentPolicy"),
            row("DEFER_TO_PREVIOUS", True, "bool", "A URI that has a queue stays in it.", ov=True, bean="queueAssignmentPolicy.deferToPrevious"),
            row("FORCE_QUEUE_ASSIGNMENT", "", "str", "Name of the one queue that takes every URI; empty: the policy decides.", ov=True, bean="queueAssignmentPolicy.forceQueueAssignment"),
            row("PARALLEL_QUEUES", 1, "int", "Queues for each authority, each of which is worked on by itself: so many fetches at once from one server.", ov=True, bean="queueAssignmentPolicy.parallelQueues", minimum=1),
            row("PARALLEL_QUEUES_RANDOM_ASSIGNMENT", False, "bool", "True spreads URIs over parallel queues by their whole text, else by the first segment of their path.", ov=True, bean="queueAssignmentPolicy.parallelQueuesRandomAssignment"),
            row("QUEUE_ASSIGNMENT_LIMIT", -1, "int", "Segments of a queue's name that `SurtAuthorityWithLimits` and `HostnameWithLimits` keep; -1 keeps all.", ov=True, bean="queueAssignmentPolicy.limit", minimum=-1),
            row("SOURCE_TAG_QUEUE_LEVEL", "seed", "choice", "What names a queue of `SourceTag`: the `seed` as written, its `host` or its registered `domain`.", ov=True, choices=("seed", "host", "domain")),
            row("COST_ASSIGNMENT_POLICY", "Unit", "policy", "What a URI costs its queue: `Unit`, `Zero`, `Wag`, `AntiCalendar`, or a dotted path.", ov=True, bean="preparer.costAssignmentPolicy"),
            row("URI_PRECEDENCE_POLICY", "Cost", "policy", "Which URI of a queue comes first: `Cost`, `Base`, `Hops`, `Preloaded`, or a dotted path.", ov=True, bean="preparer.uriPrecedencePolicy"),
            row("URI_BASE_PRECEDENCE", 1, "int", "Precedence that `Base` gives a URI, and to which `Hops` and `Preloaded` add.", ov=True, bean="uriPrecedencePolicy.basePrecedence"),
            row("NAVLINKS_ONLY", True, "bool", "`Hops` counts navigation links only; False: every hop.", ov=True, bean="uriPrecedencePolicy.navlinksOnly"),
            row("PRELOAD_SOURCE", [], "lines", "What `Preloaded` knows: lines of a URI and its precedence, or the path of a file.", ov=True),
            row("DEFAULT_URI_PRECEDENCE_POLICY", "Base", "policy", "What `Preloaded` asks about a URI it does not know.", ov=True, bean="uriPrecedencePolicy.defaultUriPrecedencePolicy"),
            row("QUEUE_PRECEDENCE_POLICY", "Base", "policy", "Which queue comes first: `Base`, `SuccessCounts`, `HighestUri`, or a dotted path.", ov=True, bean="frontier.queuePrecedencePolicy"),
            row("QUEUE_BASE_PRECEDENCE", 3, "int", "Precedence that `Base` gives a queue, and to which `SuccessCounts` and `HighestUri` add.", ov=True, bean="queuePrecedencePolicy.basePrecedence"),
            row("INCREMENT_COUNTS", "100,1000", "str", "After how many successes `SuccessCounts` puts a queue one tier back, and then again; the last number repeats.", ov=True, bean="queuePrecedencePolicy.incrementCounts"),
            row("RESCHEDULE_DELAY_SECONDS", -1, "number", "After so many seconds a URI is fetched again, however it ended; 0 and less: never.", unit="s", ov=True, bean="rescheduler.rescheduleDelaySeconds"),
            row("RESCHEDULING_POLICY", "", "str", "When a URI is fetched again, by the dotted path of a class of your own: `next_fetch(curi, now_ms, settings)`, milliseconds or None."),
            row("RECOVERY_LOG_ENABLED", True, "bool", "Keeps Heritrix's journal of what happened to each URI, `frontier.recover.gz` among the logs.", bean="frontier.recoveryLogEnabled"),
            row("DUMP_PENDING_AT_CLOSE", False, "bool", "True gives each URI that still waits at the end a line of crawl.log, with status 0.", bean="frontier.dumpPendingAtClose"),
            row("LARGEST_QUEUES_COUNT", 20, "int", "So many of the longest queues are known, to reports and `status`.", bean="frontier.largestQueuesCount", minimum=0),
            row("MAX_QUEUES_PER_REPORT_CATEGORY", 2000, "int", "Queues of each state that the frontier's summary report tells of.", bean="frontier.maxQueuesPerReportCategory", minimum=0),
            row("SNOOZE_LONG_MS", 300_000, "int", "Taken from jobs, and nothing more: Heritrix has it and uses it nowhere.", unit="ms", bean="frontier.snoozeLongMs", minimum=0),
            row("PROCESS_ERROR_OUTLINKS", False, "bool", "Links of answers other than 2xx and 3xx are followed too.", ov=True, bean="candidates.processErrorOutlinks"),
        ),
    ),
    Group(
        "Several crawlers",
        (
            row("CRAWL_MAPPER", "", "str", "How a crawl is split over several crawlers: `Hash`, `Lexical`; empty: it is not. What belongs to another crawler is written to a file for it. See [policies](frontier-policies.md).", bean="hashCrawlMapper"),
            row("LOCAL_NAME", ".", "str", "This crawler: its number, from 0, with `Hash`; its name in the map with `Lexical`.", bean="hashCrawlMapper.localName"),
            row("CRAWLER_COUNT", 1, "int", "`Hash`: how many crawlers there are.", bean="hashCrawlMapper.crawlerCount", minimum=1),
            row("USE_PUBLIC_SUFFIXES_REGEX", True, "bool", "`Hash`: all queues of a registered domain go to one crawler.", bean="hashCrawlMapper.usePublicSuffixesRegex"),
            row("REDUCE_PREFIX_REGEX", "", "str", "`Hash` without the setting before: what this regular expression finds in a queue's name decides; empty: the whole name.", bean="hashCrawlMapper.reducePrefixRegex"),
            row("MAP_PATH", [], "lines", "`Lexical`: lines of a key and a crawler, or the path of a file; a queue goes to the first key at or after its name.", bean="lexicalCrawlMapper.mapPath"),
            row("CHECK_URI", True, "bool", "Map candidates, once the scope has taken them, and each URI before it is fetched.", ov=True, bean="hashCrawlMapper.checkUri"),
            row("CHECK_OUTLINKS", False, "bool", "Map links before the scope is asked, too.", ov=True, bean="hashCrawlMapper.checkOutlinks"),
            row("OUTLINK_RULE", None, "rule", "A rule for that: links that it rejects are left to the scope.", bean="hashCrawlMapper.outlinkRule"),
            row("DIVERSION_DIR", None, "path", "Folder of the files for other crawlers; unset: `diversions` in the JOBDIR.", bean="hashCrawlMapper.diversionDir"),
            row("ROTATION_DIGITS", 10, "int", "A new file whenever the first digits of the 14-digit time change: 8 each day, 10 each hour.", bean="hashCrawlMapper.rotationDigits", minimum=1),
        ),
    ),
    Group(
        "Politeness",
        (
            row("DELAY_FACTOR", 5.0, "number", "A queue rests this many times as long as its last fetch took.", ov=True, bean="disposition.delayFactor", minimum=0),
            row("MIN_DELAY_MS", 3000, "int", "Shortest rest.", unit="ms", ov=True, bean="disposition.minDelayMs", minimum=0),
            row("MAX_DELAY_MS", 30_000, "int", "Longest rest; a Crawl-delay in robots.txt may ask for more.", unit="ms", ov=True, bean="disposition.maxDelayMs", minimum=0),
            row("RESPECT_CRAWL_DELAY_UP_TO_SECONDS", 300, "int", "Longest Crawl-delay that is heeded; 0 heeds none.", unit="s", ov=True, bean="disposition.respectCrawlDelayUpToSeconds", minimum=0),
            row("MAX_PER_HOST_BANDWIDTH_USAGE_KB_SEC", 0, "int", "Bandwidth that one host may give; 0 is no limit.", unit="KB/s", ov=True, bean="disposition.maxPerHostBandwidthUsageKbSec", minimum=0),
            row("POLITENESS_PER_ADDRESS", False, "bool", "True has the queues of all names that lead to one address take turns: one fetch at a time, and the rest after it binds all of them.", ov=True),
            row("FORCE_RETIRE", False, "bool", "True retires the queue of each URI it holds for.", ov=True, bean="disposition.forceRetire"),
            row("RETRY_AFTER_MAX_SECONDS", 86_400, "int", "Longest pause that a 429 or 503 may ask for; 0 heeds none.", unit="s", ov=True, minimum=0, heritrix=0),
        ),
    ),
    Group(
        "Before the fetch",
        (
            row("BLOCK_ALL", False, "bool", "True fetches nothing.", ov=True, bean="preselector.blockAll"),
            row("ALLOW_BY_REGEX", "", "regex", "Only what this expression matches as a whole is fetched; empty: everything.", ov=True, bean="preselector.allowByRegex"),
            row("BLOCK_BY_REGEX", "", "regex", "What this expression matches as a whole is not fetched.", ov=True, bean="preselector.blockByRegex"),
            row("RECHECK_SCOPE", False, "bool", "Ask scope again before each fetch.", ov=True, bean="preselector.recheckScope"),
            row("IP_VALIDITY_DURATION_SECONDS", 21_600, "int", "How long an address holds at least; 0 for ever.", unit="s", ov=True, bean="preconditions.ipValidityDurationSeconds", minimum=0),
            row("ROBOTS_VALIDITY_DURATION_SECONDS", 86_400, "int", "How long a robots.txt holds; 0 for ever.", unit="s", ov=True, bean="preconditions.robotsValidityDurationSeconds", minimum=0),
            row("CALCULATE_ROBOTS_ONLY", False, "bool", "True only notes what robots.txt forbids, and fetches it.", ov=True, bean="preconditions.calculateRobotsOnly"),
            row("ROBOTS_POLICY", "obey", "robots_policy", "How robots.txt and robots meta tags are treated: `obey` or `classic`, `robotsTxtOnly`, `ignore`; `custom`, `firstNamed` and `mostFavored` with properties; a name of HERITRIX_AVAILABLE_ROBOTS_POLICIES; or the dotted path of your own.", ov=True, bean="metadata.robotsPolicyName"),
            row("AVAILABLE_ROBOTS_POLICIES", {}, "mapping", "Policies by names of your own: `{name: [policy, {property: value}]}`.", ov=True, bean="metadata.availableRobotsPolicies"),
            row("ROBOTS_USER_AGENT", "", "str", "The name that groups of robots.txt are looked up by; empty: that of the User-Agent.", ov=True),
            row("ROBOTS_FORBIDDEN", "allow", "choice", "What a robots.txt means that is answered with 401 or 403: `allow` everything, as RFC 9309 says, or `disallow`.", ov=True, choices=("allow", "disallow")),
            row("ARCHIVE_NOINDEX", True, "bool", "False writes no record of a document whose robots meta tag or X-Robots-Tag header says `noindex` or `none`.", ov=True),
            row("MAX_REDIRECTS", 20, "int", "Redirects in a row after which the next target is not fetched; 0 is no limit. The spider's own Requests follow REDIRECT_MAX_TIMES.", ov=True, heritrix=0, minimum=0),
            row("OBEY_X_ROBOTS_TAG", True, "bool", "An X-Robots-Tag header that says `nofollow` or `none` counts as a robots meta tag does.", ov=True, heritrix=False),
            row("ANNOTATE_IP", False, "bool", "True notes the address that a URI was fetched from among the annotations of crawl.log: `ip:192.0.2.1`.", ov=True),
            row("FETCH_ROBOTS", "always", "choice", "`unless_ignored` spares robots.txt where the policy ignores it.", ov=True, choices=("always", "unless_ignored")),
            row("ROBOTS_STANDARD", "rfc9309", "choice", "How the end of a robots.txt fetch is read: by RFC 9309, or as Heritrix does.", ov=True, choices=("rfc9309", "heritrix"), heritrix="heritrix"),
            row("AWAIT_DNS_RETRIES", True, "bool", "While a host's look-up has tries left, its URIs in other queues wait instead of ending as -6.", ov=True, heritrix=False),
            row("PRESELECT_PREREQUISITES", False, "bool", "Whether block rules also judge `dns:` and robots.txt prerequisites.", ov=True, heritrix=True),
        ),
    ),
    Group(
        "Fetching",
        (
            row("DNS_SERVERS", [], "list", "Name servers, each `host` or `host:port`; empty: the system's."),
            row("DNS_OVER_HTTP_SERVER", None, "str", "URL of a name server that is asked over HTTPS (RFC 8484) in the place of HERITRIX_DNS_SERVERS.", bean="fetchDns.dnsOverHttpServer"),
            row("ACCEPT_NON_DNS_RESOLVES", False, "bool", "Ask the operating system when DNS gives no address.", ov=True, bean="fetchDns.acceptNonDnsResolves"),
            row("DISABLE_JAVA_DNS_RESOLVES", False, "bool", "True asks the operating system alone; addresses that it gives leave no record.", ov=True, bean="fetchDns.disableJavaDnsResolves"),
            row("TIMEOUT_SECONDS", 1200, "number", "Longest time that one fetch may take; what came until then is kept.", unit="s", ov=True, bean="fetchHttp.timeoutSeconds", minimum=0),
            row("SO_TIMEOUT_MS", 20_000, "int", "Longest time to connect, and without a byte.", unit="ms", ov=True, bean="fetchHttp.soTimeoutMs", minimum=0),
            row("MAX_LENGTH_BYTES", 0, "int", "Most bytes kept of a response, its head included; 0 is no limit.", unit="bytes", ov=True, bean="fetchHttp.maxLengthBytes", minimum=0),
            row("MAX_FETCH_KB_SEC", 0, "int", "Fastest that one connection may read; 0 is no limit.", unit="KB/s", ov=True, bean="fetchHttp.maxFetchKBSec", minimum=0),
            row("USE_HTTP11", True, "bool", "Speak HTTP/1.1; False: HTTP/1.0.", ov=True, bean="fetchHttp.useHTTP11", heritrix=False),
            row("SEND_CONNECTION_CLOSE", False, "bool", "Ask the server to close after each answer.", ov=True, bean="fetchHttp.sendConnectionClose", heritrix=True),
            row("ACCEPT_COMPRESSION", True, "bool", "Tell the server that compressed bodies are welcome.", ov=True, bean="fetchHttp.acceptCompression", heritrix=False),
            row("ACCEPT_ENCODING", "gzip, deflate, br, zstd", "str", "What is sent as Accept-Encoding when compression is welcome.", ov=True, heritrix="gzip,deflate"),
            row("ACCEPT_HEADERS", [ACCEPT], "headers", "Header lines sent with each request, `Name: value`.", ov=True, bean="fetchHttp.acceptHeaders"),
            row("SEND_REFERER", True, "bool", "Tell the server the page that the URI was found on.", ov=True, bean="fetchHttp.sendReferer"),
            row("SEND_RANGE", False, "bool", "Ask for no more than HERITRIX_MAX_LENGTH_BYTES by a Range header.", ov=True, bean="fetchHttp.sendRange"),
            row("HTTP_BIND_ADDRESS", None, "str", "Local address that fetches come from; unset: the system's choice.", ov=True, bean="fetchHttp.httpBindAddress"),
            row("IGNORE_COOKIES", False, "bool", "Neither send nor keep cookies.", ov=True, bean="fetchHttp.ignoreCookies"),
            row("COOKIES_LOAD_FILE", [], "lines", "Cookies to begin with: the lines of a cookies.txt, or its path.", bean="cookieStore.cookiesLoadFile"),
            row("COOKIES_SAVE_FILE", None, "path", "File that all cookies are written to at the end; a relative path begins in the JOBDIR.", bean="cookieStore.cookiesSaveFile"),
            row("CREDENTIALS", [], "components", "Logins: a list of `[HttpAuthenticationCredential, {domain, realm, login, password}]` and `[HtmlFormCredential, {domain, login_uri, form_items}]`.", ov=True, bean="credentialStore.credentials"),
            row("FORM_LOGIN", [], "mappings", "Login forms to be filled in where they are met: a list of `{applicable_surt_prefix, login_username, login_password}`.", bean="formLogin"),
            row("DEFAULT_ENCODING", "ISO-8859-1", "str", "Character encoding of a document that names none.", ov=True, bean="fetchHttp.defaultEncoding"),
            row("DIGEST_CONTENT", True, "bool", "Compute a digest of each body.", ov=True, bean="fetchHttp.digestContent"),
            row("SSL_TRUST_LEVEL", "OPEN", "choice", "Which certificates are trusted: `OPEN` all of them; `LOOSE` those of a known authority and a lone one within its dates; `NORMAL` and `STRICT` those of a known authority. Names are never compared.", ov=True, bean="fetchHttp.sslTrustLevel", choices=("OPEN", "LOOSE", "NORMAL", "STRICT")),
            row("SHOULD_FETCH_BODY_RULE", None, "rule", "A rule asked when an answer's head is there; REJECT: its body is not read (`midFetchAbort`).", ov=True, bean="fetchHttp.shouldFetchBodyRule"),
            row("HTTP_PROXY_HOST", None, "str", "HTTP proxy that fetches go through.", ov=True, bean="fetchHttp.httpProxyHost"),
            row("HTTP_PROXY_PORT", None, "port", "Its port (8080 when unset).", ov=True, bean="fetchHttp.httpProxyPort", minimum=1),
            row("HTTP_PROXY_USER", "", "str", "User it asks for.", ov=True, bean="fetchHttp.httpProxyUser"),
            row("HTTP_PROXY_PASSWORD", "", "str", "That user's password.", ov=True, bean="fetchHttp.httpProxyPassword"),
            row("SOCKS_PROXY_HOST", None, "str", "SOCKS5 proxy that fetches go through; goes before an HTTP proxy.", ov=True, bean="fetchHttp.socksProxyHost"),
            row("SOCKS_PROXY_PORT", None, "port", "Its port (1080 when unset).", ov=True, bean="fetchHttp.socksProxyPort", minimum=1),
            row("SOCKS_PROXY_USERNAME", "", "str", "User it asks for.", ov=True, bean="fetchHttp.socksProxyUsername"),
            row("SOCKS_PROXY_PASSWORD", "", "str", "That user's password.", ov=True, bean="fetchHttp.socksProxyPassword"),
            row("HTTP2", False, "bool", "Speak HTTP/2 with https servers that offer it; recorded as an HTTP/1.1 exchange, noted `h2`.", ov=True, bean="fetchHttp.useHTTP2"),
            row("REFUSE_PRIVATE_ADDRESSES", False, "bool", "Never connect to private, loopback and link-local addresses, whatever a name or a redirect leads to.", ov=True),
            row("FETCH_FTP", True, "bool", "Whether `ftp:` URIs are fetched that no spider asked for.", ov=True, bean="fetchFtp.enabled", heritrix=False),
            row("FTP_USERNAME", "anonymous", "str", "User of FTP servers, where the URI names none.", ov=True, bean="fetchFtp.username"),
            row("FTP_PASSWORD", "password", "str", "That user's password.", ov=True, bean="fetchFtp.password"),
            row("FTP_EXTRACT_FROM_DIRS", True, "bool", "Whether the names in a directory become links.", ov=True, bean="fetchFtp.extractFromDirs"),
            row("FTP_EXTRACT_PARENT", True, "bool", "Whether the directory that a file or directory lies in becomes a link.", ov=True, bean="fetchFtp.extractParent"),
            row("FETCH_WHOIS", False, "bool", "True asks whois about the address and the domain of every page, as links with hop I, which scope has to take; and fetches `whois:` URIs that no spider asked for.", ov=True, bean="fetchWhois.enabled"),
            row("WHOIS_QUERY_TEMPLATES", WHOIS_QUERY_TEMPLATES, "mapping", "In which words a whois server is asked: `{server: template}`, with `%s` for the name; a server that is not there is asked the name alone.", bean="fetchWhois.specialQueryTemplates"),
            row("KEEP_ALIVE_POOL_SIZE", 100, "int", "Connections kept open for the next request; 0 keeps none.", minimum=0, heritrix=0),
            row("KEEP_ALIVE_SECONDS", 10, "number", "How long an idle connection is kept.", unit="s", minimum=0),
        ),
    ),
    Group(
        "Extraction",
        (
            row("EXTRACTORS", [[name, {}] for name in EXTRACTORS], "components", "Which extractors, in this order: names, `[name, {property: value}]`, or dotted paths of your own.", bean="fetchProcessors"),
            row("MAX_OUTLINKS", 6000, "int", "Links taken from one document; more are only counted.", ov=True, bean="frontier.maxOutlinks", minimum=0),
            row("EXTRACT_INDEPENDENTLY", False, "bool", "True lets every extractor that fits read a document, not the first only.", ov=True, bean="frontier.extractIndependently"),
            row("EXTRACT404S", True, "bool", "Extract from error pages with status 404.", ov=True, bean="frontier.extract404s"),
            row("INFER_ROOT_PAGE", False, "bool", "Take `/` of each host as found.", ov=True, bean="extractorHttp.inferRootPage"),
            row("INFER_PATHS", [], "list", "Paths of each host to take as found.", ov=True, bean="extractorHttp.inferPaths"),
            row("TREAT_FRAMES_AS_EMBED_LINKS", True, "bool", "Frames are parts of their page; False: links.", ov=True, bean="extractorHtml.treatFramesAsEmbedLinks"),
            row("IGNORE_FORM_ACTION_URLS", False, "bool", "Do not take form targets as links.", ov=True, bean="extractorHtml.ignoreFormActionUrls"),
            row("EXTRACT_ONLY_FORM_GETS", True, "bool", "Of form targets only those that a GET reaches.", ov=True, bean="extractorHtml.extractOnlyFormGets"),
            row("EXTRACT_JAVASCRIPT", True, "bool", "Look for addresses in scripts that stand in a page.", ov=True, bean="extractorHtml.extractJavascript"),
            row("EXTRACT_VALUE_ATTRIBUTES", True, "bool", "Look for addresses in `value` attributes.", ov=True, bean="extractorHtml.extractValueAttributes"),
            row("IGNORE_UNEXPECTED_HTML", True, "bool", "Do not extract from HTML where the address promises an image or the like.", ov=True, bean="extractorHtml.ignoreUnexpectedHtml"),
            row("OBEY_REL_NOFOLLOW", False, "bool", "Drop links with `rel=nofollow`.", ov=True, bean="extractorHtml.obeyRelNofollow"),
            row("HTML_READER", "standard", "choice", "How pages and headers are read: as today's standards say, or as Heritrix does.", ov=True, choices=("standard", "heritrix"), heritrix="heritrix"),
            row("CSS_READER", "standard", "choice", "How stylesheets are read: as today's standards say, or as Heritrix does.", ov=True, choices=("standard", "heritrix"), heritrix="heritrix"),
            row("SPECULATIVE_HOSTS", "cautious", "choice", "What counts as a host in a string of a script: only what ends in a known domain, or what Heritrix takes for one.", ov=True, choices=("cautious", "heritrix"), heritrix="heritrix"),
            row("SPECULATIVE_PATHS", "cautious", "choice", "What counts as a path in a string of a script: not what is shaped like a module's name, a media type, a locale, a date or an object's property; or all that Heritrix takes.", ov=True, choices=("cautious", "heritrix"), heritrix="heritrix"),
            row("SPECULATIVE_MISSES", 20, "int", "After so many guesses from scripts that a host answered with 404, nineteen of twenty at least, no more are made for it, and those that wait are dropped; 0 never stops.", ov=True, heritrix=0, minimum=0),
            row("ENABLE_LENIENT_EXTRACTION", True, "bool", "Take what a sitemap lists on other hosts and in other folders, too.", ov=True, bean="extractorSitemap.enableLenientExtraction", heritrix=False),
            row("SITEMAP_URL_PATTERN", "", "regex", "What this expression matches as a whole is read as a sitemap.", ov=True, bean="extractorSitemap.urlPattern"),
            row("MAX_EXTRACT_SECONDS", 1.5, "number", "Processor time after which a page or PDF is read no further; 0 is no limit.", unit="s", ov=True, heritrix=0, minimum=0),
            row("EXTRACT_ASIDE_BYTES", 262_144, "int", "Documents so large, PDFs, office files, and what takes longer than 30 ms are read in a process of their own, so that the crawl goes on meanwhile; 0 reads all in the crawl's.", unit="bytes", ov=True, heritrix=0, minimum=0),
            row("MAX_EXTRACT_BYTES", 8_388_608, "int", "How much of a body is read for links; 0 is no limit.", unit="bytes", ov=True, heritrix=0, minimum=0),
            row("MAX_ELEMENT_LENGTH", 64, "int", "Longest element name that is read.", unit="characters", bean="extractorHtml.maxElementLength", minimum=1),
            row("MAX_ATTRIBUTE_NAME_LENGTH", 64, "int", "Longest attribute name that is read.", unit="characters", bean="extractorHtml.maxAttributeNameLength", minimum=1),
            row("MAX_ATTRIBUTE_VAL_LENGTH", 32768, "int", "Longest attribute value that is read.", heritrix=2048, unit="characters", bean="extractorHtml.maxAttributeValLength", minimum=1),
        ),
    ),
    Group(
        "Archive",
        (
            row("WRITERS", [["warc", {}]], "components", "Which writers, in order: `warc`, `mirror`; each also with properties, and as often as wanted: `[\"warc\", {\"id\": …, \"prefix\": …, \"should_process\": …}]`. An empty list archives nothing."),
            row("WARC_DIR", None, "path", "Folder of the WARC files; unset: `warcs` in the JOBDIR, without JOBDIR the working directory.", bean="warcWriter.directory"),
            row("WARC_STORE_PATHS", [], "list", "Several folders that take turns, one file each; relative ones lie below HERITRIX_WARC_DIR, else below the JOBDIR.", bean="warcWriter.storePaths"),
            row("WARC_PREFIX", "WEB", "str", "`${prefix}` in the file names.", bean="warcWriter.prefix"),
            row("WARC_TEMPLATE", WARC_TEMPLATE, "str", "File name without extension.", bean="warcWriter.template"),
            row("WARC_NAME_PARTS", {}, "mapping", "What `${…}` in the template stands for, before all else: `{\"heritrix.pid\": \"4242\"}` for a job that was taken over, or words of your own."),
            row("WARC_MAX_FILE_SIZE_BYTES", 1_000_000_000, "int", "Size beyond which a file is closed; -1 is no limit.", unit="bytes", bean="warcWriter.maxFileSizeBytes", minimum=-1),
            row("WARC_MAX_FILE_AGE_SECONDS", 0, "number", "Age beyond which a file takes no further capture; 0 is no limit.", unit="s", minimum=0),
            row("WARC_MAX_FILE_CAPTURES", 0, "int", "Captures after which a file is closed; 0 is no limit.", minimum=0),
            row("WARC_MIN_FREE_BYTES", 0, "int", "Room that is left free on the disk; a capture that does not fit beside it pauses the crawl.", unit="bytes", minimum=0),
            row("WARC_FIRST_SERIAL", 0, "int", "Serial number of the first file, for a job that goes on counting another's.", minimum=0),
            row("WARC_POOL_MAX_ACTIVE", 1, "int", "Files open at the same time, so that a long record holds up one of them only.", bean="warcWriter.poolMaxActive", minimum=1),
            row("WARC_WRITER_SHOULD_PROCESS_RULE", None, "rule", "A rule asked before a capture is written; what it rejects is not. A writer's own `should_process` goes before.", bean="warcWriter.shouldProcessRule"),
            row("MIRROR_WRITER_SHOULD_PROCESS_RULE", None, "rule", "The same for the mirror.", bean="mirrorWriter.shouldProcessRule"),
            row("WARC_START_NEW_FILES_ON_CHECKPOINT", True, "bool", "Close the open files at a checkpoint, so that what follows goes into others.", bean="warcWriter.startNewFilesOnCheckpoint"),
            row("WARC_COMPRESS", True, "bool", "One gzip member per record; False: plain.", bean="warcWriter.compress"),
            row("WARC_WRITE_RESPONSES", True, "bool", "Write response records.", ov=True),
            row("WARC_WRITE_REVISITS", True, "bool", "Write revisit records.", ov=True),
            row("WARC_WRITE_REQUESTS", True, "bool", "Write request records.", ov=True, bean="warcWriter.writeRequests"),
            row("WARC_WRITE_METADATA", True, "bool", "Write metadata records.", ov=True, bean="warcWriter.writeMetadata"),
            row("WARC_RESPONSE_HEADERS", [], "headers", "Further headers of each response record: `Name: value`.", ov=True),
            row("WARC_REDACT_REQUEST_HEADERS", False, "bool", "Mask cookies, credentials and passwords of forms in request records, and say so in `WARC-Redacted`.", ov=True),
            row("WARC_FAILURE_RECORDS", "none", "choice", "Write a metadata record for URIs that gave no answer: for `none`, `seeds` or `all`.", choices=("none", "seeds", "all")),
            row("WARC_ITEM_RECORDS", "none", "choice", "Write the spider's items too, as JSON: `none`, as `metadata` or as `resource` records.", choices=("none", "metadata", "resource")),
            row("REPLAY", [], "list", "WARC and WACZ files, or folders of them, that answer the spider in the place of the network; nothing is archived."),
            row("CDXJ", False, "bool", "Put an index beside each WARC file when it is closed: `NAME.cdxj`."),
            row("WARC_INFO_FIELDS", {}, "mapping", "Further fields of the warcinfo record: `{name: value}`."),
            row("WARC_VERSION", "1.1", "choice", "Version of the format.", choices=("1.0", "1.1"), heritrix="1.0"),
            row("WARC_SKIP_IDENTICAL_DIGESTS", False, "bool", "True writes nothing for an answer whose content is in the archive already, not even a revisit record.", ov=True, bean="warcWriter.skipIdenticalDigests"),
            row("WARC_WRITE_CUT_BODIES", True, "bool", "Archive a body that the server cut off, marked `WARC-Truncated: disconnect`.", heritrix=False),
        ),
    ),
    Group(
        "Recrawls",
        (
            row("FETCH_HISTORY", False, "bool", "Remember each URI's last fetches: ask servers whether it has changed, and store a revisit record when not.", bean="fetchHistory"),
            row("FETCH_HISTORY_LENGTH", 2, "int", "Fetches remembered of each URI, the latest included.", bean="fetchHistory.historyLength", minimum=2),
            row("CONTENT_DIGEST_HISTORY", False, "bool", "Remember each content, so that the same bytes under another URI become a revisit record.", bean="contentDigestHistory"),
            row("HISTORY_DIR", None, "path", "Folder of what is remembered; unset: `history` in the JOBDIR. Crawls in turn may share one.", bean="persistStore"),
            row("HISTORY_PRELOAD", [], "list", "CDX, CDXJ or crawl.log files of earlier crawls, taken in once: what they tell of is remembered."),
            row("HISTORY_CDX_URL", "", "str", "A CDX server that is asked for each URI that is not remembered; `$u` is the URI, `$s` the earliest date: `http://cdx.example/all?url=$u&sort=reverse&limit=1`.", bean="wbmPersistLoad.queryURL"),
            row("HISTORY_CDX_TIMEOUT_SECONDS", 10, "number", "How long its answer is waited for.", unit="s", bean="wbmPersistLoad.socketTimeout", minimum=0.1),
            row("HISTORY_CDX_ATTEMPTS", 3, "int", "How often it is asked, 5 seconds apart; once for each URI while it is down.", minimum=1),
            row("HISTORY_CDX_HEADERS", {}, "mapping", "Header lines sent to it, such as a cookie that lets the crawl in: `{name: value}`.", bean="wbmPersistLoad.requestHeaders"),
            row("HISTORY_CDX_RANGE_SECONDS", 15_552_000, "int", "How far back `$s` lies; 0: since 1970.", unit="s", bean="wbmPersistLoad.queryRangeSecs", minimum=0),
            row("SEND_IF_MODIFIED_SINCE", True, "bool", "Ask with the Last-Modified of the last fetch.", ov=True, bean="fetchHttp.sendIfModifiedSince"),
            row("SEND_IF_NONE_MATCH", True, "bool", "Ask with the ETag of the last fetch.", ov=True, bean="fetchHttp.sendIfNoneMatch"),
            row("DEDUPLICATE_MIN_BYTES", 1024, "int", "Bodies with fewer bytes are stored again each time.", unit="bytes", ov=True, heritrix=0, minimum=0),
            row("DEDUPLICATE_ANY_STATUS", False, "bool", "True lets an answer repeat one of another status.", ov=True, heritrix=True),
            row("DEDUPLICATE_EXCEPT", [], "type_patterns", "Media types that are stored again each time: regular expressions for the beginning of the type.", ov=True),
        ),
    ),
    Group(
        "Checkpoints",
        (
            row("CHECKPOINT", "", "str", "Begin with a checkpoint: its path or its JOBDIR's, for a new JOBDIR; its name or `latest`, to go back to one of the JOBDIR's own. See [checkpoints](checkpoints.md)."),
            row("CHECKPOINT_INTERVAL_MINUTES", -1, "number", "How often a checkpoint is made; 0 and less: never by itself.", unit="min", bean="checkpointService.checkpointIntervalMinutes"),
            row("CHECKPOINT_ON_SHUTDOWN", True, "bool", "Make a checkpoint of a crawl that stops with URIs left.", bean="checkpointService.checkpointOnShutdown", heritrix=False),
            row("FORGET_ALL_BUT_LATEST", True, "bool", "Remove earlier checkpoints when one is complete, and put the logs that ended at them into one.", bean="checkpointService.forgetAllButLatest", heritrix=False),
        ),
    ),
    Group(
        "Action directory",
        (
            row("ACTION_DIR", None, "path", "Folder whose files [steer the crawl](steering.md); unset: `action` in the JOBDIR, below which a relative one lies too.", bean="actionDirectory.actionDir"),
            row("ACTION_DONE_DIR", "${launchId}/actions-done", "str", "Where they are moved afterwards, below the JOBDIR; `${launchId}` is the launch's folder.", bean="actionDirectory.doneDir"),
            row("ACTION_INITIAL_DELAY_SECONDS", 10, "number", "When it is looked into first.", unit="s", bean="actionDirectory.initialDelaySeconds", minimum=0),
            row("ACTION_DELAY_SECONDS", 30, "number", "How long after one look the next one is; 0: it is never looked into.", unit="s", bean="actionDirectory.delaySeconds", minimum=0),
        ),
    ),
    Group(
        "Reports",
        (
            row("LOG_EXTRA_INFO", False, "bool", "Put the extra information into the last column of crawl.log.", bean="loggerModule.logExtraInfo"),
            row("JSON_CRAWL_LOG", False, "bool", "True writes each line of crawl.log to `crawl.jsonl` too, as JSON.", bean="crawlLogFeed.enabled"),
            row("JSON_CRAWL_LOG_EXTRA_FIELDS", {}, "mapping", "Further members of each of its objects.", bean="crawlLogFeed.extraFields"),
            row("ANNOTATE_CONTENT_SIZE", False, "bool", "True notes all bytes of an answer among the annotations of crawl.log: `content-size:1325`. Some harvest managers count by it."),
            row("LOG_MAX_BYTES", 0, "int", "Size at which a log goes on in a new file; the one before gets the time as a suffix. 0: never.", unit="bytes", minimum=0),
            row("REPORTS", ["crawl", "seeds", "hosts", "source", "mimetypes", "responsecode", "processors", "frontier-summary", "threads", "course"], "list", "Reports that are written at the end; Heritrix's class names will do. `frontier-nonempty` is the one not among them.", bean="statisticsTracker.reports"),
            row("REPORTS_AT_CHECKPOINTS", True, "bool", "Write them at checkpoints too, while the crawl goes on.", heritrix=False),
            row("REPORTS_JSON", False, "bool", "True writes each of them as JSON too."),
            row("TRACK_SEEDS", True, "bool", "Whether is kept what became of each seed.", bean="statisticsTracker.trackSeeds"),
            row("TRACK_SOURCES", True, "bool", "Whether successes are counted by source tag and host.", bean="statisticsTracker.trackSources"),
            row("INTERVAL_SECONDS", 20, "number", "How often progress is taken down.", unit="s", bean="statisticsTracker.intervalSeconds", minimum=0),
            row("LIVE_VIEW_SECONDS", 0, "number", "So often `scrapy crawl` shows on standard output how far it is: drawn in place on a terminal, else a line each time; 0: not at all. See [watching](operating.md#watching).", unit="s", minimum=0),
            row("METRICS", "", "str", "`host:port`, or a port of 127.0.0.1, on which `/metrics` answers in Prometheus's text format; port 0 takes a free one. Empty: nothing listens."),
            row("WEB", "", "str", "`host:port`, or a port of 127.0.0.1, on which the crawl's page is served, over HTTPS; port 0 takes a free one. A password is needed. Empty: there is no page. See [the page](page.md)."),
            row("WEB_PASSWORD", "", "str", "Login of the operator: `user:password`, a password of `admin`, or `@FILE` with one of these. Empty: the environment variable of this name."),
            row("WEB_READER", "", "str", "Login of somebody who may look, and not steer: `user:password`, or `@FILE`. Empty: the environment variable of this name, or nobody."),
            row("WEB_TLS", True, "bool", "False serves the page without TLS: for a proxy on the same machine."),
            row("WEB_CERT", "", "str", "File with the certificate of the page. Empty: one of its own, made at the first start."),
            row("WEB_KEY", "", "str", "File with its key, where that is in another file."),
            row("WEB_PROXIES", [], "list", "Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count."),
        ),
    ),
)

# fmt: on

SETTINGS: tuple[Setting, ...] = tuple(row for group in GROUPS for row in group.rows)
BY_NAME: dict[str, Setting] = {row.name: row for row in SETTINGS}
