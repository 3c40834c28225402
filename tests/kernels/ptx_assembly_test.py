#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader of PTX tells right code from wrong."""

import unittest

import ptx_assembly

GOOD = """
.entry banks(
	.param .u32 p)
{
$L__BB0_1:
	st.shared.u32 	[%rd1], %r1;
	@%p1 bra 	$L__BB0_1;
	bar.sync 	0;
$L__BB0_2:
	ld.shared.v2.u32 	{%r2, %r3}, [%rd2];
	add.s32 	%r4, %r2, %r3;
	ld.shared.v2.u32 	{%r5, %r6}, [%rd3];
	@%p2 bra 	$L__BB0_2;
	ld.shared.u32 	%r7, [%rd4];
	ret;
}
"""


class Reader(unittest.TestCase):
    def refuse(self, ptx: str, reason: str, kind: str = "ld", accesses: int = 2) -> None:
        with self.assertRaisesRegex(ptx_assembly.Unexpected, reason):
            ptx_assembly.check(ptx, "banks", kind, accesses, 64)

    def test_accepts_accesses_and_multiples_of_them(self) -> None:
        ptx_assembly.check(GOOD, "banks", "ld", 2, 64)
        ptx_assembly.check(GOOD, "banks", "ld", 1, 64)

    def test_wants_every_access(self) -> None:
        self.refuse(GOOD, "2 accesses in a loop", accesses=3)

    def test_tells_narrow_from_wide(self) -> None:
        self.refuse(GOOD.replace("ld.shared.v2.u32 	{%r5, %r6}", "ld.shared.u32 	%r5"),
                    "ld.shared of 32 bits in a loop and not ld of 64")

    def test_tells_loads_from_stores(self) -> None:
        self.refuse(GOOD, "ld.shared of 64 bits in a loop and not st", kind="st")

    def test_wants_a_loop_behind_the_barrier(self) -> None:
        self.refuse(GOOD.replace("@%p2 bra 	$L__BB0_2;", ""), "no loop")
        self.refuse(GOOD.replace(".entry banks(", ".entry other("), "no kernel")

    def test_accesses_that_are_made_once_lie_between_clocks(self) -> None:
        once = GOOD.replace("$L__BB0_2:", "mov.u64 %rd5, %clock64;").replace(
            "@%p2 bra 	$L__BB0_2;", "mov.u64 %rd6, %clock64;")
        ptx_assembly.check_once(once, "banks", "ld", 2, 64)
        with self.assertRaisesRegex(ptx_assembly.Unexpected, "not 3 ld.shared of 64"):
            ptx_assembly.check_once(once, "banks", "ld", 3, 64)
        with self.assertRaisesRegex(ptx_assembly.Unexpected, "not 2 st.shared"):
            ptx_assembly.check_once(once, "banks", "st", 2, 64)
        with self.assertRaisesRegex(ptx_assembly.Unexpected, "reads the clock 0 times"):
            ptx_assembly.check_once(GOOD, "banks", "ld", 2, 64)

    def test_a_clock_behind_a_barrier_waits_for_a_load(self) -> None:
        held = GOOD.replace("$L__BB0_2:", "ld.volatile.shared.u32 %r8, [%rd5];"
                            "\nmov.u64 %rd6, %clock64;\nmov.u64 %rd7, %clock64;")
        self.assertEqual(ptx_assembly.clocks_behind_barriers(held, "banks"), 1)
        self.assertEqual(ptx_assembly.clocks_behind_barriers(GOOD, "banks"), 0)
        free = held.replace(".volatile", "")
        self.assertEqual(ptx_assembly.clocks_behind_barriers(free, "banks"), 0)


if __name__ == "__main__":
    unittest.main()
