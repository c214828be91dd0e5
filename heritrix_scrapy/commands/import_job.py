"""How is a Heritrix job that is under way gone on with here?

``scrapy heritrix import-job DIR JOBDIR`` makes a JOBDIR that knows what the Heritrix job in ``DIR`` has fetched and has
still to fetch, whose job file says how to crawl, which cookies it has, and how its WARC files are called; then
``scrapy crawl archive -s JOBDIR=JOBDIR`` goes on. The Heritrix job itself is only read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive.names import TEMPLATE
from heritrix_scrapy.commands.operation import as_text, carried_out
from heritrix_scrapy.frontier.candidates import MAX_PROMOTED_HOPS
from heritrix_scrapy.frontier.journal import Fields, Torn, fields, lines
from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.reach import Job
from heritrix_scrapy.settings import job_file
from heritrix_scrapy.settings.beans.takeover import Found, crawl_log_parts, found_in, name_parts
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

#: Tags of a journal's lines that say a URI is finished.
FINISHED = ("Fs", "Ff", "Fd", "Fi")


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Make the JOBDIR and fill its frontier; exit status 1 when that could not be done."""
    source = Path(args[0])
    jobdir = Path(args[1] if len(args) > 1 else opts.project.get("JOBDIR") or f"{source.resolve().name}-jobdir")
    if not source.is_dir():
        raise ConfigurationError("import-job", args[0], "expected the folder of a Heritrix job")
    if (jobdir / "frontier" / "CURRENT").exists():
        raise ConfigurationError("JOBDIR", str(jobdir), "there is a crawl in it; a job is imported into a new one")
    path = job_file.located(source)
    job = job_file.read({job_file.SETTING: str(path)})
    assert job is not None  # a file was named
    found = found_in(source, job.settings)
    if not found.journals and found.crawl_log is None:
        raise ConfigurationError("import-job", args[0], "there is no frontier.recover.gz and no crawl.log below it")
    template = job.settings.get("HERITRIX_WARC_TEMPLATE", TEMPLATE)
    prefix = job.settings.get("HERITRIX_WARC_PREFIX", "WEB")
    more = name_parts([warc.name for warc in found.warcs], template, prefix)
    if found.cookies is not None:
        more["HERITRIX_COOKIES_LOAD_FILE"] = str(found.cookies)
    if found.journals and job.settings.get("HERITRIX_SEEDS_REDIRECT_NEW_SEEDS", True):
        seeds = job.settings.get("HERITRIX_SEEDS", [])
        redirected = seeds_by_redirect(found.journals)
        # a seeds file has got them from Heritrix
        if redirected and isinstance(seeds, list):
            more["HERITRIX_SEEDS"] = [*seeds, *redirected]
    jobdir.mkdir(parents=True, exist_ok=True)
    job_file.remember(jobdir, path, more)
    open_store(jobdir / "frontier", migrate=migrate).close()
    answers = {}
    with Job(jobdir, opts.project) as opened:
        for name, request in requests(found, jobdir):
            if opts.remark:
                request["remark"] = opts.remark
            answer = carried_out(opened, {"do": "import", **request})
            if answer is None:
                return 1
            answers[name] = answer
    tell(found, jobdir, more, answers, as_json=opts.json)
    for loss in job.report.losses:
        print(f"heritrix_scrapy: {loss}", file=sys.stderr)
    return 0


def whole_lines(journal: Path) -> Iterator[tuple[str, Fields]]:
    """Tag and fields of the lines of a journal, as far as it goes."""
    try:
        for line in lines(journal):
            tag, _, rest = line.partition(" ")
            if rest and tag[:1] == "F":
                yield tag, fields(rest)
    except Torn:
        return


def seeds_by_redirect(journals: Sequence[Path]) -> list[str]:
    """Where seeds redirected to, and what became a seed by it."""
    found = dict.fromkeys(
        said.uri
        for journal in journals
        for tag, said in whole_lines(journal)
        if tag == "F+" and said.path and not said.path.strip("R") and len(said.path) < MAX_PROMOTED_HOPS
    )
    return list(found)


def waiting_in(journals: Sequence[Path]) -> Iterator[Fields]:
    """The URIs of what was queued, without redirects that are finished: where one leads to the same page by another
    name, that it is known would not keep it from being fetched again."""
    redirects = {said.uri for journal in journals for _, said in whole_lines(journal) if said.path.endswith("R")}
    done = {
        said.uri
        for journal in journals
        for tag, said in whole_lines(journal)
        if tag in FINISHED and said.uri in redirects
    }
    for journal in journals:
        for tag, said in whole_lines(journal):
            if tag == "F+" and said.uri not in done:
                yield said


def requests(found: Found, jobdir: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is to be imported, in order: first what is finished, then what waits."""
    if found.journals:
        for journal in found.journals:
            what = {"file": str(journal.resolve()), "format": "recover"}
            yield f"finished in {journal.name}", {**what, "include": ",".join(FINISHED), "schedule": "-"}
        seeds, others = jobdir / "imported-seeds.txt", jobdir / "imported-waiting.txt"
        with seeds.open("w", encoding="utf-8") as out_seeds, others.open("w", encoding="utf-8") as out:
            for said in waiting_in(found.journals):
                (out if said.path else out_seeds).write(f"F+ {said.uri} {said.path} {said.via}\n")
        what = {"format": "recover", "include": "-", "schedule": "F+"}
        if seeds.stat().st_size:
            yield "seeds that wait", {**what, "file": str(seeds.resolve()), "seeds": True}
        yield "waiting", {**what, "file": str(others.resolve())}
        return
    assert found.crawl_log is not None
    pages, others = crawl_log_parts(found.crawl_log, jobdir)
    yield "finished", {"file": str(others.resolve()), "format": "crawl.log", "include": "*", "schedule": "-"}
    yield "pages", {"file": str(pages.resolve()), "format": "crawl.log", "include": "-", "schedule": "*"}


def tell(found: Found, jobdir: Path, more: dict[str, Any], answers: dict[str, Any], *, as_json: bool) -> None:
    """What was found and done, and how to go on."""
    command = f"scrapy crawl archive -s JOBDIR={jobdir}"
    if as_json:
        print(json.dumps({"jobdir": str(jobdir), "settings": more, "imports": answers, "go_on": command}, indent=2))
        return
    for name, answer in answers.items():
        print(f"{name}:")
        print("\n".join(f"  {line}" for line in as_text(answer)))
    if not found.journals:
        print("there is no journal: pages are fetched again, so that their links are found; nothing else is")
    for name, value in more.items():
        print(f"{name} = {value!r}")
    print(f"go on with: {command}")
