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
        for case in known.CASES:
            text = known.text_of_kernel(known.is_structural(case))
            self.assertEqual(known.text_path(case).read_text(encoding="utf-8"), text)
            self.assertNotIn("STAMPS", text)
        self.assertNotIn("STRUCTURAL", known.text_of_kernel(False))

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
            fields = re.findall(r"\.(\w+) = (\d+|true)[,}]", mix)
            numbers = {field: 1 if value == "true" else int(value) for field, value in fields}
            for field in ("noisy_groups_per_unit", "crowd"):  # of other launches
                numbers.pop(field, None)
            self.assertEqual(numbers, known.CASES[name.group(1)])
        defaults = dict(re.findall(r"std::uint32_t (\w+)\{(\d+)\};", text.split("NoiseUnits noise_units")[0]))
        for field, number in defaults.items():
            if field in known.DEFAULTS:
                self.assertEqual(int(number), known.DEFAULTS[field], field)
        twin = (PROBE / "case.hpp").read_text(encoding="utf-8")
        self.assertIn(f"step_multiplier = {known.STEP_MULTIPLIER};", twin)
        self.assertIn(f"step_addend = {known.STEP_ADDEND:#x};", twin)

    def test_a_launch_has_an_argument_for_each_parameter(self) -> None:
        for case in known.CASES:
            text = known.text_of_kernel(known.is_structural(case))
            parameters = text.split("kernel void stalls_mixed(")[1].split(") {")[0].split(",")
            given = known.usual_launch(case)["arguments"]
            self.assertEqual(len(given), len(parameters), case)
            for parameter, argument in zip(parameters, given):
                self.assertEqual("*" in parameter, "buffer" in argument, parameter)
                self.assertEqual(parameter.split()[0], argument.get("type", "global"), parameter)

    def test_what_waits_for_a_unit_gets_what_the_probe_gives_it(self) -> None:
        sizes = known.Sizes(groups=3, work_items=64, lanes=32, far_bytes=2**20, near_bytes=2**14,
                            first_bytes=2**13, iterations=1)
        cases = {case: known.structural_numbers({**known.DEFAULTS, **known.CASES[case]}, sizes)
                 for case in known.CASES if known.is_structural(case)}
        loads, stores = cases["uncoalesced-loads"], cases["store-bound"]
        self.assertEqual((loads["load_mask"], loads["lane_stride"], loads["turn_stride"]), (1, 32, 1))
        # Six rows have 128 blocks of 4 KiB, or one each of eight.
        self.assertEqual((stores["store_mask"], stores["row_blocks"], stores["lane_stride"]), (127, 21, 1))
        near = cases["uncoalesced-stores"]
        self.assertEqual((near["store_mask"], near["row_blocks"], near["lane_stride"]), (7, 1, 32))
        self.assertEqual([cases["function-unit"]["is_special"], cases["release"]["has_fence"]], [1, 1])
        launch = known.launch_of("store-bound", sizes, "")
        self.assertEqual(launch["objects"][-1]["count"], 128 * known.BLOCK_WORDS)
        self.assertEqual([known.options_of("release", each)
                          for each in ("OpenCL 3.0 CUDA", "OpenCL 3.0 PoCL", "OpenCL 1.2 PoCL")],
                         ["-DSTRUCTURAL=2", "-cl-std=CL3.0 -DSTRUCTURAL=2", "-DSTRUCTURAL=2"])


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
        self.assertEqual(known.verdict_of(chain, {barrier: 0.049}, ""), "not found")
        self.assertEqual(known.verdict_of(chain, {barrier: 0.05}, ""), "other cause")
        self.assertEqual(known.verdict_of(chain, {}, ""), "not found")
        self.assertEqual(known.verdict_of(chain, {}, "not believed: 1.30"), "not believed: 1.30")

    def test_causes_of_one_name(self) -> None:
        for truth in ("memory structural: pending release", "compute structural", "compute data"):
            self.assertEqual(known.verdict_of({truth: 0.8}, {truth: 0.71}, ""), "yes")
            self.assertEqual(known.verdict_of({truth: 0.8}, {"memory data": 0.8}, ""), "other cause")

    def test_lanes_have_conflicts_and_branches_in_one(self) -> None:
        lanes = "memory structural: lanes"
        for truth in ({"control": 0.8}, {"memory structural: bank conflict": 0.8},
                      {"memory structural: serial requests": 0.8}):
            self.assertEqual(known.verdict_of(truth, {lanes: 0.71}, ""), "yes")
            self.assertEqual(known.verdict_of(truth, {lanes: 0.69}, ""), "11 points apart")
            self.assertEqual(known.verdict_of(truth, {"memory data": 0.8}, ""), "other cause")
            self.assertEqual(known.verdict_of(truth, {}, ""), "not found")

    def test_full_store_buffers_are_memory_and_lanes(self) -> None:
        truth = {"memory structural: full store buffer": 0.5}
        lanes = "memory structural: lanes"
        both = {lanes: 0.2, "memory data: last-level cache": 0.25}
        self.assertEqual(known.verdict_of(truth, both, ""), "yes, in 2 parts")
        self.assertEqual(known.verdict_of(truth, {lanes: 0.2, "unattributed": 0.3}, ""), "30 points apart")
        # Neither part is the largest cause, and both together are.
        both = {lanes: 0.2, "memory data: last-level cache": 0.25, "synchronization: barrier": 0.3}
        self.assertEqual(known.verdict_of(truth, both, ""), "yes, in 2 parts")
        both["synchronization: barrier"] = 0.5
        self.assertEqual(known.verdict_of(truth, both, ""), "other cause")

    def test_memory_in_one_is_the_sum_of_its_parts(self) -> None:
        truth = {"memory data: main memory": 0.5, "memory data: L2": 0.1, "unattributed": 0.4}
        self.assertEqual(known.verdict_of(truth, {"memory data": 0.62}, ""), "yes")
        self.assertEqual(known.verdict_of(truth, {"memory data: main memory": 0.62}, ""), "12 points apart")


if __name__ == "__main__":
    unittest.main()
