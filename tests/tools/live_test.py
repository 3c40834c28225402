#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/live.py beside a clprobe that says what it was told to: how it calls it, and what it counts."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

import fakes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import live  # noqa: E402  (its folder has just been named)

PROBE = ["latency", "--series", "global"]


def row(level: int, verdict: str, ratio: float, reason: str = "in 12 alternating passes") -> dict[str, Any]:
    """A headline that was followed in turns, or with another reason one that was not."""
    cell = {"run": 1, "verdict": verdict, "ratio": ratio, "reason": reason,
            "interval_low": ratio - 0.02, "interval_high": ratio + 0.02}
    return {"probe": "latency", "series": "global", "level": level, "name": "latency",
            "runs": [{"run": 0}, cell]}


class Live(unittest.TestCase):
    """Both kinds take turns."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.library = self.folder / "fault.so"

    def printed(self, *answers: dict[str, Any],
                words: tuple[str, ...] = ()) -> tuple[list[str], list[list[str]]]:
        clprobe = fakes.Clprobe(self.folder, *answers)
        text = io.StringIO()
        self.library.touch()
        arguments = ["live.py", "--times", "2", *words, clprobe.path, str(self.library), *PROBE]
        with mock.patch("sys.argv", arguments), contextlib.redirect_stdout(text):
            live.main()
        return text.getvalue().splitlines(), clprobe.calls()

    def test_library_that_is_not_there(self) -> None:
        errors = io.StringIO()
        with mock.patch("sys.argv", ["live.py", "clprobe", str(self.library), *PROBE]), \
                contextlib.redirect_stderr(errors), self.assertRaises(SystemExit):
            live.main()
        self.assertIn(f"{self.library} is no library", errors.getvalue())

    def test_turns_and_table(self) -> None:
        slower = {"findings": [row(1, "worse", 0.9), row(2, "unclear", 0.95)]}
        alike = {"findings": [row(1, "same", 1.0), row(2, "same", 1.01)]}
        lines, calls = self.printed(fakes.answer(slower, "--b-env", status=4), fakes.answer(alike),
                                    words=("--percent", "12", "--kernel", "stride", "--device", "0"))
        common = ["compare", "--live", "--json", "--time-budget", "60s", "--fail-on", "worse",
                  "--device", "0"]
        stretched = ["--b-env", f"LD_PRELOAD={self.library}",
                     "--b-env", "CLPROBE_FAULT_STRETCHED=stride",
                     "--b-env", "CLPROBE_FAULT=stretch=12@clEnqueueNDRangeKernel"]
        self.assertEqual(calls, 2 * [common + PROBE, common + stretched + PROBE])
        self.assertEqual(lines[1].split()[:6], ["alike", "2", "0", "0", "0", "0"])
        self.assertEqual(lines[2].strip(),
                         "latency global 1 latency: 2 times, ratio 1.000 to 1.000, median 1.000")
        # Found, but not in every headline.
        self.assertEqual(lines[4].split()[:8], ["12", "%", "slower", "2", "2", "0", "2", "2"])
        self.assertTrue(lines[4].endswith("  4 %"))
        self.assertTrue(lines[6].endswith("median 0.950, unclear 2 times"))

    def test_what_counts(self) -> None:
        def tally_of(*rows: dict[str, Any]) -> live.Tally:
            tally = live.Tally("any")
            tally.add(1.0, 0, {"findings": list(rows)})
            return tally
        tally = tally_of(row(1, "worse", 0.9), row(2, "worse", 0.9))
        self.assertEqual((tally.worse, tally.all_worse, tally.changed, tally.failed), (1, 1, 1, 0))
        # What was measured once, before the turns, is no headline that was followed.
        tally = tally_of(row(1, "worse", 0.9), row(2, "same", 1.0, reason="once"))
        self.assertEqual((tally.all_worse, list(tally.ratios)), (1, ["latency global 1 latency"]))
        tally = tally_of(row(1, "better", 1.1, reason="once"))
        self.assertEqual((tally.worse, tally.all_worse, tally.changed), (0, 0, 1))
        tally = tally_of({"probe": "latency", "name": "latency", "runs": [{"run": 0}, {"run": 1}]})
        self.assertEqual((tally.changed, tally.ratios), (0, {}))

    def test_a_comparison_that_fails_ends_it(self) -> None:
        with self.assertRaisesRegex(SystemExit, "3: no device"):
            self.printed(fakes.answer(None, status=3, said="no device\n"))


if __name__ == "__main__":
    unittest.main()
