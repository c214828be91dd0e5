"""Are operations carried out on a crawl that runs, and on one that does not, from another process?"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from scrapy.settings import Settings

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.journal import NAME, lines
from heritrix_scrapy.frontier.status import totals_of_store
from heritrix_scrapy.frontier.totals import Totals
from heritrix_scrapy.model.errors import ConfigurationError, StoreInUse
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.reach import Job
from heritrix_scrapy.store import open_store
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

SITE = {
    "www.operated.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "".join(f'<a href="/{number}">x</a>' for number in range(40)) + '<a href="/stalls">s</a>'},
            "/stalls": {"stall": True},
        },
        "default": {"body": "page"},
    },
}


@pytest.mark.crawl
def test_a_crawl_is_operated_while_it_runs_and_after(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.operated.test", "/"), web.url("www.operated.test", "/stalls")],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_PREFERENCE_EMBED_HOPS": 0,
        },
        web=web,
    )
    crawl = made.start()
    until(crawl, lambda: any(row.target == "/stalls" for row in web.requests))
    site = web.url("www.operated.test").rstrip("/")

    def do(name: str, **more: Any) -> dict[str, Any]:
        return ask(made.jobdir, {"do": name, **more})

    [queue] = [row for row in do("queues")["queues"] if row["uris"]]
    assert queue["waits for"] == f"the fetch of {site}/stalls"
    assert do("delete", uri=r".*/1\d", count_only=True)["counted"] == 10
    assert do("delete", uri=r".*/1\d", remark="enough")["deleted"] == 10
    assert do("urls", uri=".*/1.?")["urls"][0]["uri"] == f"{site}/1"
    assert do("queue_report", kind="line")["text"].startswith("RUN - ")
    assert do("kill", uri=f"{site}/stalls", remark="it hangs")["killed"] == 1
    done = made.finish(crawl, 60)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    statuses = done.statuses
    assert statuses[f"{site}/stalls"] == [-7000]
    assert [code for uri, code in statuses.items() if "/1" in uri and uri[-3] == "/"] == [[-6000]] * 10
    assert statuses[f"{site}/1"] == [200]
    told = (made.jobdir / "job.log").read_text()
    assert "deleted 10" in told
    assert told.count(" - enough\n") == 1
    assert " - it hangs\n" in told
    events = list(lines(made.jobdir / "logs" / NAME))
    assert events[:3] == [f"F+ {site}/  ", f"F+ {site}/stalls  ", f"Fe {site}/"]
    assert f"Fd {site}/13" in events
    assert events[-1].startswith(("Fs ", "Ff "))

    # the crawl is over: the next start would begin afresh, were there not something to do
    arguments = (str(made.jobdir), f"{site}/again", "--remark", "once more", "--json")
    forced = made.run(*arguments, command=("heritrix", "force"), name="", jobdir=None, timeout=60)
    assert forced.returncode == 0, forced.stderr
    assert json.loads(forced.stdout)["queued"] == 1
    with Job(made.jobdir, Settings()) as job:
        assert [row["uri"] for row in job.perform({"do": "urls"})["urls"]] == [f"{site}/again"]
        assert job.perform({"do": "delete", "uri": ".*/1", "count_only": True})["counted"] == 0
    with Job(made.jobdir, Settings()) as job, pytest.raises(ControlError, match="nothing is in flight"):
        job.perform({"do": "kill", "uri": site})
    with Job(made.folder, Settings()) as job, pytest.raises(ControlError, match="no JOBDIR"):
        job.perform({"do": "queues"})
    done = made.finish(made.start(), 60)
    assert "resuming the crawl" in done.stderr
    assert done.statuses[f"{site}/again"] == [200]
    assert done.statuses[f"{site}/1"] == [200]


ADD = {"do": "add", "name": "REJECT_REGEXES", "value": ".*/no"}


def test_a_stopped_job_is_let_go_of_and_left_to_others(tmp_path: Path) -> None:
    """A command that fails on opening it holds it no more, and leaves a crawl that was over for the next to begin anew;
    while another has it open, its settings stay as they are."""
    store = open_store(tmp_path / "frontier")
    store.write([(keys.STATE, msgspec.msgpack.encode(Totals(over=True)))])
    store.close()
    given = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/"}
    broken = Settings({**given, "HERITRIX_SCOPE": ["nowhere.NoRule"]})
    with pytest.raises(ConfigurationError) as raised, Job(tmp_path, broken) as job:
        job.perform({"do": "urls"})
    assert raised.value.__traceback__ is not None, "what failed is still known, as in a process that goes on"
    project = Settings(given)
    store = open_store(tmp_path / "frontier")
    assert totals_of_store(store).over
    for request in (ADD, {"do": "urls"}, {"do": "checkpoint"}):
        with pytest.raises(StoreInUse, match="another crawl or command"), Job(tmp_path, project, patience=0) as job:
            job.perform(request)
    # it is waited for
    threading.Timer(0.3, store.close).start()
    with Job(tmp_path, project) as job:
        assert job.perform(ADD)["changed"]
