"""Adapters: hop paths and server keys, as the frontier file asks for them."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.hosts import Hosts, server_key
from heritrix_scrapy.scope.rules_hops import tail

Answer = tuple[bool, object]
Case = dict[str, Any]


def hop_counts(case: Case) -> Answer:
    path = case["in"]["path"]
    counts = hops.counts(path)
    got = {
        "hop_count": counts.all,
        "link_hops": counts.link,
        "embed_hops": len(tail(path, "L", counter=True)),
        "trans_hops": len(tail(path, "LM", counter=True)),
    }
    return got == case["expect"], got


def extend_hops_path(case: Case) -> Answer:
    got = {"path": hops.extend(case["in"]["path"], case["in"]["hop"])}
    return got == case["expect"], got


def keys_of_servers(case: Case) -> Answer:
    asked = case["in"]
    if "uri" in asked:
        got: dict[str, object] = {"server_key": server_key(asked["uri"])}
        return got == case["expect"], got
    hosts = Hosts(lambda key: None)
    keys = [server_key(uri) for uri in asked["uris"]]
    found = all(hosts.server(key) is hosts.server(key) for key in keys if key) and all(keys)
    found = found and all(hosts.host(key.partition(":")[0]) is not None for key in keys)
    got = {"cache_contains_server_key_and_host": found}
    return got == case["expect"], got


ADAPTERS = {
    "frontier/hops": hop_counts,
    "frontier/ut_extend_hops_path": extend_hops_path,
    "frontier/ut_server_key": keys_of_servers,
}
