"""Which settings hold passwords, and what of a value is told to those who only look? Values in, values out.

A setting is a secret by its name; within a value, what stands under the name of a secret (a login in a sheet, a cookie
among headers), and what stands before the ``@`` of an address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from heritrix_scrapy.settings.files import FileLines

#: Settings that hold passwords: no message tells their value.
SECRET: Final = frozenset(
    {
        "CREDENTIALS",
        "FORM_LOGIN",
        "FTP_PASSWORD",
        "HTTP_PROXY_PASSWORD",
        "SOCKS_PROXY_PASSWORD",
        "WEB_PASSWORD",
        "WEB_READER",
    }
)
#: One that holds lines of cookies, or the path of a file with them.
COOKIES: Final = "COOKIES_LOAD_FILE"
#: What stands in the place of a secret.
HIDDEN: Final = "(not shown)"

#: Names of what is inside a value: of settings, properties of beans and headers.
_NAME: Final = re.compile(
    r"pass(?:word|wd|phrase|code)?$|secret|token|credential|login|form_?items|authori[sz]ation|cookies?$|web_?reader"
    r"|(?:api|access|private)[-_]?key",
    re.IGNORECASE,
)
_LINE: Final = re.compile(r"([^\s:=]{1,100})(\s*[:=]\s*)(\S.*)", re.DOTALL)
_USER: Final = re.compile(r"(?<=://)[^/?#@\s]{1,1000}(?=@)")


def secret(name: str) -> bool:
    """Whether a setting, a property or a header of that name is a secret."""
    return name.removeprefix("HERITRIX_") in SECRET or _NAME.search(name) is not None


def told(name: str, value: Any) -> Any:
    """A value as it is shown to those who only look. ``name``: under which it stands. Numbers and truths are told; a
    list that lies in a file too, as the file's path."""
    if value is None or value in ("", [], {}) or isinstance(value, bool | int | float):
        return value
    if secret(name) or name.endswith(COOKIES):
        return str(value.path) if isinstance(value, FileLines) else HIDDEN
    return _inner(value)


def _inner(value: Any) -> Any:
    if isinstance(value, str):
        found = _LINE.fullmatch(value)
        if found and secret(found[1]):
            return found[1] + found[2] + HIDDEN
        return _USER.sub(HIDDEN, value)
    if isinstance(value, Mapping):
        return {key: told(str(key).rpartition(".")[2], each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_inner(each) for each in value]
    return value
