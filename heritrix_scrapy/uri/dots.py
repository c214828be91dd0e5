"""Which path does a path with dot segments stand for?

Two answers: RFC 3986's, and the one of the HTTP library that Heritrix was built on, which leaves a later
``/segment/../`` standing after two or more ``..`` that lead out of the root.  Empty segments count as segments
in both, and an escaped dot is not a dot.
"""

from __future__ import annotations


def remove(path: str) -> str:
    """Remove the dot segments of an absolute path (RFC 3986, 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    last = len(segments) - 1
    for place, segment in enumerate(segments):
        if segment == ".":
            if place == last:
                kept.append("")
        elif segment == "..":
            if len(kept) > 1:
                kept.pop()
            if place == last:
                kept.append("")
        else:
            kept.append(segment)
    return "/".join(kept)


def remove_leniently(path: str) -> str:
    """Remove dot segments once, as Heritrix does (``org.apache.commons.httpclient.URI.normalize``)."""
    if "/." not in path:
        return path
    while (at := path.find("/./")) >= 0:
        path = path[:at] + path[at + 2 :]
    if path.endswith("/."):
        path = path[:-1]
    start = 0
    while (at := path.find("/../", start)) >= 0:
        before = path.rfind("/", 0, at)
        if before >= 0:
            path = path[:before] + path[at + 3 :]
        else:
            start = at + 3
    if path.endswith("/..") and (before := path.rfind("/", 0, len(path) - 3)) >= 0:
        path = path[: before + 1]
    while path.startswith("/../"):
        path = path[3:]
    return "/" if path == "/.." else path
