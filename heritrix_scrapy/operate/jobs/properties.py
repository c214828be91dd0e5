"""Which properties does a bean of a job have, and what do they hold? Made of the settings table.

A property that is a row of the table has the row's value in the job, and is changed by ``set`` under the row's name.
What else Heritrix's class would show, and what its own bean says in the file, is shown and cannot be changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.settings.beans.classes import ROLES, SHARES
from heritrix_scrapy.settings.beans.model import Bean, Beans, Items, Map, Null, Ref, Text
from heritrix_scrapy.settings.beans.taken import BY_BEAN, row_of
from heritrix_scrapy.settings.secrets import HIDDEN, told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.operate.jobs.building import Built
    from heritrix_scrapy.settings.defaults import Setting

#: Kind of a row → Java's class of such a value.
JAVA: Final = {
    "bool": "java.lang.Boolean",
    "int": "java.lang.Integer",
    "number": "java.lang.Double",
    "str": "java.lang.String",
    "choice": "java.lang.String",
    "path": "java.lang.String",
    "port": "java.lang.Integer",
    "policy": "java.lang.String",
    "scope": "java.lang.String",
}
LISTS: Final = frozenset({"list", "lines", "headers", "components", "mappings", "associations", "type_patterns"})

#: Rows whose Java type is another one than their kind's.
AS: Final = {
    "frontier.queueTotalBudget": "java.lang.Long",
    "frontier.snoozeLongMs": "java.lang.Long",
    "frontier.retryDelaySeconds": "java.lang.Integer",
    "fetchHttp.maxLengthBytes": "java.lang.Long",
    "warcWriter.maxFileSizeBytes": "java.lang.Long",
}

#: What a processor shows besides its settings.
PROCESSOR: Final = ("URICount", "beanName", "enabled", "shouldProcessRule")
#: Class → references to other beans that Heritrix makes by itself: property → name.
REFERENCES: Final[dict[str, dict[str, str]]] = {
    "BdbFrontier": {
        "crawlController": "crawlController",
        "frontierPreparer": "preparer",
        "loggerModule": "loggerModule",
        "scope": "scope",
        "seeds": "seeds",
        "serverCache": "serverCache",
        "sheetOverlaysManager": "sheetOverlaysManager",
        "uriUniqFilter": "uriUniqFilter",
    },
    "Preselector": {"loggerModule": "loggerModule", "scope": "scope"},
    "CandidateScoper": {"loggerModule": "loggerModule", "scope": "scope"},
    "PreconditionEnforcer": {
        "loggerModule": "loggerModule",
        "metadata": "metadata",
        "serverCache": "serverCache",
    },
    "FetchHTTP": {"cookieStore": "cookieStore", "serverCache": "serverCache"},
    "FetchDNS": {"serverCache": "serverCache"},
}
#: Class → what it shows of its insides: property → class.
INSIDES: Final[dict[str, dict[str, str]]] = {
    "BdbFrontier": {
        "allQueues": "org.archive.util.ObjectIdentityBdbManualCache",
        "frontierJournal": "org.archive.crawler.frontier.FrontierJournal",
        "inProcessQueues": "java.util.Collections$SetFromMap",
        "readyClassQueues": "java.util.concurrent.LinkedBlockingQueue",
    },
    "SheetOverlaysManager": {
        "ruleAssociations": "java.util.concurrent.ConcurrentSkipListSet",
        "sheetsNamesBySurt": "java.util.concurrent.ConcurrentSkipListMap",
    },
}
#: Class → counters, which stand last: property → name in the crawl's answer.
COUNTERS: Final[dict[str, dict[str, str]]] = {
    "BdbFrontier": {
        "succeededFetchCount": "succeeded",
        "failedFetchCount": "failed",
        "disregardedUriCount": "disregarded",
        "queuedUriCount": "queued",
        "futureUriCount": "to be fetched again",
    },
}
#: Class → properties that Heritrix has and that mean nothing here: property → value.
CONSTANTS: Final[dict[str, dict[str, Any]]] = {
    "BdbFrontier": {
        "dumpPendingAtClose": False,
        "extract404s": True,
        "extractIndependently": False,
        "largestQueuesCount": 20,
        "maxOutlinks": 6000,
        "maxQueuesPerReportCategory": 2000,
        "recoveryLogEnabled": True,
        "snoozeLongMs": 300_000,
    },
    "Preselector": {"logToFile": False},
}
#: Class → policies that are beans of their own: property → class, property of the class, role.
POLICIES: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "BdbFrontier": {
        "queuePrecedencePolicy": (
            "org.archive.crawler.frontier.precedence.BaseQueuePrecedencePolicy",
            "basePrecedence",
        ),
    },
}
PROCESSORS: Final = frozenset(
    {"Preselector", "PreconditionEnforcer", "CandidateScoper", "FrontierPreparer", "FetchDNS", "FetchHTTP"}
)
ACCEPT: Final = "org.archive.modules.deciderules.AcceptDecideRule"
NOT_READABLE: Final = "org.springframework.beans.NotReadablePropertyException"
NO_BEAN: Final = "org.springframework.beans.factory.NoSuchBeanDefinitionException"
NOT_WRITABLE: Final = "org.springframework.beans.NotWritablePropertyException"
MISMATCH: Final = "org.springframework.beans.TypeMismatchException"

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[([^\[\]]*)\]")


class NoProperty(Exception):
    """A path leads nowhere; the text is Heritrix's name for that and a sentence."""


@dataclass(frozen=True, slots=True)
class Found:
    """What lies at a path. ``model``: class and value or properties, as the page shows them; ``row``: the setting
    behind it; ``target``: the value as a text or a list of texts."""

    model: Mapping[str, Any]
    row: Setting | None = None
    target: Any = None

    @property
    def editable(self) -> bool:
        """Whether it is a simple value that can be changed."""
        return self.row is not None and self.row.kind in JAVA


class Properties:
    """The properties of a built job. ``changed``: values that were given while the crawl runs, by full names;
    ``told``: the crawl's counters; ``state``: of its controller; ``url``: of the bean pages; ``veiled``: texts that are
    no setting's are not told, and of settings no secrets."""

    def __init__(
        self,
        built: Built,
        url: str,
        *,
        changed: Mapping[str, Any] | None = None,
        told: Mapping[str, Any] | None = None,
        state: str = "NASCENT",
        launch: str = "",
        veiled: bool = False,
    ) -> None:
        self._built = built
        self._beans = built.beans or Beans()
        self._url = url
        self._changed = changed or {}
        self._told = told or {}
        self._state = state
        self._launch = launch
        self._veiled = veiled

    def found(self, path: str) -> Found:
        """What a path ``bean.property[0].property`` leads to. Raises NoProperty."""
        name = re.split(r"[.\[]", path, maxsplit=1)[0]
        bean = self._beans.get(name)
        if bean is None:
            raise NoProperty(f"{NO_BEAN}: No bean named '{name}' available")
        rest = path[len(name) :]
        if not rest:
            return Found(self.bean(bean, path), target=f"{bean.kind}@{id(bean):x}")
        steps = _STEP.findall(rest)
        if "".join(f".{one}" if one else f"[{two}]" for one, two in steps) != rest:
            raise self._unreadable(bean, rest.lstrip("."))
        return self._walk(bean, path, steps, rest)

    def _unreadable(self, bean: Bean, prop: str) -> NoProperty:
        return NoProperty(
            f"{NOT_READABLE}: Invalid property '{prop}' of bean class [{bean.kind}]: there is no such property here"
        )

    def _walk(self, bean: Bean, path: str, steps: list[tuple[str, str]], rest: str) -> Found:
        prop = steps[0][0]
        held: Any
        row = row_of(ROLES.get(bean.short, ""), prop)
        if (
            prop == "storePaths"
            and "Writer" in bean.short
            and not self._built.settings.get("HERITRIX_WARC_STORE_PATHS")
        ):
            held = [self._store_path()]
            for name, index in steps[1:]:
                held = self._step(held, name, index, bean, rest)
            return self._shown(held, path)
        if row is not None and len(steps) == 1 and not isinstance(bean.properties.get(prop), Bean | Ref | Items):
            model = self._of_row(row, path)
            return Found(model, row, text(self.value(row)))
        if prop in bean.properties and (row is None or not isinstance(bean.properties[prop], Text)):
            held = bean.properties[prop]
        elif row is not None:
            held = self.value(row)
        elif bean.short == "CrawlController" and prop == "state":
            held = self._state
            if len(steps) == 1:
                kind = "org.archive.crawler.framework.CrawlController$State"
                return Found({"class": kind, "propValue": held}, target=held)
        else:
            for each in self._plain(bean, bean.name):
                if each["field"] == prop and len(steps) == 1:
                    model = {key: value for key, value in each.items() if key not in ("field", "url")}
                    return Found(model, target=model.get("propValue"))
            raise self._unreadable(bean, rest.lstrip("."))
        for name, index in steps[1:]:
            held = self._step(held, name, index, bean, rest)
        return self._shown(held, path)

    def _step(self, held: Any, name: str, index: str, bean: Bean, rest: str) -> Any:
        if isinstance(held, Ref):
            held = self._beans.get(held.name)
        if index and isinstance(held, Items | list):
            values = held.values if isinstance(held, Items) else held
            if index.isdigit() and int(index) < len(values):
                return values[int(index)]
        elif isinstance(held, Map | dict):
            entries = held.entries if isinstance(held, Map) else held
            if (index or name) in entries:
                return entries[index or name]
        elif isinstance(held, Bean) and name in held.properties:
            return held.properties[name]
        raise self._unreadable(bean, rest.lstrip("."))

    def _shown(self, held: Any, path: str) -> Found:
        if isinstance(held, Ref):
            named = self._beans.get(held.name)
            if named is None:
                raise NoProperty(f"{NO_BEAN}: No bean named '{held.name}' available")
            held = named
        if isinstance(held, Bean):
            return Found(self.bean(held, path), target=f"{held.kind}@{id(held):x}")
        if isinstance(held, Items):
            rows = [self._entry(str(place), each, f"{path}[{place}]") for place, each in enumerate(held.values)]
            targets = [self._target(each) for each in held.values]
            return Found({"class": "java.util.ArrayList", "propValue": rows}, target=targets)
        if isinstance(held, Map | dict):
            entries = held.entries if isinstance(held, Map) else held
            rows = [self._entry(key, each, f"{path}[{key}]") for key, each in entries.items()]
            return Found(
                {"class": "java.util.LinkedHashMap", "propValue": rows}, target=[text(each) for each in entries]
            )
        if isinstance(held, list):
            rows = [self._entry(str(place), each, f"{path}[{place}]") for place, each in enumerate(held)]
            paths = any(isinstance(each, dict) for each in held)
            kind = "java.util.ArrayList" if paths else "java.util.Arrays$ArrayList"
            return Found({"class": kind, "propValue": rows}, target=[text(each) for each in held])
        value = self._plainly(held)
        return Found({"class": java(value), "propValue": value}, target=text(value))

    def _target(self, held: Any) -> str:
        if isinstance(held, Ref):
            held = self._beans.get(held.name) or held
        return f"{held.kind}@{id(held):x}" if isinstance(held, Bean) else text(self._plainly(held))

    def _entry(self, field: str, held: Any, path: str) -> dict[str, Any]:
        if isinstance(held, Ref):
            return {"field": field, "url": self.address(held.name), "key": held.name}
        if isinstance(held, Bean):
            return {"field": field, "url": self.address(path), **self.bean(held, path)}
        if isinstance(held, dict) and "class" in held:
            return {"field": field, "url": self.address(path), **held}
        if isinstance(held, Items | Map | list | dict):
            return {"field": field, "url": self.address(path), **self._shown(held, path).model}
        value = self._plainly(held)
        if value is None:
            return {"field": field, "url": self.address(path), "propValue": None}
        return {"field": field, "url": self.address(path), "class": java(value), "propValue": value}

    def address(self, path: str) -> str:
        """The address of a bean's page."""
        return f"{self._url}/beans/{path.replace('[', '%5B').replace(']', '%5D').replace(' ', '%20')}"

    # -- a bean --------------------------------------------------------------------------------------------------

    def bean(self, bean: Bean, path: str) -> dict[str, Any]:
        """Class and properties of a bean."""
        if bean.short == "AcceptDecideRule":
            return accept_rule(path, self.address)
        rows = self._plain(bean, path)
        counters = COUNTERS.get(bean.short, {})
        for prop, name in counters.items():
            value = int(self._told.get(name) or 0)
            rows.append(
                {"field": prop, "url": self.address(f"{path}.{prop}"), "class": "java.lang.Long", "propValue": value}
            )
        return {"class": bean.kind, "properties": rows}

    def _plain(self, bean: Bean, path: str) -> list[dict[str, Any]]:
        role, fields = ROLES.get(bean.short, ""), {}
        roles = [role, SHARES.get(role, role)]
        for key, row in BY_BEAN.items():
            owner, _, prop = key.partition(".")
            if owner in roles and prop:
                fields[prop] = {
                    "field": prop,
                    "url": self.address(f"{path}.{prop}"),
                    **self._of_row(row, f"{path}.{prop}"),
                }
        for prop, held in bean.properties.items():
            if prop not in fields or isinstance(held, Ref | Bean | Items | Map):
                fields[prop] = self._entry(prop, held, f"{path}.{prop}")
        for prop, name in REFERENCES.get(bean.short, {}).items():
            if self._beans.get(name) is not None:
                fields[prop] = {"field": prop, "url": self.address(name), "key": name}
        for prop, kind in INSIDES.get(bean.short, {}).items():
            fields[prop] = {"field": prop, "url": self.address(f"{path}.{prop}"), "class": kind}
        for prop, value in CONSTANTS.get(bean.short, {}).items():
            one = self._entry(prop, value, f"{path}.{prop}")
            fields.setdefault(prop, one | ({"class": AS[f"{role}.{prop}"]} if f"{role}.{prop}" in AS else {}))
        for prop, (kind, inner) in POLICIES.get(bean.short, {}).items():
            policy = row_of(prop, inner)
            value = self.value(policy) if policy is not None else 3
            one = {
                "field": inner,
                "url": self.address(f"{path}.{prop}.{inner}"),
                "class": java(value),
                "propValue": value,
            }
            fields[prop] = {"field": prop, "url": self.address(f"{path}.{prop}"), "class": kind, "properties": [one]}
        if bean.short in PROCESSORS:
            extra = (("URICount", int(self._told.get("finished") or 0)), ("beanName", bean.name), ("enabled", True))
            for prop, value in extra:
                fields[prop] = self._entry(prop, value, f"{path}.{prop}")
            if "URICount" in fields:
                fields["URICount"]["class"] = "java.lang.Long"
            where = f"{path}.shouldProcessRule"
            if not isinstance(bean.properties.get("shouldProcessRule"), Bean | Ref):
                fields["shouldProcessRule"] = {
                    "field": "shouldProcessRule",
                    "url": self.address(where),
                    **accept_rule(where, self.address),
                }
        if bean.short == "SheetOverlaysManager":
            sheets = [each for each in self._beans if each.short == "Sheet"]
            value = [{"field": each.name, "url": self.address(each.name), "key": each.name} for each in sheets]
            where = self.address(f"{path}.sheetsByName")
            kind = "java.util.LinkedHashMap"
            fields["sheetsByName"] = {"field": "sheetsByName", "url": where, "class": kind, "propValue": value}
        return [fields[prop] for prop in sorted(fields)]

    def _of_row(self, row: Setting, path: str) -> dict[str, Any]:
        value = self.value(row)
        if row.kind in LISTS and isinstance(value, list | tuple):
            return dict(self._shown(list(value), path).model)
        if isinstance(value, dict):
            return dict(self._shown(value, path).model)
        if isinstance(value, tuple):
            value = list(value)
        if value == "" and row.default == "":
            # Heritrix has nothing where the table has an empty text
            value = None
        kind = AS.get(row.bean) or JAVA.get(row.kind) or java(value)
        if row.kind == "number" and float(value or 0).is_integer() and row.bean in AS:
            value = int(value)
        return {"class": kind, "propValue": value}

    def value(self, row: Setting) -> Any:
        """The value of a setting in the job, as it is now."""
        held = self._value(row)
        return told(row.name, held) if self._veiled else held

    def _value(self, row: Setting) -> Any:
        if row.key in self._changed:
            return self._changed[row.key]
        effective = self._built.effective
        if effective is not None and hasattr(effective.view, row.attribute):
            return getattr(effective.view, row.attribute)
        return self._built.settings.get(row.key, row.default_in("heritrix"))

    def _plainly(self, held: Any) -> Any:
        """A value of a bean as it is shown."""
        value = held.text if isinstance(held, Text) else None if isinstance(held, Null) else held
        return HIDDEN if self._veiled and isinstance(held, Text) else value

    def _store_path(self) -> dict[str, Any]:
        folder = str(self._built.place.folder)
        launch = f"{folder}/{self._launch}" if self._launch else folder
        kind, where = "org.archive.spring.ConfigPath", "warcWriter.storePaths[0]"

        def simple(path: str, prop: str, value: str, java_kind: str = "java.lang.String") -> dict[str, Any]:
            return {"field": prop, "url": self.address(f"{path}.{prop}"), "class": java_kind, "propValue": value}

        def node(path: str, base: list[dict[str, Any]], file: str, name: str, text: str) -> list[dict[str, Any]]:
            return [
                *base,
                simple(path, "file", file, "java.io.File"),
                simple(path, "name", name),
                simple(path, "path", text),
            ]

        def below(path: str, properties: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [{"field": "base", "url": self.address(path), "class": kind, "properties": properties}]

        nothing = [{"field": "base", "url": self.address(f"{where}.base.base.base"), "propValue": None}]
        job = node(f"{where}.base.base", nothing, folder, "job base", folder)
        writer = node(f"{where}.base", below(f"{where}.base.base", job), launch, "writer base path", "${launchId}")
        first = node(where, below(f"{where}.base", writer), f"{launch}/warcs", "warcs default store path", "warcs")
        return {"class": kind, "properties": first}


def accept_rule(path: str, address: Any) -> dict[str, Any]:
    """The rule that is before a processor for which nobody has written one."""
    return {
        "class": ACCEPT,
        "properties": [
            {"field": "comment", "url": address(f"{path}.comment"), "class": "java.lang.String", "propValue": None},
            {"field": "enabled", "url": address(f"{path}.enabled"), "class": "java.lang.Boolean", "propValue": True},
        ],
    }


def java(value: Any) -> str:
    """Java's class of a value."""
    if isinstance(value, bool):
        return "java.lang.Boolean"
    if isinstance(value, int):
        return "java.lang.Integer"
    if isinstance(value, float):
        return "java.lang.Double"
    return "java.lang.String"


def text(value: Any) -> Any:
    """A value as a text; of a list its texts."""
    if value is None or isinstance(value, Null):
        return None
    if isinstance(value, Text):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return [text(each) for each in value]
    if isinstance(value, dict) and "class" in value:
        return f"{value['class']}@{id(value):x}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def typed(row: Setting, said: str) -> Any:
    """What is given for a simple property, as a setting's value. Raises NoProperty for a text that it cannot be."""
    word = said.strip().lower()
    if row.kind == "bool":
        if word in ("true", "on", "yes", "1"):
            return True
        if word in ("false", "off", "no", "0"):
            return False
    elif row.kind in ("int", "port"):
        try:
            return int(word)
        except ValueError:
            pass
    elif row.kind == "number":
        try:
            return float(word)
        except ValueError:
            pass
    else:
        return said
    kind = JAVA[row.kind]
    raise NoProperty(
        f"{MISMATCH}: Failed to convert value of type 'java.lang.String' to required type '{kind}': {said!r}"
    )
