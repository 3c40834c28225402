#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of comparisons as a person meets them. `--keep FOLDER` leaves the pages and screenshots."""

import json
import pathlib
import subprocess
import sys
import unittest
from typing import Any

from browser import CONTRAST, PageTest  # first: it skips where Selenium is missing
from options import OPTIONS
from runs import hostile_run, read, run_of

SHOWN_ROWS = """
return [...document.querySelectorAll("tr[data-verdict]")].filter((row) => row.checkVisibility())
  .map((row) => [row.dataset.verdict, row.dataset.probe]);
"""

# Lines of the chart: the colour and the pixels of each that is drawn.
LINES = """
const graph = Chart.getChart(arguments[0]);
return graph.data.datasets.map((set, i) => [set.label, set.borderColor, graph.isDatasetVisible(i),
  graph.getDatasetMeta(i).data.map((p) => p.y), i]).filter((line) => line[2]);
"""


class ComparePages(PageTest):
    def comparison(self, name: str, words: list[Any]) -> pathlib.Path:
        page = self.folder / f"{name}.html"
        subprocess.run([OPTIONS.program, "compare", *words, "-o", page], check=True,
                       stdout=subprocess.DEVNULL)
        return page

    @staticmethod
    def results(vendor: str) -> list[pathlib.Path]:
        return sorted((OPTIONS.root / "results").glob(f"{vendor}/*.json"))

    def side(self, path: pathlib.Path) -> list[pathlib.Path]:
        """Two runs that one side may have: of one card, by one method, at two times."""
        later = read(path)[0] | {"started": "2026-11-28T23:59:59Z"}
        copied = self.folder / f"{path.parent.name}-later.json"
        copied.write_text(json.dumps(later), encoding="utf-8")
        return [path, copied]

    def two(self) -> pathlib.Path:
        folder = OPTIONS.root / "results" / "nvidia"
        return self.comparison("two", [folder / "h100" / "580.159.04_2026-11-28.json",
                                       folder / "h200" / "580.159.04_2026-11-26.json"])

    def test_the_answer_is_on_the_first_screen(self) -> None:
        page = self.two()
        for width, scheme in ((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")):
            with self.subTest(width=width, scheme=scheme):
                self.open(page, width, scheme)
                self.await_ready()
                better = self.all(".verdicts .verdict.better")[0]
                self.assertLess(better.rect["y"] + better.rect["height"], 740)  # of a small phone
                words = [part.text for part in self.all(".verdicts")]
                self.assertRegex(words[0], r"(?s)^worse\n.*slower")
                self.assertRegex(words[1], r"(?s)^better\n.*faster")
                self.check_layout()
                self.assertEqual(self.js(CONTRAST), [])
                self.keep(f"compare-{width}-{scheme}")
        self.check_quiet()

    def test_what_changed_comes_first_and_rows_are_filtered(self) -> None:
        page = self.two()
        self.open(page)
        self.await_ready()
        verdicts = {verdict for verdict, _ in self.js(SHOWN_ROWS)}
        self.assertTrue(verdicts)
        self.assertLessEqual(verdicts, {"better", "worse", "different"})
        # What is said of the largest change is in sight, without scrolling sideways.
        change = self.all("td.change")[0].rect
        self.assertLess(change["x"] + change["width"], self.width)
        boxes = {box.text: box for box in self.all("#filters .toggle")}
        same = next(text for text in boxes if text.startswith("same"))
        before = len(self.js(SHOWN_ROWS))
        boxes[same].click()
        rows = self.js(SHOWN_ROWS)
        self.assertEqual(len(rows), before + int(same.split("(")[1].rstrip(")")))
        boxes["stride"].click()
        self.assertNotIn("stride", {probe for _, probe in self.js(SHOWN_ROWS)})
        self.assertIn("latency", {probe for _, probe in self.js(SHOWN_ROWS)})
        hidden = self.js("return [...document.querySelectorAll('section[data-probe]')]"
                         ".filter((s) => !s.checkVisibility()).map((s) => s.dataset.probe)")
        self.assertEqual(hidden, ["stride"])
        # A link shows the same.
        shown = self.js(SHOWN_ROWS)
        self.browser.get(self.browser.current_url)
        self.await_ready()
        self.assertEqual(self.js(SHOWN_ROWS), shown)
        self.check_quiet()

    def test_curves_of_both_sides_and_their_ratio(self) -> None:
        self.open(self.two())
        self.await_ready()
        place = "#curves-1"  # of stride, whose bandwidths differ everywhere
        canvas = self.all(f"{place} canvas")[0]
        lines = self.js(LINES, canvas)
        self.assertEqual(len(lines), 2)
        self.assertNotEqual(lines[0][1], lines[1][1])
        apart = [abs(a - b) for a, b in zip(lines[0][3], lines[1][3])]
        self.assertGreater(max(apart), 20)  # pixels: nobody takes one for the other
        box = next(box for box in self.all(f"{place} .toggle") if box.text == "ratio to A")
        box.click()
        lines = self.js(LINES, canvas)
        heights = set(round(y) for y in lines[0][3])
        self.assertEqual(len(heights), 1)  # the baseline beside itself is a level line
        opacity, text = self.hover(canvas, lines[1][4], 8)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"1\.[3-6]\d*x")
        self.assertGreater(heights.pop(), max(lines[1][3][3:]))  # more bandwidth lies above it
        self.keep("compare-ratio")
        self.check_quiet()

    def test_sides_of_several_runs_and_more_than_two(self) -> None:
        h100, h200 = self.results("nvidia/h100"), self.results("nvidia/h200")
        first, second = self.side(h100[-1]), self.side(h200[-1])
        self.open(self.comparison("sides", [*first, "--", *second]))
        self.await_ready()
        self.assertIn(f"{len(first)} runs", self.all("#summary")[0].text)
        self.assertEqual(len(self.all("#summary .card")), 1)
        self.open(self.comparison("many", [*h100[-1:], *h200]))
        self.await_ready()
        self.assertEqual(len(self.all("#summary .card")), len(h200))
        lines = self.js(LINES, self.all("#curves-0 canvas")[0])
        self.assertEqual(len(lines), 1 + len(h200))
        self.assertEqual(len({line[1] for line in lines}), 1 + len(h200))
        self.check_layout()
        self.check_quiet()

    def test_hostile_texts_are_shown_and_not_run(self) -> None:
        files = []
        for i, run in enumerate((hostile_run(), run_of("H200"))):
            files.append(self.folder / f"hostile-{i}.json")
            files[-1].write_text(json.dumps(run), encoding="utf-8")
        self.open(self.comparison("hostile-sides", files))
        self.await_ready()
        self.assertIsNone(self.js("return window.ran || null"))
        self.assertEqual(len(self.all("script")), 5)
        self.assertEqual(len(self.all("img, iframe, object, embed, main b, base")), 0)
        self.check_layout()
        self.check_quiet()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
