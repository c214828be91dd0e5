"""Pages that send everybody away for a cookie first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

COOKIE = ["Set-Cookie", "seen=1; Path=/"]
PAGE = {"if": {"cookie_has": "seen=1"}, "then": {"body": "<html><a href=/behind>welcome</a>"}}


@pytest.mark.crawl
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_redirect_that_comes_back_with_a_cookie(profile: str, serve: Serve, run_crawl: RunCrawl) -> None:
    none = {"status": 404}
    web = serve(
        {
            # each host has cookies of its own
            f"{name}.test": {"routes": {"/robots.txt": none, "/favicon.ico": none, "/behind": {"body": "b"}, **routes}}
            for name, routes in {
                "start": {
                    "/": {
                        "body": "".join(
                            f"<a href='${{http:{name}.test}}/x'>x</a>" for name in ("self", "gate", "loop", "plain")
                        )
                    }
                },
                "self": {"/x": {"redirect": "/x", "headers": [COOKIE], "cases": [PAGE]}},
                "gate": {
                    "/x": {"redirect": "/gate", "cases": [PAGE]},
                    "/gate": {"redirect": "/x", "headers": [COOKIE]},
                },
                # one that gives a cookie each time and never opens
                "loop": {"/x": {"redirect": "/x", "headers": [COOKIE]}},
                "plain": {"/x": {"redirect": "/x"}},
            }.items()
        }
    )
    settings = {"HERITRIX_PROFILE": profile, "HERITRIX_SCOPE": "broad", "HERITRIX_MAX_RETRIES": 6}
    crawl = run_crawl({**settings, "HERITRIX_SEEDS": [web.url("start.test")]}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    found = {name: crawl.statuses[web.url(f"{name}.test", "/x")] for name in ("self", "gate", "loop", "plain")}
    if profile == "heritrix":
        assert found == {"self": [302], "gate": [302], "loop": [302], "plain": [302]}
        return
    assert found == {"self": [302, 200], "gate": [302, 200], "loop": [302, 302], "plain": [302]}
    for name in ("self", "gate"):
        assert crawl.statuses[web.url(f"{name}.test", "/behind")] == [200]
