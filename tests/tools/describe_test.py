#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That docs/examples/describe.py and describe.cpp read a description, in at most 20 lines each."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples"
sys.path.insert(0, str(EXAMPLES))
import describe  # noqa: E402

RUN = ROOT / "results/nvidia/h200/580.159.04_2026-11-28.json"
PROGRAM = os.environ.get("CLPROBE", "clprobe")
READER = os.environ.get("CLPROBE_READER", "")  # docs/examples/describe.cpp, compiled


class ReadDescription(unittest.TestCase):
    """On a run of an H200."""

    folder: "tempfile.TemporaryDirectory[str]"
    path = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.path = f"{cls.folder.name}/device.json"
        subprocess.run([PROGRAM, "describe", str(RUN), "-o", cls.path, "-o", "-"], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_the_readers_are_short(self) -> None:
        for name in ("describe.py", "describe.cpp"):
            self.assertLessEqual(len((EXAMPLES / name).read_text("utf-8").splitlines()), 20, name)

    def test_both_readers_read_values_bounds_and_what_is_missing(self) -> None:
        numbers = json.loads(pathlib.Path(self.path).read_text("utf-8"))["numbers"]
        for name, expected in (
            ("last_cache.capacity", numbers["last_cache.capacity"]["value"]),
            ("memory.capacity", numbers["memory.capacity"]["low"]),
            ("peak.fp32", math.nan),
            ("no.such_name", math.nan),
        ):
            found = [describe.value_of(self.path, name, math.nan)]
            if READER:
                found.append(float(subprocess.run([READER, self.path, name], check=True,
                                                  capture_output=True, text=True).stdout))
            for each in found:
                if math.isnan(expected):
                    self.assertTrue(math.isnan(each), name)
                else:
                    self.assertAlmostEqual(each / expected, 1.0, places=4)


if __name__ == "__main__":
    unittest.main()
