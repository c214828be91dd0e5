"""What does a crawl tell Prometheus? Its status as the text that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "heritrix_"
CLASSES = ("novel", "dupByHash", "notModified", "otherDup")


class _Once:
    """The families of one status."""

    def __init__(self, status: Mapping[str, Any]) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        frontier: Mapping[str, Any] = self._status.get("frontier") or {}
        job: Mapping[str, Any] = self._status.get("job") or {}
        ended = CounterMetricFamily(f"{PREFIX}uris", "URIs that came to their end.", labels=["end"])
        for end in ("succeeded", "failed", "disregarded"):
            ended.add_metric([end], frontier.get(end, 0))
        yield ended
        yield _count("retries", "Tries that failed and were followed by another.", frontier.get("retried"))
        yield _count("discovered_uris", "URIs that were new.", frontier.get("discovered"))
        yield _gauge("queued_uris", "URIs that wait.", frontier.get("queued"))
        yield _gauge("in_process_uris", "URIs that are being worked on.", frontier.get("in process"))
        queues = GaugeMetricFamily(f"{PREFIX}queues", "Queues by state.", labels=["state"])
        for state, count in (frontier.get("queues") or {}).items():
            if state != "known":
                queues.add_metric([state.replace(" ", "_")], count)
        yield queues
        sizes = job.get("sizeTotalsReport") or {}
        received = CounterMetricFamily(f"{PREFIX}received_bytes", "Bytes received, by kind.", labels=["class"])
        for name in CLASSES:
            received.add_metric([name], sizes.get(name, 0))
        yield received
        yield _gauge("warc_folder_bytes", "Bytes of the WARC files of this launch.", sizes.get("sizeOnDisk"))
        yield _gauge("alerts", "Alerts of this launch.", self._status.get("alerts"))
        yield _count("run_seconds", "For how long the crawl ran.", (self._status.get("elapsed_ms") or 0) / 1000)
        yield _gauge("memory_bytes", "Memory of the process.", (job.get("heapReport") or {}).get("usedBytes"))
        state = GaugeMetricFamily(f"{PREFIX}state", "1 for the state that the job is in.", labels=["state"])
        state.add_metric([str(self._status.get("state"))], 1)
        yield state


def text(status: Mapping[str, Any]) -> str:
    """The status of a crawl (the answer of ``status``) in Prometheus's text format; what is not known is left out."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(status))
    return generate_latest(registry).decode()


def _gauge(name: str, says: str, value: float | None) -> GaugeMetricFamily:
    family = GaugeMetricFamily(PREFIX + name, says)
    if value is not None:
        family.add_metric([], value)
    return family


def _count(name: str, says: str, value: float | None) -> CounterMetricFamily:
    family = CounterMetricFamily(PREFIX + name, says)
    if value is not None:
        family.add_metric([], value)
    return family
