"""One browser for the tests that need one."""

from __future__ import annotations

from tests.operate.page.browsed import chromium

__all__ = ["chromium"]
