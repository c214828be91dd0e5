"""Scenarios of extraction: which links a document gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.aside import Aside
from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.misses import GUESS
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.recorder import Recorder
from tests.extract.pages import fetched
from tests.settings.scenarios import Outcome, Scenario, plain

if TYPE_CHECKING:
    from heritrix_scrapy.settings import Settings

PAGE = """<a href=1 rel=nofollow>1</a><a href="q>2">2</a><form action=f></form><form method=post action=p></form>
<input value="/v.html"><iframe src=frame></iframe><script>x='/s.html'; y='./Module'; z='script.com/q'</script>
<style>a{b:url()}c{d:url(i.png)}</style>"""
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://far.example/</loc></url>
</urlset>"""
MANY = "".join(f"<a href={number}>" for number in range(600))

HTML = ("ExtractorHTTP", "ExtractorHTML", "ExtractorJS")


def found(
    content: str | bytes = PAGE,
    extractors: tuple[str, ...] = HTML,
    *,
    tail: str = "dir/page.html",
    misses: int = 0,
    **about: Any,
) -> Outcome:
    """Hop and address of each link. ``misses``: guesses that the host refused before."""

    def outcome(settings: Settings, host: str) -> list[str]:
        extraction = Extraction(extractors)
        for number in range(misses):
            guess = CrawlURI(f"http://{host}/{number}", path="X", via_context=GUESS)
            guess.status = 404
            extraction.note(guess)
        curi, body = fetched(content, url=f"http://{host}/{tail}", **about)
        extraction.read(Document(curi, settings.for_uri(curi), lambda limit: body[:limit]))
        return sorted(plain(f"{link.hop} {link.uri}", host) for link in curi.outlinks)

    return outcome


def aside(settings: Settings, host: str) -> bool:
    """Whether a page of 10 KB is read in another process."""
    curi, body = fetched("x" * 10_000, url=f"http://{host}/")
    curi.recorder = Recorder()
    curi.recorder.response.append(body)
    return Aside(HTML).wants(curi, settings.for_uri(curi))


SCENARIOS = {
    "EXTRACT_JAVASCRIPT": Scenario(False, found()),
    "EXTRACT_VALUE_ATTRIBUTES": Scenario(False, found()),
    "IGNORE_FORM_ACTION_URLS": Scenario(True, found()),
    "EXTRACT_ONLY_FORM_GETS": Scenario(False, found()),
    "TREAT_FRAMES_AS_EMBED_LINKS": Scenario(False, found()),
    "OBEY_REL_NOFOLLOW": Scenario(True, found()),
    "HTML_READER": Scenario("heritrix", found()),
    "CSS_READER": Scenario("heritrix", found()),
    "SPECULATIVE_HOSTS": Scenario("heritrix", found()),
    "SPECULATIVE_PATHS": Scenario("heritrix", found()),
    "SPECULATIVE_MISSES": Scenario(0, found(misses=20)),
    "INFER_ROOT_PAGE": Scenario(True, found()),
    "INFER_PATHS": Scenario(["/humans.txt"], found()),
    "MAX_OUTLINKS": Scenario(1, found()),
    "EXTRACT404S": Scenario(False, found(status=404)),
    "EXTRACT_INDEPENDENTLY": Scenario(
        True,
        found(
            "<a href=1>http://far.example/y</a>",
            ("ExtractorHTML", "ExtractorXML"),
            tail="page.xml",
            content_type="application/xhtml+xml",
        ),
    ),
    "IGNORE_UNEXPECTED_HTML": Scenario(False, found(tail="picture.jpg")),
    "ENABLE_LENIENT_EXTRACTION": Scenario(
        False, found(SITEMAP, ("ExtractorSitemap",), tail="sitemap.xml", content_type="text/xml")
    ),
    "SITEMAP_URL_PATTERN": Scenario(
        ".*/list", found(SITEMAP, ("ExtractorSitemap",), tail="list", content_type="text/plain")
    ),
    "MAX_EXTRACT_BYTES": Scenario(10, found()),
    "MAX_EXTRACT_SECONDS": Scenario(1e-9, found(MANY)),
    "EXTRACT_ASIDE_BYTES": Scenario(10_000, aside),
}
