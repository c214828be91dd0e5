"""How do the many ordinary links of a page get into their queues at a quarter of the price?

Nearly all links differ from their neighbours in nothing but their text: same settings, a directory that the scope
has judged before, a queue that exists, a policy that gives every URI the same cost and precedence. For such a
link no CrawlURI is made; its row is written from the link itself. It is the very row that the general way
(``Candidates.judge``, ``Admission.admit``) would write, and what is not known to be ordinary goes that way, in
its order among the others.

One loop without calls of our own: a call costs as much as a look-up here, and a page has twenty links.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from heritrix_scrapy.frontier import keys, prepare
from heritrix_scrapy.frontier.known import FREE, MASK, TAKEN
from heritrix_scrapy.frontier.queue import WAITING_HEADS
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import NORMAL, TEXT_HEADS, host_of, link_frame, pack_link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.frontier.candidates import Sifted
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.prepare import Plan
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
    from heritrix_scrapy.model.hosts import Hosts

#: Directories, and pairs of path and hop, that are remembered.
REMEMBERED = 20_000
#: Links remembered as seen by another text than their own: 4 MB.
ALIASES = 32_768

_EXHAUSTED, _RETIRED = int(State.EXHAUSTED), int(State.RETIRED)
_NOTHING: dict[str, str] = {}


def _of_bytes(text: str) -> int:
    return xxh3_64_intdigest(text.encode())


def _hash_of_text() -> Callable[[str], int]:
    """xxh3 of a text's UTF-8; xxhash takes it as it is, though its types do not say so, and saves the copy. Raises
    UnicodeEncodeError for half a surrogate pair."""
    hash_of: Callable[..., int] = xxh3_64_intdigest
    try:
        hash_of("\u00e4")
    except TypeError:
        return _of_bytes
    return hash_of


hash_of_text = _hash_of_text()

#: Of an authority: class key, "" for none of the ordinary kind; name of the host; what the rows of its pages among the
#: seen begin with; whether it begins with no ``www``.
Site = tuple[str, str, bytes, bool]
#: Of links alike: see ``PlainLinks._frame``.
Frame = tuple[str, int, bytes, bytes]


class PlainLinks:
    """The short way of links, where one View holds for all URIs: the seen ones are dropped, the ordinary new ones
    queued. ``recall``: what the scope says of (uri, hop path) where it knows without a candidate; None: there is no
    short way for new ones; ``remembered``: what it has said of whole directories, see ``Scope.remembered``."""

    def __init__(
        self,
        ledger: Ledger,
        queues: Queues,
        recall: Callable[[str, str], bool | None] | None,
        remembered: Callable[[str], dict[str, str] | None] | None = None,
        *,
        hosts: Hosts,
        heritrix: bool,
    ) -> None:
        self._ledger = ledger
        self._hosts = hosts
        self._queues = queues
        self._recall = recall
        self._remembered = remembered
        self._heritrix = heritrix
        self._plan: Plan | None = None
        #: Parent's path and hop → the child's path, and its rank.
        self._shapes: dict[tuple[str, str], tuple[str, int]] = {}
        #: Authority or directory, with the scheme before it.
        self._sites: dict[str, Site] = {}
        #: Links met lately that are among the seen, by another canonical form than their own text.
        self._aliases: set[str] = set()

    def sift(self, parent: CrawlURI, links: Iterable[Outlink], plan: Plan) -> Sifted:
        """The links that have to go the general way, in their order, each with its canonical form and the row that this
        will have among the seen, where they are known. To be closed in any case: only then all is counted.
        """
        if plan is not self._plan:
            self._turn_to(plan)
        ledger, queues = self._ledger, self._queues
        aliases, sites, canonicalise = self._aliases, self._sites, plan.canonicalise
        spares_plain: bool = getattr(canonicalise, "spares_plain", False)
        places, complete = ledger.known.places, ledger.known.complete
        loaded, find_queue, grown = queues.loaded, queues.get, ledger.grown
        recall = self._recall if plan.fixed is not None else None
        annotated = parent.outlink_annotations is not None
        frames: dict[tuple[str, str], Frame] = {}
        last_hop: str | None = None
        last_context = path = ""
        head = tail = b""
        rank = 0
        verdicts: dict[str, str] = {}
        totals = ledger.totals
        newest_first = plan.newest_first
        repeated = rejected = queued = 0
        arrived = self._hosts.arrived
        ordinal = first = totals.ordinal
        puts, join, refer, hash_of = ledger.puts, ledger.joined.append, hops.REFER, hash_of_text
        write = None if ledger.journal is None else ledger.journal.append
        try:
            for link in links:
                uri, hop = link.uri, link.hop
                canonical: str | None = None
                row: bytes | None = None
                try:
                    number = hash_of(uri)
                except UnicodeEncodeError:
                    number = 0
                # a user and a password are taken out of an address before it is queued
                if number and hop != refer and ("@" not in uri or -1 < uri.find("/", 8) < uri.find("@")):
                    place = number & MASK
                    there = places[place]
                    if there == number:
                        repeated += 1
                        continue
                    asks = "?" in uri
                    directory = uri[: uri.find("/", 8)] if asks else uri.rpartition("/")[0]
                    class_key, name, prefix, bare = sites.get(directory) or self._site(uri, directory)
                    # see Canonicaliser.spares_plain
                    if (
                        bare
                        and spares_plain
                        and not asks
                        and "=" not in uri
                        and "@" not in uri
                        and uri.isascii()
                        and uri.lower() == uri
                    ):
                        canonical = uri
                    elif uri in aliases:
                        repeated += 1
                        continue
                    else:
                        canonical = canonicalise(uri)
                    if canonical is uri:
                        row = prefix + number.to_bytes(8, "big")
                    else:
                        row = keys.seen(canonical)
                        place = int.from_bytes(row[4:], "big") & MASK
                        there = places[place]
                    if (there or not complete) and ledger.get(row) is not None:
                        if canonical is uri:
                            places[place] = number
                        else:
                            self._note_alias(uri)
                        repeated += 1
                        continue
                    if recall is not None and class_key:
                        if link.context != last_context or hop != last_hop:
                            last_hop, last_context = hop, link.context
                            path, rank, head, tail = frames.get((hop, last_context)) or self._frame(
                                frames, parent, hop, last_context, plan
                            )
                            verdicts = self._verdicts(path)
                        # empty: accepted, and nobody is to be told
                        accepted = (not asks and verdicts.get(directory) == "") or recall(uri, path)
                        if accepted:
                            queue = loaded.get(class_key) or find_queue(class_key)
                            packed: bytes | None
                            if canonical is uri and not annotated and (size := len(raw := uri.encode())) < 256:
                                packed = b"".join((head, TEXT_HEADS[size], raw, tail))
                            else:
                                packed = packed_link(link, path, parent, canonical, plan)
                            if queue is not None and head and packed is not None:
                                ordinal += 1
                                at = keys.MAX_ORDINAL - ordinal if newest_first else ordinal
                                key = queue.prefix + (rank | at).to_bytes(8, "big")
                                puts[key] = packed
                                puts[row] = b""
                                if canonical is uri:
                                    places[place] = number
                                elif there == FREE:
                                    places[place] = TAKEN
                                heads, bound = queue.heads, queue.bound
                                if bound is not None and key >= bound:
                                    queue.beyond = True
                                elif not heads or (key > heads[-1][0] and len(heads) < WAITING_HEADS):
                                    heads.append((key, packed))
                                else:
                                    queue.join(key, packed)
                                queue.last_queued = uri
                                record = queue.record
                                record.enqueued += 1
                                record.count += 1
                                arrived[name] = arrived.get(name, 0) + 1
                                if write is not None:
                                    write(f"F+ {uri} {path} {parent.uri}\n")
                                join(queue)
                                grown[class_key] = queue
                                if key < record.hint:
                                    ledger.change(queue)
                                state = record.state
                                if state != _RETIRED:
                                    queued += 1
                                    if state == _EXHAUSTED:
                                        queues.list_anew(queue)
                                continue
                        elif accepted is not None:
                            rejected += 1
                            continue
                if ordinal != first:
                    self._count(ordinal, ordinal - first)
                    first = ordinal
                yield link, canonical, row
                puts = ledger.puts
                ordinal = first = totals.ordinal
                # the scope may say something else by now
                last_hop = None
        finally:
            if ordinal != first:
                self._count(ordinal, ordinal - first)
            totals.queued += queued
            totals.candidates += repeated
            totals.rejected += rejected

    def _turn_to(self, plan: Plan) -> None:
        """Preparation says something else from now on."""
        if self._plan is not None:
            self._ledger.known.clear()
        self._plan = plan
        self._shapes.clear()
        self._sites.clear()
        self._aliases.clear()

    def _note_alias(self, uri: str) -> None:
        if len(self._aliases) >= ALIASES:
            self._aliases.clear()
        self._aliases.add(uri)

    def forget_known(self) -> None:
        """Something is no longer among the seen."""
        self._aliases.clear()

    def _count(self, ordinal: int, new: int) -> None:
        self._ledger.touch()
        totals = self._ledger.totals
        totals.ordinal = ordinal
        totals.discovered += new
        totals.candidates += new

    def _verdicts(self, path: str) -> dict[str, str]:
        found = None if self._remembered is None else self._remembered(path)
        return _NOTHING if found is None else found

    def _frame(
        self, frames: dict[tuple[str, str], Frame], parent: CrawlURI, hop: str, context: str, plan: Plan
    ) -> Frame:
        """What all plain links of a page with this hop and context share: the child's path, the two bytes of its rank
        where they stand in a key's last eight, what stands before and behind the URI in its row; the latter are empty
        where there can be no such row."""
        shape = self._shapes.get((parent.path, hop)) or self._shape(parent.path, hop, plan)
        assert plan.fixed is not None
        head = tail = b""
        # the general way says what is wrong with it
        with suppress(TypeError, ValueError, OverflowError):
            head, tail = link_frame(shape[0], context, parent, plan.fixed[0])
        frame = frames[hop, context] = (*shape, head, tail)
        return frame

    def _shape(self, path: str, hop: str, plan: Plan) -> tuple[str, int]:
        if len(self._shapes) >= REMEMBERED:
            self._shapes.clear()
        assert plan.fixed is not None
        longer = hops.extend(path, hop)
        directive = prepare.directive(longer, NORMAL, plan.depth_hops, plan.embed_hops, heritrix=self._heritrix)
        first, second = keys.rank(directive, plan.fixed[1], False, self._ledger.totals.heritrix)
        shape = self._shapes[path, hop] = (longer, first << 56 | second << 48)
        return shape

    def _site(self, uri: str, directory: str) -> Site:
        """What holds for all pages of an authority. Kept under the authority and the directory, where the text before
        the first slash is one."""
        sites = self._sites
        slash = uri.find("/", 8)
        authority = uri[:slash] if slash > 0 else ""
        if not authority.startswith(("http://", "https://")) or "?" in authority:
            return "", "", keys.seen(uri)[: keys.SEEN_PREFIX], False
        site = sites.get(authority)
        if len(sites) >= REMEMBERED:
            sites.clear()
        if site is None:
            assert self._plan is not None
            site = sites[authority] = (
                self._plan.class_key_of(uri) if self._plan.by_authority else "",
                host_of(authority),
                keys.seen_prefix(authority),
                not authority.partition("://")[2].startswith("www"),
            )
        if directory:
            sites[directory] = site
        return site


def packed_link(link: Outlink, path: str, parent: CrawlURI, canonical: str, plan: Plan) -> bytes | None:
    """The row of a link; None where it has none, of which the general way says why."""
    assert plan.fixed is not None
    try:
        return pack_link(link, path, parent, canonical, plan.fixed[0])
    except (TypeError, ValueError, OverflowError):
        return None
