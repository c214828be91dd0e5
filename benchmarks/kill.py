"""Is anything lost when a crawl is killed at random moments, and how much is fetched twice?

``python benchmarks/kill.py 20 [--pages 2400] [--seed 1] [--profile heritrix]``

Crawls of a site on several hosts, with prerequisites, redirects, retries of ours and of Scrapy's, pages that are
fetched again later, requests with callbacks, ``cb_kwargs`` and ``meta``, small WARC files, some politeness, are ended
by SIGKILL at random moments and started again on their JOBDIR until they finish; then the next crawl begins, until the
kills are used up. What was asked for is counted from the server's own log, what was called back from the spider's. The
last line is one JSON object; exit status 1 when something was lost, the bound was passed or a WARC file cannot be read.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from tests.crawls import Project
from tests.web import Web, running

HOSTS = 8
CONCURRENCY = 16
#: Of so many pages one is reached through a redirect, one by a callback of the spider's only.
EVERY_REDIRECT = 7
EVERY_CALLBACK = 5
#: Of so many pages one breaks off the first time, one says 503 to the spider, one is fetched again.
EVERY_FLAKY = 90
EVERY_BUSY = 25
EVERY_AGAIN = 40
#: The most requests between two kills.
STRIDE = 600

SPIDER = """
import json
from pathlib import Path
from scrapy import Request, Spider

class Killed(Spider):
    name = "killed"
    async def start(self):
        yield Request(self.settings["FIRST"])
    def parse(self, response):
        for address in response.css("b::attr(data-to)").getall():
            n = int(address.rpartition("/")[2])
            meta = {"tag": ["of", n]}
            yield response.follow(address, self.parse_asked, errback=self.failed, cb_kwargs={"n": n}, meta=meta)
    def parse_asked(self, response, n):
        with (Path(__file__).parents[1] / "called.jsonl").open("a") as file:
            file.write(json.dumps([response.url, n, response.meta["tag"]]) + "\\n")
        yield {"url": response.url, "n": n}
    def failed(self, failure):
        yield {"failed": failure.request.url}
"""


POLICY = """
class Again:
    def next_fetch(self, curi, now_ms, settings):
        # the second answer is a short one
        return now_ms + 300 if "/again/" in curi.uri and curi.content_size > 2000 else None
"""


def host_of(page: int) -> str:
    return f"h{page % HOSTS}.kill.test"


def page_path(page: int) -> str:
    return f"/p/{page}.html"


def site(pages: int) -> dict[str, Any]:
    """Page n leads to 4n+1 ... 4n+4, some of them through a redirect; the start pages name those that only the
    spider asks for."""
    hosts: dict[str, Any] = {}
    for number in range(HOSTS):
        delay = "Crawl-delay: 0.02\n" if number == 1 else ""
        hosts[f"h{number}.kill.test"] = {
            "routes": {"/robots.txt": {"type": "text/plain", "body": f"User-agent: *\nDisallow: /no\n{delay}"}}
        }
    asked = asked_pages(pages)
    for page in range(pages):
        links = [n for n in range(4 * page + 1, 4 * page + 5) if n < pages]
        text = ["<html><body>"]
        for target in links:
            if target % EVERY_REDIRECT == 0:
                text.append(f'<a href="${{http:{host_of(target)}}}/r/{target}">r</a>')
                hosts[host_of(target)]["routes"][f"/r/{target}"] = {"redirect": page_path(target)}
            else:
                text.append(f'<a href="${{http:{host_of(target)}}}{page_path(target)}">p</a>')
        for every, name in ((EVERY_FLAKY, "flaky"), (EVERY_AGAIN, "again")):
            if page % every == 1:
                text.append(f'<a href="/{name}/{page}">p</a>')
        if page == 0:
            text += [f'<b data-to="${{http:{host_of(n)}}}/asked/{n}"></b>' for n in asked]
        hosts[host_of(page)]["routes"][page_path(page)] = {"body": "".join(text) + "<p>" + "x" * 2000, "delay": 0.004}
    for n in asked:
        answer = {"body": f"asked {n}", "delay": 0.004}
        if n % EVERY_BUSY == 0:
            answer["cases"] = [{"if": {"nth": 1}, "then": {"status": 503, "body": "busy"}}]
        hosts[host_of(n)]["routes"][f"/asked/{n}"] = answer
    for n in range(1, pages, EVERY_FLAKY):
        cut = {"if": {"nth": 1}, "then": {"close_now": True}}
        hosts[host_of(n)]["routes"][f"/flaky/{n}"] = {"body": "at last", "cases": [cut]}
    for n in range(1, pages, EVERY_AGAIN):
        long = {"if": {"nth": 1}, "then": {"body": "x" * 3000}}
        hosts[host_of(n)]["routes"][f"/again/{n}"] = {"body": "short", "cases": [long]}
    return hosts


def expected(pages: int) -> set[tuple[str, str]]:
    """(host, target) of everything that must be asked for."""
    wanted = {(host_of(n), page_path(n)) for n in range(pages)}
    wanted |= {(host_of(n), f"/r/{n}") for n in range(1, pages) if n % EVERY_REDIRECT == 0}
    wanted |= {(host_of(n), f"/asked/{n}") for n in asked_pages(pages)}
    return wanted | at_least_twice(pages)


def asked_pages(pages: int) -> list[int]:
    """Pages that only the spider asks for."""
    return [n for n in range(1, pages) if n % EVERY_CALLBACK == 0]


def at_least_twice(pages: int) -> set[tuple[str, str]]:
    """What has to be asked for again, kill or no kill."""
    wanted = {(host_of(n), f"/asked/{n}") for n in asked_pages(pages) if n % EVERY_BUSY == 0}
    wanted |= {(host_of(n), f"/flaky/{n}") for n in range(1, pages, EVERY_FLAKY)}
    return wanted | {(host_of(n), f"/again/{n}") for n in range(1, pages, EVERY_AGAIN)}


def not_called_back(folder: Path, web: Web, pages: int) -> set[tuple[str, str]]:
    """What was asked for with a callback, ``cb_kwargs`` and ``meta``, and did not come back with all three."""
    path = folder / "called.jsonl"
    rows = set(path.read_text().splitlines()) if path.exists() else set()
    return {
        (host_of(n), f"/asked/{n}")
        for n in asked_pages(pages)
        if json.dumps([web.url(host_of(n), f"/asked/{n}"), n, ["of", n]]) not in rows
    }


def unreadable(jobdir: Path, *, digests: bool = True) -> tuple[int, set[str]]:
    """WARC files that cannot be read whole, and the addresses whose responses were read. ``digests``: the records
    have digests of their blocks, and one that differs is not counted."""
    bad, found = 0, set()
    for path in sorted(jobdir.rglob("*.warc.gz*")):
        try:
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream, verify_digests=digests, strict_mode=False):
                    record.reader.consume()
                    if record.record_type != WarcRecordType.response:
                        continue
                    if record.http_headers is None or record.http_headers.status_code < 400:
                        found.add(record.headers.get("WARC-Target-URI"))
        except Exception as error:
            print(f"unreadable: {path}: {error}", file=sys.stderr)
            bad += 1
    return bad, found


def killed(process: subprocess.Popen[str], web: Web, rng: random.Random, stride: int) -> bool:
    """End a crawl at a random moment: of its start, one time in five, else some hundred requests later. False when
    it had finished by then."""
    wanted = 0 if rng.random() < 0.2 else rng.randrange(1, stride)
    mark = len(web.requests) + wanted
    moment = time.monotonic() + (rng.uniform(0.3, 2.0) if not wanted else 600.0)
    while process.poll() is None and len(web.requests) < mark + (not wanted) and time.monotonic() < moment:
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.001, 0.01))
    if process.poll() is not None:
        return False
    process.kill()
    process.communicate()
    return True


def one_crawl(
    web: Web, pages: int, kills_left: int, rng: random.Random, folder: Path, stride: int, profile: str
) -> dict[str, Any]:
    """One crawl, killed until it finishes or the kills are used up, then left to finish."""
    before = len(web.requests)
    project = Project(
        folder,
        {
            "FIRST": web.url(host_of(0), page_path(0)),
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_SURTS": ["+http://(test,kill,"],
            "HERITRIX_MIN_DELAY_MS": 2,
            "CONCURRENT_REQUESTS": CONCURRENCY,
            "LOG_LEVEL": "ERROR",
            "HERITRIX_PROFILE": profile,
            "HERITRIX_MAX_DELAY_MS": 30,
            "HERITRIX_WARC_MAX_FILE_SIZE_BYTES": 200_000,
            "HERITRIX_RESCHEDULING_POLICY": "crawl_project.again.Again",
            "RETRY_TIMES": 5,
        },
        SPIDER,
        modules={"again": POLICY},
    )
    kills = 0
    while True:
        process = project.start(name="killed", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if kills < kills_left and killed(process, web, rng, stride):
            kills += 1
            continue
        crawl = project.finish(process, timeout=600)
        if crawl.returncode != 0:
            raise SystemExit(f"a resumed crawl failed:\n{crawl.stderr[-4000:]}")
        break
    asked = Counter(((row.host or "").partition(":")[0], row.target) for row in web.requests[before:])
    wanted = expected(pages)
    bad, archived = unreadable(project.jobdir, digests=profile == "modern")
    repeated = at_least_twice(pages)
    lost = sorted({pair for pair in wanted if asked[pair] < 1 + (pair in repeated)})
    missing = [pair for pair in wanted if web.url(*pair) not in archived]
    uncalled = not_called_back(folder, web, pages)
    twice = sum(asked[pair] - 1 - (pair in repeated) for pair in wanted - set(lost))
    for pair in lost[:10]:
        print(f"lost: {pair}", file=sys.stderr)
    for pair in missing[:10]:
        print(f"not in a WARC file: {pair}", file=sys.stderr)
    for pair in sorted(uncalled)[:10]:
        print(f"not called back: {pair}", file=sys.stderr)
    gone = len({*lost, *missing, *uncalled})
    return {"kills": kills, "lost": gone, "twice": twice, "bad": bad, "uris": len(wanted)}


def measure(kills: int, pages: int, seed: int, stride: int = STRIDE, profile: str = "modern") -> dict[str, Any]:
    """Crawls with so many kills in all: what was lost, fetched twice, unreadable."""
    rng = random.Random(seed)
    total: Counter[str] = Counter()
    while total["kills"] < kills or not total["crawls"]:
        with running(site(pages)) as web, tempfile.TemporaryDirectory(prefix="kill-") as folder:
            result = one_crawl(web, pages, kills - total["kills"], rng, Path(folder), stride, profile)
        print(f"crawl {total['crawls'] + 1}: {result}", flush=True)
        total.update(result)
        total["crawls"] += 1
    return {
        "kills": total["kills"],
        "lost": total["lost"],
        "fetched_twice": total["twice"],
        "bound": (CONCURRENCY + 20) * total["kills"],
        "unreadable": total["bad"],
        "crawls": total["crawls"],
        "uris": total["uris"],
        "random_seed": seed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/kill.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kills", type=int)
    parser.add_argument("--pages", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=None, help="of the random moments")
    parser.add_argument("--profile", choices=("modern", "heritrix"), default="modern")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(10**6)
    result = measure(args.kills, args.pages, seed, profile=args.profile)
    print(json.dumps(result))
    good = not result["lost"] and not result["unreadable"] and result["fetched_twice"] <= result["bound"]
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
