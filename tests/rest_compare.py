"""How is an answer of the web API brought into the form of a transcript's, and where do two of them differ?

What the golden README normalises is normalised here. Where an answer holds what another program keeps for itself
(names of files, words of its errors) only its form is compared: ``Rules`` says where.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

#: Headers that are compared. Of Vary, Accept-Ranges, Cache-Control, Expires and ETag clients make no use.
HEADERS = (
    "Location",
    "Content-Type",
    "WWW-Authenticate",
    "Content-Range",
    "Content-Length",
    "Content-Encoding",
    "Last-Modified",
    "Set-Cookie",
)

#: Placeholder of a transcript → what may stand there.
PLACES = {
    "<n>": r"-?\d+(?:\.\d+)?|NaN|Infinity",
    "<bytes>": r"\d+",
    "<ms>": r"\d+",
    "<rate>": r"\d+(?:\.\d+)?(?:E-?\d+)?",
    "<pretty>": r"(?:\d+(?:d|h|m|s|ms))+",
    "<duration>": r"\S+",
    "<date>": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "<http-date>": r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT",
    "<mtime>": r"\d+",
    "<flash>": r"[0-9A-Za-z-]+",
    "<nonce>": r"[^\"]+",
    "<text>": r"[\s\S]*",
    "<frames>": r"[\s\S]*",
    "<sha1>": r"sha1:[A-Z2-7]{32}",
    "<byte>": r"\d+",
    "<host>": r"[^/]+?",
    "<ts12>": r"\d{12}",
    "<ts14>": r"\d{14}",
    "<ts17>": r"\d{17}",
    "<id>": r"[0-9a-f]+",
}
_PLACE = re.compile("|".join(map(re.escape, PLACES)))

#: Files and folders of a job's folder that an implementation keeps for itself.
OWN_FILES = re.compile(
    r"(?:state|scratch|frontier|history|warcs|reports|logs)/|job\.log\.lck|state\.json|changes\.json|control\.sock"
    r"|scrapy\.(?:log|out)|spider\.state|actions-done/|frontier\.until-\d+/"
)
#: Where each keeps its queues.
STATE = ("/state", "/frontier")

#: Keys whose values are compared in a live step too.
STEADY = frozenset(
    {"shortName", "crawlControllerState", "crawlExitStatus", "statusDescription", "availableActions", "isRunning",
     "isLaunchable", "hasApplicationContext", "isProfile", "className", "key", "lastReachedState", "launchCount"}
)  # fmt: skip
#: Words of a job's log that all have: changes of state, and what was done.
LOG_WORDS = re.compile(
    r"Job (?:launched|instantiated|instance discarded)|(?:PREPARING|RUNNING|EMPTY|PAUSING|PAUSED|STOPPING|FINISHED) \S+"
    r"|CHECKPOINTED \S+"
)


class Difference(NamedTuple):
    """``path``: where; what was expected there, and what came."""

    path: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {short(self.expected)}, got {short(self.got)}"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 220 else text[:217] + "..."


# -- the form of an answer ---------------------------------------------------------------------------------------


def element(node: ElementTree.Element) -> Any:
    """An element as the transcript writes it."""
    children = list(node)
    if not children:
        return node.text or None
    if all(child.tag == "value" for child in children):
        return [element(child) for child in children]
    return {child.tag: element(child) for child in children}


class Page(HTMLParser):
    """The parts of a page that are compared."""

    HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title: str | None = None
        self.headings: list[str] = []
        self.flash: list[dict[str, str]] = []
        self.forms: list[dict[str, Any]] = []
        self.links: list[str] = []
        self.lines: list[str] | None = None
        self._text: list[str] = []
        self._form: dict[str, Any] | None = None
        self._select: dict[str, Any] | None = None
        self._flash = self._is_lines = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        if tag in self.HEADINGS or tag == "title":
            self._text = []
        elif tag == "div" and "data-kind" in held:
            self._flash = True
            self.flash.append({"kind": held["data-kind"] or "", "text": ""})
        elif tag == "a" and held.get("href") is not None:
            if held["href"] not in self.links:
                self.links.append(held["href"] or "")
        elif tag == "form":
            self._form = {"action": held.get("action"), "method": (held.get("method") or "get").lower(), "fields": []}
            self.forms.append(self._form)
        elif tag in ("input", "button", "select", "textarea") and self._form is not None:
            field: dict[str, Any] = {"tag": tag}
            field |= {key: held[key] for key in ("name", "type", "value") if held.get(key) is not None}
            if "disabled" in held:
                field["disabled"] = True
            if tag == "select":
                field["options"] = []
                self._select = field
            self._form["fields"].append(field)
        elif tag == "option" and self._select is not None:
            self._select["options"].append(held.get("value"))
        elif tag == "pre" and "data-lines" in held:
            self._is_lines = True
            self._text = []
        elif tag == "span" and self._flash:
            self._text = []

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._text).strip()
        if tag in self.HEADINGS:
            self.headings.append(text)
        elif tag == "title":
            self.title = text
        elif tag == "span" and self._flash:
            self.flash[-1]["text"] = text
            self._flash = False
        elif tag == "form":
            self._form = None
        elif tag == "select":
            self._select = None
        elif tag == "pre" and self._is_lines:
            self.lines = [line for line in text.split("\n") if line]
            self._is_lines = False


def form_of(kind: str, body: bytes) -> dict[str, Any] | None:
    """A body in the transcript's form. ``kind``: the media type."""
    if not body:
        return None
    if body[:2] == b"\x1f\x8b":
        return {"kind": "gzip", "first_bytes": body[:3].hex(), "bytes": str(len(body))}
    text = body.decode("utf-8", "replace")
    if kind == "application/json":
        return {"kind": "json"}
    if kind == "application/xml":
        root = ElementTree.fromstring(body)
        if root.tag.rpartition("}")[2] == "beans" and root.tag.startswith("{"):
            return {"kind": "job file", "root": "beans"}
        return {"kind": "xml", "root": root.tag, "body": element(root)}
    if kind == "text/html":
        page = Page(text)
        made: dict[str, Any] = {"kind": "html", "title": page.title, "forms": page.forms, "links": page.links}
        made["headings"] = page.headings
        if page.flash:
            made["flash"] = page.flash
        if page.lines is not None:
            made["lines"] = page.lines
        return made
    lines = text.splitlines()
    if kind == "text/uri-list":
        return {"kind": "uri-list", "lines": lines[:1] + sorted(lines[1:])}
    return {"kind": "text", "lines": lines}


# -- comparing ---------------------------------------------------------------------------------------------------


def fits(expected: str, got: Any) -> bool:
    """Whether a text is what a transcript's text with placeholders stands for."""
    if not isinstance(got, str):
        return False
    if expected == got:
        return True
    if "<" not in expected:
        return False
    pattern, at = [], 0
    for found in _PLACE.finditer(expected):
        pattern += [re.escape(expected[at : found.start()]), f"(?:{PLACES[found[0]]})"]
        at = found.end()
    pattern.append(re.escape(expected[at:]))
    return re.fullmatch("".join(pattern), got) is not None


class Comparison:
    """Compares one exchange. ``live``: numbers may be others; ``midway``: it tells how far a crawl had come that was
    stopped at some moment, so that counts are only numbers; ``tied``: names of jobs of one and the same age, whose
    order says nothing."""

    def __init__(self, *, live: bool, midway: bool = False, tied: Collection[str] = ()) -> None:
        self._live = live
        self._midway = midway
        self._tied = frozenset(tied)
        self.differences: list[Difference] = []

    def differ(self, path: str, expected: Any, got: Any) -> None:
        self.differences.append(Difference(path, expected, got))

    def response(self, expected: dict[str, Any], got: dict[str, Any]) -> None:
        """Two whole answers."""
        if expected["status"] != got["status"]:
            self.differ("status", expected["status"], got["status"])
            return
        for name in HEADERS:
            self.header(name, expected["headers"].get(name), got["headers"].get(name))
        self.body(expected.get("body"), got.get("body"))

    def header(self, name: str, expected: str | None, got: str | None) -> None:
        if expected is not None and got is not None:
            if name == "Content-Type":
                expected, got = expected.partition(";")[0], got.partition(";")[0]
            elif name == "Set-Cookie":
                # several messages are one cookie
                expected, got = (each.partition("=")[0] for each in (expected, got))
            elif (name == "Content-Range" and self._live) or (name == "Content-Length" and expected != "0"):
                return
            elif name == "WWW-Authenticate":
                expected, got = (re.sub(r'nonce="[^"]*"', "", each) for each in (expected, got))
        elif name in ("Content-Length", "Content-Encoding"):
            # Heritrix sends the answers of some resources in chunks
            return
        elif name == "Content-Type" and expected is None:
            # an empty answer of ours has the type of nothing
            return
        if expected is None or got is None:
            if expected != got:
                self.differ(f"header {name}", expected, got)
        elif not fits(expected, got):
            self.differ(f"header {name}", expected, got)

    def body(self, expected: dict[str, Any] | None, got: dict[str, Any] | None) -> None:
        if expected is None:
            if got is not None:
                self.differ("body", None, got)
            return
        if got is None or expected["kind"] != got["kind"]:
            if not (self._live and expected["kind"] == "text"):
                self.differ("body", expected["kind"], got and got["kind"])
            return
        match expected["kind"]:
            case "xml":
                if expected["root"] != got["root"]:
                    self.differ("body", expected["root"], got["root"])
                else:
                    self.value(expected["body"], got["body"], "body")
            case "html":
                self.page(expected, got)
            case "uri-list":
                self.names(expected["lines"], got["lines"], "body")
            case "text":
                self.text(expected, got)

    def page(self, expected: dict[str, Any], got: dict[str, Any]) -> None:
        if expected["title"] is not None or got["title"] is not None:
            self.value(versionless(expected["title"]), versionless(got["title"]), "title")
        headings = [cause(each) for each in expected.get("headings", [])]
        self.value(
            [versionless(each) for each in headings], [versionless(cause(each)) for each in got["headings"]], "headings"
        )
        self.messages(expected.get("flash", []), got.get("flash", []))
        self.value(own(expected["forms"]), own(got["forms"]), "forms")
        there, here = sort_paths(links(expected["links"])), sort_paths(links(got["links"]))
        there, here = self._untied(there), self._untied(here)
        if any("Listing of" in each for each in headings):
            self.names(there, here, "links")
        elif any("format=paged" in each for each in there) and "lines" in expected:
            there, here = (
                [re.sub(r"pos=\d+|pos=<byte>", "pos=<byte>", each).strip() for each in side] for side in (there, here)
            )
            self.value(sorted(set(there)), sorted(set(here)), "links")
        else:
            self.value(there, here, "links")
        if "lines" in expected:
            if self._live:
                marks = [[each for each in side["lines"] if each.startswith("«")] for side in (expected, got)]
                self.value(*marks, "lines")
            else:
                self.log(expected["lines"], got.get("lines"), "lines", reverse=True)

    def _untied(self, targets: list[str]) -> list[str]:
        loose = [each for each in targets if each.rpartition("/")[2] in self._tied]
        return [each for each in targets if each not in loose] + sorted(loose)

    def messages(self, expected: list[dict[str, str]], got: list[dict[str, str]]) -> None:
        if len(expected) != len(got):
            self.differ("flash", expected, got)
            return
        for one, other in zip(expected, got, strict=True):
            if one["kind"] != other["kind"] or not fits(one["text"], other["text"]):
                self.differ("flash", one, other)

    def names(self, expected: list[str], got: list[str], path: str) -> None:
        """Addresses of files: those that every implementation has."""
        shared = [
            [
                each
                for each in side
                if not OWN_FILES.fullmatch("/".join(each.rsplit("/", 2 if each.endswith("/") else 1)[1:]))
            ]
            for side in (expected, got)
        ]
        if len(shared[0]) != len(shared[1]) or not all(fits(*pair) for pair in zip(*shared, strict=True)):
            self.differ(path, shared[0], shared[1])

    def text(self, expected: dict[str, Any], got: dict[str, Any]) -> None:
        there, here = expected["lines"], got["lines"]
        if self._live:
            return
        if there and re.match(r"<date> (?:SEVERE|INFO|WARNING)", there[0]):
            self.log(there, here, "body")
            return
        if not expected.get("more_lines") and len(there) != len(here):
            self.differ("body", there, here)
            return
        if self._midway:
            # rows are in the order of their counts
            shapes = {re.sub(r"\d+", "#", line).rstrip() for line in here}
            for one in there:
                if re.sub(r"\d+", "#", one).rstrip() not in shapes and not any(fits(one, other) for other in here):
                    self.differ("body", one, here)
            return
        for one, other in zip(there, here, strict=False):
            if not fits(one.rstrip(), other.rstrip()):
                self.differ("body", one, other)
                return

    def log(self, expected: list[str] | None, got: Any, path: str, *, reverse: bool = False) -> None:
        """Lines of a job's log: how they look, and the newest one that all would write."""
        if not expected or not isinstance(got, list):
            if bool(expected) != bool(got):
                self.differ(path, expected, got)
            return
        for line in got:
            if not (re.fullmatch(rf"{PLACES['<date>']} (?:INFO|WARNING|SEVERE) .+", line) or line.startswith("«")):
                self.differ(path, "<date> LEVEL text", line)
                return
        if not reverse:
            return
        first = [
            next((each for each in side if not each.startswith("«") and "caught in server resource" not in each), "")
            for side in (expected, got)
        ]
        words = [each.partition(" ")[2] for each in first]
        if LOG_WORDS.search(words[0]) and not fits(words[0], words[1]) and not self._live:
            self.differ(path, words[0], words[1])

    # -- values ------------------------------------------------------------------------------------------------------

    def value(self, expected: Any, got: Any, path: str) -> None:
        key = path.rpartition(".")[2]
        if key == "jobLogTail":
            self.log(expected, got, path, reverse=True)
        elif expected == "<left out>":
            if not got:
                self.differ(path, "a tree", got)
        elif key == "allNamedCrawlBeans":
            self.beans(expected, got, path)
        elif key == "heritrixVersion":
            if not str(got).startswith(str(expected)):
                self.differ(path, expected, got)
        elif self._live and key == "crawlLogTail" and (expected is None or got is None):
            # nothing has been logged yet
            return
        elif isinstance(expected, dict):
            self.mapping(expected, got, path)
        elif isinstance(expected, list):
            self.list(expected, got, path)
        elif expected is None or got is None:
            if expected != got and not (self._live and key == "threadReport"):
                self.differ(path, expected, got)
        elif self._live and key not in STEADY and not re.search(r"(?:configFiles|reports|availableActions)\[", path):
            if not isinstance(got, type(expected)):
                self.differ(path, expected, got)
        else:
            self.leaf(expected, got, path)

    def leaf(self, expected: Any, got: Any, path: str) -> None:
        if expected == got or (self._midway and str(expected).isdigit() and str(got).isdigit()):
            return
        if not isinstance(expected, str):
            self.differ(path, expected, got)
            return
        key = path.rpartition(".")[2]
        if key in ("problem", "exception", "stackTrace", "target") and isinstance(got, str):
            # the name of the exception or class; its words are another program's
            one, other = (re.split(r"[:@]", each)[0] for each in (expected, got))
            if key != "target" or "@" in expected:
                expected, got = one, other
        if key in ("path", "url") and expected.endswith(STATE[0]) and isinstance(got, str):
            got = re.sub(f"{STATE[1]}$", STATE[0], got)
        if not fits(expected, got):
            self.differ(path, expected, got)

    def mapping(self, expected: dict[str, Any], got: Any, path: str) -> None:
        if not isinstance(got, dict):
            self.differ(path, expected, got)
            return
        if list(expected) != list(got) and set(expected) != set(got):
            missing, more = sorted(set(expected) - set(got)), sorted(set(got) - set(expected))
            if self._live:
                # counters of classes that nothing has fallen into yet
                missing = [each for each in missing if not each.startswith("warcNovel")]
                more = [each for each in more if not each.startswith("warcNovel")]
            for each in missing:
                self.differ(f"{path}.{each}", expected[each], "<absent>")
            for each in more:
                self.differ(f"{path}.{each}", "<absent>", got[each])
        for each, value in expected.items():
            if each in got:
                self.value(value, got[each], f"{path}.{each}")

    def list(self, expected: list[Any], got: Any, path: str) -> None:
        if not isinstance(got, list):
            self.differ(path, expected, got)
            return
        named = next(
            (
                key
                for key in ("shortName", "key", "field")
                if expected and isinstance(expected[0], dict) and key in expected[0]
            ),
            None,
        )
        if named is None or (named == "shortName" and "className" in expected[0]):
            if len(expected) != len(got) and not (self._live and not path.endswith("availableActions")):
                self.differ(path, expected, got)
                return
            for place, (one, other) in enumerate(zip(expected, got, strict=False)):
                self.value(one, other, f"{path}[{place}]")
            return
        there = [name_of(each, named) for each in expected]
        here = [name_of(each, named) for each in got]
        for each in there:
            if each not in here:
                self.differ(f"{path}[{each}]", "there", "<absent>")
        for each in here:
            if each not in there:
                self.differ(f"{path}[{each}]", "<absent>", "there")
        both = [each for each in there if each in here]
        order = [[each for each in side if each in both and each not in self._tied] for side in (there, here)]
        if order[0] != order[1]:
            self.differ(f"{path} in order", *order)
        for each in both:
            self.value(expected[there.index(each)], got[here.index(each)], f"{path}[{each}]")

    def beans(self, expected: Any, got: Any, path: str) -> None:
        """Names and classes of a tree; how it is nested follows a hash in Heritrix."""
        one, other = flat(expected), flat(got)
        if one != other:
            self.differ(path, sorted(one - other), sorted(other - one))


def name_of(held: dict[str, Any], key: str) -> str:
    return re.sub(r"#(?:<id>|[0-9a-f]+)", "#<id>", str(held.get(key)))


def flat(nodes: Any) -> set[tuple[str, str]]:
    out: set[tuple[str, str]] = set()
    for node in nodes or ():
        out.add((node["name"], node["class"]))
        out |= flat(node.get("children"))
    return out


def cause(heading: str) -> str:
    """The heading of an error without its words."""
    return "Cause" if heading.startswith("Cause: ") else heading


def versionless(text: Any) -> Any:
    return re.sub(r"3\.13\.0(?:\+\S+)?", "3.13.0", text) if isinstance(text, str) else text


def own(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Forms without those that lead to pages of an implementation's own."""
    return [form for form in forms if not str(form["action"] or "").startswith(("/ui", "/logout"))]


def sort_paths(targets: list[str]) -> list[str]:
    """Links with those to paths of the job, and to beans, in one order: Heritrix's follows a hash."""
    targets = [re.sub(f"{STATE[1]}$", STATE[0], each) for each in targets]
    loose = [each for each in targets if re.search(r"^https://<engine>/engine/job/[^/]+/(?:jobdir/[^?]|beans/)", each)]
    return [each for each in targets if each not in loose] + sorted(loose)


def links(targets: list[str]) -> list[str]:
    """Links that lead to the engine: no scripts, no other hosts, no pages of an implementation's own."""
    return [
        each.strip()
        for each in targets
        if not each.startswith(("javascript:", "http:", "/ui"))
        and (not each.startswith("https:") or "<engine>" in each)
    ]
