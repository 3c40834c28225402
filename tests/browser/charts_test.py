#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Charts as a person meets them: their values under the pointer, and a figure for all that was
measured. `--keep FOLDER` leaves the pages and a screenshot of some there.
"""

import copy
import json
import re
import subprocess
import sys
import unittest

from browser import PageTest  # first: it skips where Selenium is missing
from options import OPTIONS
from runs import (all_probes_runs, heat_map_run, real_runs, run_of, stacks_run,
                  thread_latency_series)

COLOURS = "return [...arguments[0].querySelectorAll('path[stroke-width]')].map(" \
    "p => getComputedStyle(p).stroke)"


class Charts(PageTest):
    def test_values_are_under_the_pointer(self) -> None:
        self.open(self.page("one", [run_of("H200")])[0])
        points = self.all("#probe-latency circle")
        self.assertGreater(len(points), 50)
        self.assertRegex(self.under_pointer(points[20]),
                         r"global, .*KiB: 16\.\d\sns.*, 32\.\d cycles")
        self.open(self.page("heat", [heat_map_run()])[0])
        cell = self.all("#probe-banks svg rect")[51]
        self.assertRegex(self.under_pointer(cell), r"stride words \d+, word \d+\sB: .*ns \(.*ns\)")
        self.open(self.page("stacks", [stacks_run()])[0])
        part = self.all("#probe-gsi .picture")[0].find_elements("css selector", "rect[stroke]")[0]
        self.assertRegex(self.under_pointer(part), r"no stall: \S+ %, \d+ cycles")
        self.check_quiet()

    def test_devices_have_the_same_colours_in_all_figures(self) -> None:
        runs = real_runs()
        self.open(self.page("several", runs)[0])
        figures = self.figures()
        self.assertIn("local", figures)
        colours = [set(self.js(COLOURS, svg)) for svg in figures.values()]
        self.assertEqual(len(colours[0]), min(8, len(runs)))
        for each in colours:
            self.assertLessEqual(each, colours[0])
        self.check_quiet()

    def test_the_variance_of_thread_latency_curves_is_on_a_second_axis(self) -> None:
        measured = subprocess.run(
            [OPTIONS.program, "--device", "sim:fermi-m2070", "inflight", "--series",
             "thread-latency", "--loads", "1,2", "--target", "cache", "--quick", "--json"],
            check=True, stdout=subprocess.PIPE)
        run = json.loads(measured.stdout)
        self.open(self.page("thread-latency", [run[0] if isinstance(run, list) else run])[0])
        self.assertIn("variance square cycles (dotted)", self.all("#probe-inflight svg")[0].text)
        self.keep("thread-latency-variance")
        self.check_quiet()

    def test_stacks_have_a_figure_for_each_view_and_cause(self) -> None:
        self.open(self.page("stacks", [stacks_run()])[0])
        titles = list(self.figures())
        self.assertEqual(titles[0], "probe-gsi")
        alone = [title for title in titles if title.startswith("memory structural alone, ")]
        self.assertGreater(len(alone), 0)
        self.all("summary")[titles.index(alone[0]) - 1].click()
        svg = self.figures()[alone[0]]
        self.assertIn("full MSHR", svg.text)
        self.assertNotIn("no stall", svg.text)
        self.check_quiet()

    def test_heat_maps_by_device_and_series(self) -> None:
        self.open(self.page("all", all_probes_runs())[0])
        self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
        scales: dict[str, set[str]] = {}
        for title, svg in list(self.figures().items()):
            if "load-" not in title and "store-" not in title:
                continue
            ends = [text for text in svg.text.splitlines() if re.search(r"[numk]?s( \(|$)", text)]
            scales.setdefault(title.split(": ")[-1], set()).add(str(ends[-2:]))
        # Colours mean the same on all devices, and not the same for latencies and throughputs.
        self.assertGreater(len(scales), 2)
        for series, found in scales.items():
            self.assertEqual(len(found), 1, series)
        self.check_quiet()

    def test_all_of_many_curves_are_there(self) -> None:
        run = copy.deepcopy(max(all_probes_runs(), key=lambda run: len(thread_latency_series(run))))
        points = next(each for each in run["results"] if each["probe"] == "inflight")["points"]
        for point in [each for each in points if each["series"] == "cache-x2"]:
            points.append(copy.deepcopy(point) | {"series": "cache-x2-again"})
        curves = thread_latency_series(run)
        self.assertGreater(len(curves), 10)  # more cannot be told apart
        self.open(self.page("inflight", [run])[0])
        first = self.all("#probe-inflight svg")[0]
        self.assertRegex(first.text, r"5 of \d+ curves")
        self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
        text = "\n".join(svg.text for svg in self.all("#probe-inflight svg"))
        for curve in curves:
            self.assertIn(curve, text)
        self.check_quiet()

    def test_every_part_has_a_name_for_those_who_cannot_see_it(self) -> None:
        self.open(self.page("one", [run_of("H200")])[0])
        nameless = self.js(
            "return [...document.querySelectorAll('svg[role=img], nav, [role=region], section, "
            "button, input')].filter(e => !(e.getAttribute('aria-label') || "
            "e.getAttribute('aria-labelledby') || e.textContent.trim() || (e.labels && "
            "e.labels.length))).map(e => e.outerHTML)")
        self.assertEqual(nameless, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
