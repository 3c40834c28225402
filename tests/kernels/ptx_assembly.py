#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads PTX as clang writes it and checks the loops that access shared (local) memory: each has a
whole multiple of so many accesses of so many bits (clang unrolls), and no other. Accesses that are
made once, in no loop, are all that lies between the last two clock reads. And it counts the
clocks behind barriers that wait for these.

    ptx_assembly.py FILE.ptx KERNEL ld|st ACCESSES BITS
"""

import re
import sys

LABEL = re.compile(r"(\$?L\w+):")
ACCESS = re.compile(r"(ld|st)(?:\.volatile)?\.shared((?:\.v[24])?)\.\w(\d+)")
# Clang calls a function of that name, which a driver would bring.
BARRIER = re.compile(r"bar(?:rier)?\.(?:cta\.)?sync|_Z7barrierj")
CLOCK = re.compile(r"%clock64")
HELD_BACK = re.compile(r"ld\.volatile\.shared")
JUMP = re.compile(r"bra(?:\.uni)?\s+(\$?L\w+);")


class Unexpected(Exception):
    """The code is not what the series promises."""


def lines_of(ptx: str, kernel: str) -> list[str]:
    """The kernel behind its first barrier, before which the memory is filled."""
    entry = re.search(rf"\.entry {kernel}\b", ptx)
    if not entry:
        raise Unexpected(f"no kernel {kernel}")
    body = re.split(r"\.entry ", ptx[entry.end():])[0]
    return BARRIER.split(body, maxsplit=1)[-1].splitlines()


def own_loops(ptx: str, kernel: str) -> list[str]:
    """Pieces from a label to a jump back to it."""
    lines = lines_of(ptx, kernel)
    labels = {label[1]: n for n, line in enumerate(lines) if (label := LABEL.match(line))}
    loops = []
    for n, line in enumerate(lines):
        jump = JUMP.search(line)
        begin = labels.get(jump[1]) if jump else None
        if begin is None or begin > n:
            continue
        if not any(begin < at < n for at in labels.values()):
            loops.append("\n".join(lines[begin:n]))
    return loops


def check(ptx: str, kernel: str, kind: str, accesses: int, bits: int) -> None:
    """Raises Unexpected with the reason when no loop is as promised, or one is not."""
    found = False
    for loop in own_loops(ptx, kernel):
        widths = [(what, int(size) * int(vector[2:] or 1))
                  for what, vector, size in ACCESS.findall(loop)]
        if not widths:
            continue
        wrong = [each for each in widths if each != (kind, bits)]
        if wrong:
            raise Unexpected(f"{kernel}: {wrong[0][0]}.shared of {wrong[0][1]} bits in a loop and "
                             f"not {kind} of {bits}")
        if len(widths) % accesses != 0:
            raise Unexpected(f"{kernel}: {len(widths)} accesses in a loop, no multiple of "
                             f"{accesses}")
        found = True
    if not found:
        raise Unexpected(f"{kernel} has no loop with {kind}.shared of {bits} bits")


def check_once(ptx: str, kernel: str, kind: str, accesses: int, bits: int) -> None:
    """Raises Unexpected unless that is what lies between the last two clock reads. Behind stores
    there may be one load, which waits for them."""
    lines = lines_of(ptx, kernel)
    clocks = [n for n, line in enumerate(lines) if CLOCK.search(line)]
    if len(clocks) < 2:
        raise Unexpected(f"{kernel} reads the clock {len(clocks)} times")
    timed = "\n".join(lines[clocks[-2]:clocks[-1]])
    found = [(what, int(size) * int(vector[2:] or 1))
             for what, vector, size in ACCESS.findall(timed)]
    if kind == "st" and found[-1:] == [("ld", bits)]:
        found.pop()
    if found != [(kind, bits)] * accesses:
        raise Unexpected(f"{kernel}: between two clock reads not {accesses} {kind}.shared of "
                         f"{bits} bits but {found}")


def clocks_behind_barriers(ptx: str, kernel: str) -> int:
    """How many clocks of a kernel are the first behind a barrier and behind a volatile load of
    shared memory: NVIDIA's barriers hold back such a load, but no clock."""
    is_behind, is_held = True, False  # lines_of() begins behind the first barrier
    found = 0
    for line in lines_of(ptx, kernel):
        if BARRIER.search(line):
            is_behind, is_held = True, False
        elif HELD_BACK.search(line):
            is_held = True
        elif CLOCK.search(line):
            found += is_behind and is_held
            is_behind = False
    return found


def main() -> int:
    if len(sys.argv) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    path, kernel, kind, accesses, bits = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        try:
            check(file.read(), kernel, kind, int(accesses), int(bits))
        except Unexpected as problem:
            print(f"{path}: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
