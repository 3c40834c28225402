#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HTML pages as a person meets them: in Chromium, with pointer and keyboard, wide and narrow, light
and dark. The pages are made by the program from the runs in results/ and from made-up ones.

`--keep FOLDER` leaves the pages and a screenshot of each there, to be looked at.
"""

import json
import pathlib
import subprocess
import sys
import time
import unittest

from browser import CONTRAST, PageTest
from options import OPTIONS
from runs import (all_probes_runs, charts_of, eight_runs, heat_map_run, hostile_run, real_runs,
                  run_of, same, stacks_run)

# Layout does not depend on the scheme, nor contrast on the width.
LOOKS = ((1440, "light"), (360, "dark"))


class Pages(PageTest):
    def test_every_width_and_scheme(self) -> None:
        pages = {"one": [run_of("H200")], "several": real_runs(), "stacks": [stacks_run()],
                 "hostile": [hostile_run(), run_of("H200")], "all": all_probes_runs()}
        charts = {"one": 1, "several": 1, "stacks": 1, "hostile": 2,
                  "all": charts_of(pages["all"])}
        for name, runs in pages.items():
            page, _ = self.page(name, runs)
            for width, scheme in LOOKS:
                with self.subTest(page=name, width=width, scheme=scheme):
                    self.open(page, width, scheme)
                    self.assertEqual(len(self.shown_figures()), charts[name])
                    self.check_layout()
                    self.assertEqual(self.js(CONTRAST), [])
                    self.keep(f"{name}-{width}-{scheme}")
                    self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
                    self.check_layout()
                    self.assertEqual(self.js(CONTRAST), [])
                    self.check_quiet()

    def test_scheme_button(self) -> None:
        page, _ = self.page("one", [run_of("H200")])
        for scheme, other in (("light", "Dark"), ("dark", "Light")):
            self.open(page, 1440, scheme)
            ground = "return getComputedStyle(document.body).backgroundColor"
            before = self.js(ground)
            button = self.all("#scheme")[0]
            self.assertEqual(button.text, other)
            button.click()
            self.assertNotEqual(self.js(ground), before)
            self.assertEqual(self.js(CONTRAST), [])
        self.check_quiet()

    def test_hostile_texts_are_shown_and_not_run(self) -> None:
        page, _ = self.page("hostile", [hostile_run(), run_of("H200")])
        self.open(page)
        self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
        self.assertIsNone(self.js("return window.ran || null"))
        self.assertEqual(len(self.all("script")), 3)
        self.assertEqual(len(self.all("img, iframe, object, embed, main b, base")), 0)
        self.assertIn("<script>window.ran=1</script>", self.all("main")[0].text)
        # Were a script or a handler to get in, the policy would still refuse it.
        self.js("const s = document.createElement('script'); s.textContent = 'window.ran = 6';"
                "document.body.append(s); document.body.insertAdjacentHTML('beforeend', "
                "'<b onclick=\"window.ran = 7\">x</b>'); document.body.lastChild.click()")
        self.assertIsNone(self.js("return window.ran || null"))
        refused = self.browser.get_log("browser")
        self.assertTrue(any("Content Security Policy" in entry["message"] for entry in refused))
        self.assertTrue(all("Content Security Policy" in entry["message"] for entry in refused))
        self.browser.get_log("performance")

    def downloaded(self, name: str) -> pathlib.Path:
        path = self.folder / name
        for _ in range(100):
            if path.exists():
                time.sleep(0.1)
                return path
            time.sleep(0.1)
        self.fail(f"{name} was not downloaded")

    def test_raw_data_is_the_run_document(self) -> None:
        cases = {"one": [run_of("H200")], "all": all_probes_runs(), "hostile": [hostile_run()]}
        for name, runs in cases.items():
            with self.subTest(page=name):
                page, expected = self.page(name, runs)
                (self.folder / "clprobe-runs.json").unlink(missing_ok=True)
                self.open(page)
                self.all("#downloads button")[0].click()
                path = self.downloaded("clprobe-runs.json")
                found = json.loads(path.read_text(encoding="utf-8"))
                self.assertTrue(same(found, expected))
                # And the loader, which refuses what it does not know, reads it.
                tables = [subprocess.run([OPTIONS.program, "report", each, "-f", "csv"], check=True,
                                         stdout=subprocess.PIPE).stdout
                          for each in (path, self.folder / f"{name}.json")]
                self.assertEqual(tables[0], tables[1])
                self.check_quiet()

    def test_without_scripts_the_charts_are_there(self) -> None:
        page, _ = self.page("one", [run_of("H200")])
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.open(page, 360)
            self.assertTrue(self.all(".picture svg")[0].is_displayed())
            self.assertEqual(len(self.all(".picture svg text")) > 20, True)
            self.assertIn("Without JavaScript", self.all("main")[0].text)
            self.assertFalse(self.all("#scheme")[0].is_displayed())
            self.check_layout()
            self.keep("pictures-360-light")
        finally:
            self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        self.check_quiet()

    def test_a_browser_that_cannot_unpack_says_so(self) -> None:
        page, _ = self.page("one", [run_of("H200")])
        script = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "delete window.DecompressionStream"})
        try:
            self.open(page)
            self.assertIn("cannot unpack", self.all("#downloads")[0].text)
            self.assertEqual(self.all("#downloads button"), [])
        finally:
            self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        self.check_quiet()

    def test_eight_devices(self) -> None:
        runs = eight_runs()
        page, documents = self.page("eight", runs)
        size = page.stat().st_size
        self.assertLess(size, 0.5 * len(json.dumps(documents)))  # 9.7 MB of 21 MB
        self.open(page)
        self.assertGreaterEqual(len(self.all(".picture svg")), charts_of(runs))
        titles = self.js("return [...document.querySelectorAll('#devices h3')]"
                         ".map(e => e.textContent)")
        self.assertEqual(len(set(titles)), 8)
        ready = self.js("return performance.getEntriesByType('navigation')[0]"
                        ".domContentLoadedEventEnd")
        print(f"eight devices: {size} bytes, interactive after {ready:.0f} ms", file=sys.stderr)
        self.keep("eight-1440-light")
        self.check_quiet()

    def test_pictures_stand_alone(self) -> None:
        cases = {"latency": real_runs(), "banks": [heat_map_run()],
                 "stalls": [stacks_run()]}
        for name, runs in cases.items():
            with self.subTest(picture=name):
                document = self.folder / f"{name}-picture.json"
                document.write_text(json.dumps(runs if len(runs) > 1 else runs[0]))
                picture = self.folder / f"{name}.svg"
                subprocess.run([OPTIONS.program, "report", document, "-o", picture], check=True,
                               stdout=subprocess.DEVNULL)
                self.check_picture(picture)

    def check_picture(self, picture: pathlib.Path) -> None:
        self.open(picture)
        self.assertEqual(self.js("return document.documentElement.tagName"), "svg")
        box = self.js("const b = document.documentElement.getBBox(); "
                      "return [b.x, b.y, b.width, b.height]")
        size = self.js("const v = document.documentElement.viewBox.baseVal; "
                       "return [v.width, v.height]")
        self.assertGreaterEqual(min(box[0], box[1]), 0)
        self.assertLessEqual(box[0] + box[2], size[0])
        self.assertLessEqual(box[1] + box[3], size[1])
        if OPTIONS.keep:
            self.browser.save_screenshot(str(picture.with_suffix(".svg.png")))
        self.check_quiet()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
