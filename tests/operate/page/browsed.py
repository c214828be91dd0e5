"""Headless Chromium for the tests of the pages, and what each page that it shows has to be like."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from tests.crawls import ROOT
from tests.operate.page.crawled import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = ROOT / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PHONE = {"width": 390, "height": 844}
#: Ends above the paths of the disks, which are this machine's own.
DESK = {"width": 1280, "height": 865}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "these tests need Chromium: Debian's package chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


class Watched:
    """A page whose console and requests are kept."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.page: Page = context.new_page()
        self.origin = origin
        self.wrong: list[str] = []
        self.page.on(
            "console", lambda each: self.wrong.append(each.text) if each.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: None if asked.url.startswith(origin) else self.wrong.append(asked.url))

    def log_in(self) -> None:
        self.page.goto(self.origin + "/login")
        self.page.get_by_label("User").fill("admin")
        self.page.keyboard.press("Tab")
        self.page.keyboard.type(PASSWORD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/ui*")

    def check(self, name: str) -> None:
        """What stands there now is fit to be seen."""
        page = self.page
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name}: {wide} pixels too wide"
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [
            (each["id"], [node["html"][:200] for node in each["nodes"]][:3])
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert not serious, f"{name}: {serious}"
        assert not self.wrong, f"{name}: {self.wrong}"

    def shoot(self, name: str) -> None:
        folder = os.environ.get("HERITRIX_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            made = Image.open(io.BytesIO(self.page.screenshot(full_page=False)))
            made.convert("RGB").quantize(48).save(Path(folder) / f"{name}.png", optimize=True)
