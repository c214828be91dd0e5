"""What does a status mean to the person who reads it, and what can be done?

One entry for every status of ``status.STATUS``, for the answers of servers that need more words than their class, and
for each class of HTTP answers. Settings are named as they stand in a project.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from heritrix_scrapy.model import status as s


class Explanation(NamedTuple):
    """``means``: what happened; ``do``: what an operator can do about it, or that nothing is needed."""

    means: str
    do: str


NOTHING = "Nothing."

#: By status: our own and those of other protocols than HTTP.
EXPLANATIONS: dict[int, Explanation] = {
    s.UNATTEMPTED: Explanation(
        "No fetch was tried: no part fetches URIs of this scheme, or the URI's queue was retired before its turn.",
        "See the annotations of its line. To fetch other schemes, add a fetcher; for a retired queue raise its "
        "budget and let it go on with `scrapy heritrix reconsider JOBDIR`.",
    ),
    s.DNS_OK: Explanation("The name of a host was looked up in the DNS; the answer is archived.", NOTHING),
    s.DNS_SYSTEM_OK: Explanation(
        "The name of a host was looked up by the operating system, which gave an address.",
        "Nothing; such an answer is no DNS message that could be archived as one.",
    ),
    s.WHOIS_OK: Explanation("A whois server answered; the answer is archived.", NOTHING),
    s.WHOIS_DONE: Explanation("A whois URI was turned into a query to the server that is responsible.", NOTHING),
    s.DOMAIN_UNRESOLVABLE: Explanation(
        "The host's name could not be looked up, now or ever. It is tried again after the retry delay.",
        "See whether the name exists (`dig NAME`). When many hosts end so, the name servers are at fault: "
        "`scrapy heritrix doctor` asks them. HERITRIX_RETRY_DELAY_SECONDS and HERITRIX_MAX_RETRIES say how often "
        "it is tried.",
    ),
    s.CONNECT_FAILED: Explanation(
        "No connection: the server refused it, cannot be reached, or TLS could not be agreed on. It is tried again.",
        "nonfatal-errors.log says which. When all hosts fail, look at network, firewall and proxy of this machine.",
    ),
    s.CONNECT_LOST: Explanation(
        "The connection broke before a whole answer had come, or what came was no HTTP. It is tried again.",
        "nonfatal-errors.log says at which point. When a server does this often, fetch slower there: "
        "HERITRIX_DELAY_FACTOR and HERITRIX_MIN_DELAY_MS, in a sheet of the host.",
    ),
    s.TIMEOUT: Explanation(
        "The server took longer than the fetch may, and nothing usable had come.",
        "HERITRIX_TIMEOUT_SECONDS is the whole time of a fetch, HERITRIX_SO_TIMEOUT_MS the silence that is borne.",
    ),
    s.RUNTIME_EXCEPTION: Explanation(
        "A part of the crawler failed on this URI: an own rule, extractor or step, or an error of ours.",
        "runtime-errors.log has the traceback. Once it is mended: `scrapy heritrix force JOBDIR URI`.",
    ),
    s.DOMAIN_PREREQUISITE_FAILURE: Explanation(
        "The host's name could not be looked up beforehand, so the URI itself was not tried.",
        "See the crawl.log line of `dns:HOST`; then as for -1.",
    ),
    s.UNFETCHABLE: Explanation(
        "The URI cannot be fetched: no fetcher takes its scheme, or it is none that can be asked for.",
        "Nothing, unless a fetcher for the scheme should be there; a rule on schemes keeps such URIs out.",
    ),
    s.TOO_MANY_RETRIES: Explanation(
        "Each try ended in a way that asks for another one, and none is left.",
        "The annotations say how often it was tried (`3t`). HERITRIX_MAX_RETRIES allows more.",
    ),
    s.DEFERRED: Explanation(
        "Not fetched yet: something else had to be fetched first (an address, robots.txt, a login page).",
        "Nothing: the URI waits in its queue. As a last status it means that this never came: see `dns:HOST` and "
        "robots.txt of the host in crawl.log.",
    ),
    s.UNQUEUABLE: Explanation(
        "The URI could not be put into a queue.",
        "alerts.log and nonfatal-errors.log say why; mostly no queue name could be made for it.",
    ),
    s.ROBOTS_PREREQUISITE_FAILURE: Explanation(
        "robots.txt of the host could not be fetched, so the URI itself was not tried.",
        "See the crawl.log line of the host's robots.txt. HERITRIX_ROBOTS_POLICY says what holds without one.",
    ),
    s.OTHER_PREREQUISITE_FAILURE: Explanation(
        "Something that had to come first, a login page say, could not be fetched.",
        "See the crawl.log line of that page, and HERITRIX_CREDENTIALS.",
    ),
    s.PREREQUISITE_UNSCHEDULABLE: Explanation(
        "Something that had to come first could not be queued: its URI is malformed or it cannot be kept.",
        "See uri-errors.log; for a login page the URI in HERITRIX_CREDENTIALS.",
    ),
    s.DEEMED_NOT_FOUND: Explanation(
        "The server gave an answer without a status line, or an empty one: taken as not found.",
        "Nothing; what came is not archived.",
    ),
    s.SERIOUS_ERROR: Explanation(
        "The crawler ran into an error that it could not go on from with this URI (memory, recursion).",
        "runtime-errors.log has the traceback; then as for -5.",
    ),
    s.DEEMED_CHAFF: Explanation(
        "An own step took the URI for chaff, of which no more is wanted.",
        "Nothing, or change that step.",
    ),
    s.TOO_MANY_LINK_HOPS: Explanation(
        "An own step found that the URI is too many links away from a seed.",
        "Nothing, or allow more there.",
    ),
    s.TOO_MANY_EMBED_HOPS: Explanation(
        "An own step found that the URI is too many embedded hops away from a page.",
        "Nothing, or allow more there.",
    ),
    s.OUT_OF_SCOPE: Explanation(
        "When its turn came the scope did not accept the URI any more, or an operator dropped it.",
        "`scrapy heritrix scope URI --explain` says which rule refuses it.",
    ),
    s.BLOCKED_BY_USER: Explanation(
        "A setting forbids the fetch: HERITRIX_BLOCK_ALL or HERITRIX_BLOCK_BY_REGEX, or the host's address is one.",
        "Change that setting, in a sheet where only some hosts are meant.",
    ),
    s.BLOCKED_BY_CUSTOM: Explanation(
        "A step or a downloader middleware of the project refused it (IgnoreRequest).",
        "Look at the project's own parts; the annotations may name the one.",
    ),
    s.BLOCKED_BY_QUOTA: Explanation(
        "A quota of its host, server or queue is used up; the annotation names it (`Q:hostMaxSuccessKb`).",
        "Raise it in HERITRIX_QUOTAS (`scrapy heritrix set`), or have it begin anew (`scrapy heritrix reset-quota`);"
        " then `scrapy heritrix force JOBDIR URI`.",
    ),
    s.BLOCKED_BY_RUNTIME_LIMIT: Explanation(
        "The crawl has run as long as HERITRIX_RUNTIME_SECONDS allows.",
        "Allow more time; what ended so is queued again with `scrapy heritrix force` or `import`.",
    ),
    s.DELETED_BY_USER: Explanation(
        "An operator deleted the URI from its queue.",
        "Nothing; `scrapy heritrix force JOBDIR URI` brings it back. job.log has the operation and its remark.",
    ),
    s.PROCESSING_KILLED: Explanation(
        "An operator cut off its fetch (`scrapy heritrix kill`).",
        "Nothing; `scrapy heritrix force JOBDIR URI` has it fetched again.",
    ),
    s.ROBOTS_PRECLUDED: Explanation(
        "The host's robots.txt forbids the URI to this crawler.",
        "`scrapy heritrix why URI JOBDIR` shows the line. Where the fetch is allowed all the same, by law or by the "
        "owner, set HERITRIX_ROBOTS_POLICY in a sheet of that host.",
    ),
    401: Explanation(
        "The server wants a user and a password.",
        "HERITRIX_CREDENTIALS holds them; with a wrong password the answer stays 401.",
    ),
    # answers that need more than the words of their class
    304: Explanation(
        "The page has not changed since it was last fetched; a revisit record stands in the WARC.",
        NOTHING,
    ),
    403: Explanation(
        "The server refuses the page to this crawler; the refusal is archived.",
        "When a whole host does this it may have blocked the crawler: fetch slower, and see that the contact page "
        "of HERITRIX_OPERATOR_CONTACT_URL says who you are.",
    ),
    404: Explanation("There is no such page; the answer is archived.", NOTHING),
    407: Explanation(
        "A proxy wants a user and a password.",
        "Give them with the proxy's URI in HERITRIX_HTTP_PROXY_USER and …_PASSWORD.",
    ),
    408: Explanation("The server grew tired of waiting for the request.", "Nothing, when it is rare."),
    429: Explanation(
        "The server says: too many requests. Where it names a time the queue rests until then.",
        "Fetch slower there: HERITRIX_DELAY_FACTOR, HERITRIX_MIN_DELAY_MS in a sheet of the host.",
    ),
    451: Explanation("The page is withheld for legal reasons; the answer is archived.", NOTHING),
    503: Explanation(
        "The server is overloaded or down for now. Where it names a time the queue rests until then.",
        "Fetch slower there, or later: `scrapy heritrix force JOBDIR URI`.",
    ),
}

#: By class of an HTTP answer; an FTP server's reply has classes of the same meaning.
CLASSES: dict[int, Explanation] = {
    1: Explanation("The server gave only an interim answer, and no final one.", NOTHING),
    2: Explanation("Fetched and archived.", NOTHING),
    3: Explanation(
        "A redirect, archived; its target is a URI of its own (hop R).",
        "Nothing; `scrapy heritrix why TARGET JOBDIR` says what became of the target.",
    ),
    4: Explanation(
        "The server does not give the page: it is not there, or not for this request. The answer is archived.",
        "Nothing for single ones. Many from one host: see whether the links are right and the crawler is blocked.",
    ),
    5: Explanation(
        "The server failed; its answer is archived and counts as downloaded, so it is not tried again.",
        "Many from one host: fetch slower there, and queue them again later with `scrapy heritrix force`.",
    ),
}

#: What neither table nor class knows.
OTHER = Explanation(
    "A number that no part of the package gives: one that a server made up, or of a part of your own.",
    "Nothing; a positive one counts as downloaded, a negative one as failed.",
)


def explanation(code: int) -> Explanation:
    """The entry of a status, of its class, or what is to be said of an unknown one."""
    found = EXPLANATIONS.get(code)
    if found is not None:
        return found
    return CLASSES.get(code // 100, OTHER) if code > 0 else OTHER


def told(code: int) -> dict[str, object]:
    """Everything about a status: number, label, what it means, what to do, how it counts and whether it is retried."""
    row, words = s.lookup(code), explanation(code)
    return {
        "status": code,
        "label": row.label,
        "means": words.means,
        "do": words.do,
        "counts as": {"success": "downloaded", "failure": "failed", "disregarded": "disregarded"}[
            row.disposition.value
        ],
        "tried again": row.retry.value,
        "registered": code in s.STATUS or code in {each.value for each in HTTPStatus},
    }
