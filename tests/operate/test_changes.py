"""Do settings change while a crawl runs, whole or not at all, and hold over a restart?"""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate import changes
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.settings import changes as kept
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.defaults import BY_NAME
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/contact"}


def of(**given: Any) -> Any:
    return read(ScrapySettings({**CONTACT, **{f"HERITRIX_{name}": value for name, value in given.items()}}))


def test_every_name_of_the_tables_is_a_setting() -> None:
    assert set(changes.REASONS) | changes.AT_ONCE <= set(BY_NAME)
    assert not changes.AT_ONCE & set(changes.REASONS)


def test_names() -> None:
    made = changes.wish({"MIN_DELAY_MS": "5", "HERITRIX_SCOPE[2].max_hops": 3}, ["HERITRIX_MAX_HOPS"])
    assert made.names == ["HERITRIX_MIN_DELAY_MS", "HERITRIX_SCOPE[2].max_hops", "HERITRIX_MAX_HOPS"]
    changes.refuse_fixed(made.names, running=True)
    for name in ("MIN_DELAY", "HERITRIX_NOTHING", "DOWNLOAD_DELAY"):
        with pytest.raises(Refused, match="no such setting"):
            changes.full(name)
    with pytest.raises(Refused, match="nothing is to be changed"):
        changes.wish({}, [])


@pytest.mark.parametrize("name", ["PROFILE", "WARC_COMPRESS", "DNS_SERVERS", "EXTRACTOR_HTML_SHOULD_PROCESS_RULE"])
def test_what_cannot_change_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(Refused, match=f"HERITRIX_{name} cannot change while the crawl runs: "):
        changes.refuse_fixed([f"HERITRIX_{name}"], running=True)
    if name != "PROFILE":
        changes.refuse_fixed([f"HERITRIX_{name}"], running=False)


def test_entries() -> None:
    found = of(SURTS=["+http://(test,a,"], SCOPE=["AcceptDecideRule", ["TooManyHopsDecideRule", {"id": "far"}]])
    more = changes.with_entry(found, "SURTS", "+http://(test,b,")
    assert more.values == {"HERITRIX_SURTS": ["+http://(test,a,", "+http://(test,b,"]}
    with pytest.raises(Refused, match="has that entry"):
        changes.with_entry(found, "SURTS", "+http://(test,a,")
    rule = changes.with_entry(found, "HERITRIX_SCOPE", '["TooManyPathSegmentsDecideRule", {"max_path_depth": 3}]')
    assert rule.values["HERITRIX_SCOPE"][2] == ["TooManyPathSegmentsDecideRule", {"max_path_depth": 3}]
    for meant in ("far", "TooManyHopsDecideRule", "1", ["TooManyHopsDecideRule", {"id": "far"}]):
        less = changes.without_entry(found, "SCOPE", meant)
        assert less.values == {"HERITRIX_SCOPE": [["AcceptDecideRule", {}]]}
    with pytest.raises(Refused, match="has no such entry"):
        changes.without_entry(found, "SURTS", "+http://(test,c,")
    with pytest.raises(Refused, match="is no list"):
        changes.with_entry(found, "MAX_HOPS", 3)
    with pytest.raises(Refused, match="set it to a list first"):
        changes.with_entry(of(), "SCOPE", "AcceptDecideRule")


def test_an_entry_of_a_file_is_changed_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "surts.txt"
    path.write_text("+http://(test,a,\n")
    with pytest.raises(Refused, match=r"is the file .*surts\.txt: change that"):
        changes.with_entry(of(SURTS=str(path)), "SURTS", "+http://(test,b,")


def test_passwords_are_not_told() -> None:
    made = changes.wish({"CREDENTIALS": [["HttpAuthenticationCredential", {"password": "geheim"}]]}, [])
    assert "geheim" not in made.line("") + json.dumps(made.told())


def test_changes_go_before_the_project(tmp_path: Path) -> None:
    kept.write(tmp_path, kept.Changes(settings={"HERITRIX_MAX_HOPS": "3"}, seed_lines=["+http://(test,a,"]))
    found = read(ScrapySettings({**CONTACT, "HERITRIX_MAX_HOPS": 7, "JOBDIR": str(tmp_path)}))
    assert found.view.max_hops == 3
    assert found.view.seeds == ["+http://(test,a,"]
    assert any("HERITRIX_MAX_HOPS holds as it was changed" in line for line in found.lines)
    (tmp_path / kept.NAME).write_text("{")
    with pytest.raises(SystemExit, match="cannot be read"):
        read(ScrapySettings({**CONTACT, "JOBDIR": str(tmp_path)}))


HOSTS = ("www.changed.test", "other.changed.test")
SITE = {
    host: {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "".join(f'<a href="/{n}">x</a>' for n in range(8))},
        },
        "default": {"body": '<a href="/deep/1">x</a>'},
    }
    for host in HOSTS
}


@pytest.mark.crawl
def test_scope_sheets_and_pauses_change_while_the_crawl_runs(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    site, other = (web.url(host, "").rstrip("/") for host in HOSTS)
    made = project(
        {
            "HERITRIX_SEEDS": [f"{site}/"],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_MIN_DELAY_MS": 1500,
            "HERITRIX_MAX_DELAY_MS": 1500,
            "HERITRIX_PREFERENCE_EMBED_HOPS": 0,
            "HERITRIX_RUN_WHILE_EMPTY": True,
        },
        web=web,
    )
    crawl = made.start()

    def do(name: str, /, **more: Any) -> dict[str, Any]:
        return ask(made.jobdir, {"do": name, **more})

    until(crawl, lambda: any(row.target == "/" for row in web.requests))
    do("pause")
    until(crawl, lambda: do("status")["state"] == "PAUSED")
    assert do("status")["frontier"]["queued"] >= 8
    slow = {"HERITRIX_MIN_DELAY_MS": 0, "HERITRIX_MAX_DELAY_MS": 0}
    # whole or not at all: the second of these is wrong
    for wrong, word in (
        ({**slow, "HERITRIX_MAX_HOPS": "many"}, "expected a whole number"),
        ({**slow, "HERITRIX_SCOPE": ["NoSuchRule"]}, "no such rule"),
        ({**slow, "HERITRIX_COST_ASSIGNMENT_POLICY": "Nothing"}, "expected one of"),
        ({**slow, "HERITRIX_EXTRACTORS": ["ExtractorNothing"]}, "ExtractorNothing"),
        ({**slow, "HERITRIX_SHEETS": {"a": {"HERITRIX_NOTHING": 1}}}, "no such setting"),
        ({**slow, "HERITRIX_WARC_PREFIX": "X"}, "cannot change while the crawl runs"),
    ):
        with pytest.raises(ControlError, match=word):
            do("set", values=wrong)
    assert do("changes")["changes"] == {}
    sheet = {"few": {"HERITRIX_MAX_HOPS": 1}}
    prefix = f"http://(test,changed,www,:{site.rpartition(':')[2]})/deep"
    tied = [{"surt_prefixes": [prefix], "sheets": ["few"]}]
    more = {**slow, "HERITRIX_SHEETS": sheet, "HERITRIX_SHEET_ASSOCIATIONS": tied}
    assert do("set", values=more, check=True)["check"] is True
    assert do("changes")["changes"] == {}
    do("set", values=more, remark="faster")
    do("add", name="HERITRIX_REJECT_REGEXES", value=".*/[4-7]")
    assert do("drop")["deleted"] == 4
    do("add", name="HERITRIX_SURTS", value="+http://(test,changed,other,")
    do("wake")
    do("unpause")
    do("seeds", lines=[f"{other}/3"])
    until(crawl, lambda: any(row.target == "/3" and HOSTS[1] in row.host for row in web.requests))
    until(crawl, lambda: do("status")["frontier"]["queued"] == 0)
    assert do("remove", name="HERITRIX_REJECT_REGEXES", value=".*/[4-7]")["changed"] == {"HERITRIX_REJECT_REGEXES": []}
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    again = made.start()
    until(again, lambda: (made.jobdir / "control.sock").exists())
    until(again, lambda: bool(_answers(made.jobdir)))
    assert do("changes")["changes"]["HERITRIX_MIN_DELAY_MS"] == 0
    do("set", values={"HERITRIX_RUN_WHILE_EMPTY": False}, reset=["HERITRIX_MIN_DELAY_MS"])
    done = made.finish(again, 60)
    assert done.returncode == 0, done.stderr
    statuses = done.statuses
    fetched = {uri for uri, codes in statuses.items() if 200 in codes}
    assert all(statuses[f"{site}/{number}"] == [-5000] for number in range(4, 8))
    assert {f"{site}/{number}" for number in range(4)} <= fetched
    assert not {f"{site}/{number}" for number in range(4, 8)} & fetched
    assert f"{site}/deep/1" not in fetched
    assert f"{other}/deep/1" in fetched
    assert "HERITRIX_SURTS holds as it was changed while the crawl ran" in done.stderr
    assert "HERITRIX_MIN_DELAY_MS" not in kept.read(made.jobdir).settings
    log = (made.jobdir / "job.log").read_text()
    assert "set: HERITRIX_MIN_DELAY_MS = 0; HERITRIX_MAX_DELAY_MS = 0; " in log
    assert " - faster" in log


def _answers(jobdir: Path) -> bool:
    try:
        return bool(ask(jobdir, {"do": "status"}).get("frontier"))
    except ControlError:
        return False
