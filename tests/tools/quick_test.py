#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/quick.py beside a clprobe that says what it was told to: what it calls right, silent and wrong."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import fakes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import quick  # noqa: E402  (its folder has just been named)

TRUTH = {1: 1.0, 2: 4.0, 3: 16.0, 4: 100.0}


class Quick(unittest.TestCase):
    """Against a default run."""

    def test_levels(self) -> None:
        def named(levels: dict[int, float | None]) -> list[float | None]:
            found = quick.latencies_of(fakes.document(levels))
            return [value and round(1e9 * value, 6) for value in (found[name] for name in quick.NAMES)]
        self.assertEqual(named({**TRUTH}), [1.0, 4.0, 100.0])
        self.assertEqual(named({1: 1.0, 2: 100.0}), [1.0, None, 100.0])
        self.assertEqual(named({1: None, 2: 4.0, 3: 100.0}), [None, 4.0, 100.0])
        self.assertEqual(named({1: 1.0}), [1.0, None, None])
        self.assertEqual(named({}), [None, None, None])
        self.assertEqual(quick.levels_of({"results": []}), {})

    def test_right_is_within_a_quarter(self) -> None:
        said = [quick.verdict_of(4.0, found) for found in (4.99, 5.01, 3.01, 2.99, None)]
        self.assertEqual(said, ["right", "wrong", "right", "wrong", "silent"])

    def test_table(self) -> None:
        found: list[dict[int, float | None]] = [{**TRUTH}, {1: None, 2: 4.0, 3: 90.0},
                                                {1: 4.0, 2: 16.0, 3: 100.0}, {}]
        lines = quick.table_of(quick.latencies_of(fakes.document({**TRUTH})),
                               [fakes.document(each) for each in found])
        self.assertEqual([line.split() for line in lines],
                         [["ns", "right", "silent", "wrong"], ["L1", "1", "1", "2", "1"],
                          ["L2", "4", "2", "1", "1"], ["memory", "100", "3", "1", "0"],
                          ["all", "1", "2", "1"]])

    def printed(self, clprobe: fakes.Clprobe, *words: str) -> list[str]:
        text = io.StringIO()
        with mock.patch("sys.argv", ["quick.py", clprobe.path, *words]), contextlib.redirect_stdout(text):
            quick.main()
        return text.getvalue().splitlines()

    def test_runs(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first_look = fakes.document({1: 1.1, 2: 4.2, 3: 101.0})
            clprobe = fakes.Clprobe(folder, fakes.answer(first_look, "--quick"),
                                    fakes.answer(fakes.document({**TRUTH})))
            lines = self.printed(clprobe, "--times", "3", "--", "-d", "0")
            self.assertRegex(lines[0], r"^default run: \S+ s$")
            self.assertEqual(lines[1:4], fakes.MACHINE)
            self.assertRegex(lines[4], r"^seconds  median \S+, at most \S+$")
            self.assertEqual(lines[-1].split(), ["all", "3", "0", "0"])
            calls = [[word for word in call if not word.endswith(".json")] for call in clprobe.calls()]
            self.assertEqual(calls, [["latency", "-d", "0", "-q", "-o"]]
                             + 3 * [["latency", "--quick", "-d", "0", "-q", "-o"]])
            against = folder / "against.json"
            against.write_text(json.dumps(fakes.document({1: 2.0, 2: 101.0})), encoding="utf-8")
            with mock.patch("load.Load") as load:
                lines = self.printed(clprobe, "--times", "1", "--load", "--against", str(against))
            load.assert_called_once_with()
            self.assertIn("beside a load", lines[3])
            self.assertEqual([line.split()[0] for line in lines[5:]], ["L1", "memory", "all"])
            against.write_text(json.dumps(fakes.document({})), encoding="utf-8")
            with self.assertRaisesRegex(SystemExit, "against.json has no level"):
                self.printed(clprobe, "--against", str(against))


if __name__ == "__main__":
    unittest.main()
