"""Do the example project and the crawl behind ``make crawl`` work as the README says?"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.crawls import ROOT
from tests.web.demo_site import SITES


@pytest.mark.crawl
def test_the_demonstration_crawl_tells_what_came_of_it(tmp_path):
    command = [sys.executable, "-m", "tests.web.demo", "--jobdir", str(tmp_path / "job")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"fetched +\d+ not", done.stdout)
    assert "warcio check: passed" in done.stdout
    assert f"Logs   {tmp_path / 'job' / 'logs'}/" in done.stdout
    counts = {int(status): int(number) for number, status in re.findall(r"^ +(\d+) +(-?\d+)  ", done.stdout, re.M)}
    assert len(counts) > 3
    log = (tmp_path / "job" / "logs" / "crawl.log").read_text().splitlines()
    for status, number in counts.items():
        assert sum(int(line.split()[1]) == status for line in log) == number
    fetched = {line.split()[3] for line in log if int(line.split()[1]) == 200}
    for wanted in ("//static.demo.test:", "//photos.demo.test:", "https://secure.demo.test:"):
        assert any(wanted in uri for uri in fetched), wanted


@pytest.mark.crawl
def test_the_example_spider_gives_items_and_its_pages_are_archived(serve, tmp_path):
    web = serve(SITES)
    items = tmp_path / "pages.jsonl"
    settings = {
        "HERITRIX_DNS_SERVERS": web.dns,
        "HERITRIX_DELAY_FACTOR": "0",
        "HERITRIX_MIN_DELAY_MS": "0",
        "HERITRIX_RETRY_DELAY_SECONDS": "1",
        "HERITRIX_MAX_RETRIES": "1",
        "JOBDIR": str(tmp_path / "job"),
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "pages", "-a", f"url={web.url('www.demo.test', '/about')}"]
    command += ["-O", str(items), *(part for pair in settings.items() for part in ("-s", "=".join(pair)))]
    done = subprocess.run(
        command, cwd=ROOT / "example_project", capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    assert {row["title"] for row in rows} == {"About", "A small web", "Team", "History"}
    log = (tmp_path / "job" / "logs" / "crawl.log").read_text()
    for row in rows:
        assert row["digest"] in log
        assert row["server_ip"] in web.host("www.demo.test")["ips"]
    assert web.url("static.demo.test", "/site.css") in log
    assert web.url("www.demo.test", "/gone") not in log
