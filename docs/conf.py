"""Sphinx configuration."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import generated  # noqa: E402

from heritrix_scrapy import __version__  # noqa: E402

project = "heritrix_scrapy"
author = "The heritrix_scrapy developers"
copyright = "2026, the heritrix_scrapy developers"
release = version = __version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_generated"]
html_theme = "sphinx_rtd_theme"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]

generated.write(HERE)
