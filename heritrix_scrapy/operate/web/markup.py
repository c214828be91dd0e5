"""How is a model written as XML or JSON? Heritrix's marshallers (spec/output 12.3), well-formed for every text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

PROLOG: Final = "<?xml version=\"1.0\" standalone='yes'?>\n"

#: What XML 1.0 does not allow, lone surrogates included.
ILLEGAL: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BEYOND: Final = re.compile(r"[^\x00-\x7f]")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def xml(root: str, data: Any) -> str:
    """A document. Mappings become elements by name, lists ``value`` elements, None an empty element; what XML does not
    allow is left out, what is not ASCII becomes a reference."""
    return PROLOG + "".join(_element(root, data, 0))


def _element(name: str, data: Any, depth: int) -> Iterator[str]:
    space = "  " * depth
    tag = name if _NAME.fullmatch(name) else "value"
    if isinstance(data, Mapping):
        if not data:
            yield f"{space}<{tag}></{tag}>\n"
            return
        yield f"{space}<{tag}>\n"
        for key, value in data.items():
            yield from _element(str(key), value, depth + 1)
        yield f"{space}</{tag}>\n"
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        if not data:
            yield f"{space}<{tag}></{tag}>\n"
            return
        yield f"{space}<{tag}>\n"
        for value in data:
            yield from _element("value", value, depth + 1)
        yield f"{space}</{tag}>\n"
    elif data is None:
        yield f"{space}<{tag}></{tag}>\n"
    else:
        yield f"{space}<{tag}>{xml_text(text(data))}</{tag}>\n"


def xml_text(said: str) -> str:
    """A text as an element's content."""
    return _BEYOND.sub(lambda found: f"&#{ord(found[0])};", escape(ILLEGAL.sub("", said), {"\r": "&#13;"}))


def text(value: Any) -> str:
    """A value as Java prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return str(value)


def to_json(data: Any) -> str:
    """The same tree, without a root; what JSON has no number for is null."""
    return json.dumps(_plain(data), ensure_ascii=True)


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, str | int | float | bool) or data is None:
        return data
    return str(data)
