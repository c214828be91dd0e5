"""Do files in the action directory steer a crawl, each once, and only when they are complete?"""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.actionfiles import Action, Folder, action_of
from heritrix_scrapy.operate.control import ask
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

NOW = 1_800_000_000_000


def old(path: Path, text: str = "x\n") -> Path:
    """A file that was written long ago."""
    path.write_text(text)
    os.utime(path, (NOW / 1000 - 60, NOW / 1000 - 60))
    return path


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("x.s.force.gz", Action("force", scope=True, packed=True)),
        ("s.force", Action("force", scope=True)),
        ("xs.force", Action("force")),
        (".force", Action("force")),
        ("force", Action("unknown")),
        ("x.s.seeds", Action("seeds")),
        ("x.groovy.gz", Action("unknown", packed=True)),
        ("x.FORCE", Action("unknown")),
        ("x.recover.gz.gz", Action("unknown", packed=True)),
    ],
)
def test_names(name: str, action: Action) -> None:
    assert action_of(name) == action


def test_a_file_that_is_written_to_is_left(tmp_path: Path) -> None:
    folder = Folder()
    path = old(tmp_path / "b.force")
    old(tmp_path / "a.force")
    old(tmp_path / ".hidden.force")
    old(tmp_path / "kept.force~")
    (tmp_path / "done").mkdir()
    (tmp_path / "link.force").symlink_to(path)
    with path.open("a"):
        assert [each.name for each in folder.complete(tmp_path, NOW)] == ["a.force"]
    assert [each.name for each in folder.complete(tmp_path, NOW)] == ["a.force", "b.force"]


def test_a_file_that_has_just_changed_has_to_stay_the_same(tmp_path: Path) -> None:
    folder = Folder()
    path = old(tmp_path / "a.force")
    os.utime(path, (NOW / 1000, NOW / 1000))
    assert folder.complete(tmp_path, NOW + 10) == []
    with path.open("a") as file:
        file.write("more\n")
    os.utime(path, (NOW / 1000, NOW / 1000))
    assert folder.complete(tmp_path, NOW + 20) == []
    assert folder.complete(tmp_path, NOW + 30) == [path]


HOSTS = ("www.acted.test", "other.acted.test")
SITE = {
    host: {
        "routes": {"/robots.txt": {"status": 404}, "/": {"body": "".join(f'<a href="/{n}">x</a>' for n in range(5))}},
        "default": {"body": "page"},
    }
    for host in HOSTS
}


@pytest.mark.crawl
def test_a_crawl_is_steered_by_files(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url(HOSTS[0], "/")],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_RUN_WHILE_EMPTY": True,
            "HERITRIX_ACTION_INITIAL_DELAY_SECONDS": 0.05,
            "HERITRIX_ACTION_DELAY_SECONDS": 0.05,
        },
        web=web,
    )
    site, other = (web.url(host, "").rstrip("/") for host in HOSTS)
    crawl = made.start()
    action = made.jobdir / "action"
    done = action / "done"

    def put(name: str, text: str, *, packed: bool = False) -> None:
        data = text.encode()
        path = made.folder / name
        path.write_bytes(gzip.compress(data) if packed else data)
        path.rename(action / name)

    def ended(name: str) -> bool:
        return done.exists() and any(path.name.endswith("." + name) for path in done.iterdir())

    until(crawl, lambda: sum(row.target == "/4" for row in web.requests) == 1)
    put("1.include", f"{site}/known\n")
    put("2.schedule", f"{site}/known\n{site}/new\nno uri at all\n")
    put("3.s.schedule.gz", f"{other}/refused\n{site}/taken\n", packed=True)
    put("4.force", f"{site}/0\n")
    put("5.seeds", f"{other}/\n")
    put("6.recover", f"Fs {site}/before L {site}/\nF+ {site}/before L {site}/\nF+ {site}/queued L {site}/\n")
    put("7.groovy", "rawOut.println('hello')\n")
    put("8.txt", "what\n")
    until(crawl, lambda: ended("8.txt") and ask(made.jobdir, {"do": "status"})["frontier"]["queued"] == 0)
    until(crawl, lambda: sum(row.target == "/0" and HOSTS[0] in row.host for row in web.requests) == 2)
    ask(made.jobdir, {"do": "terminate"})
    result = made.finish(crawl, 60)
    assert "Traceback" not in result.stderr
    fetched = set(result.statuses)
    assert {f"{site}/new", f"{site}/taken", f"{site}/queued", f"{other}/", f"{other}/3"} <= fetched
    assert not {f"{site}/known", f"{other}/refused", f"{site}/before"} & fetched
    assert result.statuses[f"{site}/0"] == [200, 200]
    kept = {path.name.split(".", 1)[1]: path for path in (made.jobdir / "actions-done").iterdir()}
    assert {"1.include", "3.s.schedule.gz", "7.groovy", "8.txt"} <= set(kept)
    assert "more than one word" in kept["2.schedule.out"].read_text()
    assert "no script engine" in kept["7.groovy.exception"].read_text()
    assert all(path.resolve().parent == made.jobdir / "actions-done" for path in done.iterdir())
    assert [path.name for path in action.iterdir() if path.is_file()] == []
    log = (made.jobdir / "job.log").read_text()
    assert "action file 7.groovy: scripts are not run" in log
    for name, count in {"done": 6, "refused": 1, "ignored": 1}.items():
        assert result.stats[f"heritrix/actions/{name}"] == count
