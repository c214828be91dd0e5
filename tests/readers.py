"""Do readers that have nothing in common with ours find the files right that the tests have written?

    python -m tests.readers FOLDER [--jars FOLDER] [--python PYTHON]

``jwarc validate`` (where there is Java), ``cdxj-indexer`` and ``wacz validate`` (by the interpreter that has them) over
every closed WARC file below FOLDER, as ``pytest --basetemp=FOLDER`` leaves them, but those that a test has damaged.
The exit status is 1 when one of them finds fault, or when there was nothing to read.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.archive import cdxj, reading
from heritrix_scrapy.archive.wacz import pack
from heritrix_scrapy.model.recorder import sha1_base32

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DIGESTS = re.compile(r"payload digest failed: .*expected (sha1:\w+), got (sha1:\w+)")
#: Files that a reader is given at once.
AT_ONCE = 200
#: Packages that are made and validated.
PACKAGES = 12
#: What jwarc says of an answer whose server lied about its length, cut it off, or wrote a line that is no header; the
#: record is as it has to be.
_OF_THE_SERVER = re.compile(
    r"ERROR: invalid HTTP header Content-Length: |^\s+offset \d+ .*failed$|^Failed to validate "
    r"|EOFException: EOF reached before end of chunked encoding|ParsingException: invalid HTTP message at "
)


def by_jwarc(jar: Path, warcs: Sequence[Path]) -> Iterator[str]:
    """What jwarc finds wrong. It takes the framing off a chunked body before it digests it, which warcio and FastWARC
    do not; so for those the digest has to be that of the entity, or of what jwarc gets out of one that is broken."""
    chunked = {pair for warc in warcs for pair in digests_of(warc)}
    cut = {told for told, entity in chunked if not entity}
    for at in range(0, len(warcs), AT_ONCE):
        command = ["java", "-jar", str(jar), "validate", *map(str, warcs[at : at + AT_ONCE])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for line in (done.stdout + done.stderr).splitlines():
            framing = _DIGESTS.search(line)
            if framing is not None and ((framing[1], framing[2]) in chunked or framing[1] in cut):
                continue
            if line.strip() and not _OF_THE_SERVER.search(line):
                yield line


def digests_of(warc: Path) -> Iterator[tuple[str, str]]:
    """The payload digest of each chunked answer, and that of what is left without framing; "" where it is broken."""
    for _, record in reading.records(reading.extent(warc)):
        http = record.http_headers
        if http is not None and (http.get_header("Transfer-Encoding") or "").lower() == "chunked":
            http.replace_header("Content-Encoding", "identity")
            told = record.rec_headers.get_header("WARC-Payload-Digest") or ""
            framed = record.raw_stream.read()
            record.raw_stream = io.BytesIO(framed)
            yield told, sha1_base32(reading.body(record)) if came_whole(framed) else ""


def came_whole(framed: bytes) -> bool:
    """Whether every chunk has a size and its bytes, up to the last one (RFC 9112, 7.1)."""
    at = 0
    while (end := framed.find(b"\n", at)) >= 0:
        size = re.match(rb"[0-9A-Fa-f]+", framed[at:end])
        if size is None:
            return False
        if not int(size[0], 16):
            return True
        at = end + 1 + int(size[0], 16)
        if framed[at : at + 2] != b"\r\n":
            return False
        at += 2
    return False


def by_cdxj_indexer(python: str, warcs: Sequence[Path]) -> Iterator[str]:
    """Where its index is another than ours. DNS answers have a line there, and what was said to an FTP server before a
    file came, under the file's own address; of other schemes than http it tells no type, and a digest of its own."""
    for at in range(0, len(warcs), AT_ONCE):
        part = warcs[at : at + AT_ONCE]
        command = [str(Path(python).parent / "cdxj-indexer"), *map(str, part)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            yield done.stderr
            continue
        theirs = [place_of(line) for line in done.stdout.splitlines() if not _NOT_OURS.search(line)]
        ours = [place_of(line) for warc in part for line in cdxj.lines_of(warc) if '"url": "urn:' not in line]
        yield from (f"not in ours: {row}" for row in sorted(set(theirs) - set(ours)))
        yield from (f"in ours only: {row}" for row in sorted(set(ours) - set(theirs)))


_NOT_OURS = re.compile(r'"url": "(?:dns|urn):|"mime": "text/x-ftp-control-conversation"')


def place_of(line: str) -> tuple[str, ...]:
    """What a line says, but for the order in which it says it."""
    key, stamp, told = line.split(" ", 2)
    row = json.loads(told)
    row["mime"] = row.get("mime") or "unk"  # as pywb has it
    if row["url"].startswith(("ftp:", "whois:")):
        row |= {"mime": "", "digest": ""}
    return (
        key,
        stamp,
        *(str(row.get(name, "")) for name in ("url", "mime", "status", "digest", "length", "offset", "filename")),
    )


def by_wacz(python: str, jobs: Sequence[Path]) -> Iterator[str]:
    """What ``wacz validate`` says of packages made of these jobs."""
    with tempfile.TemporaryDirectory() as folder:
        for number, job in enumerate(jobs):
            out = Path(folder) / f"{number}.wacz"
            try:
                pack(job, out)
            except (OSError, ValueError) as error:
                yield f"{job}: {error}"
                continue
            command = [str(Path(python).parent / "wacz"), "validate", "-f", str(out)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode or "is not valid" in done.stdout.lower():
                yield f"{job}: {done.stdout}{done.stderr}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jars", type=Path, default=Path(".cache/jars"))
    parser.add_argument("--python", default=".venv-readers/bin/python")
    options = parser.parse_args()
    warcs = [
        path
        for path in sorted(options.folder.rglob("*.warc*"))
        if path.name.endswith((".warc", ".warc.gz"))
        and path.is_file()
        and path.stat().st_size
        and "damaged" not in str(path)
        and not any(part.is_symlink() for part in path.parents)
    ]
    jobs = [
        path.parent.parent for path in warcs if path.parent.name == "warcs" and (path.parent.parent / "logs").is_dir()
    ]
    jobs = list(dict.fromkeys(jobs))
    found = {
        "cdxj-indexer": list(by_cdxj_indexer(options.python, warcs)),
        "wacz": list(by_wacz(options.python, jobs[:: max(len(jobs) // PACKAGES, 1)])),
    }
    jars = sorted(options.jars.glob("jwarc-*.jar"))
    if jars and shutil.which("java"):
        found["jwarc"] = list(by_jwarc(jars[-1], warcs))
    else:
        print("no Java, or no jwarc: left out")
    for reader, complaints in found.items():
        print(f"{reader}: {len(warcs)} files, {len(complaints)} complaints")
        for complaint in complaints[:20]:
            print(f"   {complaint}")
    return 1 if any(found.values()) or not warcs else 0


if __name__ == "__main__":
    sys.exit(main())
