"""``python -m tests.fuzz --seconds 600``: feeds every reader what strangers could say, and keeps what breaks it.

Inputs are mutations of the corpus; one that reaches lines of a reader which none reached before joins the pool, and
with ``--keep`` the corpus. What crashes, hangs (ten seconds of work) or takes too much memory is written into the
corpus as ``crash-…``, to be replayed by the tests, and the run ends with exit status 1.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

from tests.fuzz.targets import CORPUS, READERS, TARGETS, WORDS

if TYPE_CHECKING:
    from types import FrameType

HANG_SECONDS = 10
#: Memory that the whole run may take.
MOST_MEGABYTES = 600
LARGEST = 1 << 14


class Hang(BaseException):
    """No answer in time. No Exception: nobody may take it for a fault of the input."""


def ring(*_: object) -> None:
    raise Hang(f"no end after {HANG_SECONDS} seconds of work")


def still() -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.alarm(0)


class Lines:
    """Which lines of some modules ran."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.modules = modules
        self.seen: set[tuple[int, int, int]] = set()
        self.new = False
        self.wanted: dict[Any, bool] = {}

    def __call__(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        wanted = self.wanted.get(code)
        if wanted is None:
            wanted = self.wanted[code] = any(part in code.co_filename for part in self.modules)
        if not wanted:
            return None
        last = 0

        def line(frame: FrameType, event: str, arg: object) -> Any:
            nonlocal last
            if event == "line":
                step = (id(code), last, frame.f_lineno)
                last = frame.f_lineno
                if step not in self.seen:
                    self.seen.add(step)
                    self.new = True
            return line

        return line


def mutated(source: random.Random, pool: list[bytes], words: tuple[bytes, ...]) -> bytes:
    data = bytearray(source.choice(pool))
    for _ in range(source.choice((1, 1, 2, 4, 8))):
        at = source.randrange(len(data) + 1)
        kind = source.randrange(8)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << source.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = source.choice((0, 9, 10, 13, 32, 48, 57, 58, 127, 128, 255))
        elif kind == 2:
            data[at:at] = source.choice(words)
        elif kind == 3:
            end = min(len(data), at + source.randrange(1, 40))
            data[at:at] = data[at:end] * source.choice((1, 2, 50, 1000))
        elif kind == 4:
            del data[at : at + source.randrange(1, 30)]
        elif kind == 5:
            other = source.choice(pool)
            cut = source.randrange(len(other) + 1)
            data[at:] = other[cut:]
        elif kind == 6:
            data[at:at] = source.randbytes(source.randrange(1, 12))
        else:
            del data[at:]
        del data[LARGEST:]
    return bytes(data)


def fuzz(name: str, seconds: float, seed: int, *, keep: bool) -> tuple[int, str | None]:
    """Feed one target for so long. Returns how many inputs it had, and the name of the one that broke it."""
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    pool = [path.read_bytes() for path in sorted(folder.iterdir())] or [b""]
    target, words, source = TARGETS[name], WORDS[name], random.Random(seed)
    lines = Lines(READERS[name])
    until = time.monotonic() + seconds
    waiting = list(pool)
    tried = 0
    while time.monotonic() < until:
        known = bool(waiting)
        data = waiting.pop() if waiting else mutated(source, pool, words)
        tried += 1
        lines.new = False
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECONDS)
        signal.alarm(20 * HANG_SECONDS)
        sys.settrace(lines if tried % 2 or known else None)  # every other one at full speed
        try:
            target(data)
            sys.settrace(None)
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            if used > MOST_MEGABYTES:
                raise MemoryError(f"{used} MB")
        except (Exception, Hang):
            sys.settrace(None)
            still()
            path = folder / f"crash-{hashlib.sha1(data).hexdigest()[:12]}"
            path.write_bytes(data)
            traceback.print_exc()
            print(f"{name}: broken by {path}", flush=True)
            return tried, path.name
        finally:
            sys.settrace(None)
            still()
        if lines.new and not known:
            pool.append(data)
            if keep and len(data) <= 2048:
                (folder / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)
    print(f"{name}: {tried} inputs, {len(lines.seen)} steps, {len(pool)} in the pool", flush=True)
    return tried, None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=600, help="for all targets together")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="put inputs that reached new lines into the corpus")
    given = parser.parse_args()
    names = given.target or list(TARGETS)
    print(f"seed {given.seed}")
    signal.signal(signal.SIGVTALRM, ring)  # processor time: the machine may be busy
    signal.signal(signal.SIGALRM, ring)  # and what waits without working
    broken = [fuzz(name, given.seconds / len(names), given.seed, keep=given.keep)[1] for name in names]
    return 1 if any(broken) else 0


if __name__ == "__main__":
    sys.exit(main())
