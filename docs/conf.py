"""Sphinx configuration."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from heritrix_scrapy import __version__
from heritrix_scrapy.settings.reference import settings_reference

project = "heritrix_scrapy"
author = "The heritrix_scrapy developers"
copyright = "2026, the heritrix_scrapy developers"
release = version = __version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
html_theme = "sphinx_rtd_theme"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]

# The settings reference is made from the table that the code reads.
title = "Settings"
Path(__file__).with_name("settings.rst").write_text(
    f"{title}\n{'=' * len(title)}\n\n{settings_reference()}", encoding="utf-8"
)
