"""Is what was queued of a host counted once, whatever of it stands in rows of its own when the process dies?"""

from __future__ import annotations

import random

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
