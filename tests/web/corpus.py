"""Answers as servers really give them: the HTTP corpus that every capture must be byte-exact against.

``CORPUS`` maps a path to a declaration; `site` makes hosts of them with one page that links to all.
``decoded`` is the body that a callback sees where that is not the text of the declaration.
"""

from __future__ import annotations

from typing import Any

Corpus = dict[str, dict[str, Any]]

WHOLE: Corpus = {
    # framing
    "/length": {"body": "<p>by Content-Length"},
    "/length-zero": {"body": "", "type": "text/html"},
    "/close": {"body": "<p>until the connection closes", "length": False},
    "/close-header": {"body": "<p>both say the same", "connection": "close"},
    "/chunked": {"body": "<p>" + "chunk " * 200, "chunks": 100},
    "/chunked-odd": {"body": "<p>odd sizes " * 9, "chunks": {"sizes": [1, 2, 3, 5, 8, 13]}},
    "/chunked-extension": {"body": "<p>extended " * 9, "chunks": {"size": 10, "extension": ';name="a;b"; c'}},
    "/chunked-trailers": {"body": "<p>trailers", "chunks": {"size": 4, "trailers": ["X-Sum: 1", "X-End: yes"]}},
    "/chunked-upper": {
        "wire": "HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\nContent-Type: text/html\r\n\r\n"
        "0000A\r\n0123456789\r\n000\r\n\r\n"
    },
    "/chunked-and-length": {
        "wire": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n"
        "Content-Type: text/html\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    },
    "/chunked-drip": {"body": "<p>slow chunks", "chunks": 5, "drip": [3, 0.01], "drip_head": True},
    # codings
    "/gzip": {"body": "<p>packed " * 50, "encode": "gzip"},
    "/gzip-chunked": {"body": "<p>packed in chunks " * 50, "encode": "gzip", "chunks": {"sizes": [1, 7, 30]}},
    "/deflate": {"body": "<p>deflated " * 50, "encode": "deflate"},
    "/deflate-raw": {"body": "<p>raw deflated " * 50, "encode": "deflate-raw"},
    "/gzip-name-only": {"body": "<p>says gzip, is not", "headers": [["Content-Encoding", "gzip"]]},
    # heads
    "/no-reason": {"body": "<p>no reason phrase", "reason": ""},
    "/no-reason-no-space": {"wire": "HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"},
    "/long-reason": {"body": "<p>talkative", "status": "200 All is well, thank you: very well"},
    "/odd-status": {"body": "<p>299", "status": 299},
    "/http10": {"body": "<p>old", "version": "HTTP/1.0", "connection": "close"},
    "/latin1": {
        "wire": "HTTP/1.1 200 OK\r\nX-Name: Gr\xfc\xdfe\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
    },
    "/utf8": {"body": "<p>utf-8", "headers": [["X-Name", "Grüße"]]},
    "/duplicates": {"body": "<p>twice", "headers": [["X-Same", "1"], ["x-same", "2"], ["X-SAME", "1"]]},
    "/folded": {"body": "<p>folded", "headers": ["X-Long: first", "  second", "\tthird"]},
    "/blank-value": {"body": "<p>blank", "headers": ["X-Blank:", "X-Spaces:    "]},
    "/space-before-colon": {"body": "<p>space", "headers": ["X-Space : 1"]},
    "/no-colon": {"body": "<p>no colon", "headers": ["this line has none"]},
    "/tight": {"body": "<p>tight", "headers": ["X-Tight:1"]},
    "/bare-lf": {"body": "<p>bare line feeds", "eol": "\n"},
    "/lower-case": {"wire": "HTTP/1.1 200 ok\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nok"},
    "/many-headers": {"body": "<p>many", "headers": [[f"X-{number}", "v" * 20] for number in range(100)]},
    "/long-header": {"body": "<p>long", "headers": [["X-Long", "v" * 7000]]},
    "/no-type": {"body": "<p>what am I", "type": None},
    "/odd-type": {"body": "<p>odd", "type": 'Text/HTML;Charset="UTF-8" '},
    "/no-headers": {"wire": "HTTP/1.1 200 OK\r\n\r\n<p>nothing but a body"},
    # interim responses, answers without a body
    "/continue": {"interim": ["HTTP/1.1 100 Continue\r\n\r\n"], "body": "<p>after 100"},
    "/early-hints": {
        "interim": ["HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n"],
        "body": "<p>after 103 and 102",
    },
    "/204": {"status": 204},
    "/304": {"status": 304},
    "/304-length": {"status": 304, "length": 1000},
    # bodies
    "/binary": {"type": "application/octet-stream", "bytes": bytes(range(256)) * 4},
    "/large": {"type": "application/octet-stream", "fill": 700_000},
    "/large-chunked": {"type": "application/octet-stream", "fill": 700_000, "chunks": 9999},
    "/redirect": {"redirect": "/length", "status": 301, "body": "<p>moved"},
    "/404": {"status": 404, "body": "<p>none"},
    "/500": {"status": 500, "body": "<p>broken"},
}

# Answers that end before they promised to; what came is what is kept.
BROKEN: Corpus = {
    "/head-cut": {"wire": "HTTP/1.1 200 OK\r\nContent-Type: text/ht"},
    "/short": {"body": "<p>less than promised", "length": 1000},
    "/cut": {"fill": 5000, "cut": 1234},
    "/reset": {"fill": 5000, "reset_after": 1234, "drip": [617, 0.05]},
    "/chunked-no-end": {"body": "<p>no last chunk", "chunks": {"size": 6, "fault": "no-end"}},
    "/chunked-bad-size": {"body": "<p>a size that is none", "chunks": {"size": 6, "fault": "size"}},
    "/chunked-huge": {"body": "<p>a size too large", "chunks": {"size": 6, "fault": "huge"}},
    "/chunked-missing-crlf": {"body": "<p>chunks run together", "chunks": {"size": 6, "fault": "missing-crlf"}},
    "/gzip-cut": {"body": "<p>packed " * 500, "encode": "gzip", "cut": 20},
}

# Answers that are none: nothing can be archived.
NOTHING: Corpus = {
    "/close-now": {"close_now": True},
    "/reset-now": {"reset_now": True},
}

ROBOTS: dict[str, Any] = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}


def site(corpus: Corpus, host: str = "corpus.test") -> dict[str, dict[str, Any]]:
    """One host with every answer of the corpus, and ``/`` with a link to each."""
    links = "".join(f'<a href="{path}">{path}</a>\n' for path in corpus)
    return {host: {"routes": {"/robots.txt": ROBOTS, "/": {"body": links}, "/favicon.ico": {"status": 404}, **corpus}}}


def final(sent: bytes) -> bytes:
    """What a response record must hold: *sent* from the final status line on, interim responses left out."""
    while sent.startswith(b"HTTP/1.1 1"):
        sent = sent.partition(b"\r\n\r\n")[2]
    return sent
