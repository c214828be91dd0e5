"""Does a crawl come through a web where everything goes wrong: ended, every URI logged once, files readable?"""

from __future__ import annotations

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
    assert {seed: found for seed in seeds if len(found := statuses.get(seed, [])) != 1} == {}
    wrong = {
        seed: (statuses[seed], wanted) for seed, wanted in seeds.items() if wanted and statuses[seed][0] not in wanted
    }
    assert wrong == {}
    trapped = [uri for uri in statuses if "//traps.test:" in uri]
    assert len(trapped) < 60
    assert checked(crawl.warcs) == []
