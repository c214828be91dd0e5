"""Where does a refresh, of a header or of a meta element, send a browser? (WHATWG HTML, "shared declarative refresh
steps".)"""

from __future__ import annotations

import re

#: Seconds and what parts them from the address, which may have its name in front.
_SECONDS = re.compile(r"\s*[\d.]+\s*[;,\s]\s*", re.ASCII)
_NAME = re.compile(r"url\s*=\s*", re.ASCII | re.IGNORECASE)


def target(content: str) -> str | None:
    """The address, without the quotes around it; None when there is none. One with its name and no seconds before it
    counts, too."""
    seconds = _SECONDS.match(content)
    if seconds is not None:
        text = content[seconds.end() :]
        name = _NAME.match(text)
        text = text[name.end() :] if name else text
    else:
        text = content.partition("=")[2]
    text = text.strip()
    if text[:1] in ('"', "'"):
        text = text[1:].partition(text[0])[0].strip()
    return text or None
