"""What does a job come to: which settings, and what became of everything in its file?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.beans.chains import CANDIDATE, DISPOSITION, FETCH, HISTORY, MAPPERS, SCHEMES, Chains
from heritrix_scrapy.settings.beans.classes import (
    CANONICAL_RULES,
    CREDENTIALS,
    EXTRACTORS,
    NEEDLESS_CLASSES,
    OLD_CREDENTIALS,
    POLICY_NAMES,
    REFUSED_RULES,
    ROBOTS_POLICIES,
    ROLES,
    RULES,
)
from heritrix_scrapy.settings.beans.model import Bean, Beans, Items, JobError, Text, Value
from heritrix_scrapy.settings.beans.overlays import RULED, SURTS, Overlays, addressed
from heritrix_scrapy.settings.beans.overrides import Overrides
from heritrix_scrapy.settings.beans.reader import Reader
from heritrix_scrapy.settings.beans.report import Report
from heritrix_scrapy.settings.beans.rules import Rules
from heritrix_scrapy.settings.beans.scoping import Scoping
from heritrix_scrapy.settings.beans.standins import stand_in
from heritrix_scrapy.settings.beans.taken import Origin, Taken, row_of
from heritrix_scrapy.settings.beans.values import NotUsable, Values
from heritrix_scrapy.settings.defaults import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seeds that the stock profile has as an example.
EXAMPLE_SEEDS = ["http://example.example/example"]

#: Roles of policies that Heritrix finds by their class when nothing refers to them.
AUTOWIRED = {
    "canonicalizationPolicy": "CANONICALIZATION_RULES",
    "queueAssignmentPolicy": "QUEUE_ASSIGNMENT_POLICY",
    "uriPrecedencePolicy": "URI_PRECEDENCE_POLICY",
    "costAssignmentPolicy": "COST_ASSIGNMENT_POLICY",
}


@dataclass(frozen=True, slots=True)
class Job:
    """``settings``: by their full names; ``origins``: where each came from; ``path``: the file; ``spoken``: names of
    rows, without prefix, that some bean of the job has, whether it gives a value or leaves the default."""

    path: Path
    settings: dict[str, Any]
    origins: dict[str, Origin]
    report: Report
    spoken: frozenset[str] = frozenset()


def read_job(
    path: Path,
    *,
    environment: Mapping[str, str] | None = None,
    class_map: Mapping[str, str] | None = None,
    profile: str = "heritrix",
) -> Job:
    """The settings that a ``crawler-beans.cxml`` comes to. ``environment``: what ``${NAME}`` and
    ``systemEnvironment`` stand for; ``class_map``: Java class → dotted path of what stands for it; ``profile``: whose
    defaults need not be said. Raises JobError when the file cannot be read."""
    report = Report()
    environment = environment or {}
    reader = Reader(report, environment)
    reader.read(path)
    try:
        return _Reading(path, reader.beans, report, environment, class_map or {}, profile).read()
    except RecursionError:
        raise JobError(None, f"{path}: beans of it refer to each other in a circle") from None


class _Reading:
    def __init__(
        self,
        path: Path,
        beans: Beans,
        report: Report,
        environment: Mapping[str, str],
        class_map: Mapping[str, str],
        profile: str,
    ) -> None:
        folder = path.resolve().parent
        self._path = path
        self._beans = beans
        self._report = report
        self._map = class_map
        self._overrides = Overrides(beans, report, folder)
        self._values = Values(beans, folder, environment, self._overrides.look_up)
        self._rules = Rules(self._values, report, class_map)
        self._taken = Taken(self._values, self._rules, report, profile)
        self._scoping = Scoping(self._taken)
        self._chains = Chains(self._taken, class_map)
        self._done: set[int] = set()

    def read(self) -> Job:
        self._overrides.apply()
        self._values.given = self._overrides.given
        sheets = self._of("Sheet")
        associations = self._of(SURTS, RULED)
        names = addressed(sheets, self._taken)
        self._rules.addressed = names
        for bean in self._beans.everywhere():
            self._plain(bean)
        self._seeds()
        self._scope()
        self._chains.take({bean.short: bean for bean in self._of(CANDIDATE, FETCH, DISPOSITION)}, names)
        self._policies()
        self._robots()
        self._history()
        Overlays(self._taken, self._scoping, self._chains).take(sheets, associations)
        self._absent()
        self._rest()
        for text, found in self._values.left:
            self._report.left(text.place, "placeholder", found, "its text stays as it is")
        return Job(self._path, self._taken.settings, self._taken.origins, self._report, frozenset(self._taken.spoken))

    def _of(self, *kinds: str) -> list[Bean]:
        """Beans of some classes, marked as done."""
        found = [bean for bean in self._beans.everywhere() if bean.short in kinds]
        self._done.update(id(bean) for bean in found)
        return found

    # -- beans whose properties are settings --------------------------------------------------------------------------

    def _plain(self, bean: Bean) -> None:
        """A bean whose properties the table knows."""
        role = ROLES.get(bean.short)
        if bean.third_party or role is None or bean.kind in self._map:
            return
        special = {
            "seeds": frozenset({"textSource"}),
            "metadata": frozenset({"availableRobotsPolicies"}),
            "preparer": frozenset(AUTOWIRED),
            "crawlController": frozenset({"pauseAtStart"}),
            "frontier": frozenset({"queuePrecedencePolicy"}),
            "candidateScoper": frozenset({"scope"}),
            "preselector": frozenset({"scope"}),
            "statisticsTracker": frozenset({"reports"}),
        }
        if role in ("warcWriter", "mirrorWriter", "canonicalizationPolicy", "rescheduler") or bean.short in SCHEMES:
            return
        self._done.add(id(bean))
        if role.endswith("Policy") or role in (
            "fetchHistory",
            "wbmPersistLoad",
            "hashCrawlMapper",
            "lexicalCrawlMapper",
        ):
            self._done.discard(id(bean))
            return
        if role == "credentialStore":
            self._credentials(bean)
            return
        self._taken.properties(bean, role, skip=special.get(role, frozenset()))
        if role == "crawlController":
            self._pause(bean)
        elif role == "diskSpaceMonitor" and "pauseThresholdMiB" not in bean.properties:
            # Heritrix has no monitor by default; one that says nothing pauses at 8 GiB
            self._taken.put("PAUSE_THRESHOLD_MIB", 8192, Origin(bean.name, "pauseThresholdMiB", bean.place))
        elif role == "statisticsTracker" and "reports" in bean.properties:
            self._reports(bean)
        elif role == "frontier" and "queuePrecedencePolicy" in bean.properties:
            self._policy_of("QUEUE_PRECEDENCE_POLICY", bean, bean.properties["queuePrecedencePolicy"])

    def _pause(self, bean: Bean) -> None:
        value = bean.properties.get("pauseAtStart")
        if value is None:
            return
        stock = isinstance(value, Text) and not value.override and value.text.strip() == "true"
        if stock:
            self._report.default(
                value.place,
                bean.name,
                "pauseAtStart",
                "the stock profile's own line; HERITRIX_PAUSE_AT_START = True pauses",
            )
        else:
            self._taken.property(bean.name, "crawlController", "pauseAtStart", value)

    def _reports(self, bean: Bean) -> None:
        value = bean.properties["reports"]
        row = row_of("statisticsTracker", "reports")
        try:
            names = [self._values.bean(item).short for item in self._values.items(value)]
        except NotUsable as error:
            self._taken.unusable(bean.name, "reports", value, error)
            return
        if row is None:
            self._report.not_needed(value.place, bean.name, "reports", "all reports are written")
        else:
            self._taken.put(row.name, names, Origin(bean.name, "reports", value.place))

    def _credentials(self, bean: Bean) -> None:
        value = bean.properties.get("credentials")
        if value is None:
            return
        try:
            entries = self._values.entries(value)
        except NotUsable as error:
            self._taken.unusable(bean.name, "credentials", value, error)
            return
        made = []
        for name in sorted(entries):
            form = self._made(entries[name], CREDENTIALS, "CREDENTIALS", OLD_CREDENTIALS)
            if form is not None:
                made.append(form)
        self._taken.put("CREDENTIALS", made, Origin(bean.name, "credentials", value.place))

    def _made(
        self, value: Value, kinds: Mapping[str, Mapping[str, str]], setting: str, old: Mapping[str, str] | None = None
    ) -> list[Any] | None:
        """``[class, {property: value}]`` of a bean of a known family; None, reported, for any other."""
        try:
            bean = self._values.bean(value)
        except NotUsable as error:
            self._report.lost(value.place, setting.lower(), "", str(error))
            return None
        self._done.add(id(bean))
        name = (old or {}).get(bean.short, bean.short)
        if bean.third_party or name not in kinds:
            own = self._map.get(bean.kind, self._map.get(bean.short))
            if own is None:
                self._report.lost(bean.place, bean.name, "", stand_in(bean))
                return None
            return [own, self._rules.properties(bean, None, PREFIX + setting)]
        return [name, self._rules.properties(bean, kinds[name], PREFIX + setting)]

    # -- seeds and scope ----------------------------------------------------------------------------------------------

    def _seeds(self) -> None:
        bean = next((bean for bean in self._beans.everywhere() if bean.short == "TextSeedModule"), None)
        value = bean.properties.get("textSource") if bean else None
        if bean is None or value is None:
            return
        origin = Origin(bean.name, "textSource", value.place)
        try:
            source = self._values.source(value)
        except NotUsable as error:
            self._taken.unusable(bean.name, "textSource", value, error)
            return
        if isinstance(source, Path):
            if not source.is_file():
                self._report.lost(value.place, bean.name, "textSource", f"the file {source} is not there")
                return
            self._taken.put("SEEDS", str(source), origin)
            return
        lines: list[str] = source or []
        if [line for line in lines if line and not line.startswith("#")] == EXAMPLE_SEEDS:
            self._report.left(
                value.place, bean.name, "textSource", "the stock profile's example; HERITRIX_SEEDS has to be set"
            )
            return
        if not any(line and not line.startswith("#") for line in lines):
            lines = []
        self._taken.put("SEEDS", lines, origin)

    def _scope(self) -> None:
        bean = self._beans.get("scope")
        if bean is None:
            ref = next(
                (
                    held.properties["scope"]
                    for held in self._beans.everywhere()
                    if held.short == "CandidateScoper" and "scope" in held.properties
                ),
                None,
            )
            try:
                bean = self._values.bean(ref) if ref is not None else None
            except NotUsable as error:
                self._report.lost(ref.place if ref else None, "candidateScoper", "scope", str(error))
        if bean is None:
            return
        self._done.add(id(bean))
        self._scoping.take(bean)

    # -- policies -----------------------------------------------------------------------------------------------------

    def _policies(self) -> None:
        preparer = next((bean for bean in self._beans.everywhere() if bean.short == "FrontierPreparer"), None)
        for role, setting in AUTOWIRED.items():
            value = preparer.properties.get(role) if preparer else None
            if preparer is not None and value is not None:
                self._policy_of(setting, preparer, value)
                continue
            beans = [bean for bean in self._beans if self._is(role, bean) and bean.candidate]
            named = self._beans.get(role)
            found = named if named in beans else beans[0] if len(beans) == 1 else None
            if found is not None:
                self._policy_of(setting, found, found)

    @staticmethod
    def _is(role: str, bean: Bean) -> bool:
        ending = {"canonicalizationPolicy": "CanonicalizationPolicy"}.get(role, role[0].upper() + role[1:])
        return bean.short == ending or bean.short.removesuffix("WithLimits").endswith(ending)

    def _policy_of(self, setting: str, holder: Bean, value: Value) -> None:
        try:
            bean = self._values.bean(value)
        except NotUsable as error:
            self._taken.unusable(holder.name, setting.lower(), value, error)
            return
        self._done.add(id(bean))
        origin = Origin(bean.name, "", bean.place)
        if setting == "CANONICALIZATION_RULES":
            self._canonical(bean, origin)
            return
        own = self._map.get(bean.kind, self._map.get(bean.short))
        if own is not None:
            self._taken.put(setting, own, origin)
            return
        role = ROLES.get(bean.short)
        if bean.third_party or role is None:
            self._report.lost(bean.place, bean.name, "", stand_in(bean))
            return
        self._taken.put(setting, POLICY_NAMES.get(bean.short, bean.short), origin)
        for prop, held in bean.properties.items():
            if role == "uriPrecedencePolicy" and prop == "defaultUriPrecedencePolicy":
                self._policy_of("DEFAULT_URI_PRECEDENCE_POLICY", bean, held)
            else:
                self._taken.property(bean.name, role, prop, held)

    def _canonical(self, bean: Bean, origin: Origin) -> None:
        if bean.short != "RulesCanonicalizationPolicy":
            self._report.lost(bean.place, bean.name, "", stand_in(bean))
            return
        value = bean.properties.get("rules")
        if value is None:
            value = next((held for held in bean.arguments if isinstance(held, Items)), None)
        if value is None:
            return
        try:
            forms = [self._made(item, CANONICAL_RULES, "CANONICALIZATION_RULES") for item in self._values.items(value)]
        except NotUsable as error:
            self._taken.unusable(bean.name, "rules", value, error)
            return
        self._taken.put(
            "CANONICALIZATION_RULES", [form for form in forms if form], Origin(bean.name, "rules", value.place)
        )

    def _robots(self) -> None:
        available: dict[str, Any] = {}
        origin = None
        for bean in self._beans:
            if ROBOTS_POLICIES.get(bean.short):
                form = self._made(bean, ROBOTS_POLICIES, "AVAILABLE_ROBOTS_POLICIES")
                origin = Origin(bean.name, "", bean.place)
                available[bean.id] = form
            elif bean.short == "CrawlMetadata" and "availableRobotsPolicies" in bean.properties:
                value = bean.properties["availableRobotsPolicies"]
                try:
                    entries = self._values.entries(value)
                except NotUsable as error:
                    self._taken.unusable(bean.name, "availableRobotsPolicies", value, error)
                    continue
                origin = Origin(bean.name, "availableRobotsPolicies", value.place)
                for name, held in entries.items():
                    form = self._made(held, ROBOTS_POLICIES, "AVAILABLE_ROBOTS_POLICIES")
                    if form is not None:
                        available[name] = form
        if available and origin:
            self._taken.put("AVAILABLE_ROBOTS_POLICIES", available, origin)

    # -- history ------------------------------------------------------------------------------------------------------

    def _history(self) -> None:
        beans = [bean for bean in self._beans.everywhere() if bean.short in HISTORY]
        in_force = self._chains.used - self._chains.off
        by_kind = {bean.short: bean for bean in beans if id(bean) in in_force}
        self._done.update(id(bean) for bean in by_kind.values())
        fetch = by_kind.get("FetchHistoryProcessor")
        if fetch is not None:
            self._taken.put("FETCH_HISTORY", True, Origin(fetch.name, "", fetch.place))
            self._taken.properties(fetch, "fetchHistory")
        digest = by_kind.get("ContentDigestHistoryLoader") or by_kind.get("ContentDigestHistoryStorer")
        if digest is not None:
            self._taken.put("CONTENT_DIGEST_HISTORY", True, Origin(digest.name, "", digest.place))
        cdx = by_kind.get("WbmPersistLoadProcessor")
        if cdx is not None:
            self._taken.put("FETCH_HISTORY", True, Origin(cdx.name, "", cdx.place), quiet=True)
            self._taken.properties(cdx, "wbmPersistLoad")
        for kind in (
            "PersistLoadProcessor",
            "PersistStoreProcessor",
            "ContentDigestHistoryLoader",
            "ContentDigestHistoryStorer",
        ):
            bean = by_kind.get(kind)
            if bean is None:
                continue
            self._report.taken(
                bean.place,
                bean.name,
                "",
                "HERITRIX_FETCH_HISTORY" if "Persist" in kind else "HERITRIX_CONTENT_DIGEST_HISTORY",
            )
            for prop, value in bean.properties.items():
                self._of_history(bean, prop, value)

    def _of_history(self, bean: Bean, prop: str, value: Value) -> None:
        if prop in ("historyDbName", "contentDigestHistory", "onlyStoreIfWriteTagPresent", "comment"):
            self._report.not_needed(value.place, bean.name, prop, "what is remembered lies below HERITRIX_HISTORY_DIR")
        elif prop in ("bdb", "bdbModule"):
            try:
                module = self._values.bean(value)
                folder = self._values.output(module.properties["dir"]) if "dir" in module.properties else ""
            except NotUsable as error:
                self._taken.unusable(bean.name, prop, value, error)
                return
            self._taken.put("HISTORY_DIR", folder or None, Origin(bean.name, prop, value.place))
        elif prop == "preloadSource":
            self._report.lost(
                value.place,
                bean.name,
                prop,
                "name CDX files or crawl logs of the earlier crawl in HERITRIX_HISTORY_PRELOAD",
            )
        else:
            self._taken.property(bean.name, "persist", prop, value)

    # -- what is left -------------------------------------------------------------------------------------------------

    def _absent(self) -> None:
        """Overrides of beans that are not in the file."""
        for path, value in self._overrides.absent.items():
            name, _, prop = path.partition(".")
            if row_of(name, prop) is not None and "." not in prop:
                self._taken.property(name, name, prop, value)
            else:
                self._report.lost(value.place, path, "", f"there is no bean {name!r} in the file")

    def _rest(self) -> None:
        """Beans that nothing above has looked at."""
        for bean in self._beans.everywhere():
            if id(bean) in self._chains.used - self._chains.off and bean.short in MAPPERS:
                self._taken.properties(bean, ROLES[bean.short])
        for bean in self._beans:
            if id(bean) in self._done or id(bean) in self._chains.used:
                continue
            if id(bean) in self._values.met:
                continue
            if bean.short in NEEDLESS_CLASSES:
                self._report.not_needed(bean.place, bean.name, "", NEEDLESS_CLASSES[bean.short])
            elif bean.kind.startswith(("org.springframework.", "java.")):
                self._report.not_needed(bean.place, bean.name, "", "its value was looked up where it is used")
            elif bean.script is not None:
                self._report.lost(bean.place, bean.name, "", stand_in(bean))
            elif self._processor(bean) or self._refers(bean):
                self._report.not_needed(bean.place, bean.name, "", "nothing in the job uses it")
            elif bean.kind in self._map or bean.short in self._map:
                self._report.taken(
                    bean.place,
                    bean.name,
                    "",
                    PREFIX + "CLASS_MAP",
                    self._map.get(bean.kind, self._map.get(bean.short, "")),
                )
            elif bean.short in ("ConfigFile", "ConfigString", "ConfigPath"):
                self._report.not_needed(bean.place, bean.name, "", "read where it is used")
            else:
                self._report.lost(bean.place, bean.name, "", stand_in(bean))

    @staticmethod
    def _processor(bean: Bean) -> bool:
        """Whether it is a part of Heritrix's that does something only in a chain or where it is referred to."""
        return not bean.third_party and (
            bean.short in EXTRACTORS
            or bean.short in RULES
            or bean.short in REFUSED_RULES
            or bean.short in ROLES
            or bean.short in HISTORY
            or bean.short.endswith(("Processor", "Rule", "Enforcer", "Policy", "Report", "Builder"))
        )

    @staticmethod
    def _refers(bean: Bean) -> bool:
        """Whether a class that is not Heritrix's does something only where another bean names it."""
        return bean.short.endswith(("Processor", "DecideRule", "Policy", "Extractor", "Enforcer", "Annotator"))
