#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a page: nothing cut, nothing over something else, and the same on paper, in
a picture. `--keep FOLDER` leaves screenshots and the printed page.
"""

import base64
import pathlib
import subprocess
import sys
import time
import unittest
from typing import Any

from browser import PageTest  # first: it skips where Selenium is missing
from options import OPTIONS
from runs import all_probes_runs, run_of

# Pairs of texts of an SVG that lie over each other, and texts that reach out of it.
TEXTS_OF_SVG = """
const svg = arguments[0];
const frame = svg.getBoundingClientRect();
const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
const boxes = texts.map((t) => [t.textContent, t.getBoundingClientRect()]);
const found = [];
boxes.forEach(([text, a], i) => {
  if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 ||
      a.bottom > frame.bottom + 1) found.push(`cut: ${text}`);
  for (const [other, b] of boxes.slice(i + 1)) {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 4) found.push(`${text} over ${other}`);
  }
});
return found;
"""

# Wide tables without a word that there is more of them.
SILENT_TABLES = """
return [...document.querySelectorAll(".scroll")].filter((box) => box.checkVisibility() &&
  box.scrollWidth > box.clientWidth + 1).filter((box) => {
    const cue = box.previousElementSibling;
    return !cue || !cue.classList.contains("cue") || !cue.checkVisibility() ||
      cue.getBoundingClientRect().bottom > box.getBoundingClientRect().top + 1;
  }).map((box) => box.getAttribute("aria-label"));
"""

# Texts of the page, outside of boxes that scroll, that reach out of what holds them.
CUT_TEXTS = """
return [...document.querySelectorAll("main *")].filter((e) => e.checkVisibility() &&
  !e.closest(".scroll, svg, pre, .said, select, fieldset.many") &&
  [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) &&
  (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "hidden" ||
   e.getBoundingClientRect().right > document.documentElement.clientWidth + 1))
  .map((e) => e.textContent.slice(0, 40));
"""

# What is on a PNG: its size, the share of pixels that are not as its last row's first one, the box
# of what is white down its middle and across it (a sheet of paper), the box of what is not white in
# there, and how many pixels are about as each of some colours (edges are mixed with the ground).
PIXELS = """
const [png, colours, done] = arguments;
const image = new Image();
image.onload = () => {
  const canvas = document.createElement("canvas");
  const [w, h] = [canvas.width = image.width, canvas.height = image.height];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const d = pen.getImageData(0, 0, w, h).data;
  const same = (i, [r, g, b], most) => Math.abs(d[i] - r) <= most &&
    Math.abs(d[i + 1] - g) <= most && Math.abs(d[i + 2] - b) <= most;
  const at = (x, y) => 4 * (y * w + x);
  const last = [...d.slice(at(0, h - 1), at(0, h - 1) + 3)];
  const white = [255, 255, 255];
  const down = [...Array(h).keys()].filter((y) => same(at(w >> 1, y), white, 0));
  const across = down.length ? [...Array(w).keys()].filter((x) =>
    same(at(x, down[0] + 12), white, 0)) : [];
  const page = [across[0], down[0], across.at(-1), down.at(-1)];
  const ink = [w, h, 0, 0];
  const counts = colours.map(() => 0);
  let unlike = 0;
  for (let y = 0; y < h; y += 2) {  // which lines of two pixels do not escape
    for (let x = 0; x < w; x += 2) {
      const i = at(x, y);
      unlike += !same(i, last, 0);
      if (same(i, white, 0)) continue;
      colours.forEach((rgb, k) => { counts[k] += same(i, rgb, 40); });
      const isIn = x > page[0] + 3 && x < page[2] - 3 && y > page[1] + 3 && y < page[3] - 3;
      if (!isIn || d[i] + d[i + 1] + d[i + 2] > 660) continue;
      ink[0] = Math.min(ink[0], x);
      ink[1] = Math.min(ink[1], y);
      ink[2] = Math.max(ink[2], x);
      ink[3] = Math.max(ink[3], y);
    }
  }
  done({ width: w, height: h, unlike: 4 * unlike / w / h, white: down.length, page, ink, counts });
};
image.src = "data:image/png;base64," + png;
"""


class Look(PageTest):
    def all_probes(self) -> pathlib.Path:
        run = next(run for run in all_probes_runs() if "H200" in run["device"]["name"])
        return self.page("probes", [run])[0]

    def test_nothing_is_cut_or_over_something_else(self) -> None:
        page = self.all_probes()
        for width in (1280, 400):
            with self.subTest(width=width):
                self.open(page, width)
                self.check_layout()
                self.settle()
                self.assertEqual(self.js(SILENT_TABLES), [])
                self.assertEqual(self.js(CUT_TEXTS), [])
                self.keep(f"probes-{width}")
        # The cue follows what is in sight.
        self.open(page, 400)
        cue = next(cue for cue in self.all(".cue") if cue.is_displayed())
        self.assertIn("to the right", cue.text)
        self.js("const b = arguments[0].nextElementSibling; b.scrollLeft = b.scrollWidth", cue)
        time.sleep(0.2)
        self.assertIn("to the left", cue.text)
        self.check_quiet()

    def test_the_card_is_on_the_first_screen_with_what_the_device_is(self) -> None:
        self.open(self.all_probes(), 1280)
        card = self.all("#summary .card")[0]
        self.assertLess(card.rect["y"] + card.rect["height"], 900)
        for word in ("132 compute units", "140 GiB", "driver", "timed by", "memory", "TB/s"):
            self.assertIn(word, card.text)

    def test_cards_beside_each_other_have_whole_tables(self) -> None:
        page = self.page("devices", all_probes_runs())[0]
        for width in (1280, 400):
            with self.subTest(width=width):
                self.open(page, width)
                self.settle()
                self.assertGreaterEqual(len(self.all("#summary .card table")), 4)
                if width == 1280:
                    self.assertEqual(self.all("#summary .card .scroll.cut"), [])
                self.assertEqual(self.js(SILENT_TABLES), [])
                self.assertEqual(self.js(CUT_TEXTS), [])
                self.keep(f"devices-{width}")

    def pixels_of(self, png: bytes, colours: tuple[str, ...] = ()) -> dict[str, Any]:
        rgb = [[int(colour[i:i + 2], 16) for i in (0, 2, 4)] for colour in colours]
        text = base64.b64encode(png).decode("ascii")
        return self.browser.execute_async_script(PIXELS, text, rgb)

    def printed(self, page: pathlib.Path, name: str) -> list[bytes]:
        """The first pages of A4 as pictures."""
        self.open(page, 1280, "dark")  # what is printed is light whatever the screen is
        made = self.browser.execute_cdp_cmd("Page.printToPDF", {
            "preferCSSPageSize": True, "printBackground": True, "pageRanges": "1-2"})
        path = self.folder / f"{name}.pdf"
        path.write_bytes(base64.b64decode(made["data"]))
        pages = []
        for number in (1, 2):
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": 900, "height": 1200, "deviceScaleFactor": 1, "mobile": False})
            self.browser.get("about:blank")
            self.browser.get(f"{path.resolve().as_uri()}#page={number}&toolbar=0&navpanes=0"
                             "&view=Fit")
            pages.append(self.settled(f"{name}-{number}"))
        self.browser.get("about:blank")
        self.browser.get_log("performance")  # the viewer's own
        return pages

    def settled(self, name: str) -> bytes:
        """The viewer shows a page when it likes to: when it does so no more."""
        before = b""
        for _ in range(40):
            time.sleep(0.4)
            picture = self.browser.get_screenshot_as_png()
            if picture == before and len(picture) > 20000:  # an empty sheet is a tenth of that
                if OPTIONS.keep:
                    (self.folder / f"{name}.png").write_bytes(picture)
                return picture
            before = picture
        self.fail("the viewer shows no page")

    def test_paper_has_whole_charts_with_legends(self) -> None:
        colours = ("0b5fc0", "b8400a", "9a1fb0")
        pages = [self.pixels_of(picture, colours)
                 for picture in self.printed(self.all_probes(), "paper")]
        for page in pages:
            left, top, right, bottom = page["page"]
            self.assertAlmostEqual((bottom - top) / (right - left), 297 / 210, delta=0.03)
            # Nothing in the margins, so nothing is cut; and more than a title on each page.
            self.assertGreater(page["ink"][0], left + 20)
            self.assertLess(page["ink"][2], right - 20)
            self.assertGreater(page["ink"][3] - page["ink"][1], (bottom - top) * 2 / 5)
        # The curves of the first chart stand on one page, in their colours: it is not torn.
        self.assertTrue(any(min(page["counts"]) > 10 for page in pages),
                        [page["counts"] for page in pages])

    def test_tables_and_charts_fit_the_paper(self) -> None:
        run = next(run for run in all_probes_runs() if "H200" in run["device"]["name"])
        self.open(self.page("probes", [run])[0], 1280)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        try:
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": 688, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
            wide = self.js("return [...document.querySelectorAll('table, svg')].filter((e) => "
                           "e.checkVisibility() && e.getBoundingClientRect().right > 689)"
                           ".map((e) => e.textContent.slice(0, 60))")
            self.assertEqual(wide, [])
            figures = self.shown_figures()
            self.assertGreaterEqual(len(figures), len(run["results"]))
            for figure in figures:
                self.assertEqual(self.js(TEXTS_OF_SVG, figure), [])
        finally:
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        self.check_quiet()

    def test_findings_as_a_table_for_spreadsheets(self) -> None:
        (self.folder / "clprobe-findings.csv").unlink(missing_ok=True)
        page, runs = self.page("one", [run_of("H200")])
        self.open(page)
        next(b for b in self.all("#downloads button") if b.text == "Findings (CSV)").click()
        for _ in range(100):
            if (self.folder / "clprobe-findings.csv").exists():
                break
            time.sleep(0.05)
        time.sleep(0.1)
        rows = (self.folder / "clprobe-findings.csv").read_text(encoding="utf-8").splitlines()
        document: Any = runs[0] if isinstance(runs, list) else runs
        findings = sum(len(result["findings"]) for result in document["results"])
        self.assertEqual(len(rows), 1 + findings)
        self.assertTrue(any(",global,1,latency," in row for row in rows))
        self.check_quiet()


if __name__ == "__main__":
    subprocess.run([OPTIONS.program, "--version"], check=True, stdout=subprocess.DEVNULL)
    unittest.main(argv=sys.argv[:1], verbosity=2)
