#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Charts as a person meets them: with pointer and keyboard, and as a table. `--keep FOLDER` leaves
the pages and a screenshot of some there.
"""

import copy
import json
import subprocess
import sys
import time
import unittest
from typing import Any

from browser import PageTest  # first: it skips where Selenium is missing
from options import OPTIONS
from runs import (all_probes_runs, heat_map_run, real_runs, run_of, stacks_run,
                  thread_latency_series)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select


class Charts(PageTest):
    def test_toggles_change_the_chart(self) -> None:
        runs = real_runs()
        page, _ = self.page("several", runs)
        self.open(page)
        canvas = self.canvases(1)[0]
        shown = "return Chart.getChart(arguments[0]).getVisibleDatasetCount()"
        self.assertEqual(self.js(shown, canvas), len(runs))  # one series of each device
        boxes = {box.text: box for box in self.all(".toggle")}
        image = self.js("return arguments[0].toDataURL()", canvas)
        for label, count in (("local", 2 * len(runs)), ("global", len(runs)),
                             ("H200", len(runs) - 1)):
            boxes[label].click()
            self.assertEqual(self.js(shown, canvas), count, label)
            now = self.js("return arguments[0].toDataURL()", canvas)
            self.assertNotEqual(now, image)
            image = now
        for label in ("levels", "spread"):
            boxes[label].click()
            now = self.js("return arguments[0].toDataURL()", canvas)
            self.assertNotEqual(now, image, label)
            image = now
        # With the keyboard alone, too.
        boxes["H200"].find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)
        self.assertEqual(self.js(shown, canvas), len(runs))
        self.check_quiet()

    def test_thread_latency_curves_have_their_variance_on_a_second_axis(self) -> None:
        measured = subprocess.run(
            [OPTIONS.program, "--device", "sim:fermi-m2070", "inflight", "--series",
             "thread-latency", "--loads", "1,2", "--target", "cache", "--quick", "--json"],
            check=True, stdout=subprocess.PIPE)
        run = json.loads(measured.stdout)
        page, _ = self.page("thread-latency", [run[0] if isinstance(run, list) else run])
        self.open(page)
        canvas = self.canvases(1)[0]
        shown = "return Chart.getChart(arguments[0]).getVisibleDatasetCount()"
        axis = "return Chart.getChart(arguments[0]).options.scales.beside.display"
        curves = self.js(shown, canvas)
        self.assertFalse(self.js(axis, canvas))
        boxes = {box.text: box for box in self.all(".toggle")}
        boxes["variance"].click()
        self.assertEqual(self.js(shown, canvas), 2 * curves)
        self.assertTrue(self.js(axis, canvas))
        boxes["cache-x1"].click()
        self.assertEqual(self.js(shown, canvas), 2 * curves - 2)
        canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        self.assertIn("square cycles", self.all(".said")[0].text)
        self.keep("thread-latency-variance")
        self.check_quiet()

    def test_hover_shows_value_and_spread(self) -> None:
        page, _ = self.page("one", [run_of("H200")])
        self.open(page)
        opacity, text = self.hover(self.canvases(1)[0], 0, 20)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"KiB \| global \| 16\.1\s.*ns.*, 32\.0 cycles")
        page, _ = self.page("heat", [heat_map_run()])
        self.open(page)
        opacity, text = self.hover(self.canvases(1)[0], 0, 50)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"stride words \d+, word \d+\sB \| .*ns \(.*ns to .*ns\)")
        self.check_quiet()

    def test_stacks_have_views_parts_and_a_table(self) -> None:
        run = stacks_run()
        page, _ = self.page("stacks", [run])
        self.open(page)
        canvas = self.canvases(1)[0]
        opacity, text = self.hover(canvas, 0, 0)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"implicit, scratchpad, 32 MSHRs \(\d+ cycles\) \| no stall: \S+\s%")
        # Every part of a bar in its place: the ends of the last ones are where all the time is.
        ends = self.ends_of_bars(canvas)
        self.assertEqual(len(ends), 12)
        for end in ends:
            self.assertAlmostEqual(end, 1.0, places=3)
        image = self.js("return arguments[0].toDataURL()", canvas)
        self.all(".toggle input")[1].click()
        self.assertNotEqual(self.js("return arguments[0].toDataURL()", canvas), image)
        self.all(".points summary")[0].click()
        time.sleep(0.2)
        rows = self.js("return document.querySelectorAll('.points tbody tr').length")
        parts = [f for f in run["results"][0]["findings"]
                 if f["name"] == "stall" and f["method"] == "all-causes"]
        self.assertEqual(rows, len(parts))
        heads = self.js("return [...document.querySelectorAll('.points thead th')].map(e => e.textContent)")
        self.assertEqual(heads, ["bar", "cause", "share", "low", "high", "time"])

    def test_parts_say_how_long_they_are_and_what_they_save_of_the_program(self) -> None:
        run = stacks_run()
        found = [f for f in run["results"][0]["findings"] if f.get("method") != "all-causes"]
        run["results"][0]["findings"] = found
        # Of a probe that nobody has heard of findings are not made anew.
        run["results"][0]["probe"] = "programs"
        for each in found:
            if each.get("method") == "gsi":
                each.update(method="shapley", label=each["label"].replace("no stall", "control"))
        known = next(f for f in found if f["name"] == "time")
        share = {**known, "name": "app_share", "series": known["series"].split(", ")[0], "unit": ""}
        found.append({**share, "value": 0.5, "low": 0.5, "high": 0.5})
        page, _ = self.page("stacks-of-app", [run])
        self.open(page)
        self.all(".points summary")[0].click()
        time.sleep(0.2)
        rows = self.js("return [...document.querySelectorAll('.points tbody tr')]"
                       ".map(row => [...row.cells].map(cell => cell.textContent))")
        of_bar, length, app = rows[0][2], rows[0][5], rows[0][6]
        self.assertRegex(length, r"\S+ cycles")
        self.assertRegex(app, r"saves at most \S+\s% of the app")
        self.assertAlmostEqual(float(app.split()[3]), float(of_bar.split()[0]) / 2, delta=0.06)
        text = self.hover(self.canvases(1)[0], 0, 0)[1]
        self.assertRegex(text, r"cycles, saves at most \S+\s% of the app")
        self.check_quiet()

    def test_stacks_of_one_cause_are_shares_of_it_in_a_bar_of_choice(self) -> None:
        run = stacks_run()
        page, _ = self.page("stacks-of-one", [run])
        self.open(page)
        canvas = self.canvases(1)[0]
        of, whole = (Select(each) for each in self.all(".choose select"))
        findings = run["results"][0]["findings"]
        times = {f["series"]: f["value"] for f in findings if f["name"] == "time"}
        cycles: dict[str, float] = dict.fromkeys(times, 0.0)
        for f in findings:
            if f["name"] == "stall" and f["method"] == "gsi" and f["label"].startswith("memory structural:"):
                cycles[f["series"]] += f["value"] * times[f["series"]]
        shown = {series: each for series, each in cycles.items() if each > 0.0}
        self.assertGreater(len(shown), 4)
        of.select_by_visible_text("memory structural")
        for end in self.ends_of_bars(canvas):
            self.assertAlmostEqual(end, 1.0, places=3)
        legend = [each.text for each in self.all(".legend li")]
        self.assertIn("full MSHR", legend)
        self.assertNotIn("no stall", legend)
        baseline = "implicit, scratchpad, 32 MSHRs"
        whole.select_by_visible_text(baseline)
        for end, series in zip(self.ends_of_bars(canvas), shown, strict=True):
            self.assertAlmostEqual(end, shown[series] / shown[baseline], delta=0.01, msg=series)
        title = self.js("return Chart.getChart(arguments[0]).options.scales.x.title.text", canvas)
        self.assertEqual(title, f"share of the memory structural stalls of {baseline}")
        # The choice is in the address, as others are.
        self.browser.refresh()
        self.await_ready()
        again = self.js("return Chart.getChart(arguments[0]).options.scales.x.title.text",
                        self.canvases(1)[0])
        self.assertEqual(again, title)
        self.check_quiet()

    def test_parts_of_kernels_are_shown_of_one_at_a_time_and_the_time_goes_right(self) -> None:
        run = stacks_run("--case", "utsd", "--nodes", "256", "--units", "3", "--view", "units,timeline")
        page, _ = self.page("stacks-of-parts", [run])
        self.open(page)
        canvas = self.canvases(1)[0]
        axis = "return Chart.getChart(arguments[0]).options.indexAxis"
        names = "return Chart.getChart(arguments[0]).data.labels"
        of = next(each for each in self.all(".choose")
                  if each.get_attribute("textContent").startswith("of utsd"))
        self.assertFalse(of.is_displayed())
        toggles = {each.find_element(By.XPATH, "..").text: each for each in self.all(".toggle input")}
        next(box for text, box in toggles.items() if "compute unit" in text).click()
        self.assertEqual(self.js(names, canvas), [f"utsd, GPU coherence, unit {i}" for i in range(3)])
        self.assertEqual(self.js(axis, canvas), "y")
        self.assertTrue(of.is_displayed())
        Select(of.find_element(By.CSS_SELECTOR, "select")).select_by_visible_text("utsd, ownership")
        self.assertEqual(self.js(names, canvas), [f"utsd, ownership, unit {i}" for i in range(3)])
        for end in self.ends_of_bars(canvas):
            self.assertAlmostEqual(end, 1.0, places=3)
        next(box for text, box in toggles.items() if "over time" in text).click()
        self.assertEqual(self.js(axis, canvas), "x")
        windows = self.js(names, canvas)
        self.assertIn(len(windows), range(24, 49))
        self.assertRegex(windows[0], r"utsd, ownership, cycles 0 to \d+")
        opacity, text = self.hover(canvas, 0, 0)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"utsd, ownership, cycles 0 to \d+ \(\d+ cycles\) \| ")
        next(box for text, box in toggles.items() if "one cause per cycle" in text
             and "by" not in text and "over" not in text).click()
        self.assertEqual(self.js(axis, canvas), "y")
        self.check_quiet()

    def chart_of(self, probe: str) -> Any:
        self.await_ready()
        return self.all(f"#probe-{probe} canvas")[0]

    def controls(self, probe: str) -> dict[str, Any]:
        """By their texts; of those that several charts have, the first chart's."""
        boxes = self.all(f"#probe-{probe} .toggle, #probe-{probe} .controls button")
        return {box.text: box for box in reversed(boxes)}

    def test_heat_maps_by_device_and_series(self) -> None:
        runs = all_probes_runs()
        page, _ = self.page("all", runs)
        self.open(page)
        canvas = self.chart_of("banks")
        controls = self.controls("banks")
        scale = "return document.querySelector('#probe-banks .scale').textContent"
        images, scales = [self.image(canvas)], [self.js(scale)]
        for label in ("load-throughput", "H200", "store-throughput", "load-latency"):
            next(box for text, box in controls.items() if label in text).click()
            images.append(self.image(canvas))
            scales.append(self.js(scale))
        self.assertEqual(len(set(images)), len(images))
        # Colours mean the same on all devices, and not the same for latencies and throughputs.
        self.assertEqual(scales[1], scales[2])
        self.assertEqual(scales[0], scales[4])
        self.assertNotEqual(scales[0], scales[1])
        self.assertRegex(scales[1], r"ns \([\d.]+ cycles\)")
        opacity, text = self.hover(canvas, 0, 50)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"stride words \d+, word \d+\sB \| .*ns.*cycles")
        self.check_quiet()

    def test_thread_latency_curves(self) -> None:
        run = copy.deepcopy(max(all_probes_runs(), key=lambda run: len(thread_latency_series(run))))
        points = next(each for each in run["results"] if each["probe"] == "inflight")["points"]
        for point in [each for each in points if each["series"] == "cache-x2"]:
            merged = copy.deepcopy(point)
            merged["series"] = "cache-x2-within-2"
            merged["parameters"]["merger"] = 2
            points.append(merged)
        curves = thread_latency_series(run)
        self.assertGreater(len(curves), 10)  # not all are shown at first
        page, _ = self.page("inflight", [run])
        self.open(page)
        canvas = self.chart_of("inflight")
        controls = self.controls("inflight")
        shown = "return Chart.getChart(arguments[0]).getVisibleDatasetCount()"
        self.assertEqual(self.js(shown, canvas), 5)  # more cannot be told apart
        image = self.image(canvas)
        controls["spread"].click()
        self.assertNotEqual(self.image(canvas), image)
        controls["none"].click()
        self.assertEqual(self.js(shown, canvas), 0)
        controls["memory-x1"].click()
        self.assertEqual(self.js(shown, canvas), 1)
        controls["all"].click()
        self.assertEqual(self.js(shown, canvas), len(curves))
        opacity, text = self.hover(canvas, 0, 10)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"\d+ \| .*-x\d.* \| .*ns.*, \d+ cycles")
        self.check_quiet()

    def test_keyboard_and_table_say_what_the_chart_shows(self) -> None:
        page, _ = self.page("one", [run_of("H200")])
        self.open(page)
        canvas = self.canvases(1)[0]
        self.js("arguments[0].focus()", canvas)
        canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        said = self.js("return document.querySelector('.said').textContent")
        self.assertRegex(said, r"global, 1\.\d+\sKiB: 16\.\d\sns")
        canvas.send_keys(Keys.ARROW_DOWN)
        self.assertIn("constant-argument",
                      self.js("return document.querySelector('.said').textContent"))
        rows = "return document.querySelectorAll('.points tbody tr').length"
        self.assertEqual(self.js(rows), 0)  # made when somebody wants it
        summary = self.all(".points summary")[0]
        summary.send_keys(Keys.ENTER)
        time.sleep(0.2)
        points = sum(self.js("return Chart.getChart(arguments[0]).data.datasets"
                             ".map(d => d.data.length)", canvas))
        self.assertEqual(self.js(rows), points)
        # Every part has a name for whoever cannot see it.
        nameless = self.js(
            "return [...document.querySelectorAll('canvas, nav, [role=region], section, button, "
            "input')].filter(e => !(e.getAttribute('aria-label') || "
            "e.getAttribute('aria-labelledby') || e.textContent.trim() || (e.labels && "
            "e.labels.length))).map(e => e.outerHTML)")
        self.assertEqual(nameless, [])
        self.check_quiet()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
