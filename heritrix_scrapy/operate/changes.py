"""What may an operator change of the settings, and is what was asked for valid as a whole?

Thinking only: names, values, lists; nothing is applied here. A crawl that runs and one that does not are asked alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.settings.changes import Changes
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX
from heritrix_scrapy.settings.files import FileLines
from heritrix_scrapy.settings.secrets import HIDDEN, SECRET, told
from heritrix_scrapy.settings.validate import ADDRESSED, check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.settings import Settings
    from heritrix_scrapy.settings.defaults import Setting

#: Settings that no sheet may override, and that hold at once all the same: whoever needs them asks each time, or is
#: told of the change.
AT_ONCE: Final = frozenset(
    {
        "ACTION_DELAY_SECONDS",
        "ACTION_DONE_DIR",
        "ANNOTATE_CONTENT_SIZE",
        "AUDIENCE",
        "CHECKPOINT_INTERVAL_MINUTES",
        "CHECKPOINT_ON_SHUTDOWN",
        "DESCRIPTION",
        "EXTRACTORS",
        "FOLLOW",
        "FORGET_ALL_BUT_LATEST",
        "IDLE_LIMIT_SECONDS",
        "INTERVAL_SECONDS",
        "JSON_CRAWL_LOG",
        "JSON_CRAWL_LOG_EXTRA_FIELDS",
        "LOG_EXTRA_INFO",
        "LOG_MAX_BYTES",
        "MAX_BYTES_DOWNLOAD",
        "MAX_DOCUMENTS_DOWNLOAD",
        "MAX_NOVEL_BYTES",
        "MAX_NOVEL_URLS",
        "MAX_QUEUES_PER_REPORT_CATEGORY",
        "MAX_TIME_SECONDS",
        "MAX_TOE_THREADS",
        "MAX_WARC_NOVEL_BYTES",
        "MAX_WARC_NOVEL_URLS",
        "MEMORY_LIMIT_MIB",
        "MONITOR_CONFIG_PATHS",
        "MONITOR_PATHS",
        "NEGATIVE_SURTS",
        "OPERATOR",
        "ORGANIZATION",
        "PAUSE_THRESHOLD_MIB",
        "PRECEDENCE_FLOOR",
        "REPORTS",
        "REPORTS_AT_CHECKPOINTS",
        "REPORTS_JSON",
        "RUN_WHILE_EMPTY",
        "SCOPE",
        "SCOPE_SPIDER_REQUESTS",
        "SEEDS",
        "SEEDS_UNANSWERED_SHARE",
        "SHEETS",
        "SHEET_ASSOCIATIONS",
        "STOP_GRACE_SECONDS",
        "SURTS",
        "TRACK_SEEDS",
        "TRACK_SOURCES",
        "WARC_LIMITS",
        "WARC_START_NEW_FILES_ON_CHECKPOINT",
    }
)

#: Why others do not, where there is more to say than that they are read at the start.
REASONS: Final = {
    "PROFILE": "it decides how the crawl's rows are laid out, and holds from its beginning to its end",
    "STRICT_URI_FIXUP": "URIs that are known were written under it",
    "NEW_CRAWL": "it is about the start",
    "CHECKPOINT": "it is about the start",
    "JOB_NAME": "it stands in every WARC file of the crawl",
    "FORM_LOGIN": "logins are read at the start; stop the crawl and start it again",
    "STEPS": "steps are made at the start; stop the crawl and start it again",
}

#: Kinds of settings that are lists, to which an entry may be added.
LISTS: Final = frozenset({"list", "lines", "components", "mappings", "associations", "scope"})


@dataclass(slots=True)
class Wish:
    """What was asked for. ``values``: full name → value as written; ``reset``: names for which the project's word is
    to hold again."""

    values: dict[str, Any] = field(default_factory=dict)
    reset: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [*self.values, *self.reset]

    def told(self) -> dict[str, Any]:
        """The values, but for passwords."""
        return {name: told(name, value) for name, value in self.values.items()}

    def line(self, remark: str) -> str:
        """The same for the job's log."""
        said = [f"{name} = {value!r}" for name, value in self.told().items()]
        said += [f"{name} as the project has it" for name in self.reset]
        return "set: " + "; ".join(said) + (f" - {remark}" if remark else "")


def full(name: str) -> str:
    """``MIN_DELAY_MS`` and ``HERITRIX_MIN_DELAY_MS`` are one. Raises Refused for what can be no setting of ours."""
    written = name.strip()
    key = written if written.startswith(PREFIX) else PREFIX + written
    known = bare(key)
    if known in BY_NAME or ADDRESSED.fullmatch(known) or known.endswith("_SHOULD_PROCESS_RULE"):
        return key
    raise Refused(f"{key}: no such setting")


def bare(key: str) -> str:
    return key.removeprefix(PREFIX)


def wish(values: Mapping[str, Any], reset: Iterable[str]) -> Wish:
    """Raises Refused."""
    made = Wish({full(name): value for name, value in values.items()}, [full(name) for name in reset])
    if not made.names:
        raise Refused("nothing is to be changed")
    if both := set(made.values) & set(made.reset):
        raise Refused(f"{', '.join(sorted(both))}: a value and a reset at the same time")
    return made


def refuse_fixed(names: Iterable[str], *, running: bool) -> None:
    """Raises Refused for settings that cannot be changed, while the crawl runs or at all."""
    for key in names:
        name = bare(key)
        if not running:
            if name in ("PROFILE", "NEW_CRAWL", "CHECKPOINT"):
                raise Refused(f"{key} cannot be changed so: {REASONS[name]}")
            continue
        row = BY_NAME.get(name)
        if name in AT_ONCE or (row is None and ADDRESSED.fullmatch(name)):
            continue
        if row is not None and row.overridable and name not in REASONS:
            continue
        reason = REASONS.get(name, "it is read at the start; stop the crawl, change it, and start it again")
        raise Refused(f"{key} cannot change while the crawl runs: {reason}")


def merged(changes: Changes, made: Wish) -> Changes:
    """The changes with those of a wish."""
    settings = {name: value for name, value in changes.settings.items() if name not in made.reset}
    return Changes(settings={**settings, **made.values}, seed_lines=changes.seed_lines)


# -- entries of lists --------------------------------------------------------------------------------------


def with_entry(settings: Settings, name: str, value: Any) -> Wish:
    """The wish that a list has one entry more, at its end. Raises Refused for what is no list, and for an entry that it
    has."""
    key, row, listed = _listed(settings, name)
    entry = _entry(row, value)
    if entry in listed:
        raise Refused(f"{key} has that entry")
    return Wish({key: [*listed, entry]})


def without_entry(settings: Settings, name: str, value: Any) -> Wish:
    """The wish that a list has one entry less; of rules and other components their name, id or place from 0 will do.
    Raises Refused."""
    key, row, listed = _listed(settings, name)
    places = [place for place, entry in enumerate(listed) if _is_meant(row, place, entry, value)]
    if not places:
        raise Refused(f"{key} has no such entry")
    if len(places) > 1:
        raise Refused(f"{key} has {len(places)} such entries: name one by its place, {', '.join(map(str, places))}")
    return Wish({key: [entry for place, entry in enumerate(listed) if place != places[0]]})


def _listed(settings: Settings, name: str) -> tuple[str, Setting, list[Any]]:
    key = full(name)
    row = BY_NAME.get(bare(key))
    if row is None or row.kind not in LISTS:
        raise Refused(f"{key} is no list")
    listed = getattr(settings.view, row.attribute)
    if isinstance(listed, FileLines):
        raise Refused(f"{key} is the file {listed.path}: change that")
    if not isinstance(listed, list):
        raise Refused(f"{key} is {listed!r} and no list; set it to a list first")
    return key, row, list(listed)


def _entry(row: Setting, value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise Refused(f"{row.key}: not valid JSON: {error}") from None
    try:
        checked = check(row, [value])
    except ConfigurationError as error:
        raise Refused(error.message) from None
    if len(checked) != 1:
        raise Refused(f"{row.key}: expected one entry")
    return checked[0]


def _is_meant(row: Setting, place: int, entry: Any, value: Any) -> bool:
    if isinstance(entry, list) and row.kind in ("components", "scope"):
        if str(value) in (str(place), entry[0], str(entry[1].get("id", entry[0]))):
            return True
    elif row.kind in ("mappings", "associations") and str(value) == str(place):
        return True
    try:
        return bool(entry == _entry(row, value))
    except Refused:
        return False


def held(view: Any) -> dict[str, Any]:
    """Every setting as it holds where no sheet applies: name without prefix → value; passwords are not told. ``view``:
    has each as an attribute."""
    return {name: HIDDEN if name in SECRET else getattr(view, row.attribute) for name, row in BY_NAME.items()}
