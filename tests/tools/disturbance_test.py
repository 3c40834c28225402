#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/disturbance.py and bench/load.py: what a trace says, and a load that comes, goes and ends."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import disturbance  # noqa: E402  (its folder has just been named)
import load  # noqa: E402


class Traces(unittest.TestCase):
    """A head that says what the columns are, and a line for each turn."""

    def test_memory_is_beyond_the_last_cache(self) -> None:
        for cache, expected in ((0, 128), (32, 128), (40, 160), (512, 1024)):
            with mock.patch("os.sysconf", return_value=cache * disturbance.MIB):
                self.assertEqual(disturbance.memory_bytes(), expected * disturbance.MIB)
        with mock.patch("os.sysconf", side_effect=ValueError):
            self.assertEqual(disturbance.memory_bytes(), 128 * disturbance.MIB)

    def recorded(self, text: str, status: int = 0) -> list[str]:
        """By a program that prints a text."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n", encoding="utf-8")
            program.chmod(0o755)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                disturbance.record(str(program), 10.0, 2.5, False)
        return printed.getvalue().splitlines()

    def test_a_line_has_the_load_behind_its_time(self) -> None:
        lines = self.recorded("0.0 1 2 3 4 5 6 7 8\\n2.5 1 2 3 4 5 6 7 8\\n")
        self.assertTrue(lines[0].startswith("# "))
        self.assertEqual(lines[1:], ["0.0 0 1 2 3 4 5 6 7 8", "2.5 0 1 2 3 4 5 6 7 8"])
        self.assertEqual(disturbance.with_load("5.0 1 2\n", True), "5.0 1 1 2")

    def test_a_program_that_fails_is_told(self) -> None:
        with self.assertRaisesRegex(SystemExit, "exit status 3"):
            self.recorded("", status=3)

    def test_the_program_measures(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/disturbance"
            if not disturbance.build(program):
                self.skipTest("no C++ compiler")
            printed = subprocess.check_output([program, "0.1", "0.1", "8388608", "1"], text=True)
        numbers = [float(word) for word in printed.splitlines()[0].split()]
        self.assertEqual(len(numbers), 9)
        near_least, near, _, _, far_least, far, best, usual = numbers[1:]
        self.assertLessEqual(near_least, near)
        self.assertLessEqual(far_least, far)
        self.assertLess(near_least, far)
        self.assertGreaterEqual(best, usual)


class Loads(unittest.TestCase):
    """They come and go as long as what is measured beside them."""

    def test_comes_and_goes_and_ends(self) -> None:
        seen: list[str] = []
        with mock.patch.multiple(load, LEAST_SECONDS=0.02, MOST_SECONDS=0.05):
            with load.Load(loops=1) as beside:
                until = time.monotonic() + 20.0
                while not ("on" in seen and seen[-1] == "off") and time.monotonic() < until:
                    now = "on" if beside.is_on else "off"
                    if seen[-1:] != [now]:
                        seen.append(now)
                    time.sleep(0.001)
        self.assertEqual(seen, ["off", "on", "off"])
        self.assertFalse(beside.is_on)


if __name__ == "__main__":
    unittest.main()
