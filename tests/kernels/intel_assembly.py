#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads Intel assembly as `ocloc disasm` writes it and checks a timed loop of accesses: between the last
two clock reads, there are so many messages to memory, each of a whole sub-group. Messages of one work-item
(the word behind which a clock waits) are counted apart. A sub-group of more lanes than a message has would
send two for each access, and registers that do not suffice would add others.

    intel_assembly.py FILE.asm LANES MESSAGES [OF_ONE_ITEM]
"""

import re
import sys

CLOCK = re.compile(r"\btm0\.0\b")
SEND = re.compile(r"\bsends?c?(?:\.\w+)?\s+\((\d+)\|M(\d+)\)")
# Messages that neither load nor store.
OTHER = re.compile(r"//.*\b(fence|barrier|end of thread|gateway)\b|\bgtwy\b")


# Lanes of a message for a word of one work-item: a lane for each of its numbers.
MAX_OF_ONE_ITEM = 4


class Unexpected(Exception):
    """The code is not what the series promises."""


def timed_lines(assembly: str) -> list[str]:
    """The lines between the last two clock reads. A read of the low word begins each."""
    lines = assembly.splitlines()
    clocks = [n for n, line in enumerate(lines) if CLOCK.search(line)]
    if len(clocks) < 2:
        raise Unexpected(f"{len(clocks)} clock reads")
    return lines[clocks[-2]:clocks[-1]]


def messages(lines: list[str]) -> list[tuple[int, int]]:
    """Lanes of each message to memory, and its first lane."""
    found = [(SEND.search(line), line) for line in lines]
    return [(int(send[1]), int(send[2])) for send, line in found if send and not OTHER.search(line)]


def check(assembly: str, lanes: int, count: int, of_one_item: int = 0) -> None:
    """Raises Unexpected with the reason when the timed code is not as promised."""
    found = messages(timed_lines(assembly))
    whole = [each for each in found if each[0] > MAX_OF_ONE_ITEM]
    if len(whole) != count or len(found) != count + of_one_item:
        raise Unexpected(f"{len(whole)} messages of sub-groups and {len(found) - len(whole)} others between "
                         f"the clock reads, and not {count} and {of_one_item}")
    other = next((each for each in whole if each != (lanes, 0)), None)
    if other:
        raise Unexpected(f"a message of {other[0]} lanes from lane {other[1]}, and not of {lanes}")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        check(source.read(), *map(int, sys.argv[2:]))
