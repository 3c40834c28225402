#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HTML pages as a person meets them: in Chromium, with pointer and keyboard, wide and narrow, light
and dark. The pages are made by the program from the runs in results/ and from made-up ones.

`--keep FOLDER` leaves the pages and a screenshot of each there, to be looked at.
"""

import argparse
import base64
import copy
import functools
import json
import os
import random
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

EXIT_SKIPPED = 77
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError as error:
    if os.environ.get("CLPROBE_REQUIRE_ALL") == "1":
        raise
    print(f"skipped: {error}")
    sys.exit(EXIT_SKIPPED)

ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("--program", required=True)
ARGUMENTS.add_argument("--root", required=True, type=pathlib.Path)
ARGUMENTS.add_argument("--keep", type=pathlib.Path)
OPTIONS = ARGUMENTS.parse_args()

WIDTHS = (1440, 360)
SCHEMES = ("light", "dark")
EVIL = [
    "<script>window.ran=1</script>",
    "</script><script>window.ran=2</script>",
    "<img src=x onerror=window.ran=3>",
    "\"'><svg onload=window.ran=4>",
    "<!--<script>",
    "javascript:window.ran=5",
    "{{runs}}",
    "\u2028]]>&lt;b&gt;",
    "https://example.org/a.png",
]

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
const hex = (name) => root.getPropertyValue(name).trim().match(/[0-9a-f]{2}/g).map((h) => parseInt(h, 16));
for (let i = 0; i < 8; ++i) {
  const ratio = contrast(hex("--c" + i), hex("--surface"));
  if (ratio < 3) faint.push("--c" + i + " " + ratio.toFixed(2));
}
return [...new Set(faint)];
"""

# How many pixels of a canvas are not as its first one.
INKED = """
const c = arguments[0];
const d = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
return d.reduce((n, v) => n + (v !== d[0]), 0);
"""


@functools.cache
def read(path):
    """The runs of a file, which many tests want; whoever changes one copies it."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, list) else [found]


def real_runs():
    """Those of results/ that are of `latency` alone: one chart a page."""
    files = sorted((OPTIONS.root / "results").glob("*/*/*.json"))
    runs = [run for path in files for run in read(path)]
    return [run for run in runs if [result["probe"] for result in run["results"]] == ["latency"]]


def all_probes_runs():
    """Of each device of results/ with several probes the run that has the most."""
    best = {}
    for path in sorted((OPTIONS.root / "results").glob("*/*/*.json")):
        for run in read(path):
            name, probes = run["device"]["name"], len(run["results"])
            if probes > max(1, len(best.get(name, {"results": []})["results"])):
                best[name] = run
    return list(best.values())


def probes_of(runs):
    return {result["probe"] for run in runs for result in run["results"]}


def thread_latency_series(run):
    return {point["series"] for result in run["results"] if result["probe"] == "inflight"
            for point in result["points"] if "-x" in point["series"]}


def run_of(part):
    """A real run whose device's name contains `part`."""
    return copy.deepcopy(next(run for run in real_runs() if part in run["device"]["name"]))


def poisoned(value, state):
    """Every free text replaced by something hostile; words that the loader checks stay."""
    checked = {"schema", "status", "source", "unit", "kind", "rate", "timer", "launch_timer", "probe",
               "quantity", "started", "type", "method"}
    if isinstance(value, list):
        return [poisoned(each, state) for each in value]
    if isinstance(value, dict):
        return {key: each if key in checked else poisoned(each, state)
                for key, each in value.items()}
    if not isinstance(value, str):
        return value
    state[0] += 1
    return EVIL[state[0] % len(EVIL)] + value


def hostile_run():
    run = run_of("H200")
    result = run["results"][0]
    result["points"] = result["points"][:60]
    run = poisoned(run, [0])
    run["results"][0]["points"][0]["parameters"]["<b>evil</b>"] = EVIL[0]
    run["results"][0]["points"][1]["parameters"].update({"$rows": 3, "$number": "{", "__proto__": 1})
    run["seed"] = 2**64 - 1
    run["device"]["reported"]["share"] = 11.0
    # A probe that nobody has, with a name that is markup.
    other = copy.deepcopy(run["results"][0])
    other["probe"] = EVIL[2]
    run["results"].append(other)
    run["device"]["name"] = "".join(EVIL[:5])
    return run


def heat_map_run():
    """A probe with two parameters that vary: as `banks` has them."""
    run = run_of("H200")
    result = run["results"][0]
    sample = result["points"][0]["samples"][0]
    result.update(probe="banks", findings=[], warnings=[], points=[])
    for stride in range(1, 33):
        for word in (4, 8, 16):
            ways = max(word // 4, stride & -stride)
            ticks = sample["accesses"] * (20 + 8 * ways) + stride
            result["points"].append({
                "series": "load-latency",
                "parameters": {"stride_words": stride, "word_bytes": word},
                "samples": [dict(sample, ticks=ticks + noise) for noise in (0, 900)]})
    return run


def stacks_run():
    """Bars with parts, in two views."""
    made = subprocess.run([OPTIONS.program, "--device", "sim:gsi", "stalls", "--case", "implicit",
                           "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(made.stdout)


def eight_runs():
    """The run with the most probes, as of eight devices: each measures a little other numbers."""
    original = max(all_probes_runs(), key=lambda run: (len(run["results"]), len(json.dumps(run))))
    runs = []
    for i in range(8):
        numbers = random.Random(i)
        run = copy.deepcopy(original)
        run["device"]["index"] = i
        for probe, sample in ((result["probe"], sample) for result in run["results"]
                              for point in result["points"] for sample in point.get("samples", [])):
            for key, share in (("ticks", 0.01), ("event_ns", 0.02), ("host_ns", 0.03)):
                if sample.get(key):
                    sample[key] = max(1, round(sample[key] * (1 + numbers.uniform(-share, share))))
            if probe in ("inflight", "stalls"):  # of the others it follows from the iterations
                sample["witness"] = numbers.getrandbits(max(1, sample["witness"].bit_length()))
        runs.append(run)
    return runs


def same(one, other):
    """Equal, and 11.0 is not 11."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


class Pages(unittest.TestCase):
    width = 0  # of the page that is open

    @classmethod
    def setUpClass(cls):
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
    def tearDownClass(cls):
        cls.browser.quit()
        cls.scratch.cleanup()

    def page(self, name, runs):
        """The page of these runs, and what its raw data must be."""
        document = self.folder / f"{name}.json"
        document.write_text(json.dumps(runs if len(runs) > 1 else runs[0]), encoding="utf-8")
        page = self.folder / f"{name}.html"
        subprocess.run([OPTIONS.program, "report", document, "-o", page], check=True,
                       stdout=subprocess.DEVNULL)
        again = subprocess.run([OPTIONS.program, "report", document, "--json"], check=True,
                               stdout=subprocess.PIPE)
        return page, json.loads(again.stdout)

    def open(self, page, width=1440, scheme="light"):
        self.width = width
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.get(page.resolve().as_uri())

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def check_quiet(self):
        """No error, no warning, and nothing asked of anything but the file itself."""
        self.assertEqual(self.browser.get_log("browser"), [])
        asked = [json.loads(entry["message"])["message"]
                 for entry in self.browser.get_log("performance")]
        urls = {message["params"]["request"]["url"] for message in asked
                if message["method"] == "Network.requestWillBeSent"}
        self.assertTrue(urls)
        for url in urls:
            self.assertTrue(url.startswith(("file:", "data:", "blob:")), url)

    def check_layout(self):
        # Not innerWidth: a phone zooms out until all of a page that is too wide can be seen.
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), self.width)

    def keep(self, name):
        if not OPTIONS.keep:
            return
        size = self.js("const e = document.documentElement; return [e.clientWidth, e.scrollHeight]")
        picture = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 6000), "scale": 1}})
        (self.folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))

    def await_ready(self):
        """Charts are drawn one after the other."""
        for _ in range(200):
            if self.js("return document.documentElement.dataset.ready") == "yes":
                return
            time.sleep(0.05)
        self.fail("the page is not ready")

    def canvases(self, count):
        self.await_ready()
        found = self.all(".stage canvas")
        self.assertEqual(len(found), count)
        for canvas in found:
            self.assertGreater(self.js(INKED, canvas), 2000)
        return found

    def test_every_width_and_scheme(self):
        pages = {"one": [run_of("H200")], "several": real_runs(), "stacks": [stacks_run()],
                 "hostile": [hostile_run(), run_of("H200")], "all": all_probes_runs()}
        charts = {"one": 1, "several": 1, "stacks": 1, "hostile": 2, "all": len(probes_of(pages["all"]))}
        for name, runs in pages.items():
            page, _ = self.page(name, runs)
            for width in WIDTHS:
                for scheme in SCHEMES:
                    with self.subTest(page=name, width=width, scheme=scheme):
                        self.open(page, width, scheme)
                        self.canvases(charts[name])
                        self.check_layout()
                        self.assertEqual(self.js(CONTRAST), [])
                        self.keep(f"{name}-{width}-{scheme}")
                        self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
                        time.sleep(0.2)  # the tables are made by the event that follows
                        self.check_layout()
                        self.assertEqual(self.js(CONTRAST), [])
                        self.check_quiet()

    def test_toggles_change_the_chart(self):
        runs = real_runs()
        page, _ = self.page("several", runs)
        self.open(page)
        canvas = self.canvases(1)[0]
        shown = "return Chart.getChart(arguments[0]).getVisibleDatasetCount()"
        self.assertEqual(self.js(shown, canvas), len(runs))  # one series of each device
        boxes = {box.text: box for box in self.all(".toggle")}
        image = self.js("return arguments[0].toDataURL()", canvas)
        for label, count in (("local", 2 * len(runs)), ("global", len(runs)),
                             ("NVIDIA H200", len(runs) - 1)):
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
        boxes["NVIDIA H200"].find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)
        self.assertEqual(self.js(shown, canvas), len(runs))
        self.check_quiet()

    def test_thread_latency_curves_have_their_variance_on_a_second_axis(self):
        measured = subprocess.run(
            [OPTIONS.program, "--device", "sim:fermi-m2070", "inflight", "--series",
             "thread-latency", "--loads", "1,2", "--target", "cache", "--quick", "--json"],
            check=True, stdout=subprocess.PIPE)
        run = json.loads(measured.stdout)
        page, _ = self.page("thread-latency", [run[0] if isinstance(run, list) else run])
        self.open(page)
        canvas = self.canvases(1)[0]
        shown = "return Chart.getChart(arguments[0]).getVisibleDatasetCount()"
        axis = "return Chart.getChart(arguments[0]).options.scales.variance.display"
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

    def hover(self, canvas, dataset, index):
        at = self.js("const p = Chart.getChart(arguments[0]).getDatasetMeta(arguments[1])"
                     ".data[arguments[2]]; return [p.x, p.y]", canvas, dataset, index)
        self.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
        size = canvas.size
        ActionChains(self.browser).move_to_element_with_offset(
            canvas, int(at[0] - size["width"] / 2), int(at[1] - size["height"] / 2)).perform()
        return self.js("const t = Chart.getChart(arguments[0]).tooltip; return [t.opacity, "
                       "t.title.concat(...t.body.map(b => b.lines)).join(' | ')]", canvas)

    def test_hover_shows_value_and_spread(self):
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

    def test_stacks_have_views_parts_and_a_table(self):
        run = stacks_run()
        page, _ = self.page("stacks", [run])
        self.open(page)
        canvas = self.canvases(1)[0]
        opacity, text = self.hover(canvas, 0, 0)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"implicit, scratchpad, 32 MSHRs \(\d+ cycles\) \| no stall: \S+\s%")
        # Every part of a bar in its place: the ends of the last ones are where all the time is.
        ends = self.js("const c = Chart.getChart(arguments[0]); const ends = {}; "
                       "c.data.datasets.forEach((set, i) => c.getDatasetMeta(i).data.forEach((bar, k) "
                       "=> { const y = set.data[k].y; ends[y] = Math.max(ends[y] || 0, "
                       "c.scales.x.getValueForPixel(bar.x)); })); return Object.values(ends)", canvas)
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

    def chart_of(self, probe):
        self.await_ready()
        return self.all(f"#probe-{probe} canvas")[0]

    def controls(self, probe):
        return {box.text: box for box in self.all(f"#probe-{probe} .toggle, "
                                                  f"#probe-{probe} .controls button")}

    def image(self, canvas):
        return self.js("return arguments[0].toDataURL()", canvas)

    def test_heat_maps_by_device_and_series(self):
        runs = all_probes_runs()
        page, _ = self.page("all", runs)
        self.open(page)
        canvas = self.chart_of("banks")
        controls = self.controls("banks")
        scale = "return document.querySelector('#probe-banks .scale').textContent"
        images, scales = [self.image(canvas)], [self.js(scale)]
        for label in ("load-throughput", "NVIDIA H200", "store-throughput", "load-latency"):
            next(box for text, box in controls.items() if label in text).click()
            images.append(self.image(canvas))
            scales.append(self.js(scale))
        self.assertEqual(len(set(images)), len(images))
        # Colours mean the same on all devices, and not the same for latencies and throughputs.
        self.assertEqual(scales[1], scales[2])
        self.assertEqual(scales[0], scales[4])
        self.assertNotEqual(scales[0], scales[1])
        opacity, text = self.hover(canvas, 0, 50)
        self.assertEqual(opacity, 1)
        self.assertRegex(text, r"stride words \d+, word \d+\sB \| .*ns")
        self.check_quiet()

    def test_thread_latency_curves(self):
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

    def test_keyboard_and_table_say_what_the_chart_shows(self):
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
            "input')].filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')"
            " || e.textContent.trim() || (e.labels && e.labels.length))).map(e => e.outerHTML)")
        self.assertEqual(nameless, [])
        self.check_quiet()

    def test_scheme_button(self):
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

    def test_hostile_texts_are_shown_and_not_run(self):
        page, _ = self.page("hostile", [hostile_run(), run_of("H200")])
        self.open(page)
        self.js("document.querySelectorAll('details').forEach(d => d.open = true)")
        for canvas in self.canvases(2):
            self.hover(canvas, 0, 0)
        time.sleep(0.3)
        self.assertIsNone(self.js("return window.ran || null"))
        self.assertEqual(len(self.all("script")), 4)
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

    def downloaded(self, name):
        path = self.folder / name
        for _ in range(100):
            if path.exists():
                time.sleep(0.1)
                return path
            time.sleep(0.1)
        self.fail(f"{name} was not downloaded")

    def test_raw_data_is_the_run_document(self):
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

    def test_without_scripts_the_charts_are_pictures(self):
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

    def test_eight_devices(self):
        runs = eight_runs()
        page, _ = self.page("eight", runs)
        size = page.stat().st_size
        self.assertLess(size, 3_000_000)
        self.open(page)
        self.canvases(len(probes_of(runs)))
        titles = self.js("return [...document.querySelectorAll('#devices h3')].map(e => e.textContent)")
        self.assertEqual(len(set(titles)), 8)
        ready = self.js("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        print(f"eight devices: {size} bytes, interactive after {ready:.0f} ms", file=sys.stderr)
        self.keep("eight-1440-light")
        self.check_quiet()

    def test_pictures_stand_alone(self):
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

    def check_picture(self, picture):
        self.open(picture)
        self.assertEqual(self.js("return document.documentElement.tagName"), "svg")
        box = self.js("const b = document.documentElement.getBBox(); return [b.x, b.y, b.width, b.height]")
        size = self.js("const v = document.documentElement.viewBox.baseVal; return [v.width, v.height]")
        self.assertGreaterEqual(min(box[0], box[1]), 0)
        self.assertLessEqual(box[0] + box[2], size[0])
        self.assertLessEqual(box[1] + box[3], size[1])
        if OPTIONS.keep:
            self.browser.save_screenshot(str(picture.with_suffix(".svg.png")))
        self.check_quiet()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
