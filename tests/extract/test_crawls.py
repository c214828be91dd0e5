"""Do the links of a document take their way through a whole crawl?"""

from __future__ import annotations

import base64
import gzip

import pytest

URLSET = "<urlset><url><loc>{}</loc></url></urlset>"
GUESSES = "".join(f"'/guess/{n}.html'," for n in range(60))


@pytest.mark.crawl
@pytest.mark.long
def test_sitemaps_are_followed_and_hopeless_guesses_are_not(serve, run_crawl):
    host = "http://www.alpha.test:{port}"
    web = serve(
        {
            "www.alpha.test": {
                "routes": {
                    "/": {"body": f"<html><script>x=[{GUESSES}]</script>"},
                    "/robots.txt": {"body": "Sitemap: /index.xml", "type": "text/plain"},
                    "/index.xml": {
                        "body": "<sitemapindex><sitemap><loc>/deep/map.xml.gz</loc></sitemap></sitemapindex>",
                        "type": "text/xml",
                    },
                    "/deep/map.xml.gz": {
                        "b64": base64.b64encode(gzip.compress(URLSET.format("/only/here").encode())).decode(),
                        "type": "application/gzip",
                    },
                    "/only/here": {"body": "found"},
                }
            }
        }
    )
    crawl = run_crawl({"HERITRIX_SEEDS": [f"http://www.alpha.test:{web.port}/"]}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    root = host.format(port=web.port)
    assert crawl.statuses[f"{root}/only/here"] == [200]
    lines = {line.split()[3].removeprefix(root): line.split() for line in crawl.log}
    assert [lines[path][4] for path in ("/index.xml", "/deep/map.xml.gz", "/only/here")] == ["PM", "PMM", "PMMM"]
    assert lines["/deep/map.xml.gz"][11] == "isSitemap"
    ends = [codes for uri, codes in crawl.statuses.items() if "/guess/" in uri]
    assert len(ends) == 60
    dropped = sum(codes == [-5002] for codes in ends)
    assert dropped == crawl.stats["heritrix/extract/guesses_dropped"]
    # 20 answers close the host; as many more may be under way by then
    assert dropped >= 10
    assert not crawl.runtime_errors


@pytest.mark.crawl
def test_large_and_difficult_documents_are_read_in_a_process_of_their_own(serve, run_crawl):
    big = "<html>" + "".join(f"<a href='/{n}'>{'x' * 900}</a>" for n in range(60)) + "<!--" + "x" * 200_000 + "-->"
    # smaller, and some 200 ms of work
    slow = "<html>" + "".join(f"<a href='../../{n}/../é'>" for n in range(6_000)) + "<a href=/last>"
    routes = {"/": {"body": big}, "/0": {"body": slow}, "/1": {"body": "<html><a href=/small>"}}
    web = serve({"www.alpha.test": {"routes": routes}})
    settings = {
        "HERITRIX_SEEDS": [f"http://www.alpha.test:{web.port}/"],
        "HERITRIX_EXTRACT_ASIDE_BYTES": 200_000,
    }
    crawl = run_crawl(settings, web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert sum(uri.rpartition("/")[2].isdigit() for uri in crawl.statuses) == 60
    assert {"last", "small"} < {uri.rpartition("/")[2] for uri in crawl.statuses}
    assert crawl.stats["heritrix/extract/read_aside"] == 2
    assert not crawl.runtime_errors
