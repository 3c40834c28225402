#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/nsight.py and bench/ptx.py, without a GPU: PTX for CUDA, shares of metrics, rank correlation."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import nsight  # noqa: E402  (its folder has just been named)
import ptx  # noqa: E402


class Ptx(unittest.TestCase):
    """What only OpenCL's launches have is put right."""

    def test_for_cuda(self) -> None:
        self.assertEqual(ptx.for_cuda(".target sm_90, texmode_independent"), ".target sm_90")
        self.assertEqual(ptx.for_cuda(".param .u64 .ptr .global .align 4 a,"), ".param .u64 a,")
        self.assertEqual(ptx.for_cuda("mov.b32 \t%r1, %envreg3;"), "mov.u32 %r1, 0;")
        self.assertEqual(ptx.for_cuda("mov.u32 %r2, %envreg8;"), "mov.u32 %r2, %nctaid.z;")
        with self.assertRaises(ptx.PtxError):
            ptx.for_cuda("mov.b32 %r1, %envreg9;")


class Shares(unittest.TestCase):
    """Of the time, and not of the warps."""

    @staticmethod
    def row(**stalls: str) -> dict[str, str]:
        samples = {f"{nsight.SAMPLES}{name}{nsight.NOT_ISSUED}": count for name, count in stalls.items()}
        others = {nsight.ISSUED: "20", nsight.ACTIVE: "90", nsight.ELAPSED: "100", nsight.CONFLICTS: "0",
                  nsight.WAVEFRONTS: "0", nsight.THREADS: "32", **dict.fromkeys(nsight.SECTORS, "4")}
        return {**samples, **others}

    def test_parts_make_the_whole(self) -> None:
        shares = nsight.shares_of(self.row(long_scoreboard="60", barrier="20", wait="20", not_selected="500"))
        self.assertAlmostEqual(sum(shares.parts.values()), 1.0)
        self.assertAlmostEqual(shares.parts["idle"], 0.1)
        self.assertAlmostEqual(shares.parts["memory"], 0.9 * 0.8 * 0.6)
        self.assertAlmostEqual(shares.parts["within"], 0.9 * (0.2 + 0.8 * 0.2))
        self.assertEqual((shares.first, shares.cause, shares.apart), ("memory", "long_scoreboard 60", ""))

    def test_lanes_are_apart_by_other_counters(self) -> None:
        def apart(**changed: str) -> str:
            return nsight.apart_in({**self.row(), **changed})
        self.assertEqual(apart(**{nsight.SECTORS[1]: "17"}), "17 sectors")
        self.assertEqual(apart(**{nsight.SECTORS[1]: "16"}), "")
        self.assertEqual(apart(**{nsight.THREADS: "23"}), "23 threads")
        self.assertEqual(apart(**{nsight.CONFLICTS: "51", nsight.WAVEFRONTS: "100"}), "51 % conflicts")

    def test_parts_of_causes(self) -> None:
        self.assertEqual(nsight.part_of_cause("memory data: main memory"), "memory")
        self.assertEqual(nsight.part_of_cause("memory structural: lanes"), "lanes")
        self.assertEqual(nsight.part_of_cause("synchronization: barrier"), "synchronization")
        self.assertEqual(nsight.part_of_cause("unattributed"), "within")

    def test_the_last_wave_is_idle(self) -> None:
        stack = [{"name": "stall", "method": "shapley", "label": label, "value": value}
                 for label, value in (("memory data", 0.6), ("unattributed", 0.4))]
        tail = {"name": "tail", "value": 0.5}
        self.assertEqual(nsight.shares_in(stack).parts["idle"], 0.0)
        parts = nsight.shares_in([*stack, tail]).parts
        self.assertEqual((parts["idle"], parts["memory"], parts["within"]), (0.5, 0.3, 0.2))
        self.assertAlmostEqual(sum(parts.values()), 1.0)
        self.assertEqual(nsight.shares_in([*stack, {**tail, "reason": "not resolved"}]).parts["idle"], 0.0)
        self.assertEqual(nsight.shares_in([*stack, {"name": "tail"}]).parts["idle"], 0.0)

    def test_what_is_left_and_waits_for_loads_is_memory(self) -> None:
        stack = [{"name": "stall", "method": "shapley", "label": "memory data", "value": 0.3},
                 {"name": "stall", "method": "shapley", "label": "unattributed", "value": 0.7}]
        parts = nsight.shares_in([*stack, {"name": "near_waits", "value": 0.5}]).parts
        self.assertAlmostEqual(parts["memory"], 0.8)
        self.assertAlmostEqual(parts["within"], 0.2)
        parts = nsight.shares_in([*stack, {"name": "near_waits", "value": 0.9}]).parts
        self.assertAlmostEqual(parts["memory"], 1.0)

    # By hand: two pairs of three in order, one of them tied on one side: 2 / sqrt(2 * 3).
    def test_rank_correlation(self) -> None:
        self.assertEqual(nsight.tau_b([(1, 1), (2, 2), (3, 3)]), 1.0)
        self.assertAlmostEqual(nsight.tau_b([(1, 2), (2, 1), (3, 3)]) or 0.0, 1 / 3)
        self.assertAlmostEqual(nsight.tau_b([(1, 1), (1, 2), (2, 3)]) or 0.0, 0.8164966)
        self.assertIsNone(nsight.tau_b([(1, 1)]))


if __name__ == "__main__":
    unittest.main()
