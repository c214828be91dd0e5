"""How the product answers the crawls among the vectors: a small site is served and crawled as a user would.

Sites that need logins have no adapter here.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from warcio.archiveiterator import ArchiveIterator  # noqa: E402

from tests.crawls import Project  # noqa: E402
from tests.web import running  # noqa: E402

Case = dict[str, Any]


@cache
def archived(site: str, seed: str) -> list[str]:
    """Paths of the responses in the WARC files of a crawl. ``site``: its pages by name, as JSON."""
    routes = {f"/{name}": {"body": body} for name, body in json.loads(site).items()}
    with tempfile.TemporaryDirectory() as folder, running({"selftest.test": {"routes": routes}}) as web:
        project = Project(
            Path(folder) / "project",
            {
                "HERITRIX_PROFILE": "heritrix",
                "HERITRIX_MAX_RETRIES": 6,
                "HERITRIX_DNS_SERVERS": [web.dns],
                "HERITRIX_SEEDS": [f"http://selftest.test:{web.port}{seed}"],
            },
        )
        crawl = project.run(name="archive")
        paths = set()
        for path in crawl.warcs:
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream):
                    uri = record.rec_headers["WARC-Target-URI"] or ""
                    if record.rec_type == "response" and uri.startswith("http"):
                        paths.add(urlsplit(uri).path[1:])
        return sorted(paths)


def selftest(case: Case) -> tuple[bool, object] | None:
    given = case["input"]
    if "config" in given or "site" not in given:
        return None
    got = archived(json.dumps(given["site"]), given["seeds"])
    return got == case["expected"]["pinned"]["archivedPaths"], got


ADAPTERS = {"fetch/selftest": selftest}
