"""Does a crawl come through a web where everything goes wrong: ended, every URI logged once, files readable?"""

from __future__ import annotations

import re

import pytest

from tests.test_web_wire import checked
from tests.web.faults import SEEDS, SITES

SETTINGS = {
    "HERITRIX_SO_TIMEOUT_MS": 1000,
    "HERITRIX_TIMEOUT_SECONDS": 3,
    "HERITRIX_MAX_LENGTH_BYTES": 2_000_000,
    "HERITRIX_MAX_RETRIES": 2,
    "HERITRIX_MAX_HOPS": 8,
}


@pytest.mark.crawl
def test_every_fault_ends_with_its_status(serve, run_crawl):
    web = serve(SITES)
    seeds = {web.filled(seed): statuses for seed, statuses in SEEDS.items()}
    crawl = run_crawl({"HERITRIX_SEEDS": list(seeds), **SETTINGS}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    statuses = crawl.statuses
    assert [seed for seed in seeds if seed not in statuses] == []
    wrong = {
        seed: (statuses[seed], wanted) for seed, wanted in seeds.items() if wanted and set(statuses[seed]) - set(wanted)
    }
    assert wrong == {}
    promoted = re.compile("/(loop/.|self|form)$")
    repeated = {uri for uri, found in statuses.items() if len(found) > 1 and not uri.endswith("/robots.txt")}
    assert [uri for uri in repeated if not promoted.search(uri)] == []
    trapped = [uri for uri in statuses if "//traps.test:" in uri]
    assert len(trapped) < 100
    assert crawl.runtime_errors == []
    assert checked(crawl.warcs) == []
