"""Whose quotas begin anew?

An operator says of which host, server, queue or source. Its counters stay as they are, for reports; quotas count from
now on, and the queues that they had retired take their turn again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.work import NameSweep, all_names
from heritrix_scrapy.model.crawluri import host_of
from heritrix_scrapy.model.hosts import SERVERS, server_key
from heritrix_scrapy.model.steering import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.model.hosts import Hosts
    from heritrix_scrapy.model.tally import Tally

#: What the annotation of a quota that is a server's begins with.
OF_SERVER = "Q:server"


class BeginAnew(NameSweep):
    """``host``: all that is counted of it, of its servers and of the queues of its URIs; ``server``: ``host:port``;
    ``source``: the seed that others came from; ``matches``: takes queues by their names, None none.

    Raises Refused for one that nothing is known of."""

    name = "reset_quota"

    def __init__(
        self,
        frontier: Frontier,
        hosts: Hosts,
        now_ms: Callable[[], int],
        *,
        host: str = "",
        server: str = "",
        source: str = "",
        matches: Callable[[str], bool] | None = None,
        remark: str = "",
    ) -> None:
        super().__init__(frontier, now_ms, iter(()) if source else all_names(frontier))
        self.remark = remark
        self._hosts = hosts
        self._host, self._server, self._source = host, server, source
        self._matches = matches
        self._begun = False
        self._told = {"hosts": 0, "servers": 0, "sources": 0, "queues": 0, "reconsidered": 0, "uris": 0}
        self._check()

    def _check(self) -> None:
        hosts = self._hosts
        hosts.count_arrivals()
        unknown = ""
        if self._host and not any(map(_counted, (hosts.host(self._host).tally, *self._tallies()))):
            unknown = f"the host {self._host}"
        elif self._server and not any(map(_counted, self._tallies())):
            unknown = f"the server {self._server}; one is named host:port, and host alone for port 80"
        elif self._source and not _counted(hosts.source(self._source)):
            unknown = f"the source {self._source}; one is the seed, where HERITRIX_SOURCE_TAG_SEEDS is on"
        if unknown:
            raise Refused(f"nothing has been counted of {unknown}")

    def _servers(self) -> list[str]:
        if not self._host:
            return [self._server] if self._server else []
        rows = self.frontier.ledger.store.range(SERVERS + self._host.encode(), SERVERS + self._host.encode() + b";")
        return self._hosts.servers_of(self._host, [key for key, _ in rows])

    def _tallies(self) -> list[Tally]:
        return [self._hosts.server(key).tally for key in self._servers()]

    def run(self, enough: Callable[[], bool]) -> bool:
        self._begin()
        return super().run(enough)

    def answer(self) -> dict[str, Any]:
        return dict(self._told)

    def _begin(self) -> None:
        """What is counted of hosts, servers and sources; once."""
        if self._begun:
            return
        self._begun = True
        hosts, told = self._hosts, self._told
        hosts.count_arrivals()
        if self._host:
            hosts.host(self._host).tally.begin_anew()
            hosts.host_changed(self._host)
            told["hosts"] = 1
        for key in self._servers():
            tally = hosts.server(key).tally
            if _counted(tally):
                tally.begin_anew()
                hosts.server_changed(key)
                told["servers"] += 1
        if self._source:
            hosts.source(self._source).begin_anew()
            hosts.source_changed(self._source)
            told["sources"] = 1
        self.frontier.ledger.touch()

    def look_at(self, class_key: str) -> None:
        queues = self.frontier.queues
        seen = queues.look(class_key)
        if seen is None or not self._concerns(seen):
            return
        queue = queues.get(class_key)
        assert queue is not None
        record = queue.record
        if not self._server:
            record.tally.begin_anew()
            self.frontier.ledger.change(queue)
            self._told["queues"] += 1
        if record.state == State.RETIRED and record.quota and queues.reconsider(queue):
            self._told["reconsidered"] += 1
            self._told["uris"] += record.count

    def _concerns(self, queue: Queue) -> bool:
        if self._matches is not None:
            return self._matches(queue.class_key)
        if self._server:
            return queue.record.quota.startswith(OF_SERVER) and server_key(queue.last_peeked) == self._server
        return self._host in (_host_of(queue.last_peeked), _host_of(queue.last_queued))


def _host_of(uri: str) -> str:
    return uri[4:] if uri.startswith("dns:") else host_of(uri)


def _counted(tally: Tally) -> bool:
    """Whether anything was."""
    return bool(tally.scheduled or tally.finishes or tally.disregards or tally.responses)
