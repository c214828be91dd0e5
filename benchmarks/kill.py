"""Is anything lost when a crawl is killed at random moments, and how much is fetched twice?

``python benchmarks/kill.py 20 [--pages 2400] [--seed 1] [--profile heritrix]``

Crawls of a site on several hosts, with prerequisites, redirects, requests with callbacks, small WARC files and
some politeness, are ended by SIGKILL at random moments and started again on their JOBDIR until they finish; then
the next crawl begins, until the kills are used up. What was asked for is counted from the server's own log. The last
line is one JSON object; exit status 1 when something was lost, the bound was passed or a WARC file cannot be read.
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
#: The most requests between two kills.
STRIDE = 600

SPIDER = """
from scrapy import Request, Spider

class Killed(Spider):
    name = "killed"
    async def start(self):
        yield Request(self.settings["FIRST"])
    def parse(self, response):
        for address in response.css("b::attr(data-to)").getall():
            yield response.follow(address, self.parse_asked, errback=self.failed, cb_kwargs={"n": 1})
    def parse_asked(self, response, n):
        yield {"url": response.url, "n": n}
    def failed(self, failure):
        yield {"failed": failure.request.url}
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
    asked = [n for n in range(1, pages) if n % EVERY_CALLBACK == 0]
    for page in range(pages):
        links = [n for n in range(4 * page + 1, 4 * page + 5) if n < pages]
        text = ["<html><body>"]
        for target in links:
            if target % EVERY_REDIRECT == 0:
                text.append(f'<a href="${{http:{host_of(target)}}}/r/{target}">r</a>')
                hosts[host_of(target)]["routes"][f"/r/{target}"] = {"redirect": page_path(target)}
            else:
                text.append(f'<a href="${{http:{host_of(target)}}}{page_path(target)}">p</a>')
        if page == 0:
            text += [f'<b data-to="${{http:{host_of(n)}}}/asked/{n}"></b>' for n in asked]
        hosts[host_of(page)]["routes"][page_path(page)] = {"body": "".join(text) + "<p>" + "x" * 2000, "delay": 0.004}
    for n in asked:
        hosts[host_of(n)]["routes"][f"/asked/{n}"] = {"body": f"asked {n}", "delay": 0.004}
    return hosts


def expected(pages: int) -> set[tuple[str, str]]:
    """(host, target) of everything that must be asked for."""
    wanted = {(host_of(n), page_path(n)) for n in range(pages)}
    wanted |= {(host_of(n), f"/r/{n}") for n in range(1, pages) if n % EVERY_REDIRECT == 0}
    wanted |= {(host_of(n), f"/asked/{n}") for n in range(1, pages) if n % EVERY_CALLBACK == 0}
    return wanted


def unreadable(jobdir: Path, *, digests: bool = True) -> tuple[int, set[str]]:
    """WARC files that cannot be read whole, and the addresses whose responses were read. ``digests``: the records
    have digests of their blocks, and one that differs is not counted."""
    bad, found = 0, set()
    for path in sorted(jobdir.rglob("*.warc.gz*")):
        try:
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream, verify_digests=digests, strict_mode=False):
                    record.reader.consume()
                    if record.record_type == WarcRecordType.response:
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
        },
        SPIDER,
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
    lost = sorted(wanted - set(asked))
    missing = [pair for pair in wanted if web.url(*pair) not in archived]
    twice = sum(count - 1 for pair, count in asked.items() if pair in wanted)
    for pair in lost[:10]:
        print(f"lost: {pair}", file=sys.stderr)
    for pair in missing[:10]:
        print(f"not in a WARC file: {pair}", file=sys.stderr)
    return {"kills": kills, "lost": len(set(lost) | set(missing)), "twice": twice, "bad": bad, "uris": len(wanted)}


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
