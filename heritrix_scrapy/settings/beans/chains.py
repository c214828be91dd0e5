"""How do the three processing chains of a job become extractors, writers and steps?

The order of extractors and of writers is kept. What has one place here whatever the order says (scope, preconditions,
fetching, queueing) is looked for; what is missing and cannot be missing here is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.parts import HANDLERS
from heritrix_scrapy.settings.beans.classes import (
    BUILDERS,
    EXTRACTOR_PROPERTIES,
    EXTRACTORS,
    FORM_LOGIN,
    MIRROR,
    QUOTAS,
    ROLES,
    WARC,
)
from heritrix_scrapy.settings.beans.model import Bean, Value
from heritrix_scrapy.settings.beans.standins import stand_in
from heritrix_scrapy.settings.beans.taken import Origin, Taken, row_of
from heritrix_scrapy.settings.beans.values import NotUsable, snake
from heritrix_scrapy.settings.defaults import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CANDIDATE, FETCH, DISPOSITION = "CandidateChain", "FetchChain", "DispositionChain"

#: Processors with a place of their own here: class → the chains in which Heritrix has them.
FIXED: dict[str, str] = {
    "CandidateScoper": CANDIDATE,
    "FrontierPreparer": CANDIDATE,
    "Preselector": FETCH,
    "PreconditionEnforcer": FETCH,
    "FetchDNS": FETCH,
    "FetchHTTP": FETCH,
    "CandidatesProcessor": DISPOSITION,
    "DispositionProcessor": DISPOSITION,
}

#: What a chain without one of them comes to.
WITHOUT: dict[str, str] = {
    "CandidateScoper": (
        "without it Heritrix takes everything into the crawl; here scope is always asked: set HERITRIX_SCOPE = 'broad'"
    ),
    "FrontierPreparer": "URIs are prepared all the same",
    "PreconditionEnforcer": (
        "addresses and robots.txt are asked for all the same; HERITRIX_ROBOTS_POLICY = 'ignore' does without the latter"
    ),
    "FetchDNS": "addresses are looked up all the same",
    "FetchHTTP": "without it Heritrix fetches nothing; here http is always fetched",
    "CandidatesProcessor": "without it Heritrix follows no link; here HERITRIX_FOLLOW = 'none' does so",
    "DispositionProcessor": "politeness holds all the same",
}

SCHEMES = {"FetchFTP": "ftp", "FetchSFTP": "sftp", "FetchWhois": "whois"}

MAPPERS = {"HashCrawlMapper": "Hash", "LexicalCrawlMapper": "Lexical"}

#: Processors that remember earlier fetches.
HISTORY = frozenset(
    {
        "FetchHistoryProcessor",
        "PersistLoadProcessor",
        "PersistStoreProcessor",
        "ContentDigestHistoryLoader",
        "ContentDigestHistoryStorer",
        "WbmPersistLoadProcessor",
    }
)

WRITERS = frozenset({"WARCWriterProcessor", "WARCWriterChainProcessor", "MirrorWriterProcessor"})


class Chains:
    """``class_map``: Java class → name or dotted path; ``steps``: class → the point that it is asked at."""

    def __init__(self, taken: Taken, class_map: Mapping[str, str]) -> None:
        self._taken = taken
        self._map = class_map
        #: Names of extractors' beans → their id in HERITRIX_EXTRACTORS, for sheets.
        self.extractors: dict[str, str] = {}
        #: Beans that some chain names.
        self.used: set[int] = set()
        #: Those that are switched off, and have no part in the crawl.
        self.off: set[int] = set()
        self._addressed: set[str] = set()
        self._steps: dict[str, list[Any]] = {}
        #: Writers that stand in the chain of fetching.
        self._early: list[Bean] = []
        self._origin: Origin | None = None

    def take(self, chains: Mapping[str, Bean], addressed: set[str]) -> None:
        """Take the chains over. ``addressed``: names of beans in sheets."""
        self._addressed = addressed
        lists = {kind: self._processors(bean) for kind, bean in chains.items()}
        for kind, bean in chains.items():
            self._missing(kind, bean, lists[kind])
        for bean in lists.get(CANDIDATE, ()):
            self._candidate(bean)
        self._fetch(chains.get(FETCH), lists.get(FETCH, []))
        self._disposition(chains.get(DISPOSITION) or chains.get(FETCH), lists.get(DISPOSITION, []))
        if self._steps and self._origin:
            self._taken.put("STEPS", self._steps, self._origin, quiet=True)

    def _processors(self, chain: Bean) -> list[Bean]:
        found = []
        if "processors" not in chain.properties:
            self._taken.report.lost(chain.place, chain.name, "processors", "the chain is empty")
            return []
        try:
            listed = self._taken.values.items(chain.properties["processors"])
        except NotUsable as error:
            self._taken.report.lost(chain.place, chain.name, "processors", str(error))
            return []
        for value in listed:
            try:
                bean = self._taken.values.bean(value)
            except NotUsable as error:
                self._taken.unusable(chain.name, "processors", value, error)
                continue
            self.used.add(id(bean))
            if self._off(bean):
                self.off.add(id(bean))
                self._taken.report.not_needed(bean.place, bean.name, "", "it is switched off")
            else:
                found.append(bean)
        return found

    def _off(self, bean: Bean) -> bool:
        """Whether it is a part that is left out when it is switched off; others have a switch of their own here."""
        optional = bean.short in MAPPERS or bean.short in HISTORY or (bean.third_party and self._own(bean) is None)
        if not optional or "enabled" not in bean.properties:
            return False
        try:
            return not self._taken.values.flag(bean.properties["enabled"])
        except NotUsable:
            return False

    def _missing(self, kind: str, chain: Bean, beans: Sequence[Bean]) -> None:
        there = {bean.short for bean in beans}
        for name, where in FIXED.items():
            if where == kind and name not in there and name in WITHOUT:
                similar = [bean for bean in beans if name in bean.short]
                if not similar:
                    self._taken.report.lost(chain.place, chain.name, name, f"not in the chain: {WITHOUT[name]}")
        order = [bean.short for bean in beans if FIXED.get(bean.short) == kind]
        expected = [name for name in FIXED if name in order]
        if order != expected:
            word = f"the order {', '.join(order)} is not kept: it is always {', '.join(expected)} here"
            self._taken.report.not_needed(chain.place, chain.name, "processors", word)

    # -- each chain -----------------------------------------------------------------------------------------------

    def _candidate(self, bean: Bean) -> None:
        if bean.short in MAPPERS:
            self._mapper(bean)
        elif FIXED.get(bean.short) != CANDIDATE:
            self._other(bean, "after_extract", CANDIDATE, at="candidate")

    def _mapper(self, bean: Bean) -> None:
        self._taken.put("CRAWL_MAPPER", MAPPERS[bean.short], Origin(bean.name, "", bean.place))

    def _fetch(self, chain: Bean | None, beans: Sequence[Bean]) -> None:
        entries: list[list[Any]] = []
        seen: set[str] = set()
        fetched = False
        logins: list[dict[str, Any]] = []
        at = ""
        for bean in beans:
            point = "after_fetch" if fetched else "before_fetch"
            if bean.short == "FetchHTTP":
                fetched = True
            if bean.short == "PreconditionEnforcer":
                at = "after_preconditions"
            if FIXED.get(bean.short) == FETCH:
                continue
            own = self._own(bean)
            if bean.short in EXTRACTORS and own is None:
                if not fetched:
                    self._taken.report.lost(
                        bean.place,
                        bean.name,
                        "",
                        "it stands before FetchHTTP, where it finds nothing; here it is asked after the fetch",
                    )
                entries.append(self._extractor(bean, seen))
            elif bean.short == "FormLoginProcessor":
                logins.append(self._taken.rules.properties(bean, FORM_LOGIN, PREFIX + "FORM_LOGIN"))
                self._taken.put("FORM_LOGIN", logins, Origin(bean.name, "", bean.place))
            elif bean.short in MAPPERS:
                self._mapper(bean)
            elif bean.short in WRITERS and own is None and not bean.third_party and fetched:
                self._early.append(bean)
            elif own is not None and fetched and "Extract" in bean.short:
                entries.append([own, self._guessed(bean)])
                self._taken.report.taken(bean.place, bean.name, "", f"{PREFIX}EXTRACTORS", own)
            else:
                self._other(bean, point, FETCH, at=at)
        if chain is not None:
            self._taken.put("EXTRACTORS", entries, Origin(chain.name, "processors", chain.place))

    def _extractor(self, bean: Bean, seen: set[str]) -> list[Any]:
        taken = self._taken
        role = EXTRACTORS[bean.short]
        first = bean.short not in seen and role not in seen
        seen |= {bean.short, role}
        own = EXTRACTOR_PROPERTIES.get(bean.short, {})
        properties: dict[str, Any] = {}
        for prop, value in bean.properties.items():
            setting = row_of(role, prop)
            if prop == "shouldProcessRule":
                self._gate(bean, value, properties, first=first)
            elif prop == "enabled":
                self._switch(bean, value, properties)
            elif prop in own and not (first and setting is not None):
                held = Bean(bean.id, bean.kind, bean.place, {prop: value})
                properties |= taken.rules.properties(held, own, PREFIX + "EXTRACTORS")
            elif first or setting is None:
                taken.property(bean.name, role, prop, value)
            else:
                try:
                    properties[snake(setting.name.lower())] = taken.made(setting, value)
                    taken.report.taken(value.place, bean.name, prop, PREFIX + "EXTRACTORS")
                except NotUsable as error:
                    taken.unusable(bean.name, prop, value, error)
        if bean.id and (bean.id in self._addressed or not first):
            properties["id"] = bean.id
            self.extractors[bean.id] = bean.id
        return [bean.short, properties]

    def _gate(self, bean: Bean, value: Value, properties: dict[str, Any], *, first: bool) -> None:
        capitals = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bean.short).upper()
        alone = first and capitals.startswith("EXTRACTOR_")
        name = f"{capitals}_SHOULD_PROCESS_RULE"
        form = self._taken.rules.gate(value, PREFIX + (name if alone else "EXTRACTORS"))
        if form is None:
            self._taken.report.default(value.place, bean.name, "shouldProcessRule")
        elif alone:
            self._taken.put(name, form, Origin(bean.name, "shouldProcessRule", value.place))
        else:
            properties["should_process"] = form
            self._taken.report.taken(value.place, bean.name, "shouldProcessRule", PREFIX + "EXTRACTORS")

    def _switch(self, bean: Bean, value: Value, properties: dict[str, Any]) -> None:
        try:
            on = self._taken.values.flag(value)
        except NotUsable as error:
            self._taken.unusable(bean.name, "enabled", value, error)
            return
        if on:
            self._taken.report.default(value.place, bean.name, "enabled")
        else:
            properties["enabled"] = False
            self._taken.report.taken(value.place, bean.name, "enabled", "enabled")

    def _disposition(self, chain: Bean | None, beans: Sequence[Bean]) -> None:
        writers: list[Bean] = list(self._early)
        written = bool(writers)
        stored = {"PersistStoreProcessor", "ContentDigestHistoryStorer"}
        for bean in beans:
            if bean.short in WRITERS and not bean.third_party:
                writers.append(bean)
                written = True
            elif FIXED.get(bean.short) == DISPOSITION or bean.short in stored:
                continue
            elif bean.short == "ReschedulingProcessor":
                self._taken.properties(bean, "rescheduler")
            else:
                self._other(bean, "disposition" if written else "after_extract", DISPOSITION)
        if chain is not None and (writers or chain.short == DISPOSITION):
            self._writers(chain, writers)

    def _writers(self, chain: Bean, writers: Sequence[Bean]) -> None:
        taken = self._taken
        several = sum(bean.short != "MirrorWriterProcessor" for bean in writers) > 1
        entries: list[list[Any]] = []
        for bean in writers:
            mirror = bean.short == "MirrorWriterProcessor"
            properties: dict[str, Any] = {}
            if mirror:
                properties = self._own_properties(bean, MIRROR, "mirrorWriter")
                if properties.get("path") in ("mirror", ""):
                    del properties["path"]
            elif several:
                properties = {"id": bean.id} if bean.id else {}
                properties |= self._own_properties(bean, WARC, "warcWriter")
                self._settle(properties)
                self._builders(bean, properties)
            else:
                self._single(bean, properties)
            entries.append(["mirror" if mirror else "warc", properties])
        taken.put("WRITERS", entries, Origin(chain.name, "processors", chain.place))

    def _own_properties(self, bean: Bean, kinds: Mapping[str, str], role: str) -> dict[str, Any]:
        """The properties of a writer that stands beside others."""
        taken = self._taken
        properties: dict[str, Any] = {}
        for prop, value in bean.properties.items():
            if prop == "shouldProcessRule":
                form = taken.rules.gate(value, PREFIX + "WRITERS")
                if form is not None:
                    properties["should_process"] = form
                    taken.report.taken(value.place, bean.name, prop, PREFIX + "WRITERS")
            elif prop == "enabled":
                self._switch(bean, value, properties)
            elif prop in kinds:
                held = Bean(bean.id, bean.kind, bean.place, {prop: value})
                properties |= taken.rules.properties(held, kinds, PREFIX + "WRITERS")
            elif prop != "chain":
                taken.property(bean.name, role, prop, value)
        return properties

    @staticmethod
    def _settle(properties: dict[str, Any]) -> None:
        """Drop what is where files lie anyway."""
        if properties.get("store_paths") in (["warcs"], ["${launchId}/warcs"], []):
            del properties["store_paths"]
        if properties.get("directory") in ("", "."):
            del properties["directory"]

    def _single(self, bean: Bean, properties: dict[str, Any]) -> None:
        taken = self._taken
        for prop, value in bean.properties.items():
            origin = Origin(bean.name, prop, value.place)
            try:
                if prop == "shouldProcessRule":
                    form = taken.rules.gate(value, PREFIX + "WARC_WRITER_SHOULD_PROCESS_RULE")
                    taken.put("WARC_WRITER_SHOULD_PROCESS_RULE", form, origin)
                elif prop == "enabled":
                    self._switch(bean, value, properties)
                elif prop == "directory":
                    path = taken.values.output(value)
                    taken.put("WARC_DIR", None if path in ("", ".") else path, origin)
                elif prop == "storePaths":
                    paths = [path.removeprefix("${launchId}/") for path in taken.values.texts(value)]
                    taken.put("WARC_STORE_PATHS", [] if paths == ["warcs"] else paths, origin)
                elif prop != "chain":
                    taken.property(bean.name, "warcWriter", prop, value)
            except NotUsable as error:
                taken.unusable(bean.name, prop, value, error)
        written: dict[str, Any] = {}
        self._builders(bean, written)
        for key, value in written.items():
            taken.put(f"WARC_{key.upper()}", value, Origin(bean.name, "chain", bean.properties["chain"].place))

    def _builders(self, bean: Bean, properties: dict[str, Any]) -> None:
        """What the list of record builders leaves out."""
        value = bean.properties.get("chain")
        if value is None:
            return
        report = self._taken.report
        there = set()
        try:
            for item in self._taken.values.items(value):
                builder = self._taken.values.bean(item)
                there.add(builder.short)
                if builder.short not in BUILDERS:
                    report.lost(builder.place, bean.name, "chain", stand_in(builder))
        except NotUsable as error:
            self._taken.unusable(bean.name, "chain", value, error)
            return
        for name, prop in BUILDERS.items():
            if name not in there:
                if prop:
                    properties[snake(prop)] = False
                elif name != "FtpControlConversationRecordBuilder":
                    report.lost(
                        value.place,
                        bean.name,
                        "chain",
                        f"{name} is not in the list; such records are written all the same",
                    )
        report.taken(value.place, bean.name, "chain", PREFIX + "WARC_WRITE_…")

    # -- what may stand anywhere ----------------------------------------------------------------------------------

    def _own(self, bean: Bean) -> str | None:
        return self._map.get(bean.kind, self._map.get(bean.short))

    def _guessed(self, bean: Bean) -> dict[str, Any]:
        """Properties of a class of the user's own."""
        return self._taken.rules.properties(bean, None, PREFIX + "CLASS_MAP")

    def _other(self, bean: Bean, point: str, chain: str, *, at: str = "") -> None:
        """A processor that may stand at several places, or is not Heritrix's."""
        taken = self._taken
        own = self._own(bean)
        origin = Origin(bean.name, "", bean.place)
        if own is not None:
            self._step(bean, own, point)
        elif bean.third_party:
            taken.report.lost(bean.place, bean.name, "", stand_in(bean))
        elif bean.short == "QuotaEnforcer":
            self._quotas(bean, origin, at)
        elif bean.short in (
            "PersistLoadProcessor",
            "FetchHistoryProcessor",
            "ContentDigestHistoryLoader",
            "WbmPersistLoadProcessor",
        ):
            pass  # history is taken with its beans
        elif bean.short in SCHEMES:
            self._fetcher(bean)
        elif bean.short in ("PersistStoreProcessor", "ContentDigestHistoryStorer", "ReschedulingProcessor"):
            pass
        elif bean.short in EXTRACTORS:
            taken.report.lost(
                bean.place,
                bean.name,
                "",
                f"an extractor in the {chain} is not asked there; it belongs into the FetchChain",
            )
        elif bean.short in ROLES and FIXED.get(bean.short):
            taken.report.lost(bean.place, bean.name, "", f"it has no part in the {chain}")
        else:
            taken.report.lost(bean.place, bean.name, "", stand_in(bean))

    def _step(self, bean: Bean, own: str, point: str) -> None:
        taken = self._taken
        plain = dict(bean.properties)
        switch, gate = plain.pop("enabled", None), plain.pop("shouldProcessRule", None)
        held: dict[str, Any] = {}
        if switch is not None:
            self._switch(bean, switch, held)
            if held:
                return
        if gate is not None:
            try:
                if taken.rules.gate(gate, PREFIX + "STEPS") is not None:
                    taken.report.lost(gate.place, bean.name, "shouldProcessRule", "no rule is asked before a step")
            except NotUsable as error:
                taken.unusable(bean.name, "shouldProcessRule", gate, error)
        taken.report.taken(bean.place, bean.name, "", PREFIX + "STEPS", f"{own}, at {point}")
        properties = self._guessed(Bean(bean.id, bean.kind, bean.place, plain))
        self._steps.setdefault(point, []).append([own, properties] if properties else own)
        self._origin = Origin(bean.name, "", bean.place)

    def _quotas(self, bean: Bean, origin: Origin, at: str) -> None:
        taken = self._taken
        kinds = dict(QUOTAS.items())
        properties: dict[str, Any] = {"at": at} if at else {}
        for prop, value in bean.properties.items():
            if prop == "shouldProcessRule":
                form = taken.rules.gate(value, PREFIX + "QUOTAS")
                if form is not None:
                    properties["should_process"] = form
            elif prop == "enabled":
                self._switch(bean, value, properties)
            else:
                held = Bean(bean.id, bean.kind, bean.place, {prop: value})
                properties |= taken.rules.properties(held, kinds, PREFIX + "QUOTAS")
        if properties.get("enabled") is False:
            return
        before = taken.settings.get(PREFIX + "QUOTAS")
        if before is None:
            taken.put("QUOTAS", properties, origin)
        else:
            # one enforcer is an entry, several are a list of them
            entries = before if isinstance(before, list) else [before]
            taken.put("QUOTAS", [*entries, properties], origin)

    def _fetcher(self, bean: Bean) -> None:
        scheme = SCHEMES[bean.short]
        if scheme not in HANDLERS:
            self._taken.report.lost(bean.place, bean.name, "", f"{scheme} is not fetched")
            return
        self._taken.report.default(bean.place, bean.name, "", f"{scheme} is fetched")
        self._taken.properties(bean, ROLES[bean.short])
