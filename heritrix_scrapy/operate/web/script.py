"""Which of the scripts that known clients send is this? No script is run: a few are recognised by their shape.

What they ask for is answered from what is known here (launch id, names of files, a property) or done by the verbs
that everybody uses (``deleteURIs``). Any other script is told that it failed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Longest script that is looked at.
LONGEST: Final = 64 * 1024

LAUNCH_ID: Final = "launch id"
LIST_JOB: Final = "list job"
LIST_FOLDER: Final = "list folder"
DELETE_URIS: Final = "delete URIs"
DELETE_JOB: Final = "delete job"
PROPERTY: Final = "property"
SHORT_NAME: Final = "short name"
EMPTY: Final = "empty"

ENGINES: Final = ({"engine": "beanshell", "language": "BeanShell"}, {"engine": "groovy", "language": "Groovy"})
#: Variables of Heritrix's scripts → what they are, in our words.
VARIABLES: Final = (
    ("rawOut", "takes what is to be shown as text"),
    ("htmlOut", "takes what is to be shown as HTML"),
    ("job", "the job"),
    ("appCtx", "the assembled job, which has every bean"),
    ("scriptResource", "the console itself"),
)

NOT_RUN: Final = (
    "javax.script.ScriptException: scripts are not run here; recognised are those that print the launch id, list"
    " files, print one property, or call frontier.deleteURIs"
)
NO_ENGINE: Final = "java.lang.NullPointerException: there is no script engine of that name"


class Asked(NamedTuple):
    """``what``: one of the names above; ``arguments``: its parts; ``html``: the answer goes to the HTML output;
    ``newline``: it is a line; ``folders``, ``files``: which names are listed."""

    what: str
    arguments: tuple[str, ...] = ()
    html: bool = False
    newline: bool = True
    files: bool = True
    folders: bool = True


_STRING: Final = r"""(?:"([^"\\]{0,2000})"|'([^'\\]{0,2000})')"""
_PRINT: Final = re.compile(r"(rawOut|htmlOut)\.(println|print)\((.*)\)")
_DELETE: Final = re.compile(
    rf"(?:job\.crawlController\.|appCtx\.getBean\(\"crawlController\"\)\.)?(?:get)?[fF]rontier(?:\(\))?\.deleteURIs\({_STRING}(?:,{_STRING})?\)"
)
_PROPERTY: Final = re.compile(
    r"(?:appCtx\.getBean\([\"'](\w+)[\"']\)|([A-Za-z]\w*))((?:\.[A-Za-z]\w*|\[\d{1,6}\]){1,6})"
)
_LIST_FOLDER: Final = re.compile(
    rf"(\w+)=newFile\(job\.(?:jobDir|getJobDir\(\)),{_STRING}\)(\w+)\.eachFile\{{rawOut\.println\(it\)\}}"
)
_LIST_JOB: Final = re.compile(
    r"def(\w+)\1=\{it\.eachDir\(\1\)(it\.eachFile\{rawOut\.println\(it\)\})?(rawOut\.println\(it\))?\}"
    r"\1\(job\.(?:jobDir|getJobDir\(\))\)"
)
_DELETE_JOB: Final = re.compile(
    r"def(\w+)\1=\{it\.eachDir\(\1\)it\.eachFile\{it\.delete\(\)\}(?:it\.delete\(\))?\}"
    r"\1\(job\.(?:jobDir|getJobDir\(\))\)(?:job\.jobDir\.delete\(\))?"
)


def recognised(script: str) -> Asked | None:
    """What a script asks for; None for one that is not known."""
    if len(script) > LONGEST:
        return None
    text = compact(script)
    if not text:
        return Asked(EMPTY)
    if found := _PRINT.fullmatch(text):
        html, newline = found[1] == "htmlOut", found[2] == "println"
        asked = expression(found[3])
        return asked._replace(html=html, newline=newline) if asked else None
    if _DELETE.fullmatch(text):
        asked = expression(text)
        return asked._replace(newline=False) if asked else None
    if (found := _LIST_FOLDER.fullmatch(text)) and found[1] == found[4]:
        return Asked(LIST_FOLDER, (found[2] if found[2] is not None else found[3],))
    if found := _LIST_JOB.fullmatch(text):
        return Asked(LIST_JOB, files=bool(found[2]), folders=bool(found[3]))
    if _DELETE_JOB.fullmatch(text):
        return Asked(DELETE_JOB)
    return None


def expression(text: str) -> Asked | None:
    """What an expression stands for."""
    if text in ("appCtx.getCurrentLaunchId()", "appCtx.currentLaunchId"):
        return Asked(LAUNCH_ID)
    if text in ("job.shortName", "job.getShortName()"):
        return Asked(SHORT_NAME)
    if found := _DELETE.fullmatch(text):
        first = found[1] if found[1] is not None else found[2]
        second = found[3] if found[3] is not None else found[4]
        # one regular expression is of URIs, of two the first is of queues
        return Asked(DELETE_URIS, (first, second) if second is not None else (".*", first))
    if (found := _PROPERTY.fullmatch(text)) and (found[2] or "") not in ("job", "appCtx", "rawOut", "htmlOut"):
        return Asked(PROPERTY, ((found[1] or found[2]) + found[3],))
    return None


def compact(script: str) -> str:
    """A script without comments, ends of statements and white space, but for that in its strings."""
    out, at = [], 0
    for found in re.finditer(r"""//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|"[^"\\\n]*"|'[^'\\\n]*'|[\s;]""", script):
        out.append(script[at : found.start()])
        if found[0][0] in "\"'":
            out.append(found[0])
        at = found.end()
    out.append(script[at:])
    return "".join(out)
