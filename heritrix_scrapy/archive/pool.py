"""How is one capture written while another, large, is being written still?

One writer has several files open then (Heritrix: WriterPool).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from heritrix_scrapy.archive.warcfile import WarcFiles


class WarcPool:
    """Files of one writer that are open at the same time: a long write holds up one of them only.

    ``make``: gives one more WarcFiles; ``size``: how many at most.
    """

    def __init__(self, make: Callable[[], WarcFiles], size: int = 1) -> None:
        self._make, self._size = make, size
        self.members = [make()]

    def idle(self) -> WarcFiles | None:
        """One that can be written to now; None while all are being written to."""
        for files in self.members:
            if not files.busy:
                return files
        if len(self.members) < self._size:
            self.members.append(self._make())
            return self.members[-1]
        return None

    @property
    def counted(self) -> int:
        """Groups written since the counters were last taken."""
        return sum(files.counted for files in self.members)

    def flush(self) -> Mapping[str, int]:
        """As ``WarcFiles.flush``, of all."""
        return {name: size for files in self.members for name, size in files.flush().items()}

    def sync(self) -> None:
        """As ``WarcFiles.sync``, all."""
        for files in self.members:
            files.sync()

    def length(self, name: str) -> int:
        return self.members[0].length(name)

    def drain_counts(self) -> Mapping[str, int]:
        """As ``WarcFiles.drain_counts``, of all."""
        counts: dict[str, int] = {}
        for files in self.members:
            for name, count in files.drain_counts().items():
                counts[name] = counts.get(name, 0) + count
        return counts

    def close(self) -> None:
        """Finish all that can be. Raises the first StorageFull."""
        refused: StorageFull | None = None
        for files in self.members:
            try:
                files.close()
            except StorageFull as error:
                refused = refused or error
        if refused is not None:
            raise refused

    def growing(self) -> dict[str, int]:
        """Name and length of each file that is open."""
        return dict(at for files in self.members if (at := files.growing()) is not None)

    def folders(self) -> Sequence[Path]:
        """Where new files go."""
        return self.members[0].folders()

    def close_idle(self) -> None:
        """Finish the files that no group is being written to, at a checkpoint. Raises StorageFull."""
        for files in self.members:
            if not files.busy:
                files.close()

    def repair(self) -> None:
        self.members[0].repair()
