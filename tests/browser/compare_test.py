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
        verdicts = {verdict for verdict, _ in self.js(SHOWN_ROWS)}
        self.assertTrue(verdicts)
        self.assertLessEqual(verdicts, {"better", "worse", "different"})
        # What is said of the largest change is in sight, without scrolling sideways.
        change = self.all("#changes tr[data-verdict] .verdict")[1].rect
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
        self.assertEqual(self.js(SHOWN_ROWS), shown)
        self.check_quiet()

    def test_curves_of_both_runs_and_their_ratio(self) -> None:
        self.open(self.two())
        place = "#curves-1"  # of stride, whose bandwidths differ everywhere
        self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
        values, ratios = self.all(f"{place} svg")[:2]
        points = values.find_elements("css selector", "circle")
        self.assertRegex(self.under_pointer(points[-1]), r"^B .*: .*B/s, 1\.[3-6]\d*x A$")
        self.assertIn("ratio to A", ratios.text)
        heights: dict[str, list[int]] = {}
        for point in ratios.find_elements("css selector", "circle"):
            name = self.js("return arguments[0].textContent", point)[0]
            heights.setdefault(name, []).append(round(float(point.get_attribute("cy"))))
        self.assertEqual(len(set(heights["A"])), 1)  # the baseline to itself is a level line
        self.assertGreater(heights["A"][0], max(heights["B"][3:]))  # more bandwidth lies above it
        self.keep("compare-ratio")
        self.check_quiet()

    def test_sides_of_several_runs_and_more_than_two(self) -> None:
        h100, h200 = self.results("nvidia/h100"), self.results("nvidia/h200")
        first, second = self.side(h100[-1]), self.side(h200[-1])
        self.open(self.comparison("sides", [*first, "--", *second]))
        self.assertIn(f"{len(first)} runs", self.all("#summary")[0].text)
        self.assertEqual(len(self.all("#summary .card")), 1)
        self.open(self.comparison("many", [*h100[-1:], *h200]))
        self.assertEqual(len(self.all("#summary .card")), len(h200))
        legend = self.all("#curves-0 svg")[0].text
        for run in range(1 + len(h200)):
            self.assertIn(f"\n{chr(ord('A') + run)} ", legend)
        self.check_layout()
        self.check_quiet()

    def test_hostile_texts_are_shown_and_not_run(self) -> None:
        files = []
        for i, run in enumerate((hostile_run(), run_of("H200"))):
            files.append(self.folder / f"hostile-{i}.json")
            files[-1].write_text(json.dumps(run), encoding="utf-8")
        self.open(self.comparison("hostile-sides", files))
        self.assertIsNone(self.js("return window.ran || null"))
        self.assertEqual(len(self.all("script")), 3)
        self.assertEqual(len(self.all("img, iframe, object, embed, main b, base")), 0)
        self.check_layout()
        self.check_quiet()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
