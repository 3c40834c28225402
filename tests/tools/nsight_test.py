#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/nsight.py and bench/ptx.py, without a GPU: PTX for CUDA, shares of metrics, rank correlation."""

import json
import pathlib
import sys
import tempfile
import unittest
from typing import Any

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

    PTX = """.target sm_90, texmode_independent
.address_size 64
.const .align 4 .b8 table[4] = {1, 2, 3, 4};
.entry other( .param .u64 .ptr .global .align 4 other_param_0 )
{ { mov.b32 %r1, %envreg9; } ret; }
.entry own(
 .param .u64 .ptr .shared .align 4 own_param_0,
 .param .u32 .ptr .shared .align 4 own_param_1,
 .param .u64 .ptr .global .align 4 own_param_2,
 .param .u64 .ptr .const .align 4 own_param_3,
 .param .align 4 .b8 own_param_4[8]
)
{
 ld.param.u64 %rd1, [own_param_0];
 ld.param.u32 %r1, [own_param_1];
 ld.const.v2.f32 {%f1, %f2}, [%rd2+8];
 ld.const.f32 %f3, [table+4];
 mov.b32 %r2, %envreg4;
}
"""
    LAUNCH: dict[str, Any] = {"kernel": "own", "global": [128, 2], "local": [64, 1], "offset": [0, 7],
                              "arguments": [{"local_bytes": 257}, {"local_bytes": 4}, {"local_bytes": 8},
                                            {"buffer": "b"}, {"hex": "0100000002000000"}]}

    def test_for_launch(self) -> None:
        made = ptx.for_launch(self.PTX, self.LAUNCH)
        for line in (f"{ptx.LOCAL_NOTE} 768", ".extern .shared .align 16 .b8 clprobe_local[];",
                     "mov.u64 %rd1, clprobe_local+0;", "mov.u32 %r1, clprobe_local+512;",
                     "ld.global.nc.v2.f32 {%f1, %f2}, [%rd2+8];", "ld.const.f32 %f3, [table+4];",
                     "mov.u32 %r2, 7;", " .param .u64 own_param_2,"):
            self.assertIn(f"{line}\n", made)
        self.assertNotIn("other", made)

    def test_refused_launches(self) -> None:
        image = [{"image": "i"}, *self.LAUNCH["arguments"][1:]]
        cases: tuple[tuple[dict[str, Any], str], ...] = (
            ({"local": []}, "driver chooses"), ({"global": [100, 2]}, "smaller"),
            ({"arguments": image}, "has images"), ({"kernel": "none"}, "no kernel none"),
            ({"arguments": []}, "5 parameters for 0 arguments"), ({"offset": [1 << 32, 0]}, "32 bits"))
        for changed, reason in cases:
            with self.assertRaisesRegex(ptx.PtxError, reason):
                ptx.for_launch(self.PTX, {**self.LAUNCH, **changed})
        for line, reason in (("add.u64 %rd1, own_param_0, 1;", "local argument own_param_0"),
                             ("mov.u64 %rd2, table;", "address of a constant variable")):
            with self.assertRaisesRegex(ptx.PtxError, reason):
                ptx.for_launch(self.PTX.replace("ld.const.f32 %f3, [table+4];", line), self.LAUNCH)

    def test_texts_of_bundles(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            for name, text in (("1", '# include "a.h" // here\r\n#include <no.h>\n'),
                               ("2", '#include "b.h"\nA'), ("3", "#pragma once\nB")):
                (folder / f"{name}.cl").write_text(text, encoding="utf-8")
            unit = {"sha256": "1", "options": '-I "x y" -DN=2 -Iz',
                    "includes": [{"written": '"a.h"', "header": 0}]}
            headers = [{"sha256": "2", "includes": [{"written": '"b.h"', "header": 1}]}, {"sha256": "3"}]
            text, options = ptx.program_of({"program": {"units": [unit], "headers": headers}}, folder, None)
        once = "#ifndef CLPROBE_ONCE_1\n#define CLPROBE_ONCE_1\n\nB\n#endif"
        self.assertEqual(text, f"{once}\nA\n#error missing header\n")
        self.assertEqual(options.split(), ["-DN=2"])


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

    def test_busy_time_has_no_idle(self) -> None:
        shares = nsight.Shares({"memory": 0.2, "synchronization": 0.0, "idle": 0.5, "within": 0.3}, "")
        self.assertEqual((shares.first, shares.busy.first), ("idle", "within"))
        self.assertEqual(shares.busy.parts, {"memory": 0.4, "synchronization": 0.0, "within": 0.6})

    def test_documents_name_launches_by_kernel_and_time(self) -> None:
        stall = {"name": "stall", "series": "k 2, folded", "method": "shapley", "label": "memory",
                 "value": 0.75}
        result = {"findings": [{"name": "app_time", "series": "k 2", "value": 0.005676216}, stall,
                               {"name": "app_time", "series": "l", "value": 1e-6}], "reason": "failed"}
        with tempfile.TemporaryDirectory() as made:
            path = pathlib.Path(made) / "run.json"
            path.write_text(json.dumps({"results": [result]}), encoding="utf-8")
            found = nsight.measured_in([str(path)])
        self.assertEqual(found["k", 5676216].parts["memory"], 0.75)
        self.assertEqual((found["l", 1000].parts, found["l", 1000].doubt), ({}, "failed"))

    def test_processes_end_in_time(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            output = pathlib.Path(made) / "output.txt"
            self.assertEqual(nsight.run_bounded(["sh", "-c", "echo a | cat"], 20, output), "")
            self.assertEqual(output.read_text(encoding="utf-8"), "a\n")
            self.assertEqual(nsight.run_bounded(["sh", "-c", "echo 'b|' >&2; exit 3"], 20, output), "b/")
            self.assertEqual(nsight.run_bounded(["sh", "-c", "sleep 30 | cat"], 1, output),
                             "took more than 1 s")

    # By hand: two pairs of three in order, one of them tied on one side: 2 / sqrt(2 * 3).
    def test_rank_correlation(self) -> None:
        self.assertEqual(nsight.tau_b([(1, 1), (2, 2), (3, 3)]), 1.0)
        self.assertAlmostEqual(nsight.tau_b([(1, 2), (2, 1), (3, 3)]) or 0.0, 1 / 3)
        self.assertAlmostEqual(nsight.tau_b([(1, 1), (1, 2), (2, 3)]) or 0.0, 0.8164966)
        self.assertIsNone(nsight.tau_b([(1, 1)]))


if __name__ == "__main__":
    unittest.main()
