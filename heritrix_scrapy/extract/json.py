"""Which members of a JSON document are addresses?

The first value of the document is parsed strictly, and the strings in its objects are looked at (Heritrix:
ExtractorJson). The standard way looks into arrays, too.
"""

from __future__ import annotations

import logging
import re
from json import JSONDecoder, detect_encoding
from typing import TYPE_CHECKING, Any, NoReturn

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import join_surrogates
from heritrix_scrapy.extract.likely import is_very_likely
from heritrix_scrapy.model.hops import INFERRED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

logger = logging.getLogger(__name__)

CONTEXT = "=INFERRED_MISC"

_ADDRESS = re.compile(r"https?://[^/]+/.+\.json\b", re.ASCII)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _no_number(digits: str) -> None:
    """Numbers are of no interest, and long ones cost time."""


_DECODER = JSONDecoder(parse_float=_no_number, parse_int=_no_number, parse_constant=_no_constant)


def first_value(data: bytes) -> Any:
    """The first value of a document in UTF-8, -16 or -32. Raises ValueError, and RecursionError for one that is
    nested too deep."""
    text = data.decode(detect_encoding(data), "replace").lstrip("\ufeff \t\n\r")
    return _DECODER.raw_decode(text)[0]


def strings(value: Any, *, arrays: bool) -> Iterator[str]:
    """The strings among the members of all objects, in order; ``arrays``: those in arrays, too."""
    stack: list[Iterator[Any]] = [iter((value,))] if arrays or isinstance(value, dict) else []
    while stack:
        for item in stack[-1]:
            if isinstance(item, str):
                yield item
            elif isinstance(item, dict):
                stack.append(iter(item.values()))
                break
            elif arrays and isinstance(item, list):
                stack.append(iter(item))
                break
        else:
            stack.pop()


class ExtractorJson(ContentExtractor):
    """JSON by type or address. Hop I; it never keeps a document from the extractors behind it."""

    claims = False
    options = ContentExtractor.options | {"html_reader"}

    def takes(self, document: Document) -> bool:
        return "json" in document.content_type or _ADDRESS.match(document.uri) is not None

    def extract(self, document: Document) -> Iterable[Outlink]:
        try:
            value = first_value(document.data)
        except (ValueError, RecursionError) as error:
            logger.debug("%s is no JSON: %s", document.uri, error)
            return ()
        arrays = self.option(document, "html_reader") != "heritrix"
        for text in document.in_time(strings(value, arrays=arrays)):
            if ("." in text or "/" in text) and is_very_likely(text):
                document.link(join_surrogates(text), INFERRED, CONTEXT)
        return ()
