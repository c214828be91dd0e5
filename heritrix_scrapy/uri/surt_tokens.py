"""Under which keys could something be said about a URI, most specific first?

The keys are beginnings of its SURT without the scheme: the whole with a tab behind it (this URI only), the whole,
without query, path segment by path segment, the host with its port and user, and the host label by label.
(Heritrix: org.archive.surt.SURTTokenizer.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fixup import fix
from .surt import surt

if TYPE_CHECKING:
    from collections.abc import Iterator


def surt_tokens(uri: str, *, strict: bool = False) -> Iterator[str]:
    """Give the keys of a URI.  Raises UriError for what is none."""
    form = surt(fix(uri, strict=strict), strict=strict)
    form = form[form.find("://") + 3 :] if "://" in form else form
    yield form + "\t"
    yield form
    head, close, rest = form.partition(")/")
    if close:
        path, mark, _ = rest.partition("?")
        if mark:
            yield f"{head})/{path}" if path else head + ")/"
        while path:
            path = path.rpartition("/")[0]
            if path:
                yield f"{head})/{path}"
    if not form.startswith("("):
        return
    yield head
    labels = head.partition("@")[0].partition(":")[0].rstrip(",")
    while labels != "(" and labels:
        yield labels
        labels = labels.rpartition(",")[0]
