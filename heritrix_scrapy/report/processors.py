"""Which parts worked on the URIs, and what did each do? (Heritrix: ProcessorsReport, ProcessorChain.reportTo)

Three chains in the order in which a URI passes them. The heritrix profile prints Heritrix's class names, the modern
one the names of our parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.report import progress
from heritrix_scrapy.report.times import ts12

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heritrix_scrapy.report.known import Known

MODULES = "org.archive.modules."
CRAWLER = "org.archive.crawler."

#: Part → (Heritrix's class, ours).
PARTS = {
    "scope": (CRAWLER + "prefetch.CandidateScoper", "heritrix_scrapy.scope.scope.Scope"),
    "prepare": (CRAWLER + "prefetch.FrontierPreparer", "heritrix_scrapy.frontier.prepare.Preparer"),
    "preselect": (CRAWLER + "prefetch.Preselector", "heritrix_scrapy.fetch.middleware.PreselectorMiddleware"),
    "quota": (CRAWLER + "prefetch.QuotaEnforcer", "heritrix_scrapy.operate.quotas.QuotaEnforcer"),
    "preconditions": (
        CRAWLER + "prefetch.PreconditionEnforcer",
        "heritrix_scrapy.fetch.middleware.PreconditionMiddleware",
    ),
    "load": (MODULES + "recrawl.PersistLoadProcessor", "heritrix_scrapy.archive.recall.Recall"),
    "dns": (MODULES + "fetcher.FetchDNS", "heritrix_scrapy.fetch.dns_handler.DnsDownloadHandler"),
    "http": (MODULES + "fetcher.FetchHTTP", "heritrix_scrapy.fetch.http_handler.HttpDownloadHandler"),
    "digest": (MODULES + "recrawl.ContentDigestHistoryLoader", "heritrix_scrapy.archive.recall.Recall"),
    "history": (MODULES + "recrawl.FetchHistoryProcessor", "heritrix_scrapy.archive.history"),
    "warc": (MODULES + "writer.WARCWriterChainProcessor", "heritrix_scrapy.archive.pipeline.WarcWriterPipeline"),
    "mirror": (
        MODULES + "writer.MirrorWriterProcessor",
        "heritrix_scrapy.archive.mirror_pipeline.MirrorWriterPipeline",
    ),
    "store": (MODULES + "recrawl.PersistStoreProcessor", "heritrix_scrapy.archive.memory.Memory"),
    "digest store": (MODULES + "recrawl.ContentDigestHistoryStorer", "heritrix_scrapy.archive.memory.Memory"),
    "login": (MODULES + "forms.FormLoginProcessor", "heritrix_scrapy.extract.form_login"),
    "candidates": (CRAWLER + "postprocessor.CandidatesProcessor", "heritrix_scrapy.frontier.candidates.Candidates"),
    "disposition": (CRAWLER + "postprocessor.DispositionProcessor", "heritrix_scrapy.frontier.finish.Finishing"),
}
OLD_WARC = MODULES + "writer.WARCWriterProcessor"

#: Heritrix's packages of extractors that do not lie with the others.
PACKAGES = {"ExtractorHTMLForms": MODULES + "forms."}
SUITE = "heritrix_scrapy.extract."


#: Extractors whose links Heritrix does not count.
UNCOUNTED = frozenset({"ExtractorMultipleRegex"})


class Processor(NamedTuple):
    """``name``: its class; ``told``: what it did, line by line."""

    name: str
    told: list[str]


def chains(known: Known) -> dict[str, list[Processor]]:
    """Every chain with its processors, in their order."""
    view, counters = known.view, known.counters

    def part(name: str) -> Processor:
        return Processor(PARTS[name][known.modern], [])

    def steps(point: str) -> list[Processor]:
        listed = dict(view.steps or {}).get(point, ())
        entries = [listed] if isinstance(listed, str) else listed
        names = [entry if isinstance(entry, str) else entry[0] for entry in entries]
        return [Processor(str(path), [f"{counters.get(f'step/{point}/{_last(path)}', 0)} CrawlURIs"]) for path in names]

    fetch = [part("preselect")]
    if getattr(view, "quotas", None):
        fetch.append(part("quota"))
    fetch.append(part("preconditions"))
    if view.fetch_history:
        fetch.append(part("load"))
    fetch += [*steps("before_fetch"), part("dns"), part("http"), *steps("after_fetch")]
    if view.content_digest_history:
        fetch.append(part("digest"))
    fetch += extractors(known)
    if view.fetch_history:
        fetch.append(part("history"))
    fetch += steps("after_extract")
    disposition = []
    for name, properties in view.writers:
        if name == "warc":
            disposition.append(warc(known, properties))
        elif name in PARTS:
            disposition.append(part(name))
        else:
            disposition.append(Processor(str(name), []))
    if view.fetch_history:
        disposition.append(part("store"))
    if view.content_digest_history:
        disposition.append(part("digest store"))
    disposition += [*steps("disposition"), part("candidates"), part("disposition")]
    return {
        "CandidateChain": [part("scope"), part("prepare")],
        "FetchChain": fetch,
        "DispositionChain": disposition,
    }


def _last(path: Any) -> str:
    return str(path).rpartition(".")[2]


def extractors(known: Known) -> Iterator[Processor]:
    """The extractors in their order, with what each found."""
    counters, logins = known.counters, bool(known.view.form_login)
    names = [str(entry[0] if isinstance(entry, list | tuple) else entry) for entry in known.view.extractors]
    if logins and "ExtractorHTMLForms" not in names:
        last = max((at for at, name in enumerate(names) if name.endswith("ExtractorHTML")), default=len(names) - 1)
        names.insert(last + 1, "ExtractorHTMLForms")
    for path in names:
        name = _last(path)
        links, uris = counters.get(f"extractor/{name}/links", 0), counters.get(f"extractor/{name}/uris", 0)
        if not known.modern and name in UNCOUNTED:
            links = 0
        if "." in path:
            shown = path
        elif known.modern:
            shown = SUITE + name
        else:
            shown = PACKAGES.get(name, MODULES + "extractor.") + name
        yield Processor(shown, [f"{links} links from {uris} CrawlURIs"])
        if logins and name == "ExtractorHTMLForms":
            yield Processor(PARTS["login"][known.modern], [])


def warc(known: Known, properties: Mapping[str, Any]) -> Processor:
    """The WARC writer with what it has written (Heritrix: BaseWARCWriterProcessor.report)."""
    counters, view = known.counters, known.view
    name = PARTS["warc"][known.modern]
    if not known.modern and not (view.warc_write_metadata and view.warc_write_requests):
        name = OLD_WARC
    content = counters.get("warc/response/content_bytes", 0) + counters.get("warc/resource/content_bytes", 0)
    whole, disk = counters.get("warc/totals/total_bytes", 0), counters.get("warc/totals/size_on_disk", 0)
    packed = "compressed" if properties.get("compress", view.warc_compress) else "uncompressed"
    return Processor(
        name,
        [
            "Function:          Writes WARCs",
            f"Total CrawlURIs:   {counters.get('warc_urls', 0)}",
            f"Revisit records:   {counters.get('warc/revisit/num_records', 0)}",
            f"Crawled content bytes (including http headers): {content} ({progress.human(content)})",
            f"Total uncompressed bytes (including all warc records): {whole} ({progress.human(whole)})",
            f"Total size on disk ({packed}): {disk} ({progress.human(disk)})",
        ],
    )


def lines(known: Known) -> Iterator[str]:
    """The report."""
    for name, chain in chains(known).items():
        yield f"{name} - Processors report - {ts12(known.now_ms)}"
        yield f"  Number of Processors: {len(chain)}"
        yield ""
        for processor in chain:
            yield f"Processor: {processor.name}"
            yield from (f"  {text}" for text in processor.told)
            yield ""
        yield ""
