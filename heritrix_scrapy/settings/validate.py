"""Is this a value that the setting can have, and what does it stand for?

Each kind of value has one function: it takes what a settings module, ``-s`` on the command line or a job file
gave, and returns the value as the rooms read it. What it refuses ends the process with one line.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX, PROFILES
from heritrix_scrapy.settings.files import FileLines, LazyLines
from heritrix_scrapy.settings.secrets import HIDDEN, SECRET
from heritrix_scrapy.uri.java_regex import java_compile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heritrix_scrapy.settings.defaults import Setting

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})

#: A contact address that webmasters can open, and an e-mail address (Heritrix: CrawlMetadata).
CONTACT_URL = re.compile(r"https?://\S+", re.ASCII)
FROM_ADDRESS = re.compile(r"\s*|\S+@[-\w]+\.[-\w.]+")
CONTACT_PLACE = "@OPERATOR_CONTACT_URL@"

#: Rules that are asked before an extractor works on a URI.
GATE = re.compile(r"(EXTRACTOR_[A-Z0-9_]+)_SHOULD_PROCESS_RULE")

#: A property of one rule, canonicalisation rule or extractor (``settings.sheets`` reads them).
ADDRESSED = re.compile(r"(?:SCOPE\[\w+\]|(?:CANONICALIZATION_RULES|EXTRACTORS)\[[\w.]+\])\.\w+", re.ASCII)

_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+\s*:", re.ASCII)
_HEADER_LINE = re.compile(r"[\w!#$%&'*+.^`|~-]+:\s", re.ASCII)

#: Endings that a policy's full class name has and its short name has not.
_POLICY_ENDINGS = ("QueueAssignmentPolicy", "CostAssignmentPolicy", "UriPrecedencePolicy", "QueuePrecedencePolicy")


#: Largest number that a setting can have: what is made of it, milliseconds of seconds perhaps, still fits where the
#: frontier stores it.
LARGEST = 1 << 53

#: Where one address of a list ends and the next one begins; a comma alone may be part of an address.
_NEXT_ADDRESS = re.compile(r"[,\s]\s*(?=[A-Za-z][A-Za-z0-9+.-]*://)")


class Refused(Exception):
    """The value cannot be used; the text says what was expected."""


def _bool(value: Any, setting: Setting) -> bool | None:
    if value is None and setting.default is None:
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        if value.strip().lower() in _TRUE:
            return True
        if value.strip().lower() in _FALSE:
            return False
    raise Refused("expected True or False")


def _bounded(number: float, setting: Setting) -> None:
    if not -LARGEST <= number <= LARGEST:
        raise Refused(f"expected a number between {-LARGEST} and {LARGEST}")
    if setting.minimum is not None and not number >= setting.minimum:
        raise Refused(f"expected a number of at least {setting.minimum}")


def _int(value: Any, setting: Setting) -> int:
    try:
        if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
            raise ValueError
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise Refused(f"expected a whole number{_of(setting)}") from None
    _bounded(number, setting)
    return number


def _port(value: Any, setting: Setting) -> int | None:
    if value is None or value == "":
        return None
    port = _int(value, setting)
    if port > 65535:
        raise Refused("expected a port, 1 to 65535")
    return port


def _number(value: Any, setting: Setting) -> int | float:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            raise ValueError
    except (TypeError, ValueError):
        raise Refused(f"expected a number{_of(setting)}") from None
    _bounded(number, setting)
    return int(number) if number == int(number) and not isinstance(value, float) else number


def _of(setting: Setting) -> str:
    return f" ({setting.unit})" if setting.unit else ""


def _str(value: Any, setting: Setting) -> str | None:
    if value is None and setting.default is None:
        return None
    if not isinstance(value, str):
        raise Refused("expected a text")
    return value


def _choice(value: Any, setting: Setting) -> str:
    for choice in setting.choices:
        if isinstance(value, str) and value.lower() == choice.lower():
            return choice
    raise Refused("expected one of " + ", ".join(setting.choices))


def _regex(value: Any, setting: Setting) -> str:
    if not isinstance(value, str):
        raise Refused("expected a regular expression")
    try:
        java_compile(value)
    except re.error as error:
        raise Refused(f"not a regular expression: {error}") from None
    return value


def _from_text(value: str) -> Any:
    """What ``-s NAME=VALUE`` can write: JSON, or items between commas."""
    text = value.strip()
    if text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError as error:
            raise Refused(f"not valid JSON: {error}") from None
    return [item.strip() for item in text.split(",") if item.strip()]


def _list(value: Any, setting: Setting) -> list[str]:
    if isinstance(value, str):
        # a header line has commas of its own
        value = [value] if _HEADER_LINE.match(value) else _from_text(value)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise Refused("expected a list of texts")
    return list(value)


def _headers(value: Any, setting: Setting) -> list[str]:
    """Header lines."""
    lines = _list(value, setting)
    for line in lines:
        if not _HEADER_NAME.match(line):
            raise Refused(f"expected lines `Name: value`, not {line!r}")
    return lines


def _type_patterns(value: Any, setting: Setting) -> list[str]:
    """Regular expressions for the beginning of a media type."""
    patterns = _list(value, setting)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise Refused(f"not a regular expression: {pattern!r}: {error}") from None
    return patterns


def _mapping(value: Any, setting: Setting) -> dict[str, Any]:
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, dict) and set(value) == {"map"}:
        value = value["map"]
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise Refused("expected a mapping")
    return dict(value)


def _config_path(value: Any) -> Any:
    """``["ConfigPath", {"path": …}]`` is how a job file writes a path."""
    match value:
        case ["ConfigPath" | "ConfigFile", {"path": str(path)}]:
            return Path(path)
    return value


def _path(value: Any, setting: Setting) -> Path | None:
    value = _config_path(value)
    if value is None or value == "":
        return None
    if not isinstance(value, str | Path):
        raise Refused("expected a path")
    return Path(value)


def in_project(path: Path) -> Path:
    """Where a path of the settings leads: a relative one from the project's folder, wherever in it the command was
    given; outside of any project from the working directory."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "scrapy.cfg").exists()), here) / path


def _lines(value: Any, setting: Setting) -> list[str] | LazyLines:
    """Lines as given, or of the file whose path was given; a seeds file may be as long as it likes."""
    value = _config_path(value)
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            return _list(value, setting)
        if not value:
            return []
        if "\n" in value:
            return value.splitlines()
        if "://" in value:
            return _NEXT_ADDRESS.split(value.strip())
        value = Path(value)
    if isinstance(value, Path):
        try:
            if setting.name == "SEEDS":
                return LazyLines(in_project(value))
            return FileLines.read(in_project(value))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Refused(f"expected lines, or a file that can be read: {in_project(value)}: {reason}") from None
    if isinstance(value, LazyLines):
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(line, str) for line in value):
        raise Refused("expected a list of lines, or the path of a file")
    return list(value)


def component(value: Any) -> Any:
    """A rule, extractor or writer in one form: ``[name, {property: value}]``, or the object itself."""
    match value:
        case str(name) if name:
            return [name, {}]
        case [str(name)]:
            return [name, {}]
        case [str(name), dict(properties)]:
            return [name, dict(properties)]
        case str() | list() | tuple() | dict() | int() | float() | None:
            raise Refused("expected a name, [name, {property: value}] or an object for each entry")
    return value


def _components(value: Any, setting: Setting) -> list[Any]:
    if isinstance(value, str):
        value = _from_text(value)
    if not isinstance(value, list | tuple):
        raise Refused("expected a list of names or of [name, {property: value}]")
    return [component(item) for item in value]


def _policy(value: Any, setting: Setting) -> Any:
    """A policy's short name; with properties ``[short name, {…}]``; a dotted path stays as it is."""
    if isinstance(value, str) and value.startswith("["):
        value = _from_text(value)
    match component(value):
        case [str(name), dict(properties)]:
            pass
        case _:
            raise Refused("expected a name, or [name, {property: value}]")
    if "." not in name:
        for ending in _POLICY_ENDINGS:
            if name.endswith(ending) and name != ending:
                name = name[: -len(ending)]
    return [name, properties] if properties else name


def _rule(value: Any, setting: Setting) -> Any:
    """One rule; its own room reads it."""
    if value is None:
        return None
    if isinstance(value, str) and value.startswith("["):
        value = _from_text(value)
    return component(value)


def _associations(value: Any, setting: Setting) -> list[dict[str, Any]]:
    if isinstance(value, str):
        value = _from_text(value)
    if not isinstance(value, list | tuple) or not all(isinstance(item, dict) for item in value):
        raise Refused("expected a list of {surt_prefixes: [...] or rules: [...], sheets: [...]}")
    return list(value)


#: Names of robots policies.
ROBOTS_POLICIES = ("obey", "classic", "robotsTxtOnly", "ignore", "custom", "firstNamed", "mostFavored")


def _robots_policy(value: Any, setting: Setting) -> Any:
    """A policy's name, ``[name, {…}]``, a dotted path or an object; ``check_robots`` says whether there is one of
    the name."""
    if isinstance(value, str) and not value.startswith("["):
        return next((name for name in ROBOTS_POLICIES if name.lower() == value.lower()), value)
    return _policy(value, setting)


def check_robots(policy: Any, available: Mapping[str, Any]) -> None:
    """Whether the operator names a robots policy that there is. Raises ConfigurationError."""
    if isinstance(policy, str) and not (policy in ROBOTS_POLICIES or policy in available or "." in policy):
        known = ", ".join([*ROBOTS_POLICIES, *available])
        if not policy.endswith("RobotsPolicy") and policy != "RobotsTxtOnlyPolicy":
            raise ConfigurationError(PREFIX + "ROBOTS_POLICY", policy, f"expected one of {known}, or a dotted path")


def _mappings(value: Any, setting: Setting) -> list[dict[str, Any]]:
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(item, dict) for item in value):
        raise Refused("expected a list of mappings")
    return list(value)


def _scope(value: Any, setting: Setting) -> Any:
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return value.strip()
    if isinstance(value, type):
        return value
    return _components(value, setting)


KINDS: dict[str, tuple[Callable[[Any, Setting], Any], str]] = {
    "bool": (_bool, "True or False"),
    "int": (_int, "a whole number"),
    "number": (_number, "a number"),
    "str": (_str, "a text"),
    "choice": (_choice, "one of the names given"),
    "regex": (_regex, "a regular expression"),
    "list": (_list, "a list of texts"),
    "headers": (_headers, "a list of lines `Name: value`"),
    "type_patterns": (_type_patterns, "a list of regular expressions"),
    "mapping": (_mapping, "a mapping"),
    "path": (_path, "a path"),
    "lines": (_lines, "a list of lines, or the path of a file"),
    "components": (_components, "a list of names, or of `[name, {property: value}]`"),
    "policy": (_policy, "the name of a policy, or `[name, {property: value}]`"),
    "port": (_port, "1 to 65535"),
    "rule": (_rule, "a rule: a name, or `[name, {property: value}]`"),
    "robots_policy": (_robots_policy, "the name of a policy, or `[name, {property: value}]`"),
    "mappings": (_mappings, "a list of mappings"),
    "associations": (_associations, "a list of mappings"),
    "scope": (_scope, "a name, a list of rules, or a dotted path"),
}


def check(setting: Setting, value: Any) -> Any:
    """The value as the rooms read it. Raises ConfigurationError."""
    try:
        return KINDS[setting.kind][0](value, setting)
    except Refused as refused:
        shown = HIDDEN if setting.name in SECRET else value
        raise ConfigurationError(setting.key, shown, str(refused)) from None


def check_names(names: Mapping[str, Any]) -> None:
    """Raises ConfigurationError for a name that nobody knows.

    ``names``: all names of the project's settings that start with ``HERITRIX_``, with their values.
    """
    for key, value in names.items():
        name = key.removeprefix(PREFIX)
        if name in BY_NAME:
            continue
        if ADDRESSED.fullmatch(name) or GATE.fullmatch(name):
            continue
        near = difflib.get_close_matches(name, list(BY_NAME), n=1, cutoff=0.6)
        hint = f"; did you mean {PREFIX}{near[0]}?" if near else ""
        raise ConfigurationError(key, value, f"no such setting{hint}")


def gates(names: Mapping[str, Any]) -> dict[str, Any]:
    """The rules that stand before parts, by the part's name in capitals (``EXTRACTOR_HTML``).

    Raises ConfigurationError for what is no rule.
    """
    found = {}
    for key, value in names.items():
        if taken := GATE.fullmatch(key.removeprefix(PREFIX)):
            try:
                found[taken.group(1)] = component(
                    _from_text(value) if isinstance(value, str) and value.startswith("[") else value
                )
            except Refused as refused:
                raise ConfigurationError(key, value, str(refused)) from None
    return found


def check_profile(value: Any) -> str:
    """The profile's name. Raises ConfigurationError."""
    if value in PROFILES:
        return str(value)
    raise ConfigurationError(PREFIX + "PROFILE", value, "expected one of " + ", ".join(PROFILES))


#: Settings that say who crawls.
IDENTITY: Final = frozenset({"OPERATOR_CONTACT_URL", "OPERATOR_FROM", "USER_AGENT_TEMPLATE"})


def check_identity(values: Mapping[str, Any], *, contact_required: bool, template_given: bool) -> None:
    """Who crawls: contact address, From and User-Agent template (Heritrix: CrawlMetadata's validator).

    ``template_given``: whether the operator wrote the template; one that comes from Scrapy's USER_AGENT needs no
    place for the contact address. Raises ConfigurationError.
    """
    url = values["OPERATOR_CONTACT_URL"]
    if (url or contact_required) and not CONTACT_URL.fullmatch(url):
        raise ConfigurationError(
            PREFIX + "OPERATOR_CONTACT_URL",
            url,
            "expected an http:// or https:// address where webmasters find out who is crawling",
        )
    sender = values["OPERATOR_FROM"]
    if not FROM_ADDRESS.fullmatch(sender):
        raise ConfigurationError(PREFIX + "OPERATOR_FROM", sender, "expected an e-mail address, or nothing")
    template = values["USER_AGENT_TEMPLATE"]
    if template_given and CONTACT_PLACE not in template:
        raise ConfigurationError(
            PREFIX + "USER_AGENT_TEMPLATE", template, f"expected a text with {CONTACT_PLACE} in it"
        )


def load_object(setting: str, path: str) -> Any:
    """What a dotted path names. Raises ConfigurationError."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(setting, path, f"cannot be imported: {error}") from None
