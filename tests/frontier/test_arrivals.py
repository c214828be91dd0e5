"""Is what was queued of a host counted once, whatever of it stands in rows of its own when the process dies?"""

from __future__ import annotations

import random

import pytest

from heritrix_scrapy.model.hosts import ARRIVALS, ARRIVED, HOSTS, Hosts
from heritrix_scrapy.store.memory import MemoryStore


def opened(store):
    hosts = Hosts(store.get)
    hosts.load_arrivals(store.range(ARRIVED, b"hB"))
    return hosts


def written(store, hosts):
    rows = hosts.drain()
    store.write(rows, hosts.take_dropped())


def counted(store, hosts):
    rows = store.range(HOSTS, b"hi")
    return {name: host.tally.scheduled for name, host in hosts.all_hosts(rows) if host.tally.scheduled}


def test_a_process_that_dies_loses_and_doubles_nothing():
    source = random.Random(1)
    store = MemoryStore()
    hosts = opened(store)
    durable: dict[str, int] = {}
    waits: dict[str, int] = {}
    for _ in range(6 * ARRIVALS):
        for _ in range(source.randrange(4)):
            name = f"{source.randrange(5)}.example"
            hosts.arrive(name, 2)
            waits[name] = waits.get(name, 0) + 2
        if source.random() < 0.3:
            # a host whose row is written for another reason
            hosts.host_changed("1.example")
        assert counted(store, hosts) == {name: durable.get(name, 0) + waits.get(name, 0) for name in durable | waits}
        if source.random() < 0.9:
            written(store, hosts)
            for name, count in waits.items():
                durable[name] = durable.get(name, 0) + count
            waits = {}
        if source.random() < 0.1:
            hosts, waits = opened(store), {}
            assert counted(store, hosts) == durable
    hosts.count_arrivals()
    written(store, hosts)
    assert list(store.range(ARRIVED, b"hB")) == []
    assert sum(counted(store, opened(store)).values()) == sum(durable.values()) + sum(waits.values())


def test_the_hosts_rows_follow_some_batches_later():
    store = MemoryStore()
    hosts = opened(store)
    for _ in range(ARRIVALS):
        hosts.arrive("a.example")
        written(store, hosts)
    assert len(list(store.range(ARRIVED, b"hB"))) == ARRIVALS
    assert store.get(HOSTS + b"a.example") is None
    hosts.arrive("a.example")
    written(store, hosts)
    assert list(store.range(ARRIVED, b"hB")) == []
    assert opened(store).host("a.example").tally.scheduled == ARRIVALS + 1


@pytest.mark.parametrize("seed", range(5))
def test_what_many_hosts_come_to_is_counted_in_parts(seed, monkeypatch):
    monkeypatch.setattr("heritrix_scrapy.model.hosts.COUNTED", 4)
    monkeypatch.setattr("heritrix_scrapy.model.hosts.ARRIVED_HOSTS", 30)
    source = random.Random(seed)
    store = MemoryStore()
    hosts = opened(store)
    durable: dict[str, int] = {}
    waits: dict[str, int] = {}
    most = parts = 0
    for _ in range(4 * ARRIVALS):
        for _ in range(source.randrange(9)):
            name = f"{source.randrange(60)}.example"
            hosts.arrive(name)
            waits[name] = waits.get(name, 0) + 1
        before = dict(store.range(HOSTS, b"hi"))
        written(store, hosts)
        most = max(most, len(dict(store.range(HOSTS, b"hi")).items() - before.items()))
        parts = max(parts, len(hosts._parts))
        for name, count in waits.items():
            durable[name] = durable.get(name, 0) + count
        waits = {}
        assert counted(store, hosts) == durable
        if source.random() < 0.1:
            hosts = opened(store)
            assert counted(store, hosts) == durable
    assert most <= 12
    assert 5 < parts < 20
    hosts.count_arrivals()
    written(store, hosts)
    assert list(store.range(ARRIVED, b"hB")) == []
    assert counted(store, opened(store)) == durable


def test_more_new_hosts_in_a_batch_than_are_kept_are_not_looked_through_for_each(monkeypatch):
    looks = []
    shrink = Hosts._shrink
    monkeypatch.setattr(Hosts, "_shrink", lambda self, newest: (looks.append(newest), shrink(self, newest)))
    store = MemoryStore()
    hosts = Hosts(store.get, capacity=100)
    for number in range(1000):
        hosts.arrive(f"{number}.example")
    hosts.count_arrivals()
    assert len(looks) == 1
    written(store, hosts)
    assert len(looks) == 2
    assert len(hosts._kept) <= 100
    assert len(counted(store, opened(store))) == 1000
