#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That docs/examples/read_runs.py reads findings and curves of stored runs."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "examples"))
import read_runs  # noqa: E402

RUN = ROOT / "results/nvidia/h200/580.159.04_2026-11-28.json"
PROGRAM = os.environ.get("CLPROBE", "clprobe")


class ReadRuns(unittest.TestCase):
    """On a run of an H200."""

    def test_a_finding_has_a_key_of_its_own(self) -> None:
        for path in ROOT.glob("results/*/*/*.json"):
            rows = read_runs.findings([str(path)], PROGRAM)
            keys = {tuple(row[name] for name in read_runs.KEY) for row in rows}
            self.assertEqual(len(keys), len(rows), path)

    def test_a_finding_has_its_interval(self) -> None:
        rows = read_runs.findings([str(RUN)], PROGRAM)
        l2 = [row for row in rows if row["probe"] == "latency" and row["series"] == "global"
              and row["level"] == 2 and row["name"] == "latency"]
        self.assertEqual(len(l2), 1)
        self.assertLess(l2[0]["low"], l2[0]["value"])
        self.assertAlmostEqual(l2[0]["value"], 142e-9, delta=1e-9)

    def test_an_array_of_runs_and_labels_are_read(self) -> None:
        run = json.loads(RUN.read_text(encoding="utf-8"))
        run["label"] = "mine"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two.json"
            path.write_text(json.dumps([run, run]), encoding="utf-8")
            rows = read_runs.findings([str(path)], PROGRAM)
        self.assertEqual({row["device"] for row in rows}, {"mine"})
        self.assertEqual(len(rows), 2 * len(read_runs.findings([str(RUN)], PROGRAM)))

    def test_a_curve_has_a_row_a_point(self) -> None:
        rows = read_runs.curves([str(RUN)], PROGRAM)
        curve = [row for row in rows if (row["probe"], row["series"]) == ("latency", "global")]
        self.assertGreater(len(curve), 100)
        for row in curve:
            self.assertEqual((row["x_name"], row["unit"]), ("working_set_bytes", "seconds"))
            self.assertLessEqual(row["low"], row["value"])
            self.assertLessEqual(row["value"], row["high"])
        self.assertAlmostEqual(min(row["value"] for row in curve), 16.2e-9, delta=0.2e-9)

    def test_frames_have_the_rows(self) -> None:
        try:
            import pandas  # noqa: F401  pylint: disable=unused-import,import-outside-toplevel
        except ImportError:
            self.skipTest("pandas is not installed")
        rows = read_runs.findings([str(RUN)], PROGRAM)
        self.assertEqual(len(read_runs.frame(rows)), len(rows))


if __name__ == "__main__":
    unittest.main()
