"""How does a process that serves tell others that it is ready?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def announce(where: Mapping[str, Any], ready: Path | None) -> None:
    """One JSON object with ``where`` and ``pid`` on standard output and in a file that appears whole, by a rename."""
    text = json.dumps({**where, "pid": os.getpid()})
    if ready:
        draft = ready.with_name(ready.name + ".part")
        draft.write_text(text)
        draft.rename(ready)
    print(text, flush=True)
