"""In which form does a client want its answer? As Heritrix's server chooses (spec/errata: the web API)."""

from __future__ import annotations

from typing import Final

HTML: Final = "text/html"
XML: Final = "application/xml"
JSON: Final = "application/json"
LIST: Final = "text/uri-list"

LONGEST: Final = 2048


def chosen(header: str | None, forms: tuple[str, ...] = (XML, HTML, JSON)) -> str:
    """The form of an answer that has XML, HTML and JSON. What is weighed most counts, of equals the first; a client
    that takes anything gets XML, one that takes none of them HTML. JSON only for who names it."""
    ranges = parsed(header)
    if not ranges:
        return forms[0]
    best, most = "", 0.0
    for form in forms:
        weight = weighed(form, ranges)
        if weight > most:
            best, most = form, weight
    return best or (HTML if HTML in forms else forms[0])


def weighed(form: str, ranges: list[tuple[str, float]]) -> float:
    """The weight of a media type; by the narrowest range that it is in."""
    kind = form.partition("/")[0]
    by_width: dict[int, float] = {}
    for name, weight in ranges:
        if name == form:
            by_width[0] = max(by_width.get(0, 0.0), weight)
        elif form != JSON and name == f"{kind}/*":
            by_width[1] = max(by_width.get(1, 0.0), weight)
        elif form != JSON and name == "*/*":
            by_width[2] = max(by_width.get(2, 0.0), weight)
    return by_width[min(by_width)] if by_width else 0.0


def parsed(header: str | None) -> list[tuple[str, float]]:
    """Media ranges with their weights."""
    out = []
    for part in (header or "")[:LONGEST].split(","):
        name, *parameters = (each.strip() for each in part.split(";"))
        if not name:
            continue
        weight = 1.0
        for each in parameters:
            key, _, value = each.partition("=")
            if key.strip().lower() == "q":
                try:
                    weight = min(max(float(value), 0.0), 1.0)
                except ValueError:
                    weight = 0.0
        out.append((name.lower(), weight))
    return out
