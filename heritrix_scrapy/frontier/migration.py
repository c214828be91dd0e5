"""Can a job of an older version be gone on with?

In schema 1.1 the keys of queued URIs were others in the heritrix profile (directive byte 2 x directive + 1), and the
same as now in the modern one. What follows the old layout is refused: old and new keys cannot be told apart, so that a
rewriting that is cut off could not be gone on with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.totals import Totals

if TYPE_CHECKING:
    from heritrix_scrapy.crawl import Store

#: Read as it is, where it is no job of the heritrix profile.
FIRST = b"1.1"


def migrate(store: Store, schema: bytes) -> bool:
    """Whether rows of that schema can be read by this version, having been rewritten if need be."""
    if schema != FIRST:
        return False
    row = store.get(keys.STATE)
    return row is not None and not msgspec.msgpack.decode(row, type=Totals).heritrix
