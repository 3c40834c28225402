#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader of AMD assembly tells right code from wrong."""

import unittest

import amd_assembly

GOOD = """
chase:                                  ; @chase
; %bb.0:
	s_load_dwordx2 s[0:1], s[6:7], 0x0
	s_waitcnt lgkmcnt(0)
	global_load_dword v0, v1, s[0:1]
	s_waitcnt vmcnt(0)
	s_memtime s[2:3]
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
	s_waitcnt vmcnt(0)
	global_load_dword v0, v0, s[0:1]
	s_waitcnt vmcnt(0)
	global_load_dword v0, v0, s[0:1]
	s_cbranch_scc0 .LBB0_1
; %bb.2:
	s_waitcnt vmcnt(0)
	v_cmp_ne_u32_e32 vcc, -1, v0
	s_cbranch_execz .LBB0_4
; %bb.3:
	s_memtime s[4:5]
.LBB0_4:
	s_endpgm
.Lfunc_end0:
"""


STORES = GOOD.replace("\tglobal_load_dword v0, v0, s[0:1]", "\tds_write_b64 v0, v[2:3]").replace(
    "vmcnt", "lgkmcnt")


class Reader(unittest.TestCase):
    def refuse(self, assembly: str, reason: str, kind: str = "vector", hops: int = 2) -> None:
        with self.assertRaisesRegex(amd_assembly.Unexpected, reason):
            amd_assembly.check(assembly, "chase", kind, hops)

    def test_accepts_a_chase(self) -> None:
        amd_assembly.check(GOOD, "chase", "vector", 2)

    def test_wants_one_load_a_hop(self) -> None:
        self.refuse(GOOD, "2 vector loads in the timed code and not 4", hops=4)

    def test_tells_vector_from_scalar(self) -> None:
        self.refuse(GOOD, "2 vector loads in the timed code and not 0", kind="scalar")

    def test_wants_the_last_load_waited_for(self) -> None:
        self.refuse(GOOD.replace("; %bb.2:\n\ts_waitcnt vmcnt(0)\n", ""), "does not wait")

    def test_wants_the_first_load_waited_for(self) -> None:
        late = GOOD.replace("\ts_waitcnt vmcnt(0)\n\ts_memtime s[2:3]", "\ts_memtime s[2:3]")
        self.refuse(late, r"s_memtime s\[2:3\].*does not wait")

    def test_a_wait_for_all_but_one_is_none(self) -> None:
        weak = GOOD.replace("; %bb.2:\n\ts_waitcnt vmcnt(0)", "; %bb.2:\n\ts_waitcnt vmcnt(1)")
        self.refuse(weak, "does not wait")

    def test_finds_a_path_around_the_wait(self) -> None:
        around = GOOD.replace("; %bb.2:\n", "\ts_cbranch_vccz .LBB0_3\n").replace(
            "; %bb.3:", ".LBB0_3:")
        self.refuse(around, "does not wait")

    def test_wants_two_clock_reads_and_a_loop(self) -> None:
        self.refuse(GOOD.replace("s_memtime s[4:5]", "s_nop 0"), "reads the clock 1 times")
        self.refuse(GOOD.replace("s_cbranch_scc0 .LBB0_1", "s_nop 0"), "no loop")


class LocalReader(unittest.TestCase):
    def test_accepts_stores_of_their_width(self) -> None:
        amd_assembly.check(STORES, "chase", "local-store", 2, 64)

    def test_tells_narrow_and_merged_from_wide(self) -> None:
        for other in ("ds_write_b32 v0, v2", "ds_write2_b32 v0, v2, v3",
                      "ds_write2_b64 v0, v2, v3"):
            with self.assertRaisesRegex(amd_assembly.Unexpected, "not 64 bits"):
                amd_assembly.check(STORES.replace("ds_write_b64 v0, v[2:3]", other), "chase",
                                   "local-store", 2, 64)

    def test_tells_loads_from_stores(self) -> None:
        reason = "local loads in the timed code and not 0"
        with self.assertRaisesRegex(amd_assembly.Unexpected, reason):
            amd_assembly.check(STORES.replace("ds_write_b64 v0, v[2:3]", "ds_read_b64 v[2:3], v0"),
                               "chase", "local-store", 2, 64)


if __name__ == "__main__":
    unittest.main()
