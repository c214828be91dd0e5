"""Files of a job: listings, files by ranges, pages of logs, and writing them.

``jobdir`` is a job's folder, ``jobsdir`` the engine's, ``anypath`` any path below the jobs folder. No symbolic link
leads out of the folder that is asked for.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from aiohttp import web

from heritrix_scrapy.operate.jobs.folder import inside
from heritrix_scrapy.operate.web import accept, answers, forms, paths, readable
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.flash import ACK, Message
from heritrix_scrapy.operate.web.models import EDITABLE
from heritrix_scrapy.operate.web.paging import Paging, PagingError
from heritrix_scrapy.operate.web.ranges import Unsatisfiable, chosen
from heritrix_scrapy.report.logs import NAMES

if TYPE_CHECKING:
    from heritrix_scrapy.operate.web.context import Context

#: What a folder is shown as where it lies in it.
INDEX: Final = "index"

TYPES: Final = {
    ".xml": "application/xml",
    ".cxml": "application/xml",
    ".txt": "text/plain",
    ".log": "text/plain",
    ".seeds": "text/plain",
    ".dump": "text/plain",
    ".cfg": "text/plain",
    ".py": "text/plain",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
OTHER: Final = "application/octet-stream"

#: Logs of a launch, which are there from its start on in Heritrix.
LOGS: Final = frozenset(NAMES)
#: Bytes read at once.
PART: Final = 256 * 1024
#: Bytes of a text that can be edited.
EDITED: Final = forms.FORM // 2
#: For files whose content others have written.
SANDBOX: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class Wanted(NamedTuple):
    """``root``: the folder that nothing leads out of; ``path``: what is asked for, links not followed; ``folder``:
    the address ended in a slash; ``parts``: below the root; ``address``: of the root, encoded, without host."""

    root: Path
    path: Path
    folder: bool
    parts: list[str]
    address: str


def wanted(context: Context, request: web.Request) -> Wanted:
    """What a path asks for. Raises Failed."""
    segments = request[ASKED].segments
    engine = context.the_engine()
    if segments[1] == "jobsdir":
        root, rest, address = engine.folder.root, segments[2:], paths.address("engine", "jobsdir")
    elif segments[1] == "anypath":
        root, rest, address = Path("/"), segments[2:], paths.address("engine", "anypath")
    else:
        job = engine.job(segments[2])
        if job is None:
            # as Heritrix answers
            raise answers.Failed(500, f"there is no job {segments[2]!r}")
        root, rest = job.place.folder, segments[4:]
        address = paths.address("engine", "job", job.name, "jobdir")
    folder = bool(rest) and rest[-1] == ""
    try:
        parts = paths.resolved(rest[:-1] if folder else rest)
    except paths.Outside:
        raise answers.Failed(403, "the path leads out of the folder") from None
    path = root.joinpath(*parts)
    if segments[1] == "anypath":
        if not engine.folder.holds(path) and Path(os.path.realpath(path)) != engine.folder.root:
            raise answers.Failed(403, "only what lies below the jobs folder is shown")
    elif not inside(root, path):
        raise answers.Failed(403, "a link leads out of the folder")
    return Wanted(root, path, folder or not rest, parts, address)


async def get(context: Context, request: web.Request) -> web.StreamResponse:
    """A listing or a file."""
    asked = await asyncio.to_thread(wanted, context, request)
    if not asked.parts and not request.raw_path.partition("?")[0].endswith("/"):
        return answers.redirect(context, request, f"{asked.address}/")
    if await asyncio.to_thread(asked.path.is_dir):
        if not asked.folder:
            return answers.redirect(context, request, paths_of(asked, slash=True))
        index = asked.path / INDEX
        if not await asyncio.to_thread(index.is_file):
            return await listing(context, request, asked)
        asked = asked._replace(path=index)
    elif asked.folder and asked.parts:
        raise answers.not_found()
    if not readable.may_steer(request) and not readable.file(await asyncio.to_thread(real_parts, context, asked)):
        raise answers.Failed(403, f"{asked.path.name} may hold passwords: only who may steer is shown it")
    if not await asyncio.to_thread(asked.path.is_file):
        if asked.path.name in LOGS and asked.path.parent.name == "logs" and asked.path.parent.is_dir():
            # a log that nothing was written into yet
            return await sent(context, request, Path(os.devnull), TYPES[".log"])
        raise answers.not_found()
    form = request.query.get("format")
    if form == "textedit" and asked.path.name.endswith(EDITABLE):
        return await editing(context, request, asked)
    if form == "paged":
        return await paged(context, request, asked)
    return await sent(context, request, asked.path)


def real_parts(context: Context, asked: Wanted) -> tuple[str, ...]:
    """Where below the job's folder it really lies, whatever a link to it is called."""
    real, root = Path(os.path.realpath(asked.path)), context.the_engine().folder.root
    if asked.root in (Path("/"), root):
        # the first part is the name of the job's folder
        return real.relative_to(root).parts[1:]
    return real.relative_to(os.path.realpath(asked.root)).parts


def paths_of(asked: Wanted, *, slash: bool = False) -> str:
    """The address of what is asked for."""
    tail = paths.address(*asked.parts) if asked.parts else ""
    return asked.address + tail + ("/" if slash else "")


async def listing(context: Context, request: web.Request, asked: Wanted) -> web.Response:
    """What lies in a folder."""

    def look() -> list[tuple[str, bool]]:
        return sorted((each.name, each.is_dir()) for each in os.scandir(asked.path))

    try:
        entries = await asyncio.to_thread(look)
    except OSError as error:
        raise answers.Failed(403, f"the folder cannot be read: {error.strerror}") from None
    here = answers.base(request) + paths_of(asked, slash=True)
    links = [here + paths.address(name)[1:] + ("/" if folder else "") for name, folder in entries]
    if accept.chosen(request.headers.get("Accept"), (accept.HTML, accept.LIST)) == accept.LIST:
        head = here if not asked.parts else here.rstrip("/")
        text = "".join(f"{line}\r\n" for line in (f"# {head}", *links))
        headers = {"Vary": answers.VARY, "Accept-Ranges": "bytes"}
        return web.Response(text=text, content_type=accept.LIST, headers=headers)
    title = "/" + "/".join(request[ASKED].segments[: 4 if asked.address.startswith("/engine/job/") else 2])
    title = f"{title}/" + "/".join(asked.parts)
    rows = [(name + ("/" if folder else ""), link) for (name, folder), link in zip(entries, links, strict=True)]
    above = here.rstrip("/").rpartition("/")[0] + "/"
    return answers.page(context, request, "listing.html", heading=title, above=above, rows=rows)


async def editing(context: Context, request: web.Request, asked: Wanted) -> web.Response:
    """The page on which a text is edited."""
    data = await asyncio.to_thread(beginning, asked.path, EDITED + 1)
    if len(data) > EDITED:
        raise answers.Failed(413, "the file is too long to be edited here")
    return answers.page(
        context,
        request,
        "edit.html",
        name=asked.path.name,
        address=answers.base(request) + paths_of(asked),
        target="/ui/edit" + paths_of(asked),
        text=data.decode("utf-8", "replace"),
    )


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a file, which may have any size. Raises OSError."""
    with path.open("rb") as file:
        return file.read(size)


async def paged(context: Context, request: web.Request, asked: Wanted) -> web.Response:
    """Some lines of a file, with addresses of those before and after."""
    try:
        paging = Paging.of(request.query)
    except PagingError as error:
        raise answers.Failed(500, str(error)) from None
    shown = await asyncio.to_thread(paging.read, asked.path)
    here = answers.base(request) + paths_of(asked)
    links = [(title, here + query) for title, query in paging.links(shown)]
    return answers.page(
        context, request, "paged.html", shown=shown, links=links, here=here, log=asked.path.name == "crawl.log"
    )


async def sent(context: Context, request: web.Request, path: Path, kind: str = "") -> web.StreamResponse:
    """A file, or the part of it that is asked for. ``kind``: its media type, where its name does not say it."""
    try:
        file = await asyncio.to_thread(path.open, "rb")
    except FileNotFoundError:
        raise answers.not_found() from None
    except OSError as error:
        raise answers.Failed(403, f"the file cannot be read: {error.strerror}") from None
    with file:
        stat = os.fstat(file.fileno())
        headers = {
            "Content-Type": kind or TYPES.get(path.suffix.lower(), OTHER),
            "Last-Modified": formatdate(stat.st_mtime, usegmt=True),
            "Expires": formatdate(usegmt=True),
            "Accept-Ranges": "bytes",
            "Vary": answers.VARY,
            "Content-Security-Policy": SANDBOX,
        }
        size, start, end, status = stat.st_size, 0, stat.st_size, 200
        try:
            part = chosen(request.headers.get("Range"), size)
        except Unsatisfiable:
            headers["Content-Range"] = f"bytes */{size}"
            return web.Response(status=416, headers={**headers, "Content-Type": "text/plain"})
        if part is not None:
            start, end = part
            status = 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        response = web.StreamResponse(status=status, headers=headers)
        response.content_length = end - start
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        file.seek(start)
        if await copied(file, end - start, response, context.patience):
            await response.write_eof()
        elif request.transport is not None:
            # what the client has is shorter than was said
            request.transport.abort()
        return response


async def copied(file: BinaryIO, left: int, response: web.StreamResponse, patience: float) -> bool:
    """Send so many bytes; False when the file has become shorter, or the client takes nothing for so many seconds."""
    while left > 0:
        data = await asyncio.to_thread(file.read, min(PART, left))
        if not data:
            return False
        try:
            async with asyncio.timeout(patience):
                await response.write(data)
        except TimeoutError:
            return False
        left -= len(data)
    return True


# -- writing -----------------------------------------------------------------------------------------------------


def writable(context: Context, request: web.Request) -> Wanted:
    """What is to be written. Raises Failed."""
    asked = wanted(context, request)
    below = real_parts(context, asked)
    if not below:
        raise answers.Failed(403, "the folder itself cannot be written to")
    if readable.crawls(below):
        raise answers.Failed(403, f"{'/'.join(below)} belongs to the crawl")
    if asked.folder or (asked.path.is_dir() and request.method == "PUT"):
        asked = asked._replace(path=asked.path / INDEX)
    return asked


async def put(context: Context, request: web.Request) -> web.StreamResponse:
    """Write a file; a folder's is called ``index``. 201 when it was not there."""
    asked = await asyncio.to_thread(writable, context, request)
    data = await forms.body(request)
    created = await asyncio.to_thread(replaced, asked.path, data)
    return web.Response(status=201 if created else 200, headers={"Accept-Ranges": "bytes"})


async def post(context: Context, request: web.Request) -> web.StreamResponse:
    """Replace a text by the field ``contents``."""
    asked = await asyncio.to_thread(writable, context, request)
    if asked.path.is_dir():
        raise answers.Failed(405)
    said = await forms.fields(request)
    text = said.get("contents", "").replace("\r\n", "\n")
    await asyncio.to_thread(replaced, asked.path, text.encode("utf-8", "replace"))
    target = answers.itself(request)
    if target.startswith("/ui/edit/"):
        target = paths_of(asked) + "?format=textedit"
    return answers.redirect(context, request, target, [Message(ACK, "file updated")])


async def delete(context: Context, request: web.Request) -> web.StreamResponse:
    """Remove a file. Folders stay."""
    asked = await asyncio.to_thread(wanted, context, request)
    if asked.folder or not asked.path.is_file():
        raise answers.not_found()
    asked = await asyncio.to_thread(writable, context, request)
    try:
        await asyncio.to_thread(asked.path.unlink)
    except OSError as error:
        raise answers.Failed(403, f"it cannot be removed: {error.strerror}") from None
    return web.Response(status=200, headers={"Accept-Ranges": "bytes"})


def replaced(path: Path, data: bytes) -> bool:
    """Write a file, whole or not at all; whether it is new. Raises Failed."""
    created = not path.exists()
    if not path.parent.is_dir():
        raise answers.not_found()
    target = Path(os.path.realpath(path))
    try:
        descriptor, beside = tempfile.mkstemp(prefix=".put-", dir=target.parent)
    except OSError as error:
        raise answers.Failed(403, f"it cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        mode = 0o644 if created else target.stat().st_mode & 0o777
        os.chmod(beside, mode)
        os.replace(beside, target)
    except OSError as error:
        with suppress(OSError):
            os.unlink(beside)
        raise answers.Failed(507 if error.errno == 28 else 403, f"it cannot be written: {error.strerror}") from None
    return created
