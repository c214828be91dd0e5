"""Is there room left on the file systems that the crawl writes to?

A threshold is bytes per file system, never a share: a large disk that is nearly full has room for days. Of a small
file system the default threshold takes an eighth (Heritrix: DiskSpaceMonitor; spec/frontier 23.2).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MIB = 1024 * 1024

#: The default threshold takes at most this part of a file system.
SMALL = 8
#: Room that is waited for after a full disk where no threshold says how much.
LEAST = 16 * MIB


class Room(NamedTuple):
    """A file system. ``usable``: bytes that a process without privileges may still write; ``total``: all."""

    path: Path
    device: int
    usable: int
    total: int


def rooms(paths: Iterable[Path]) -> list[Room]:
    """Each file system once, by the first path that lies on it; paths that do not exist are left out."""
    found: dict[int, Room] = {}
    for path in paths:
        try:
            device, room = os.stat(path).st_dev, os.statvfs(path)
        except OSError:
            continue
        found.setdefault(device, Room(path, device, room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize))
    return list(found.values())


def threshold(mib: float, room: Room, *, chosen: bool) -> int:
    """Bytes below which the crawl pauses. ``chosen``: an operator set it, so that it holds as it is."""
    wanted = int(mib * MIB)
    return wanted if chosen else min(wanted, room.total // SMALL)


def short(room: Room, least: int) -> bool:
    """Whether it has less room than that."""
    return room.usable < least


def words(room: Room, least: int) -> str:
    """Why the crawl pauses."""
    return (
        f"low disk space: {room.usable // MIB} MiB are left on the file system of {room.path}, fewer than"
        f" {least // MIB} MiB; the crawl goes on by itself when there is room"
    )
