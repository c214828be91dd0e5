"""What is the URI that a piece of text means, alone or on a page?

``fix`` repairs an absolute URI, ``join`` resolves a reference against a fixed-up base.  Both give the string
that identifies the URI for the whole crawl: scheme and host in lower case, host in ASCII, path never empty,
dot segments gone, what needs escaping escaped, no fragment, no default port.  What cannot be repaired raises
``UriError``.  ``strict=True`` gives Heritrix's result to the byte, its defects included; otherwise the result
is a fixed point: fixing it again changes nothing.

Most links are clean; those take a short way that one regular expression guards.  The long way decides what is
right, and a property test holds the short one to it.  (Heritrix: UURIFactory, UsableURIFactory, LaxURI.)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from . import dots
from .authority import DEFAULT_PORTS, fix_authority, parse_authority
from .errors import UriError
from .escape import PATH_SAFE, QUERY_SAFE, escape

__all__ = ["MAX_LENGTH", "Parts", "UriError", "fix", "has_scheme", "join", "split"]

MAX_LENGTH = 2083
"""Longest URI, in UTF-16 units before and after escaping."""

_MAX_ROUNDS = 8
_NBSP = "\u00a0"
_OUTER = "".join(map(chr, range(0x21)))
_STRAY = re.compile(r"[\t\r\n]")
_SLASHES = re.compile("(https?://)/+([^\u0085\u2028\u2029]*)")
_SLASHES_ANY_CASE = re.compile("(https?://)/+", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?((?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?)(?:#([^\x85\u2028\u2029]*))?"
)
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_ROOT_DOTS = re.compile(r"(?:/\.\./)+")
_SCHEME = re.compile(r"[A-Za-z0-9+.-]+")
_SCHEME_RFC = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_DELIMITERS = frozenset('<>#%"')
_END_OF_SCHEME = re.compile(r"[:/?#]")
_END_OF_AUTHORITY = re.compile(r"[/?#]")

# The short way.  Text that these match needs nothing but an authority looked up and dots removed.
_CLEAN_ABSOLUTE = re.compile(
    r"(https?)://([A-Za-z0-9.:-]+)(/[A-Za-z0-9\-~_.*/=&+,:;@$!)(%|']*)?"
    r"(\?[A-Za-z0-9\-~_.*/=&+,:;@$!)(%|'{}\[\]^?]+)?(?:#[!-~]*)?"
)
_CLEAN_RELATIVE = re.compile(
    r"(?!//)((?:[A-Za-z0-9\-~_.*/=&+,;@$!)('][A-Za-z0-9\-~_.*/=&+,;@$!)(%']*)?)"
    r"(\?[A-Za-z0-9\-~_.*/=&+,:;@$!)(%|'{}\[\]^?]+)?(?:#[!-~]*)?"
)
#: What is behind a scheme of another kind than the base's: a host with a dot, though two slashes are not before it.
_ONE_SLASH = re.compile(r"/?[^/?#:@]+\.[^/?#]*(?:[/?#]|\Z)")


class Parts(NamedTuple):
    """A URI taken apart; a part that is absent is None, the path is empty instead."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None

    def __str__(self) -> str:
        """Put the parts together again."""
        scheme = "" if self.scheme is None else f"{self.scheme}:"
        authority = "" if self.authority is None else f"//{self.authority}"
        query = "" if self.query is None else f"?{self.query}"
        return f"{scheme}{authority}{self.path}{query}"


def fix(text: str, charset: str = "utf-8", *, strict: bool = False) -> str:
    """Make an absolute URI of a text.  Raises UriError."""
    if clean := _CLEAN_ABSOLUTE.fullmatch(text):
        return _from_clean(clean, clean.group(1), strict)
    return _fix(text, charset, strict)


def join(base: str, text: str, charset: str = "utf-8", *, strict: bool = False) -> str:
    """Resolve a reference against a base, an absolute URI that is fixed up already.  Raises UriError."""
    if text.startswith("http"):
        # A dot segment is removed once more here than in fix, which Heritrix's way of doing it lets one see.
        if (clean := _CLEAN_ABSOLUTE.fullmatch(text)) and "/." not in text:
            return _from_clean(clean, clean.group(1), strict)
    elif text.startswith("//"):
        scheme = base[: base.find(":")]
        short = scheme in DEFAULT_PORTS and "/." not in text and len(text) < MAX_LENGTH - len("https:")
        if short and (clean := _CLEAN_ABSOLUTE.fullmatch("http:" + text)):
            return _from_clean(clean, scheme, strict, checked="" if strict else scheme)
    if (clean := _CLEAN_RELATIVE.fullmatch(text)) and not (strict and text.startswith("/..//")):
        root, folder, path, query = _base(base)
        if root:
            new_path, new_query = clean.groups("")
            if new_path:
                path = new_path if new_path[0] == "/" else folder + new_path
                if "/." in path:
                    path = _dots_of_reference(path, new_path, strict)
                query = new_query
            elif new_query:
                query = new_query
            if len(text) <= MAX_LENGTH and len(root) + len(path) + len(query) <= MAX_LENGTH:
                return f"{root}{path}{query}"
    return _join(base, text, charset, strict)


def has_scheme(text: str) -> bool:
    """Tell whether a text begins with a scheme and a colon."""
    return _HAS_SCHEME.match(text) is not None


# ---------------------------------------------------------------- the short way


def _from_clean(clean: re.Match[str], scheme: str, strict: bool, checked: str | None = None) -> str:
    """Give the URI of a clean match; ``checked``: the scheme by whose rules the port is judged, if another."""
    if clean.end() >= MAX_LENGTH:
        _short_enough(clean.string)
    _, authority, path, query = clean.groups("")
    if "/." in path:
        path = dots.remove_leniently(_without_root_dots(path)) if strict else dots.remove(path)
    authority = _http_authority(authority, scheme if checked is None else checked, strict)
    uri = f"{scheme}://{authority}{path or '/'}{query}"
    return uri if len(uri) <= MAX_LENGTH else _short_enough(uri)


@lru_cache(maxsize=8192)
def _http_authority(authority: str, scheme: str, strict: bool) -> str:
    while True:
        fixed = parse_authority(fix_authority(authority, scheme, "utf-8", strict=strict), strict=strict)
        if strict or fixed == authority:
            return fixed
        authority = fixed


@lru_cache(maxsize=256)
def _base(base: str) -> tuple[str, str, str, str]:
    """Give ``scheme://authority``, folder, path and ``?query`` of a base; all empty for one without authority."""
    parts = split(base)
    if not parts.scheme or not parts.authority or not parts.path.startswith("/"):
        return "", "", "", ""
    folder = parts.path[: parts.path.rfind("/") + 1]
    query = "" if parts.query is None else f"?{parts.query}"
    return f"{parts.scheme}://{parts.authority}", folder, parts.path, query


def _dots_of_reference(path: str, reference: str, strict: bool) -> str:
    if not strict:
        return dots.remove(path)
    if reference[0] == "/":
        path = dots.remove_leniently(_without_root_dots(reference))
    return dots.remove_leniently(dots.remove_leniently(path))


# ---------------------------------------------------------------- the long way


def _fix(text: str, charset: str, strict: bool) -> str:
    return _settle(_short_enough(str(_stage2(_stage1(text, None, charset, strict), strict))), strict)


def _join(base: str, text: str, charset: str, strict: bool) -> str:
    on = split(base)
    reference = _stage2(_stage1(text, on.scheme, charset, strict), strict)
    resolved = str(_resolve(on, reference, strict))
    return _settle(_short_enough(str(_stage2(resolved, strict))), strict)


def _settle(uri: str, strict: bool) -> str:
    """Fix what came out until it stays; Heritrix does not, so an odd text may change on its way once more."""
    if strict:
        return uri
    for _ in range(_MAX_ROUNDS):
        clean = _CLEAN_ABSOLUTE.fullmatch(uri)
        if clean:
            again = _from_clean(clean, clean.group(1), strict)
        else:
            again = _short_enough(str(_stage2(_stage1(uri, None, "utf-8", strict), strict)))
        if again == uri:
            return uri
        uri = again
    raise UriError(f"never the same twice: {uri!r}")


def _short_enough(text: str) -> str:
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    if units > MAX_LENGTH:
        raise UriError(f"longer than {MAX_LENGTH}: {text[:100]!r}…")
    return text


def _stage1(text: str, base_scheme: str | None, charset: str, strict: bool) -> str:
    """Repair the text of a reference (Heritrix: UsableURIFactory.fixup)."""
    if not text:
        if base_scheme is None:
            raise UriError("empty, and no base")
        return ""
    text = _short_enough(text).replace(_NBSP, " ").strip(_OUTER)
    if "\\" in text:
        head, mark, tail = text.partition("?")
        text = head.replace("\\", "/") + mark + tail
    text = _STRAY.sub("", text)
    if strict:
        if slashes := _SLASHES.fullmatch(text):
            text = slashes.group(1) + slashes.group(2)
    elif slashes := _SLASHES_ANY_CASE.match(text):
        text = slashes.group(1) + text[slashes.end() :]
    found = _REFERENCE.fullmatch(text)
    if not found:
        raise UriError(f"a line separator in the fragment: {text[:100]!r}")
    scheme, rest, authority, path, query, _ = found.groups()
    scheme = scheme.lower() if scheme else None
    if scheme is None:
        if base_scheme is None:
            raise UriError(f"relative, and no base: {text[:100]!r}")
    elif scheme in DEFAULT_PORTS:
        if not rest.startswith("//"):
            if scheme != base_scheme:
                if not strict and _ONE_SLASH.match(rest):
                    return _stage1(f"{scheme}://{rest.lstrip('/')}", base_scheme, charset, strict)
                raise UriError(f"no // after {scheme}: {text[:100]!r}")
        elif rest == "//":
            raise UriError(f"no host after {text!r}")
    # An authority that is there but empty is kept only where it says something: file:///x.
    bare = not strict and authority == "" and scheme is not None and scheme not in DEFAULT_PORTS
    if authority:
        known = scheme if strict or scheme else base_scheme
        authority = fix_authority(authority, known, charset, strict=strict)
    elif not bare:
        authority = None
    if rest.startswith("/"):
        path = (_without_root_dots(path) if strict else path) or "/"
    if not authority and not bare and scheme is not None and scheme == base_scheme:
        scheme = None
    fixed_query = escape(query, QUERY_SAFE, charset) if query else None
    return str(_guarded(Parts(scheme, authority, escape(path, PATH_SAFE, charset), fixed_query), strict))


def _without_root_dots(path: str) -> str:
    found = _ROOT_DOTS.match(path)
    return "/" + path[found.end() :] if found else path


def _stage2(text: str, strict: bool) -> Parts:
    """Take a repaired reference apart and check it (Heritrix: LaxURI.parseUriReference, URI.normalize)."""
    text = text.strip(_OUTER)
    if strict and len(text) > 1 and text[0] in _DELIMITERS and text[-1] in _DELIMITERS:
        text = text[1:-1]
    scheme, authority, path, query = split(text, strict=strict)
    if authority is not None:
        authority = parse_authority(authority, strict=strict)
    if strict and authority is None and "|" in path and "/" not in path:
        raise UriError(f"a bar in a relative path: {text[:100]!r}")
    if path.startswith("/"):
        path = dots.remove_leniently(path) if strict else dots.remove(path)
    return _guarded(Parts(scheme, authority, path, query), strict)


def _guarded(parts: Parts, strict: bool) -> Parts:
    """Keep a path that begins with two slashes from being read as an authority the next time."""
    if strict or parts.scheme is None or parts.authority is not None or not parts.path.startswith("//"):
        return parts
    return parts._replace(authority="")


def split(text: str, *, strict: bool = True) -> Parts:
    """Take a repaired reference apart, checking nothing.

    ``strict`` lets a scheme begin with a digit.  An empty authority is one only where something follows it.
    """
    scheme = authority = query = None
    start = 0
    double = text.startswith("//")
    if not double:
        end = _END_OF_SCHEME.search(text)
        if end and end.group() == ":" and (_SCHEME if strict else _SCHEME_RFC).fullmatch(text, 0, end.start()):
            scheme = text[: end.start()].lower()
            start = end.end()
            double = text.startswith("//", start)
    if double and len(text) > start + 2:
        end = _END_OF_AUTHORITY.search(text, start + 2)
        stop = end.start() if end else len(text)
        authority = text[start + 2 : stop]
        start = stop
    mark = text.find("?", start)
    if mark >= 0:
        query = text[mark + 1 :]
    return Parts(scheme, authority, text[start:mark] if mark >= 0 else text[start:], query)


def _resolve(base: Parts, reference: Parts, strict: bool) -> Parts:
    """RFC 3986, 5.2.2, with the same scheme and no authority counting as relative."""
    scheme, authority, path, query = reference
    if scheme is not None and (scheme != base.scheme or authority is not None):
        return reference
    if authority is not None:
        return Parts(base.scheme, authority, path, query)
    if not path and query is None:
        return base
    if not path:
        path = base.path
    elif not path.startswith("/"):
        path = (base.path[: base.path.rfind("/") + 1] or "/") + path
    path = dots.remove_leniently(path) if strict else dots.remove(path)
    return _guarded(Parts(base.scheme, base.authority, path, query), strict)
