#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That bench/known has the kernel of `stalls`, and what bench/known.py calls agreement."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import known  # noqa: E402

PROBE = known.ROOT / "src" / "probes" / "stalls"


class Files(unittest.TestCase):
    """What is stored is what the probe has today."""

    def test_text_is_that_of_the_probe(self) -> None:
        self.assertEqual(known.TEXT.read_text(encoding="utf-8"), known.text_of_kernel())
        self.assertNotIn("STAMPS", known.text_of_kernel())

    def test_launches_are_those_of_the_cases(self) -> None:
        for case in known.CASES:
            stored = json.loads((known.FOLDER / f"{case}.json").read_text(encoding="utf-8"))
            self.assertEqual(stored, known.usual_launch(case), case)

    def test_numbers_are_those_of_the_probe(self) -> None:
        text = (PROBE / "cases" / "wait_for_one.hpp").read_text(encoding="utf-8")
        mixes = re.findall(r"inline constexpr Mix \w+\{(.*?)\.noise_units", text, re.S)
        self.assertEqual(len(mixes), len(known.CASES))
        for mix in mixes:
            name = re.search(r'\.name = "(.*?)"', mix)
            assert name is not None
            fields = re.findall(r"\.(\w+) = (\d+|true),", mix)
            numbers = {field: 1 if value == "true" else int(value) for field, value in fields}
            for field in ("noisy_groups_per_unit", "crowd"):  # of other launches
                numbers.pop(field, None)
            self.assertEqual(numbers, known.CASES[name.group(1)])
        defaults = dict(re.findall(r"std::uint32_t (\w+)\{(\d+)\};", text.split("NoiseUnits noise_units")[0]))
        for field, number in defaults.items():
            if field in known.DEFAULTS:
                self.assertEqual(int(number), known.DEFAULTS[field], field)
        twin = (PROBE / "twin.hpp").read_text(encoding="utf-8")
        self.assertIn(f"step_multiplier = {known.STEP_MULTIPLIER};", twin)
        self.assertIn(f"step_addend = {known.STEP_ADDEND:#x};", twin)

    def test_a_launch_has_an_argument_for_each_parameter(self) -> None:
        parameters = known.text_of_kernel().split("kernel void stalls_mixed(")[1].split(") {")[0]
        launch = known.usual_launch("barrier")
        self.assertEqual(len(launch["arguments"]), len(parameters.split(",")))


class Verdicts(unittest.TestCase):
    """Same first cause, and shares within ten points."""

    def test_agreement(self) -> None:
        barrier = "synchronization: barrier"
        truth = {barrier: 0.5, "memory data: L2": 0.1, "unattributed": 0.4}
        self.assertEqual(known.verdict_of(truth, {barrier: 0.41, "unattributed": 0.59}, ""), "yes")
        self.assertEqual(known.verdict_of(truth, {barrier: 0.39}, ""), "11 points apart")
        self.assertEqual(known.verdict_of(truth, {"memory data": 0.6, barrier: 0.5}, ""), "other cause")
        self.assertEqual(known.verdict_of(truth, {"unattributed": 1.0}, ""), "not found")
        self.assertEqual(known.verdict_of({"unattributed": 1.0}, {barrier: 0.4}, ""), "nothing to agree with")
        chain = {"compute data": 0.9}
        self.assertEqual(known.verdict_of(chain, {}, ""), "no factor of profile")
        self.assertEqual(known.verdict_of(chain, {}, "not believed: 1.30"), "not believed: 1.30")

    def test_lanes_have_conflicts_and_branches_in_one(self) -> None:
        lanes = "memory structural: lanes"
        for truth in ({"control": 0.8}, {"memory structural: bank conflict": 0.8}):
            self.assertEqual(known.verdict_of(truth, {lanes: 0.71}, ""), "yes")
            self.assertEqual(known.verdict_of(truth, {lanes: 0.69}, ""), "11 points apart")
            self.assertEqual(known.verdict_of(truth, {"memory data": 0.8}, ""), "other cause")
            self.assertEqual(known.verdict_of(truth, {}, ""), "not found")

    def test_memory_in_one_is_the_sum_of_its_parts(self) -> None:
        truth = {"memory data: main memory": 0.5, "memory data: L2": 0.1, "unattributed": 0.4}
        self.assertEqual(known.verdict_of(truth, {"memory data": 0.62}, ""), "yes")
        self.assertEqual(known.verdict_of(truth, {"memory data: main memory": 0.62}, ""), "12 points apart")


if __name__ == "__main__":
    unittest.main()
