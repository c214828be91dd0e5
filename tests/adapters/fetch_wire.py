"""What resolver and headers do with the cases of fetch.json."""

from __future__ import annotations

import datetime
from typing import Any

from heritrix_scrapy.fetch.dns_handler import record_text
from heritrix_scrapy.fetch.resolver import Answer, Lookup, RecordSet
from heritrix_scrapy.model.version import VERSION
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.agent import user_agent


def values_of(expected: dict[str, Any]) -> Any:
    for layer in ("pinned", "observed"):
        if layer in expected:
            return expected[layer]
    return expected


def dns(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], values_of(case["expected"])
    if "aRecords" in asked:
        found = Lookup(Answer.ADDRESSES, (RecordSet("a.example.", 60, "A", tuple(asked["aRecords"])),))
        first = next(iter(found.addresses), None)
        return first == expected["firstAcceptable"], {"firstAcceptable": first}
    began = datetime.datetime.fromisoformat(asked["fetchTime"]).timestamp() * 1000
    sets = [RecordSet(owner, ttl, "A", (address,)) for owner, ttl, address in asked["records"]]
    text = record_text(int(began), sets).decode()
    return text == expected["recordText"], {"recordText": text}


def agent(case: dict[str, Any]) -> tuple[bool, object]:
    expected = values_of(case["expected"]).replace("<version>", VERSION)
    got = user_agent(default_view("heritrix", operator_contact_url=case["input"]["operatorContactUrl"]))
    return got == expected, got


ADAPTERS = {"fetch/dns": dns, "fetch/user_agent": agent}
