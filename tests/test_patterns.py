"""Are our patterns matched alike by every CPython that we support?"""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "heritrix_scrapy"


def test_no_group_is_repeated_possessively():
    """CPython before 3.11.5 (Debian 12 has 3.11.2) mismatches a group that is repeated possessively.

    ``(?>(?:a|b)*)`` says the same as ``(?:a|b)*+`` and is matched right everywhere.
    """
    repeated = re.compile(r"\)(?:[*?+]|\{\d*,?\d*\})\+")
    found = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in PACKAGE.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if repeated.search(line) and re.search(r"r[f]?\"|rf?'", line)
    ]
    assert found == []
