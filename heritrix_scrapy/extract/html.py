"""Where does a page lead?

The tags that ``tags.scan`` finds go through one attribute table; scripts, styles and their attributes through the
scanners for those (Heritrix: ExtractorHTML). Order and contexts of the links are Heritrix's: immediate ones in the
order of the attributes, then resources below a codebase, then a held ``a`` or ``link``, the form's action, the value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from heritrix_scrapy.extract import attributes as attr
from heritrix_scrapy.extract import charset, css, javascript, refresh, tags
from heritrix_scrapy.extract.entities import unescape
from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import LINE_TERMINATORS, NOT_EOL, split
from heritrix_scrapy.extract.likely import is_very_likely, speculative_fixup
from heritrix_scrapy.extract.tables import NON_HTML_EXTENSIONS
from heritrix_scrapy.extract.ways import heeds_meta_nofollow
from heritrix_scrapy.model.hops import EMBED, NAVLINK, REFER, SPECULATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

#: Beginnings of content types that are HTML, in lower case.
HTML_TYPES = (
    "text/html",
    "application/xhtml",
    "text/vnd.wap.wml",
    "application/vnd.wap.wml",
    "application/vnd.wap.xhtml",
)

#: What in the first characters makes a document HTML whatever its type says.
HTML_SIGNS = ("<html", "<!doctype html")

#: An extension counts when its dot is among so many last characters of the path.
EXTENSION_WINDOW = 5

#: So many pages within attributes of pages are looked into.
DEEPEST_PAGE = 3

REMOTE_CONTEXT = "a[data-remote='true']/@href"

_WHITESPACE = re.compile(r"\s", re.ASCII)
_WHITESPACE_OR_COMMA = re.compile(r"[\s,]", re.ASCII)
_AMPERSAND = re.compile("&")
_EQUALS = re.compile("=")
_NOFOLLOW = re.compile(r"\bnofollow\b", re.ASCII | re.IGNORECASE)
_JAVASCRIPT = re.compile(rf"javascript:{NOT_EOL}*\Z", re.IGNORECASE)
_JAVASCRIPT_ANYWHERE = re.compile(r"[\x00-\x20]*+javascript:", re.IGNORECASE)
_REMOTE = {quote: re.compile(rf"data-remote\s*=\s*{quote}true", re.ASCII | re.IGNORECASE) for quote in "\"'"}
_EOL = re.compile(f"[{LINE_TERMINATORS}]")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")


def is_html_expected(uri: str) -> bool:
    """Whether the path's extension leaves room for HTML (Heritrix: ExtractorHTML.isHtmlExpectedHere)."""
    rest = uri.partition("://")[2] or uri
    path = unquote(rest.partition("?")[0].partition("/")[2])
    dot = path.rfind(".")
    return dot < 0 or dot < len(path) - EXTENSION_WINDOW or path[dot + 1 :].lower() not in NON_HTML_EXTENSIONS


def is_remote(element: str, tag: str) -> bool:
    """Heritrix's test for ``data-remote="true"``: the tag's text has no line break and ends with the quote in which
    ``true`` stands."""
    if element != "a" or tag[-1] not in _REMOTE:
        return False
    return _REMOTE[tag[-1]].search(tag, 0, len(tag) - 1) is not None and _EOL.search(tag) is None


class ExtractorHTML(ContentExtractor):
    """HTML, XHTML and WML pages, and what looks like one in its first characters."""

    options = ContentExtractor.options | {
        "css_reader",
        "extract_javascript",
        "extract_only_form_gets",
        "extract_value_attributes",
        "html_reader",
        "ignore_form_action_urls",
        "ignore_unexpected_html",
        "max_attribute_name_length",
        "max_attribute_val_length",
        "max_element_length",
        "obey_rel_nofollow",
        "robots_policy",
        "speculative_hosts",
        "treat_frames_as_embed_links",
    }

    #: Whether the text of a script is also looked through for attributes.
    aggressive = False

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        #: Reads the scripts in pages; none, and they are left alone.
        self.scripts: javascript.ExtractorJS | None = None
        self._settings: object = None
        self._how: How | None = None

    def takes(self, document: Document) -> bool:
        if self.option(document, "ignore_unexpected_html") and not is_html_expected(document.uri):
            return False
        if document.content_type.lower().startswith(HTML_TYPES):
            return True
        prefix = document.prefix().lower()
        return any(sign in prefix for sign in HTML_SIGNS)

    def extract(self, document: Document) -> Iterable[Outlink]:
        how = self._how_to_read(document)
        charset.settle(document, charset.declared_in_html, "HTML", standard=not how.compat)
        if not how.compat and not document.charset.startswith("UTF-"):
            document.query_charset = document.charset
        Page(document, how).read()
        return ()

    def _how_to_read(self, document: Document) -> How:
        """The options for a document; kept, because nearly all URIs of a crawl share one View."""
        if self._how is None or self._settings is not document.settings:
            self._settings = document.settings
            way = self.option(document, "html_reader")
            self._how = How(
                compat=way == "heritrix",
                css_compat=self.option(document, "css_reader") == "heritrix",
                cautious=self.option(document, "speculative_hosts") == "cautious",
                frame_hop=EMBED if self.option(document, "treat_frames_as_embed_links") else NAVLINK,
                ignore_actions=self.option(document, "ignore_form_action_urls"),
                only_gets=self.option(document, "extract_only_form_gets"),
                scripts=self.scripts if self.option(document, "extract_javascript") else None,
                aggressive=self.aggressive,
                values=self.option(document, "extract_value_attributes"),
                nofollow_links=self.option(document, "obey_rel_nofollow"),
                nofollow_pages=heeds_meta_nofollow(
                    self.option(document, "robots_policy"),
                    getattr(document.settings, "available_robots_policies", None),
                ),
                patterns=tags.reader(
                    way,
                    self.option(document, "max_element_length"),
                    self.option(document, "max_attribute_val_length"),
                    rel_matters=bool(self.option(document, "obey_rel_nofollow")),
                ),
                grammar=attr.grammar(
                    way,
                    self.option(document, "max_attribute_name_length"),
                    self.option(document, "max_attribute_val_length"),
                ),
            )
        return self._how


class AggressiveExtractorHTML(ExtractorHTML):
    """As ExtractorHTML, and what looks like an attribute in the text of a script counts as one of the script."""

    aggressive = True


class JerichoExtractorHTML(ExtractorHTML):
    """A name that Heritrix has for another reader of the same pages; here it is ExtractorHTML."""


class How(NamedTuple):
    """How to read a page. ``compat``, ``css_compat``: Heritrix's ways; ``cautious``: with guesses at hosts;
    ``nofollow_links``, ``nofollow_pages``: whether ``rel=nofollow`` and the robots meta tag are heeded."""

    compat: bool
    css_compat: bool
    cautious: bool
    frame_hop: str
    ignore_actions: bool
    only_gets: bool
    scripts: javascript.ExtractorJS | None
    aggressive: bool
    values: bool
    nofollow_links: bool
    nofollow_pages: bool
    patterns: tags.Reader
    grammar: attr.Grammar


class Page:
    """One page being read."""

    __slots__ = ("deep", "document", "form_method", "how", "link")

    def __init__(self, document: Document, how: How) -> None:
        self.document = document
        self.how = how
        self.link = document.link
        self.deep = 0
        self.form_method: str | None = None

    def read(self) -> None:
        """Put all links of the page into the document."""
        self.scan(self.document.text)

    def scan(self, page: str) -> None:
        """Those of its text, or of that of a page within it."""
        for kind, element, text, start, body in self.document.in_time(tags.scan(page, self.how.patterns)):
            if kind == tags.LINK:
                first = text[:1]
                if first > " " and first not in "jJ":
                    self.link(text, NAVLINK, "a/@href")
                else:
                    self.navlink(text, "a/@href")
            elif kind == tags.TAG:
                if len(element) == 4 and not self.deep and element.lower() == "form":
                    self.document.form_offsets.append(start)
                self.general(element, text)
            elif kind == tags.SCRIPT:
                self.general(element, text)
                self.element(element, text, body)
            elif kind == tags.STYLE:
                # Heritrix takes the first six characters of the tag for the element's name
                self.general(text[:6] if self.how.compat else element, text)
                self.style(body)
            elif not self.meta(text):
                return

    # -- pieces of other languages -------------------------------------------------------------------------

    def element(self, element: str, tag: str, text: str) -> None:
        """The text of a script element."""
        scripts = self.how.scripts
        if scripts is not None and ("." in text or "/" in text):
            attributes = tag[len(element) :]
            if not self.how.compat:
                scripts.inline(self.document, text, attributes)
            else:
                # Heritrix reads it with its attributes and once more without, so that these decide nothing; else
                # only the count of what was discarded and the log of what is no URI show it.
                errors = len(self.document.curi.link_errors)
                scripts.inline(self.document, text)
                if attributes and (self.document.full or len(self.document.curi.link_errors) > errors):
                    scripts.inline(self.document, text, attributes)
        if self.how.aggressive and text:
            self.general(element, text)

    def script(self, text: str) -> None:
        scripts = self.how.scripts
        if scripts is not None and ("." in text or "/" in text):
            scripts.inline(self.document, text)

    def style(self, text: str) -> None:
        for reference in self.document.in_time(css.references(text, as_heritrix=self.how.css_compat)):
            self.link(reference, EMBED, css.CONTEXT)

    def query_values(self, text: str, context: str) -> None:
        """Values of ``a=b&c=d`` that look like addresses."""
        for pair in split(_AMPERSAND, text):
            pieces = split(_EQUALS, pair)
            if len(pieces) == 2:
                value = pieces[1]
                if _BAD_ESCAPE.search(value) is None:
                    value = unquote_to_bytes(value.replace("+", " ")).decode("utf-8", "replace")
                if is_very_likely(value):
                    self.guess(value, SPECULATIVE, context)

    def guess(self, text: str, hop: str, context: str) -> None:
        """A value that looks like an address. It is not counted among the links found, as in Heritrix."""
        taken = self.document.taken
        self.link(text, hop, context)
        self.document.taken = taken

    def within(self, text: str) -> None:
        """A page in the ``srcdoc`` of a frame."""
        if self.deep < DEEPEST_PAGE:
            self.deep += 1
            self.scan(text)
            self.deep -= 1

    def navlink(self, text: str, context: str) -> None:
        """A link to follow, or a script in its place."""
        if self.how.compat:
            if _JAVASCRIPT.match(text):
                self.script(text[11:])
                return
        else:
            first = text[:1]
            if first <= " " or first in "jJ":
                script = _JAVASCRIPT_ANYWHERE.match(text)
                if script is not None:
                    self.script(text[script.end() :])
                    return
        self.link(text, NAVLINK, context)

    def embed(self, text: str, hop: str, context: str) -> None:
        """Part of the page; a list of images where the attribute holds one."""
        if context in attr.SRCSETS:
            for url in self.document.in_time(attr.srcset(text)):
                self.link(url, hop, context)
        else:
            self.link(text, hop, context)

    # -- tags ----------------------------------------------------------------------------------------------

    def general(self, element: str, tag: str) -> None:
        """The attributes of any element but meta."""
        name = element.lower()
        held: str | None = None
        held_context = ""
        hold = name in ("a", "link")
        remote = False
        seen_remote: bool | None = None
        rel: str | None = None
        codebase: str | None = None
        resources: list[str] = []
        action: str | None = None
        submit: str | None = None
        submit_method: str | None = None
        method: str | None = None
        value: str | None = None
        value_context = ""
        name_value = ""
        kind_of = attr.ATTRIBUTES.get
        for attribute, text in attr.attributes(tag, self.how.grammar):
            kind = kind_of(attribute)
            if kind is None:
                if attribute[:2] == "on" and "-" not in attribute:
                    self.script(unescape(text))
                continue
            if "&" in text:
                text = unescape(text)
            if kind == attr.HREF or (kind == attr.CITE and self.how.compat):
                # to Heritrix a citation is a reference like any other
                context = f"{name}/@{attribute}"
                if hold and self.how.compat and element == "a":
                    if seen_remote is None:
                        seen_remote = is_remote(element, tag)
                    if seen_remote:
                        context = REMOTE_CONTEXT
                if hold and held is None:
                    held, held_context = text, context
                elif context is REMOTE_CONTEXT:
                    self.embed(text, EMBED, context)
                elif name in attr.PICTURES and not self.how.compat:
                    if not text.startswith("#"):
                        self.embed(text, EMBED, context)
                else:
                    self.navlink(text, context)
                    if name == "base" and not self.deep:
                        self.document.set_base(text)
            elif kind == attr.EMBED:
                hop = self.how.frame_hop if name in ("iframe", "frame") else EMBED
                self.embed(text, hop, f"{name}/@{attribute}")
            elif kind == attr.NAME:
                name_value = text
            elif kind == attr.REL:
                rel = text
            elif kind == attr.VALUE:
                value, value_context = text, f"{name}/@value"
            elif kind == attr.STYLE:
                self.style(text)
            elif kind == attr.CITE:
                self.navlink(text, f"{name}/@cite")
            elif kind == attr.ACTION:
                if not self.how.ignore_actions:
                    action = text
            elif kind == attr.METHOD:
                method = text
            elif kind == attr.CODEBASE:
                codebase = text
                self.navlink(text, f"{name}/@codebase")
            elif kind == attr.RESOURCE:
                resources.append(text)
            elif kind == attr.ARCHIVE:
                # applets have commas between their archives, objects blanks
                between = _WHITESPACE_OR_COMMA if name == "applet" and not self.how.compat else _WHITESPACE
                pieces = split(between, text)
                resources.extend(pieces if self.how.compat else filter(None, pieces))
            elif kind == attr.CODE:
                if name == "applet" and not text.lower().endswith(".class"):
                    text += ".class"
                resources.append(text)
            elif kind == attr.FLASHVARS:
                self.query_values(text, f"{name}/@flashvars")
            elif kind == attr.REMOTE:
                remote = text.lower().startswith("true")
            elif kind == attr.IMAGES and name == "link" and not self.how.compat:
                self.embed(text, EMBED, "link/@imagesrcset")
            elif kind == attr.PART and not self.how.compat:
                self.embed(text, EMBED, f"{name}/@{attribute}")
            elif kind == attr.SUBMIT and not self.how.compat:
                submit = text
            elif kind == attr.SUBMIT_METHOD:
                submit_method = text
            elif kind == attr.PAGE and name == "iframe" and not self.how.compat:
                self.within(text)
        if resources:
            self._resources(resources, codebase, element)
        if held is not None:
            if name == "link":
                if rel is not None:
                    self._link_element(held, rel)
            elif not (self.how.nofollow_links and rel is not None and _NOFOLLOW.search(rel)):
                self.navlink(held, REMOTE_CONTEXT if remote and not self.how.compat else held_context)
        if name == "form":
            self.form_method = method
        if action is not None and self._may_be_sent(method):
            self.navlink(action, f"{name}/@action")
        if submit is not None and not self.how.ignore_actions and self._may_be_sent(submit_method or self.form_method):
            self.navlink(submit, f"{name}/@formaction")
        if value is not None:
            if name == "param" and name_value.lower() == "flashvars":
                self.query_values(value, value_context)
            elif self.how.values and is_very_likely(value):
                self.guess(value, NAVLINK, value_context)

    def _may_be_sent(self, method: str | None) -> bool:
        return method is None or method.upper() == "GET" or not self.how.only_gets

    def _resources(self, resources: list[str], codebase: str | None, element: str) -> None:
        """classid, data, archive and code, below the codebase where there is one."""
        below: str | None = None
        if codebase is not None:
            below = self.document.resolve(codebase, self.document.uri if self.how.compat else self.document.base)
            if below is None:
                return
        for resource in resources:
            text: str | None = unescape(resource) if self.how.compat else resource
            if below is not None and text is not None:
                if self.how.compat:
                    text = text.replace("%", "%25")  # what stands below a codebase is escaped once more
                text = self.document.resolve(text, below)
                if text is None:
                    if self.how.compat:
                        return
                    continue
            if text is not None:
                self.embed(text, EMBED, element)

    def _link_element(self, href: str, rel: str) -> None:
        """What a ``link`` element's keywords make of it; the first that decides ends the list."""
        follow = False
        for keyword in split(_WHITESPACE, rel.lower()):
            if keyword in attr.REL_EMBEDS or (keyword in attr.REL_PARTS and not self.how.compat):
                self.embed(href, EMBED, f"link[rel='{keyword}']/@href")
                return
            if keyword == attr.REL_NEVER:
                return
            if keyword not in attr.REL_IGNORED:
                follow = True
        if follow:
            self.navlink(href, "link/@href")

    def meta(self, tag: str) -> bool:
        """A meta element; False when it asks that nothing more of the page be followed."""
        name = equiv = content = None
        for attribute, text in attr.attributes(tag, self.how.grammar):
            if attribute == "name":
                name = unescape(text)
            elif attribute == "http-equiv":
                equiv = unescape(text)
            elif attribute == "content":
                content = unescape(text)
        if content is None:
            return True
        if name is not None and name.lower() == "robots":
            self.document.meta_robots = content
            lowered = content.lower()
            return not (self.how.nofollow_pages and ("nofollow" in lowered or "none" in lowered))
        if equiv is not None and equiv.lower() == "refresh":
            if not self.how.compat:
                address = refresh.target(content)
                if address is not None:
                    self.link(address, REFER, "meta")
                return True
            target = content.partition("=")
            if target[1]:
                self.link(target[2].replace("'", "").replace('"', ""), REFER, "meta")
            return True
        if "." in content or "/" in content:
            fixed = speculative_fixup(content, self.document.uri, cautious=self.how.cautious)
            if is_very_likely(fixed):
                self.link(content if self.how.compat else fixed, SPECULATIVE, "meta")
        return True
