#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/verdicts.py beside a clprobe that says what it was told to: runs that it makes, and its table."""

import contextlib
import io
import json
import math
import pathlib
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

import fakes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import intervals_held  # noqa: E402  (its folder has just been named)
import made_runs  # noqa: E402
import verdicts  # noqa: E402

COMPARISON = {
    "runs": [{}, {"verdicts": {"same": 3, "worse": 1}}],
    "findings": [{"probe": "latency", "series": "global", "level": 1, "name": "latency",
                  "runs": [{"run": 0}, {"run": 1, "verdict": "worse"}]},
                 {"probe": "stride", "series": "read int", "name": "bandwidth",
                  "runs": [{"run": 0}, {"run": 1, "verdict": "same", "resolution_share": 0.04}]},
                 {"probe": "stride", "series": "read int", "name": "limit",
                  "runs": [{"run": 0}, {"run": 1, "verdict": "same", "resolution_share": 0.08}]}]}


class Verdicts(unittest.TestCase):
    """In a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        failed = fakes.answer(COMPARISON, "compare", status=4, said="worse: latency global 1: 1 ns -> 2 ns\n")
        self.clprobe = fakes.Clprobe(self.folder, failed, fakes.answer(fakes.document({1: 1.0})))

    def printed(self, *words: str) -> list[str]:
        text = io.StringIO()
        arguments = ["verdicts.py", self.clprobe.path, *words]
        with mock.patch("sys.argv", arguments), contextlib.redirect_stdout(text):
            verdicts.main()
        return text.getvalue().splitlines()

    def refused(self, *words: str) -> str:
        text = io.StringIO()
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(text):
            self.printed(*words)
        return text.getvalue()

    def test_makes_runs_and_compares_them(self) -> None:
        made = self.folder / "made"
        lines = self.printed(str(made), "--make", "3", "--findings", "1", "--", "-d", "0", "latency")
        self.assertEqual(lines[:3], fakes.MACHINE)
        self.assertRegex(lines[3], r"^seconds  \S+ to \S+ a run$")
        self.assertEqual(lines[4], "3 runs, 6 pairs of 1 a side, threshold 3%")
        self.assertEqual(lines[5], "exit       4: 6")
        self.assertEqual(lines[6], "verdicts   same 75.0 %   better 0.0 %   worse 25.0 %   different 0.0 %   "
                                   "unclear 0.0 %")
        self.assertIn("latency    same 0.0 %   better 0.0 %   worse 100.0 %", lines[7])
        self.assertTrue(any(line.startswith("resolution  median 6 %") for line in lines))
        self.assertEqual(lines[-2], "    6 times worse: latency global 1")
        self.assertEqual(lines[-1].split(), ["latency", "global", "1", "latency", "worse", "6"])
        calls = self.clprobe.calls()
        paths = [str(made / f"0{number}.json") for number in (1, 2, 3)]
        self.assertEqual(calls[:3], [["-d", "0", "latency", "-q", "-o", path] for path in paths])
        compared = [paths[0], "--", paths[2], "--json"]
        self.assertIn(["compare", "--fail-on", "worse", "--threshold", "3%", *compared], calls[3:])

    def test_says_how_often_intervals_hold_what_did_not_change(self) -> None:
        def cell(low: float, high: float, **more: Any) -> dict[str, Any]:
            return {"verdict": "same", "interval_low": low, "interval_high": high, **more}

        rows = [{"probe": "latency", "series": "global", "level": 1, "name": "latency", "unit": "seconds",
                 "runs": [cell(0.9, 1.1), cell(1.2, 1.3), cell(1.0005, 1.1), cell(2, 3, no_interval=True)]},
                {"probe": "stalls", "series": "uts", "name": "stall", "unit": "share",
                 "runs": [cell(-0.1, 0.3), cell(0.0, 1.0)]},
                {"probe": "stalls", "series": "uts", "name": "time", "unit": "seconds",
                 "runs": [cell(0.0, 2.0)]}]
        found = intervals_held.intervals_in([{"findings": rows}])
        one = found["latency", "global 1 latency"]
        self.assertEqual((one.held, one.pairs()), (2, 3))
        self.assertAlmostEqual(one.difference(), 0.5 * math.log(1.2 * 1.3))
        self.assertAlmostEqual(one.half(), 0.5 * math.log(1.1 / 1.0005))
        self.assertEqual(found["stalls", "uts stall"].held, 2)
        self.assertAlmostEqual(found["stalls", "uts stall"].half(), 0.35)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            intervals_held.print_coverage([{"findings": rows}], 1)
        lines = text.getvalue().splitlines()
        self.assertEqual(lines[1].split(), ["latency", "3", "66.7", "%", "22.2", "%", "4.74", "%"])
        self.assertEqual(lines[2].split()[:4], ["stalls", "3", "100.0", "%"])
        self.assertIn("open", intervals_held.line_of("time", [found["stalls", "uts time"]]))
        self.assertTrue(lines[3].startswith("  latency global 1 latency "))
        self.assertEqual(len(lines), 4)

    def test_a_load_comes_and_goes_beside_them(self) -> None:
        with mock.patch("load.Load") as load:
            lines = self.printed(str(self.folder / "made"), "--make", "2", "--load")
        load.assert_called_once_with()
        self.assertTrue(lines[3].endswith(" a run, beside a load that comes and goes"))

    def test_of_runs_that_are_there(self) -> None:
        made = self.folder / "made"
        made.mkdir()
        for name, driver in (("a", "3.1"), ("b", "5.0")):
            document: Any = fakes.document({1: 1.0}, driver=driver)
            (made / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        lines = self.printed(str(made))
        self.assertEqual(lines[:2], fakes.MACHINE[:2])
        self.assertEqual(lines[3], "device   cpu, PoCL, driver 5.0")
        self.assertEqual(lines[4], "2 runs, 2 pairs of 1 a side, threshold 3%")
        self.assertIn("has runs already", self.refused(str(made), "--make", "2"))
        self.assertIn("is for the runs of --make", self.refused(str(made), "--load"))
        self.assertIn("is for the runs of --make", self.refused(str(made), "--", "latency"))
        self.assertIn("has 2 runs: two sides of 2 need 4", self.refused(str(made), "--side", "2"))

    def test_of_those_whose_cores_were_quiet(self) -> None:
        made = self.folder / "made"
        made.mkdir()

        def disturbed(kind: str, half_width: float, is_rate: bool = False) -> dict[str, Any]:
            return {"kind": kind, "half_width": half_width, "is_rate": is_rate}

        of_rate = disturbed("core", 0.9, is_rate=True)
        told = {"a": [disturbed("core", 0.05), disturbed("memory", 0.9), of_rate],
                "b": [disturbed("arithmetic", 0.01)],
                "c": [disturbed("core", 0.01), disturbed("cache", 0.051)],
                "d": [disturbed("arithmetic", 0.06)],
                "e": []}
        for name, disturbances in told.items():
            document: Any = {**fakes.document({1: 1.0}), "disturbances": disturbances}
            (made / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        lines = self.printed(str(made), "--quiet", "5")
        self.assertEqual(lines[3], "2 runs of cores quiet within 5 %, 2 pairs of 1 a side, threshold 3%")
        compared = [call for call in self.clprobe.calls() if call[0] == "compare"]
        self.assertEqual({call[-4] for call in compared}, {str(made / "a.json"), str(made / "b.json")})
        self.assertIn("4 runs of cores", self.printed(str(made), "--quiet", "6")[3])
        self.assertIn("has 1 runs of cores quiet within 2 %", self.refused(str(made), "--quiet", "2"))

    def test_a_run_that_fails_ends_it(self) -> None:
        clprobe = fakes.Clprobe(self.folder, fakes.answer(None, status=3, said="no device\n"))
        with self.assertRaisesRegex(SystemExit, "3: no device"):
            made_runs.make_runs(clprobe.path, self.folder / "made", 2, [], False)


if __name__ == "__main__":
    unittest.main()
