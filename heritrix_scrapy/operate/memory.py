"""How much memory does this process hold that nobody else could have?

Anonymous memory: what the program made, without the tables of the store that are mapped and that the system takes
back when it likes.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def held_mib(status: Path = Path("/proc/self/status")) -> int:
    """MiB; where the system does not tell, the most that was resident at any time."""
    try:
        for line in status.read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) // 1024
    except OSError:
        """Not Linux."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (1024 * 1024 if sys.platform == "darwin" else 1024)
