"""What is a WARC file called?

A template with ``${variable}`` references makes the base name; ``.warc``, ``.gz`` and, while the file grows,
``.open`` follow (Heritrix: WriterPoolMember, PropertyUtils.interpolateWithProperties). Time stamps never
repeat within one process.
"""

from __future__ import annotations

import os
import re
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TEMPLATE = "${prefix}-${timestamp17}-${serialno}-${heritrix.pid}~${heritrix.hostname}~${heritrix.port}"
OPEN = ".open"
INVALID = ".invalid"

#: Bytes of a name: what file systems take, without a host's name, endings and a number behind the stem.
LONGEST = 160

_REFERENCE = re.compile(r"\$\{([^{}]+)\}")
#: What a name may not hold: it would leave its directory or break lists of names.
_UNUSABLE = re.compile(r"[/\\\s\x00-\x1f\x7f]")


def interpolate(template: str, variables: Mapping[str, str]) -> str:
    """The template with its references replaced, innermost first; what is put in is looked at again.

    Unknown variables are empty. At most twice as many replacements as the template has characters.
    """
    text = template
    for _ in range(2 * len(template)):
        found = _REFERENCE.search(text)
        if found is None:
            break
        text = text[: found.start()] + variables.get(found[1], "") + text[found.end() :]
    return text


def serial_text(serial: int) -> str:
    """At least five digits."""
    return f"{serial:05d}"


def suffix(*, compress: bool) -> str:
    return ".warc.gz" if compress else ".warc"


def timestamp17(ms: int) -> str:
    """``yyyyMMddHHmmssSSS`` in UTC of milliseconds since the epoch."""
    seconds, rest = divmod(ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d%H%M%S}{rest:03d}"


class Machine(NamedTuple):
    """Where and as what this process runs; ``ip`` is empty when it cannot be told."""

    hostname: str
    ip: str
    pid: int
    port: str = "0"

    @classmethod
    def here(cls) -> Machine:
        """This process; asks no name server."""
        ip = ""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # RFC 5737: sends nothing, only picks the local address
                ip = probe.getsockname()[0]
            except OSError:
                pass
        return cls(socket.gethostname() or "localhost", ip, os.getpid())


class FileNames:
    """Gives each new file its base name, suffix included. ``now_ms``: the clock; ``serial``: the next number."""

    def __init__(
        self,
        template: str = TEMPLATE,
        prefix: str = "WEB",
        *,
        compress: bool = True,
        machine: Machine,
        now_ms: Callable[[], int],
        serial: int = 0,
        parts: Mapping[str, object] | None = None,
    ) -> None:
        self.template, self.prefix, self.compress = template, prefix, compress
        self.serial = serial
        self._machine = machine
        self._now_ms = now_ms
        self._last_ms = self._last_s = 0
        #: What the operator says that references stand for.
        self._parts = {str(name): str(value) for name, value in (parts or {}).items()}
        check(template, prefix, self._parts)

    def __call__(self) -> str:
        """The next name, without ``.open``."""
        now_ms = self._now_ms()
        self._last_ms = max(now_ms, self._last_ms + 1)
        self._last_s = max(now_ms // 1000, self._last_s + 1)
        name = interpolate(self.template, self._variables(timestamp17(self._last_ms), timestamp17(self._last_s * 1000)))
        self.serial += 1
        return name + suffix(compress=self.compress)

    def unused(self) -> None:
        """No file came of the latest name: its serial number is given once more."""
        self.serial -= 1

    def _variables(self, stamp17: str, stamp14: str) -> dict[str, str]:
        return {
            "prefix": self.prefix,
            "timestamp17": stamp17,
            "timestamp14": stamp14[:14],
            "serialno": serial_text(self.serial),
            "heritrix.pid": str(self._machine.pid),
            "heritrix.hostname": _UNUSABLE.sub("-", self._machine.hostname),
            "heritrix.port": self._machine.port,
            **self._parts,
        }

    def follow(self, present: Iterable[str]) -> None:
        """Go on counting behind the highest serial number among names of this template."""
        pieces = re.split(r"\$\{serialno\}", self.template)
        if len(pieces) != 2:
            return
        before, after = (".+?".join(map(re.escape, _REFERENCE.split(piece)[::2])) for piece in self._known(pieces))
        shape = re.compile(f"{before}(\\d{{5,}}){after}\\.warc(?:\\.gz)?(?:\\.open)?")
        for name in present:
            if found := shape.fullmatch(name):
                self.serial = max(self.serial, int(found[1]) + 1)

    def _known(self, pieces: list[str]) -> list[str]:
        return [piece.replace("${prefix}", self.prefix) for piece in pieces]


def check(template: str, prefix: str, parts: Mapping[str, str] | None = None) -> None:
    """Raises ConfigurationError when no usable file name can come of the two."""
    if _UNUSABLE.search(template):
        raise ConfigurationError("HERITRIX_WARC_TEMPLATE", template, "a file name without blanks or slashes")
    if _UNUSABLE.search(prefix):
        raise ConfigurationError("HERITRIX_WARC_PREFIX", prefix, "text without blanks or slashes")
    for value in (parts or {}).values():
        if _UNUSABLE.search(value):
            raise ConfigurationError("HERITRIX_WARC_NAME_PARTS", dict(parts or {}), "texts without blanks or slashes")
    name = interpolate(
        template,
        {"prefix": prefix, "serialno": "0" * 5, "timestamp17": "0" * 17, "timestamp14": "0" * 14, **(parts or {})},
    )
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise ConfigurationError("HERITRIX_WARC_TEMPLATE", ascii(template), "a name that a file can have") from error
    if not name:
        raise ConfigurationError("HERITRIX_WARC_TEMPLATE", template, "a template that gives a name")
    if len(name.encode("utf-8", "replace")) > LONGEST:
        raise ConfigurationError("HERITRIX_WARC_TEMPLATE", template, f"a name of at most {LONGEST} bytes")
