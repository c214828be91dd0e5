"""The demonstration web of ``make crawl``: a dozen hosts that show what an archival crawl meets.

Pages, style sheets, scripts and images on hosts of their own, redirects, robots.txt rules, a login wall, a
calendar without end, a host that is down, one that does not exist, and servers that stall, cut off or send
bad chunks.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any


def png(red: int, green: int, blue: int, side: int = 8) -> bytes:
    """A square PNG of one colour."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + bytes((red, green, blue)) * side
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
        + part(b"IDAT", zlib.compress(row * side))
        + part(b"IEND", b"")
    )


def page(title: str, *body: str, head: str = "") -> dict[str, Any]:
    return {
        "type": "text/html; charset=utf-8",
        "body": [
            "<!DOCTYPE html>",
            f"<html><head><title>{title}</title>",
            '<link rel="stylesheet" href="${http:static.demo.test}/site.css">',
            head,
            "</head><body>",
            f"<h1>{title}</h1>",
            *body,
            "</body></html>",
        ],
    }


def links(*targets: str) -> str:
    return "<ul>" + "".join(f'<li><a href="{target}">{target}</a></li>' for target in targets) + "</ul>"


def picture(*colour: int) -> dict[str, Any]:
    return {"type": "image/png", "bytes": png(*colour)}


FREE = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}

SITES: dict[str, dict[str, Any]] = {
    "www.demo.test": {
        "routes": {
            "/robots.txt": {"type": "text/plain", "body": "User-agent: *\nDisallow: /private/\n"},
            "/": page(
                "A small web",
                "<p>Everything here is served from your own machine.</p>",
                '<img src="/logo.png" alt=""><script src="${http:static.demo.test}/site.js"></script>',
                links(
                    "/about",
                    "/old-address",
                    "/private/diary",
                    "/missing",
                    "${http:news.demo.test}/",
                    "${http:photos.demo.test}/",
                    "${http:shop.demo.test}/",
                    "${http:faults.demo.test}/",
                    "${https:secure.demo.test}/",
                ),
            ),
            "/about": page("About", links("/", "/team", "/history")),
            "/team": page("Team", '<img src="/team.png" srcset="/team-2x.png 2x" alt="">', links("/about")),
            "/history": page("History", links("/about", "/gone")),
            "/old-address": {"status": 301, "redirect": "/about"},
            "/private/diary": page("Nobody should read this"),
            "/gone": {"status": 410, "body": "Gone."},
            "/logo.png": picture(200, 60, 60),
            "/team.png": picture(60, 200, 60),
            "/team-2x.png": picture(60, 200, 60, 16),
            "/favicon.ico": {"status": 404, "body": ""},
        }
    },
    "static.demo.test": {
        "routes": {
            "/robots.txt": {"status": 404, "body": "none"},
            "/site.css": {
                "type": "text/css",
                "encode": "gzip",
                "body": '@import "fonts.css"; body {background: url(paper.png)} p {background: url(/rule.png)}',
            },
            "/fonts.css": {
                "type": "text/css",
                "body": "@font-face { font-family: demo; src: url(demo.woff2) }",
            },
            "/demo.woff2": {"type": "font/woff2", "fill": 2000},
            "/paper.png": picture(250, 245, 230),
            "/rule.png": picture(90, 90, 90),
            "/site.js": {
                "type": "application/javascript",
                "body": 'var next = "/lazy/panel.html"; fetch("/data/menu.json");',
            },
            "/lazy/panel.html": page("A panel that only the script names"),
            "/data/menu.json": {"type": "application/json", "body": '{"items": ["about", "team"]}'},
        }
    },
    "news.demo.test": {
        "routes": {
            "/robots.txt": {
                "type": "text/plain",
                "body": "User-agent: *\nCrawl-delay: 0\nDisallow: /search\n",
            },
            "/": page("News", links(*[f"/story/{n}" for n in range(1, 9)], "/search?q=all")),
            "/search?q=all": page("Search"),
        },
        "patterns": [
            [
                r"/story/(\d+)",
                {
                    **page("Story $1", '<img src="/img/$1.png" alt="">', links("/", "/story/$1/comments")),
                    "chunks": {"sizes": [1, 7, 64], "extension": ";part"},
                },
            ],
            [r"/story/(\d+)/comments", page("Comments on $1", links("/story/$1"))],
            [r"/img/\d+\.png", picture(60, 60, 200)],
        ],
    },
    "photos.demo.test": {
        "routes": {
            "/robots.txt": FREE,
            "/": page("Photos", *(f'<a href="/p/{n}"><img src="/thumb/{n}.png" alt=""></a>' for n in range(12))),
        },
        "patterns": [
            [r"/p/(\d+)", page("Photo $1", '<img src="/full/$1.png" alt="">', links("/"))],
            [r"/thumb/\d+\.png", picture(120, 60, 160)],
            [r"/full/\d+\.png", {**picture(120, 60, 160, 64), "delay": 0.05}],
        ],
    },
    "shop.demo.test": {
        "routes": {
            "/robots.txt": FREE,
            "/": page("Shop", links("/cart", "/basket", "/item?id=1&sort=asc", "/calendar/1")),
            "/cart": {
                "cases": [{"if": {"basic": "demo:demo"}, "then": page("Cart")}],
                "status": 401,
                "headers": [["WWW-Authenticate", 'Basic realm="cart"']],
                "body": "Please log in.",
            },
            "/basket": {"redirect": "/basket/", "headers": [["Set-Cookie", "basket=1; Path=/"]]},
            "/basket/": page("Basket", links("/loop/a")),
            "/item?id=1&sort=asc": page("Item", links("/item?sort=asc&id=1")),
            "/item?sort=asc&id=1": page("The same item"),
            "/loop/a": {"redirect": "/loop/b"},
            "/loop/b": {"redirect": "/loop/a"},
        },
        # A trap: every day links to the next. It ends with the crawl's max hops.
        "patterns": [[r"/calendar/(\d+)", page("Day $1", links("/calendar/$+1"))]],
    },
    "secure.demo.test": {
        "routes": {
            "/robots.txt": FREE,
            "/": page("Over TLS", '<img src="/lock.png" alt="">', links("${http:www.demo.test}/", "/deeper")),
            "/deeper": page("Deeper", links("/")),
            "/lock.png": picture(20, 20, 20),
        }
    },
    "faults.demo.test": {
        "routes": {
            "/robots.txt": {
                "status": 500,
                "body": "broken",
                "cases": [{"if": {"nth_from": 2}, "then": FREE}],
            },
            "/": page(
                "Servers are not always well",
                links(
                    "/short",
                    "/bad-chunks",
                    "/slow",
                    "/wire",
                    "/latin",
                    "/early",
                    "/error",
                    "${http:down.demo.test}/",
                    "${http:no-such-host.demo.test}/",
                    "${http:mute.demo.test}/",
                    "${http:ill.demo.test}/",
                ),
            ),
            "/short": {"type": "text/plain", "fill": 900, "length": 1000},
            "/bad-chunks": {"type": "text/plain", "fill": 900, "chunks": {"size": 300, "fault": "no-end"}},
            "/slow": {"type": "text/plain", "fill": 400, "drip": [40, 0.05]},
            "/wire": {"wire": "HTTP/1.0 200\nContent-type: text/plain\nX-Twice: 1\nx-twice: 2\n\nsloppy"},
            "/latin": {"type": "text/html; charset=iso-8859-1", "charset": "iso-8859-1", "body": "<p>Grüße"},
            "/early": {
                "interim": ["HTTP/1.1 103 Early Hints\r\nLink: </logo.png>\r\n\r\n"],
                "body": "<p>after 103",
            },
            "/error": {"status": 503, "headers": [["Retry-After", "1"]], "body": "later"},
        }
    },
    "down.demo.test": {"listen": False},
    # Whoever cannot say what its robots.txt allows is not crawled (RFC 9309).
    "ill.demo.test": {"routes": {"/robots.txt": {"status": 500, "body": "broken"}, "/": page("Unseen")}},
    "mute.demo.test": {"routes": {"/robots.txt": FREE, "/": {"close_now": True}}},
    "mirror.demo.test": {"cname": "www.demo.test"},
}

# Where the demonstration crawl starts.
SEEDS = [
    "${http:www.demo.test}/",
    "${http:news.demo.test}/",
    "${http:photos.demo.test}/",
    "${https:secure.demo.test}/",
]
SEEDS += ["${http:shop.demo.test}/", "${http:faults.demo.test}/", "${http:static.demo.test}/lazy/panel.html"]
SEEDS += ["${http:down.demo.test}/", "${http:mute.demo.test}/", "${http:ill.demo.test}/", "${http:nowhere.demo.test}/"]
