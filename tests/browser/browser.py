# SPDX-License-Identifier: Apache-2.0
"""A browser for tests: it opens pages that the program makes, and sees what is wrong with them."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from options import OPTIONS
from runs import Run

EXIT_SKIPPED = 77
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError as error:
    if os.environ.get("CLPROBE_REQUIRE_ALL") == "1":
        raise
    print(f"skipped: {error}")
    sys.exit(EXIT_SKIPPED)

# The colours of every text that is shown, against what it stands on.
CONTRAST = """
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c.slice(0, 3);
  }
  return [255, 255, 255];
}
const faint = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest("svg, script, noscript")) continue;
  const ratio = contrast(numbers(getComputedStyle(e).color), ground(e));
  if (ratio < 4.5) faint.push(e.tagName + "." + e.className + " " + ratio.toFixed(2));
}
const root = getComputedStyle(document.documentElement);
const hex = (name) => root.getPropertyValue(name).trim().match(/[0-9a-f]{2}/g)
  .map((h) => parseInt(h, 16));
for (let i = 0; i < 8; ++i) {
  const ratio = contrast(hex("--c" + i), hex("--surface"));
  if (ratio < 3) faint.push("--c" + i + " " + ratio.toFixed(2));
}
return [...new Set(faint)];
"""

# What the pointer shows in the middle of an element.
UNDER_POINTER = """
arguments[0].scrollIntoView({block: "center", inline: "center"});
const box = arguments[0].getBoundingClientRect();
const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
const title = found && found.querySelector("title");
return title ? title.textContent : "";
"""


class PageTest(unittest.TestCase):
    scratch: tempfile.TemporaryDirectory[str]
    folder: pathlib.Path  # of the pages, and of what they download
    browser: Any
    width = 0  # of the page that is open

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = OPTIONS.keep or pathlib.Path(cls.scratch.name)
        cls.folder.mkdir(parents=True, exist_ok=True)
        options = Options()
        # The sandbox needs rights that root in a container lacks; the pages are our own.
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--disable-background-networking"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        cls.browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior",
            {"behavior": "allow", "downloadPath": str(cls.folder.resolve())})

    @classmethod
    def tearDownClass(cls) -> None:
        cls.browser.quit()
        cls.scratch.cleanup()

    def page(self, name: str, runs: list[Run]) -> tuple[pathlib.Path, Any]:
        """The page of these runs, and what its raw data must be."""
        document = self.folder / f"{name}.json"
        document.write_text(json.dumps(runs if len(runs) > 1 else runs[0]), encoding="utf-8")
        page = self.folder / f"{name}.html"
        subprocess.run([OPTIONS.program, "report", document, "-o", page], check=True,
                       stdout=subprocess.DEVNULL)
        again = subprocess.run([OPTIONS.program, "report", document, "--json"], check=True,
                               stdout=subprocess.PIPE)
        found = json.loads(again.stdout)
        return page, found if len(runs) > 1 else found[0]

    def open(self, page: pathlib.Path, width: int = 1440, scheme: str = "light") -> None:
        self.width = width
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.get(page.resolve().as_uri())

    def js(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def settle(self) -> None:
        """Wait for two frames: a ResizeObserver first reports with a frame, late on a busy host."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));")

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def check_quiet(self) -> None:
        """No error, no warning, and nothing asked of anything but the file itself."""
        self.assertEqual(self.browser.get_log("browser"), [])
        asked = [json.loads(entry["message"])["message"]
                 for entry in self.browser.get_log("performance")]
        urls = {message["params"]["request"]["url"] for message in asked
                if message["method"] == "Network.requestWillBeSent"}
        self.assertTrue(urls)
        for url in urls:
            self.assertTrue(url.startswith(("file:", "data:", "blob:")), url)

    def check_layout(self) -> None:
        # Not innerWidth: a phone zooms out until all of a page that is too wide can be seen.
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), self.width)

    def keep(self, name: str) -> None:
        if not OPTIONS.keep:
            return
        size = self.js("const e = document.documentElement; return [e.clientWidth, e.scrollHeight]")
        picture = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 6000), "scale": 1}})
        (self.folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))

    def figures(self) -> dict[str, Any]:
        """The pictures of a page, by their titles; the first of a probe has none of its own."""
        return {self.js("const s = arguments[0].closest('details, section');"
                        "return s.tagName === 'DETAILS' ? s.firstElementChild.textContent : s.id",
                        svg): svg for svg in self.all(".picture svg")}

    def shown_figures(self) -> list[Any]:
        """Those that are not folded."""
        return self.js("return [...document.querySelectorAll('.picture svg')]"
                       ".filter((svg) => svg.checkVisibility())")

    def under_pointer(self, element: Any) -> str:
        return self.js(UNDER_POINTER, element)
