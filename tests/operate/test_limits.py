"""Do limits, quotas, the disk monitor and the word on seeds think right?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from heritrix_scrapy.frontier.allowance import BeginAnew
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.model.tally import Tally
from heritrix_scrapy.operate import disk, limits, quotas
from heritrix_scrapy.operate.life import End
from heritrix_scrapy.operate.memory import held_mib
from heritrix_scrapy.report.tally import tally
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import make

NONE = dict.fromkeys((limit.setting for limit in limits.LIMITS), 0)


def test_the_first_limit_in_the_table_counts():
    wanted = SimpleNamespace(**{**NONE, "max_time_seconds": 1, "max_documents_download": 2, "max_novel_bytes": 3})
    everything = limits.Snapshot(novel_bytes=3, downloaded=2, elapsed_ms=1000)
    assert limits.reached(wanted, everything) == (End.FINISHED_DATA_LIMIT, "HERITRIX_MAX_NOVEL_BYTES = 3 is reached")
    assert limits.reached(wanted, limits.Snapshot(novel_bytes=2, downloaded=1, elapsed_ms=999)) is None


def test_a_snapshot_is_what_the_tally_counts():
    from heritrix_scrapy.model.crawluri import CrawlURI

    total: dict[str, int] = {}
    for notes, written in (([], (70, 1)), (["duplicate:digest"], (0, 0)), (["duplicate:other"], (0, 0))):
        curi = CrawlURI("http://a.example/")
        curi.status, curi.content_size, curi.annotations, curi.warc_novel = 200, 100, notes, written
        for name, count in tally(curi).items():
            total[name] = total.get(name, 0) + count
    assert limits.snapshot(total, 5) == limits.Snapshot(300, 100, 70, 3, 1, 1, 5)


def test_what_writers_wrote_has_its_limit():
    most = {"response": {"totalBytes": 10}, "totals": {"numRecords": 3}}
    assert limits.written(most, {"response/total_bytes": 9, "totals/num_records": 2}) is None
    assert "totalBytes of response has reached 10" in str(limits.written(most, {"response/total_bytes": 10}))
    assert limits.written({"revisit": {"numRecords": 1}}, {}) is None


@pytest.mark.parametrize(
    ("good", "bad", "share", "words"),
    [
        (0, 5, 1, "none of 5 seeds answered"),
        (0, 1, 1, "the seed did not answer"),
        (2, 3, 0.5, "3 of 5 seeds did not answer"),
        (2, 3, 0.6, None),
        (2, 3, 1, None),
        (0, 5, 0, None),
        (3, 0, 0.1, None),
    ],
)
def test_pc226_seeds_that_did_not_answer(good, bad, share, words):
    """PC-226: five seeds that all refuse, and five of which three do."""
    assert limits.seeds_failed({"seeds/answered": good, "seeds/unanswered": bad}, share) == words


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"server_max_succes_kb": 1}, "no property 'server_max_succes_kb'"),
        ({"host_max_novel_kb": "many"}, "host_max_novel_kb is 'many'"),
        ({"at": "nowhere", "host_max_novel_kb": 1}, "expected one of before_preselector"),
        ({"quotas": {"novel": 1}}, "for a host or for a source_tag"),
        ({"host": "a.example", "quotas": {"bytes": 1}}, "quotas is a mapping of totalScheduled"),
    ],
)
def test_a_quota_that_stands_for_nothing_is_refused(entry, said):
    with pytest.raises(ConfigurationError, match=said):
        quotas.parse([entry])


def test_quotas_begin_anew_without_the_counters_being_lost():
    [quota] = quotas.parse([{"host_max_fetch_successes": 2}])
    count = Tally(successes=2)
    assert quota.used_up({"host": count}) == "Q:hostMaxFetchSuccesses"
    count.begin_anew()
    assert quota.used_up({"host": count}) is None
    count.successes += 2
    assert quota.used_up({"host": count}) == "Q:hostMaxFetchSuccesses"
    assert count.successes == 4


def test_pc213_a_host_quota_counts_all_its_servers_and_a_server_quota_only_its_own():
    """PC-213: robots.txt of https is not blocked by what http has used."""
    [server], [host] = quotas.parse([{"server_max_novel_urls": 1}]), quotas.parse([{"host_max_novel_urls": 1}])
    plain, secure, both = Tally(novel_urls=1), Tally(), Tally(novel_urls=1)
    assert server.used_up({"server": plain, "host": both})
    assert server.used_up({"server": secure, "host": both}) is None
    assert host.used_up({"server": secure, "host": both})


def test_pc017_pc020_a_threshold_is_bytes_of_the_file_system_that_holds_the_path():
    """PC-020: 95 % used, with 200 GB free, is room enough. PC-017: a small file system keeps an eighth."""
    large = disk.Room(Path("/data"), 1, usable=200 << 30, total=4000 << 30)
    assert not disk.short(large, disk.threshold(512, large, chosen=False))
    small = disk.Room(Path("/job"), 2, usable=7 << 20, total=64 << 20)
    assert disk.threshold(512, small, chosen=False) == 8 << 20
    assert disk.short(small, disk.threshold(512, small, chosen=False))
    assert disk.threshold(4, small, chosen=True) == 4 << 20
    [one] = disk.rooms([Path("/"), Path("/"), Path("/no/such/place")])
    assert one.total >= one.usable > 0


def test_memory_that_is_held(tmp_path):
    told = tmp_path / "status"
    told.write_text("VmRSS:\t  900000 kB\nRssAnon:\t  204800 kB\n")
    assert held_mib(told) == 200
    assert held_mib(tmp_path / "none") > 0


def test_pc213_a_host_s_quotas_begin_anew_on_all_its_ports():
    """PC-213: no alias of the host is missed, and none of another's is touched."""
    frontier, clock, _ = make(MemoryStore())
    hosts = frontier.hosts
    uris = ("http://a.example/", "https://a.example/", "http://a.example:8080/", "http://a.example.org/")
    for uri in uris:
        curi = CrawlURI(uri, seed=True)
        curi.settings = default_view()
        assert frontier.add([curi]) == 1
        hosts.server(server_key(uri)).tally.responses = 7
        hosts.server_changed(server_key(uri))
    work = BeginAnew(frontier, hosts, lambda: clock.now, host="a.example")
    while not work.run(lambda: True):
        pass
    assert work.answer() == {"hosts": 1, "servers": 3, "sources": 0, "queues": 2, "reconsidered": 0, "uris": 0}
    assert [hosts.server(server_key(uri)).tally.spent("responses") for uri in uris] == [0, 0, 0, 7]
    assert frontier.queue_tally("example,a,").spent("scheduled") == 0
    with pytest.raises(Refused, match=r"nothing has been counted of the server b\.example"):
        BeginAnew(frontier, hosts, lambda: clock.now, server="b.example")
