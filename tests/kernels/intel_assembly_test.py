#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader of Intel's assembly tells right code from wrong."""

import unittest

import intel_assembly

CLOCK = """(W)     mov (1|M0)               r2.0<1>:ud    tm0.0<0;1,0>:ud
(W)     mov (1|M0)               r2.1<1>:ud    tm0.1<0;1,0>:ud
"""
LOAD = "        send.dc1 (16|M0)         r10      r2      null:0  0x0  0x04205E00  // wr:2+0, rd:2; untyped\n"
FENCE = "(W)     send.ugm (1|M0)          r3       r86     null:0  0x0  0x0214031F  // fence.ugm.none\n"
ADD = "        add (16|M0)              r2.0<1>:d     r10.0<8;8,1>:d    r3.0<0;1,0>:d\n"
GOOD = LOAD + CLOCK + LOAD + ADD + LOAD + FENCE + CLOCK + LOAD


class Reader(unittest.TestCase):
    def refuse(self, assembly: str, reason: str, count: int = 2, of_one_item: int = 0) -> None:
        with self.assertRaisesRegex(intel_assembly.Unexpected, reason):
            intel_assembly.check(assembly, 16, count, of_one_item)

    def test_accepts_the_loads_between_the_clocks(self) -> None:
        intel_assembly.check(GOOD, 16, 2)
        intel_assembly.check(GOOD.replace(ADD, LOAD.replace("16|M0", "1|M0")), 16, 2, 1)

    def test_a_load_that_left_the_timed_code(self) -> None:
        self.refuse(LOAD + CLOCK + LOAD + ADD + CLOCK, "1 messages of sub-groups")

    def test_a_clock_that_moved(self) -> None:
        self.refuse(LOAD + CLOCK + LOAD + CLOCK + LOAD, "1 messages of sub-groups")
        self.refuse(LOAD + LOAD + CLOCK, "1 clock reads")

    def test_registers_that_do_not_suffice(self) -> None:
        self.refuse(GOOD.replace(ADD, ADD + LOAD), "3 messages of sub-groups")

    def test_an_access_of_two_messages(self) -> None:
        halves = LOAD.replace("16|M0", "8|M0") + LOAD.replace("16|M0", "8|M8")
        self.refuse(CLOCK + halves + CLOCK, "a message of 8 lanes from lane 0")
        self.refuse(CLOCK + LOAD + LOAD.replace("M0", "M16") + CLOCK, "a message of 16 lanes from lane 16")

    def test_a_word_of_one_item_too_many(self) -> None:
        self.refuse(GOOD.replace(ADD, LOAD.replace("16|M0", "1|M0")), "2 messages of sub-groups and 1 others")


if __name__ == "__main__":
    unittest.main()
