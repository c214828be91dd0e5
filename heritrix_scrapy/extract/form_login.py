"""Is a login form to be filled in on this page?

Heritrix: FormLoginProcessor. Each province (a part of the web below one SURT prefix) is logged into once a crawl; how
often the form was sent and seen there is durable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.post import encoded
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import join
from heritrix_scrapy.uri.surt import surt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

SETTING = "HERITRIX_FORM_LOGIN"
CONTEXT = "form/@action"
HEADER = "WARC-Simple-Form-Province-Status"


class FormLogin(NamedTuple):
    """One entry of the setting. Without a prefix every host is a province of its own."""

    applicable_surt_prefix: str = ""
    login_username: str = ""
    login_password: str = ""


def read(listed: Iterable[Mapping[str, Any]]) -> tuple[FormLogin, ...]:
    """The entries of the setting. Raises ConfigurationError."""
    found = []
    for entry in listed:
        unknown = sorted(set(entry) - set(FormLogin._fields))
        if unknown:
            known = ", ".join(FormLogin._fields)
            raise ConfigurationError(SETTING, sorted(entry), f"no property {unknown[0]}; known are {known}")
        if not all(isinstance(value, str) for value in entry.values()):
            raise ConfigurationError(SETTING, sorted(entry), "expected texts")
        found.append(FormLogin(**entry))
    return tuple(found)


def fill_in(curi: CrawlURI, logins: Iterable[FormLogin], hosts: Hosts, *, strict: bool = False) -> int:
    """Send the login form of a fetched page, if it is the first of its province. Returns how many were sent.

    Adds the outlink with its Post, an annotation, and the header of the page's response record.
    """
    sent = 0
    if curi.status <= 0 or not curi.uri.startswith("http"):
        return 0
    own = surt(curi.uri)
    for login in logins:
        if not login.login_username or not own.startswith(login.applicable_surt_prefix):
            continue
        prefix = login.applicable_surt_prefix.strip() or surt(join(curi.uri, "/"))
        province = hosts.province(prefix)
        state = f"{province.attempts},{province.seen},{prefix}"
        curi.warc_headers = [*(curi.warc_headers or ()), f"{HEADER}: {state}"]
        form = next((form for form in curi.forms or () if form.is_login), None)
        if form is None:
            continue
        province.seen += 1
        if province.attempts >= 1:
            curi.annotate(f"nosubmit:{province.attempts},{province.seen},{prefix}")
        else:
            province.attempts += 1
            sent += _send(curi, form, login, strict=strict)
        hosts.province_changed(prefix)
    return sent


def _send(curi: CrawlURI, form: Any, login: FormLogin, *, strict: bool) -> int:
    target = curi.uri
    if form.action is not None and (form.action or strict):
        try:
            target = join(curi.base or curi.uri, form.action)
        except UriError as error:
            curi.link_errors.append((form.action, str(error)))
            return 0
    post = encoded(form.data(login.login_username, login.login_password, strict=strict), form.enctype)
    if post is None:
        curi.errors.append(("FormLoginProcessor", f"a form of enctype {form.enctype!r} cannot be sent"))
        return 0
    link = Outlink(target, hops.SUBMIT, CONTEXT)
    curi.outlinks = [*(other for other in curi.outlinks if other != link), link]
    curi.outlink_posts = {**(curi.outlink_posts or {}), link: post}
    action = form.action if form.action is not None else "null"
    curi.annotate(f"submit:{action}")
    return 1
