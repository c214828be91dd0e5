"""Hosts that are not well, one fault each: names, ports, TLS, stalls, robots.txt, logins, traps.

`SITES` is the web; `SEEDS` has one URI for each fault, with the statuses that a crawl may end it with (any,
where it is a matter of policy). What a seed's redirect leads to is a seed too, fetched even if known, up to
five times. No page links to them: every fault is a seed of its own.
"""

from __future__ import annotations

from typing import Any

FREE = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}
PAGE = {"body": "<title>well</title>"}


def host(*, robots: Any = FREE, **declared: Any) -> dict[str, Any]:
    """A host that is well but for what is declared."""
    routes = {"/robots.txt": robots, "/": PAGE, "/favicon.ico": {"status": 404}, **declared.pop("routes", {})}
    return {"routes": routes, **declared}


def links(*targets: str) -> dict[str, Any]:
    return {"body": "".join(f'<a href="{target}">{target}</a> ' for target in targets)}


NAMES = {
    "nxdomain.test": host(dns="nxdomain"),
    "servfail.test": host(dns="servfail"),
    "refused-name.test": host(dns="refused"),
    "empty-name.test": host(dns="empty"),
    "garbage-name.test": host(dns="garbage"),
    "flaky-name.test": host(dns_failures=1),
    "tcp-name.test": host(dns="truncated"),
    "slow-name.test": host(dns_delay=0.5),
    "alias-name.test": {"cname": "well.test"},
    "loop-name.test": {"cname": "loop-name.test"},
}
PORTS = {
    "refused.test": host(listen=False),
    "tls-plain.test": host(tls="plain"),
    "tls-reset.test": host(tls="reset"),
    "tls-off.test": host(tls="off"),
}
WIRE = {
    "wire.test": host(
        routes={
            "/stall": {"stall": True},
            "/stall-head": {"wire": "HTTP/1.1 200 OK\r\nContent-", "hold_open": True},
            "/stall-body": {"fill": 2000, "stall_after": 1000},
            "/drip": {"fill": 300, "drip": [30, 0.05]},
            "/slow-start": {**PAGE, "delay": 0.5},
            "/reset-now": {"reset_now": True},
            "/close-now": {"close_now": True},
            "/cut": {"fill": 2000, "cut": 1000},
            "/too-long": {**PAGE, "length": 5},
            "/endless": {"endless": "<p>and on it goes\n", "length": False},
            "/flaky": {"close_now": True, "cases": [{"if": {"nth_from": 2}, "then": PAGE}]},
        }
    )
}
ROBOTS = {
    "robots-404.test": host(robots={"status": 404}),
    "robots-403.test": host(robots={"status": 403}),
    "robots-500.test": host(robots={"status": 500}),
    "robots-html.test": host(robots={"body": "<html><p>Disallow: /"}),
    "robots-loop.test": host(robots={"redirect": "/robots.txt"}),
    "robots-moved.test": host(robots={"redirect": "/rules.txt"}, routes={"/rules.txt": FREE}),
    "robots-close.test": host(robots={"close_now": True}),
    "robots-large.test": host(robots={"type": "text/plain", "body": "User-agent: *\nDisallow:\n", "fill": 900_000}),
    "robots-no.test": host(robots={"type": "text/plain", "body": "User-agent: *\nDisallow: /\n"}),
}
LOGIN = {
    "login.test": host(
        routes={
            "/basic": {
                "status": 401,
                "headers": [["WWW-Authenticate", 'Basic realm="here"']],
                "cases": [{"if": {"basic": "me:pw"}, "then": links("/inside")}],
            },
            "/form": {
                "body": '<form method="post" action="/enter"><input name="user"><input type="password" name="pw">'
            },
            "POST /enter": {
                "status": 403,
                "cases": [
                    {
                        "if": {"body_has": "pw=pw"},
                        "then": {"redirect": "/members", "headers": [["Set-Cookie", "session=1; Path=/"]]},
                    }
                ],
            },
            "/members": {
                "redirect": "/form",
                "cases": [{"if": {"cookie_has": "session=1"}, "then": links("/inside")}],
            },
            "/inside": PAGE,
        }
    )
}
TRAPS = {
    "traps.test": host(
        routes={
            "/loop/a": {"redirect": "/loop/b"},
            "/loop/b": {"redirect": "/loop/a"},
            "/self": {"redirect": "/self"},
        },
        patterns=[
            [r"/day/(\d+)", links("/day/$+1")],
            [r"/deeper/.*", links("again/deeper/again/deeper/")],
            # Redirects cost no hops in the default scope, as in Heritrix: this chain is long, not endless.
            [r"/next/([1-9]|[1-4]\d)", {"redirect": "/next/$+1"}],
            [r"/list\?sort=(\d+)", links("/list?sort=$+1")],
        ],
    )
}

SITES: dict[str, dict[str, Any]] = {
    "well.test": host(),
    **NAMES,
    **PORTS,
    **WIRE,
    **ROBOTS,
    **LOGIN,
    **TRAPS,
}

ANY: tuple[int, ...] = ()
SEEDS: dict[str, tuple[int, ...]] = {
    "${http:well.test}/": (200,),
    "${http:nxdomain.test}/": (-1, -6),
    "${http:servfail.test}/": (-1, -6),
    "${http:refused-name.test}/": (-1, -6),
    "${http:empty-name.test}/": (-1, -6),
    "${http:garbage-name.test}/": (-1, -6),
    "${http:loop-name.test}/": (-1, -6),
    "${http:flaky-name.test}/": (200,),
    "${http:tcp-name.test}/": (200,),
    "${http:slow-name.test}/": (200,),
    "${http:alias-name.test}/": (200,),
    "${http:refused.test}/": (-2, -61),
    "${https:tls-plain.test}/": (-2, -61),
    "${https:tls-reset.test}/": (-2, -3, -61),
    "${https:tls-off.test}/": (-2, -61),
    "${http:wire.test}/stall": (-2, -3, -4),
    "${http:wire.test}/stall-head": (-2, -3, -4),
    "${http:wire.test}/stall-body": (200, -4),
    "${http:wire.test}/drip": (200,),
    "${http:wire.test}/slow-start": (200,),
    "${http:wire.test}/reset-now": (-2, -3),
    "${http:wire.test}/close-now": (-2, -3),
    "${http:wire.test}/cut": (200, -3),
    "${http:wire.test}/too-long": (200,),
    "${http:wire.test}/endless": (200,),
    "${http:wire.test}/flaky": (200,),
    "${http:robots-404.test}/": (200,),
    "${http:robots-403.test}/": ANY,
    "${http:robots-500.test}/": ANY,
    "${http:robots-html.test}/": (200,),
    "${http:robots-loop.test}/": ANY,
    "${http:robots-moved.test}/": (200,),
    "${http:robots-close.test}/": ANY,
    "${http:robots-large.test}/": (200,),
    "${http:robots-no.test}/": (-9998,),
    "${http:login.test}/basic": (401,),
    "${http:login.test}/form": (200,),
    "${http:login.test}/members": (302,),
    "${http:traps.test}/loop/a": (302,),
    "${http:traps.test}/self": (302,),
    "${http:traps.test}/day/1": (200,),
    "${http:traps.test}/deeper/": (200,),
    "${http:traps.test}/next/1": (302,),
    "${http:traps.test}/list?sort=1": (200,),
}
