"""The page on which a job's files are edited: checked before they are kept.

A text that a start would not take is shown with what is wrong, line by line, and kept only by who says so. The names
that are completed while one types are ``names``'.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.jobs.folder import inside
from heritrix_scrapy.operate.jobs.processes import settings_file
from heritrix_scrapy.operate.jobs.remarks import WRONG, Remark
from heritrix_scrapy.operate.web import answers, forms, readable
from heritrix_scrapy.operate.web.file_resource import beginning, replaced
from heritrix_scrapy.operate.web.flash import ACK, NACK, Message
from heritrix_scrapy.operate.web.models import EDITABLE
from heritrix_scrapy.operate.web.ui.frame import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aiohttp import web

    from heritrix_scrapy.operate.jobs.folder import Place
    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Job

#: Files of a job that are offered.
MOST: Final = 60
#: Bytes of a text that can be edited here.
LONGEST: Final = forms.FORM // 3


def editable(place: Place) -> Iterator[str]:
    """Paths below a job's folder of the files that can be edited, the settings file first: those in the folder, and in
    a project's packages. No link is followed."""
    first = settings_file(place)
    found = [path for path in _texts(place.folder) if path != first]
    if place.is_project:
        for path in sorted(place.folder.iterdir()):
            if path.is_dir() and not path.is_symlink() and (path / "__init__.py").is_file():
                found += [each for each in _texts(path, deep=True) if each != first]
    # where the settings module is called so, but is not there, it can be made here
    yield os.path.relpath(first, place.folder)
    for path in found[: MOST - 1]:
        yield os.path.relpath(path, place.folder)


def _texts(folder: Path, *, deep: bool = False) -> list[Path]:
    paths = sorted(folder.rglob("*") if deep else folder.iterdir())
    return [
        path
        for path in paths
        if path.name.endswith(EDITABLE)
        and path.is_file()
        and not path.is_symlink()
        and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts)
    ]


def chosen(place: Place, wanted: str) -> tuple[str, Path, bool]:
    """The file of a name that ``editable`` gives, the settings file for none; its path, and whether it is that one.
    Raises Refused."""
    files = list(editable(place))
    name = wanted or files[0]
    if name not in files:
        raise Refused(f"{name!r} is no file of the job that can be edited here")
    path = place.folder / name
    if not inside(place.folder, path):
        raise Refused(f"{name} is a link out of the job's folder")
    return name, path, name == files[0]


async def page(context: Context, request: web.Request, subject: Job) -> web.StreamResponse:
    """A file with its text. ``file``: which; ``line``: where to begin."""
    name, path, is_settings = await asyncio.to_thread(chosen, subject.job.place, request.query.get("file", ""))
    if not readable.may_see(request, name):
        raise answers.Failed(403, f"{name} may hold passwords: only who may steer is shown it")
    data = await asyncio.to_thread(_read, path, name)
    if len(data) > LONGEST:
        raise Refused(f"{name} is too long to be edited here")
    asked = request.query.get("line", "")
    line = int(asked) if asked.isdecimal() and len(asked) < 8 else 0
    remarks = subject.job.remarks if is_settings else []
    return _shown(context, request, subject, name, data.decode("utf-8", "replace"), remarks, _mark(data), line=line)


def _read(path: Path, name: str) -> bytes:
    """What a file holds, one byte more than can be edited at most; nothing of one that is not there yet. Raises
    Refused."""
    try:
        return beginning(path, LONGEST + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Refused(f"{name} cannot be read: {error.strerror}") from None


def _mark(data: bytes) -> str:
    """By which a file that somebody else has changed meanwhile is known."""
    return hashlib.sha256(data).hexdigest()[:16]


async def deed(context: Context, request: web.Request, subject: Job) -> web.StreamResponse:
    """``action``: ``check`` the text, ``save`` it where nothing is wrong with it, or ``keep`` it as it is."""
    said = await forms.fields(request)
    name, path, is_settings = await asyncio.to_thread(chosen, subject.job.place, said.get("file", ""))
    text = said.get("text", "").replace("\r\n", "\n")
    action = said.get("action", "check")
    remarks = await asyncio.to_thread(subject.job.check, text) if is_settings and action != "keep" else []
    wrong = any(each.level == WRONG for each in remarks)
    seen = said.get("seen", "")
    changed = action == "save" and seen and seen != _mark(await asyncio.to_thread(_read, path, name))
    if action == "check" or (action == "save" and (wrong or changed)):
        told = _verdict(name, remarks, saved=False if action == "save" else None)
        if changed:
            told = Message(NACK, f"{name} is not saved: it was changed meanwhile, by somebody else or elsewhere.")
        return _shown(context, request, subject, name, text, remarks, seen, told=told, anyway=wrong or bool(changed))
    await asyncio.to_thread(replaced, path, text.encode("utf-8", "replace"))
    if is_settings:
        subject.job.remarks = remarks
    target = f"{subject.base}/edit?file={quote(name, safe='')}"
    return answers.redirect(context, request, target, [_verdict(name, remarks, saved=True)])


def _verdict(name: str, remarks: list[Remark], *, saved: bool | None) -> Message:
    """``saved``: None where that was not asked for."""
    wrong = sum(each.level == WRONG for each in remarks)
    further = len(remarks) - wrong
    if wrong:
        words = (
            f"A start would not take it: {'one thing is' if wrong == 1 else f'{wrong} things are'} wrong, see below."
        )
    else:
        words = "A start would take it."
        words += f" There {'is a remark' if further == 1 else f'are {further} remarks'} below." if further else ""
    if saved is not None:
        words = f"{name} is {'' if saved else 'not '}saved. " + (words if remarks or not saved else "")
    return Message(NACK if wrong else ACK, words.strip())


def _shown(
    context: Context,
    request: web.Request,
    subject: Job,
    name: str,
    text: str,
    remarks: list[Remark],
    seen: str,
    *,
    told: Message | None = None,
    anyway: bool = False,
    line: int = 0,
) -> web.StreamResponse:
    place = subject.job.place
    lines = text.split("\n")
    return shown(
        context,
        request,
        subject,
        "ui/edit.html",
        "manage",
        file=name,
        files=[each for each in editable(place) if readable.may_see(request, each)],
        text=text,
        told=told,
        anyway=anyway,
        seen=seen,
        remarks=[(each, lines[each.line - 1].strip() if 0 < each.line <= len(lines) else "") for each in remarks],
        line=line,
        kind="cxml" if name.endswith((".cxml", ".xml")) else "settings" if name.endswith(".py") else "text",
        is_settings=name == os.path.relpath(settings_file(place), place.folder),
    )
