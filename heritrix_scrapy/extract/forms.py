"""Which forms does a page have, which of them is a login, and what is sent when it is filled in?

Heritrix: HTMLForm, ExtractorHTMLForms, FormLoginProcessor. ``HERITRIX_FORMS_READER`` follows ``html_reader``: as
Heritrix reads forms, or as HTML has them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from heritrix_scrapy.extract.entities import unescape
from heritrix_scrapy.extract.extractor import Extractor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

#: Inputs that are read of one form, and forms of one page.
MOST = 1000
#: Longest start tag that is looked at, in characters.
LONGEST_TAG = 65_536


class Input(NamedTuple):
    """``kind``: the type attribute, None for none; ``checked``: whether it says so."""

    kind: str | None
    name: str | None
    value: str | None
    checked: bool = False


@dataclass
class Form:
    """``method``, ``action``, ``enctype``: None where the tag has none."""

    method: str | None = None
    action: str | None = None
    enctype: str | None = None
    inputs: list[Input] = field(default_factory=list)

    def _of_kind(self, *kinds: str) -> list[Input]:
        return [one for one in self.inputs if (one.kind or "text").lower() in kinds]

    @property
    def password(self) -> Input | None:
        """The one password input."""
        found = self._of_kind("password")
        return found[0] if len(found) == 1 else None

    @property
    def username(self) -> Input | None:
        """The input that a user's name belongs into."""
        found = self._of_kind("text", "email")
        if len(found) > 1:
            found = [one for one in found if one.name and "username" in one.name.lower()]
        return found[0] if len(found) == 1 else None

    @property
    def is_login(self) -> bool:
        """Whether it seems to be a login form."""
        return (self.method or "").lower() == "post" and self.password is not None and self.username is not None

    @property
    def annotation(self) -> str:
        """``form:`` and the first letters of method and inputs."""
        method = self.method or "get"
        kinds = "".join((one.kind or "text")[:1].lower() for one in self.inputs)
        return f"form:{method[:1].upper()}{kinds}"

    def data(self, username: str, password: str, *, strict: bool = False) -> list[tuple[str, str]]:
        """What is sent when it is filled in. An unchecked box is left out; Heritrix knows one in lower case only, and
        sends inputs without a name."""
        own_name, own_password = self.username, self.password
        pairs: list[tuple[str, str]] = []
        for one in self.inputs:
            kind = (one.kind or "text").lower()
            if not strict and (not one.name or kind in ("button", "reset", "image", "file")):
                continue
            if one is own_name:
                pairs.append((one.name or "", username))
            elif one is own_password:
                pairs.append((one.name or "", password))
            elif kind == "radio" or (one.kind == "checkbox" if strict else kind == "checkbox"):
                if one.checked:
                    pairs.append(
                        (one.name or "", one.value or "" if strict else "on" if one.value is None else one.value)
                    )
            else:
                pairs.append((one.name or "", one.value or ""))
        return pairs


_VALUE = r"\s*=\s*([^\s>]{1,50000})"
_STRICT = {
    name: re.compile(rf"(?i)\b{name}{_VALUE}", re.ASCII)
    for name in ("method", "action", "enctype", "type", "name", "value")
}
_CHECKED = re.compile(r"(?i)\schecked", re.ASCII)
_ATTRIBUTE = re.compile(
    r"""[\s/]*([^\s"'>/=][^\s>/=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?""", re.ASCII
)
_START = re.compile(r"(?i)<form\b", re.ASCII)
_INPUT_OR_END = re.compile(r"(?i)<input\b|<form>|</form>", re.ASCII)
_INPUT_OR_FORM = re.compile(r"(?i)<input\b|<form\b|</form\b", re.ASCII)


def _strict_value(tag: str, name: str) -> str | None:
    """The attribute as Heritrix cuts it out: no blanks, no references, quotes taken off both ends."""
    match = _STRICT[name].search(tag)
    if match is None:
        return None
    value = match[1]
    if value.endswith(("'/", '"/')):
        value = value[:-1]
    return value.strip("'\"")


def _attributes(tag: str) -> dict[str, str | None]:
    """The attributes of a start tag, by lower-case name."""
    found: dict[str, str | None] = {}
    for match in _ATTRIBUTE.finditer(tag):
        value = next((group for group in match.groups()[1:] if group is not None), None)
        found.setdefault(match[1].lower(), None if value is None else unescape(value))
    return found


def _tag(text: str, at: int) -> str:
    """A start tag's inside, from behind its name."""
    quote = last = ""
    limit = min(len(text), at + LONGEST_TAG)
    for end in range(at, limit):
        char = text[end]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and last == "=":
            quote = char
        elif char == ">":
            return text[at:end]
        if not char.isspace():
            last = char
    return text[at:limit]


def _strict_tag(text: str, at: int) -> str:
    end = text.find(">", at, at + LONGEST_TAG)
    return text[at : at + LONGEST_TAG] if end < 0 else text[at:end]


def read_form(text: str, offset: int, *, strict: bool = False) -> Form | None:
    """The form whose start tag stands at that place; None where there is none.

    ``strict``: as Heritrix reads it, to the first ``<form>`` or ``</form>`` without attributes; else to any.
    """
    start = _START.match(text, offset)
    if start is None:
        return None
    tag_of = _strict_tag if strict else _tag
    tag = tag_of(text, start.end())
    if strict:
        form = Form(_strict_value(tag, "method"), _strict_value(tag, "action"), _strict_value(tag, "enctype"))
    else:
        given = _attributes(tag)
        form = Form(given.get("method"), given.get("action"), given.get("enctype"))
    has_submit = False
    at = start.end() + len(tag)
    while len(form.inputs) < MOST:
        match = (_INPUT_OR_END if strict else _INPUT_OR_FORM).search(text, at)
        if match is None or not match[0].lower().startswith("<input"):
            break
        tag = tag_of(text, match.end())
        at = match.end() + len(tag)
        if strict:
            kind = _strict_value(tag, "type")
            one = Input(kind, _strict_value(tag, "name"), _strict_value(tag, "value"), bool(_CHECKED.search(tag)))
            submits = kind is None or kind.lower() == "submit"
        else:
            given = _attributes(tag)
            kind = given.get("type")
            one = Input(kind, given.get("name"), given.get("value"), "checked" in given)
            submits = (kind or "").lower() == "submit"
        if submits and has_submit:
            continue
        has_submit = has_submit or (kind or "").lower() == "submit"
        form.inputs.append(one)
    return form


class ExtractorHTMLForms(Extractor):
    """The forms of a page that ExtractorHTML has read before: logins, or all with ``extract_all_forms``."""

    options = frozenset({"html_reader"})
    own: ClassVar[Mapping[str, Any]] = {"extract_all_forms": False}

    def wants(self, document: Document) -> bool:
        return bool(document.form_offsets)

    def extract(self, document: Document) -> Iterable[Outlink]:
        strict = self.option(document, "html_reader") == "heritrix"
        curi = document.curi
        for offset in document.form_offsets[:MOST]:
            form = read_form(document.text, offset, strict=strict)
            if form is None or not (form.is_login or self.property("extract_all_forms")):
                continue
            if curi.forms is None:
                curi.forms = []
            curi.forms.append(form)
            curi.annotate(form.annotation)
        return ()
