"""Which URIs have been seen, and how is one forgotten?

By canonical form, each a row in the store (Heritrix: UriUniqFilter, section 6). Forced URIs pass without being
asked for; that is ``admission``'s matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier import keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.frontier.ledger import Ledger


class Seen:
    """The seen filter over the rows of a ledger. What it changes is written with the next flush. ``forgotten``: called
    when something is no longer known."""

    def __init__(self, ledger: Ledger, forgotten: Callable[[], None]) -> None:
        self._ledger = ledger
        self._forgotten = forgotten

    def __contains__(self, canonical: str) -> bool:
        return self._ledger.unseen(canonical) is None

    def note(self, canonical: str) -> bool:
        """Remember a URI; whether it was new."""
        row = self._ledger.unseen(canonical)
        if row is None:
            return False
        self._ledger.see(row)
        self._ledger.totals.discovered += 1
        return True

    def forget(self, canonical: str) -> bool:
        """Let a URI be new again; whether it was known."""
        row = keys.seen(canonical)
        if self._ledger.get(row) is None:
            return False
        self._ledger.forget(row)
        self._forgotten()
        self._ledger.totals.discovered -= 1
        return True

    def forget_authority(self, canonical: str) -> int:
        """Let all URIs with this one's scheme and authority be new again; how many there were.

        As in Heritrix (BdbUriUniqFilter.forgetAllSchemeAuthorityMatching) rows are found by 24 bits of hash: of 16
        million other hosts one goes along.
        """
        ledger = self._ledger
        prefix = keys.seen(canonical)[: keys.SEEN_PREFIX]
        rows = {row for row, _ in ledger.store.range(prefix, keys.after(prefix))} - ledger.deletes
        rows |= {row for row in ledger.puts if row.startswith(prefix)}
        for row in rows:
            ledger.forget(row)
        self._forgotten()
        ledger.totals.discovered -= len(rows)
        return len(rows)
