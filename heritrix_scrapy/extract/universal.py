"""Which runs of characters in any document at all are addresses?

For what no other extractor reads: the bytes are searched for runs of characters that a URI may have, with a
scheme and a number, or a known top-level domain (Heritrix: ExtractorUniversal). The standard way goes on behind a
candidate that is none, and looks at a run that the document ends with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.likely import current_tlds, speculative_fixup
from heritrix_scrapy.extract.tables import UNIVERSAL_TLDS
from heritrix_scrapy.model.hops import SPECULATIVE
from heritrix_scrapy.uri.fixup import UriError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=SPECULATIVE_MISC"

#: A run longer than this is no address.
LONGEST = 2083

#: Characters behind a dot in which a top-level domain is looked for.
WINDOW = 6

_RUN = re.compile(rb"[#-&+-;=?-Z_a-z~]{4,}+")
_NUMERIC = re.compile(r"https?://\d{1,3}(?:\.\d{1,3}){3}\Z", re.ASCII)


def runs(data: bytes, *, to_the_end: bool) -> Iterator[str]:
    """Runs of characters of addresses. One that is too long is dropped with the byte at which it became so, and the
    next begins behind it. ``to_the_end``: also one that nothing follows."""
    size = len(data)
    for match in _RUN.finditer(data):
        if match.end() == size and not to_the_end:
            return
        start, length = match.start(), match.end() - match.start()
        if length > LONGEST:
            # dropped in blocks of one more than is too long, and the byte that shows it
            start += length // (LONGEST + 2) * (LONGEST + 2)
            length = match.end() - start
            if length <= 3 or length > LONGEST:
                continue
        yield data[start : match.end()].decode("ascii")


def looks_like_address(text: str, domains: frozenset[str]) -> bool:
    """Whether a run is worth a try: a scheme and a dotted number, or a top-level domain behind some dot."""
    if _NUMERIC.match(text):
        return True
    dot = text.find(".")
    if dot <= 0:
        return False
    while dot >= 0:
        if text[dot + 1 : dot + 1 + WINDOW].partition("/")[0].lower() in domains:
            return True
        dot = text.find(".", dot + 1)
    return False


class ExtractorUniversal(ContentExtractor):
    """Any document that is left. Hop X, past the limit of links."""

    options = ContentExtractor.options | {"html_reader"}
    own = {"max_size_to_parse": 1024 * 1024}

    def takes(self, document: Document) -> bool:
        return True

    def extract(self, document: Document) -> Iterable[Outlink]:
        as_heritrix = self.option(document, "html_reader") == "heritrix"
        domains = UNIVERSAL_TLDS if as_heritrix else current_tlds()
        limit = max(self.property("max_size_to_parse"), 0)
        for run in document.in_time(runs(document.body(limit), to_the_end=not as_heritrix)):
            if "." not in run or not looks_like_address(run, domains):
                continue
            text = run[max(run.lower().find("http"), 0) :].rstrip(".")
            if not as_heritrix:
                text = speculative_fixup(text, document.uri, cautious=True)
                if not text.startswith(("http://", "https://")):
                    continue
            if not document.link_absolute(text, SPECULATIVE, CONTEXT) and as_heritrix:
                # Heritrix notices only outside its loop
                document.curi.errors.append((self.name, UriError(document.curi.link_errors.pop()[1])))
                break
        return ()
