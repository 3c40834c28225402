#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads AMD assembly as clang writes it (-S) and checks a timed loop of accesses:

- the loop between the two clock reads has one access of the expected kind a hop, and no other, and
  where BITS are given, each moves so many;
- no access of that kind can still be under way at a clock read, on any path through the code.

    amd_assembly.py FILE.s KERNEL vector|scalar|local|local-store|image HOPS [BITS]
"""

import dataclasses
import re
import sys

# Kinds of load, and the wait that ends each: gfx9 to gfx11 count in s_waitcnt, gfx12 has a wait for
# each counter.
LOADS = {
    "vector": re.compile(r"(global|flat|buffer|scratch)_load_(?!format)"),
    "scalar": re.compile(r"s_(buffer_)?load_"),
    "local": re.compile(r"ds_(read|load)"),
    "local-store": re.compile(r"ds_(write|store)"),
    "image": re.compile(r"image_(load|sample|msaa_load)|t?buffer_load_format"),
}
LOCAL_WAIT = re.compile(r"s_waitcnt.*\blgkmcnt\(0\)|s_wait_((load|store)cnt_)?dscnt 0x0$")
WAITS = {
    "vector": re.compile(r"s_waitcnt.*\bvmcnt\(0\)|s_wait_loadcnt(_dscnt)? 0x0$"),
    "scalar": re.compile(r"s_waitcnt.*\blgkmcnt\(0\)|s_wait_kmcnt 0x0$"),
    "local": LOCAL_WAIT,
    "local-store": LOCAL_WAIT,
    "image": re.compile(r"s_waitcnt.*\bvmcnt\(0\)|s_wait_(load|sample)cnt 0x0$"),
}
CLOCK = re.compile(r"s_mem(real)?time|s_getreg_b32 .*SHADER_CYCLES|s_sendmsg_rtn_b64")
BARRIER = re.compile(r"s_barrier")
LABEL = re.compile(r"([.\w$]+):")
END = re.compile(r"s_endpgm|s_setpc|s_trap")


class Unexpected(Exception):
    """The code is not what the series promises."""


@dataclasses.dataclass
class Code:
    """One kernel: instructions, and for each those that may come next."""

    instructions: list[str]
    successors: list[list[int]]


def kernel_lines(assembly: str, kernel: str) -> list[str]:
    lines = assembly.splitlines()
    begins = [n for n, line in enumerate(lines) if line.startswith(f"{kernel}:")]
    if not begins:
        raise Unexpected(f"no kernel {kernel}")
    rest = lines[begins[0] + 1:]
    ends = [n for n, line in enumerate(rest)
            if line.startswith(".Lfunc_end") or ".amdhsa_kernel" in line]
    return rest[:ends[0]] if ends else rest


def read_code(assembly: str, kernel: str) -> Code:
    instructions: list[str] = []
    labels: dict[str, int] = {}
    for line in kernel_lines(assembly, kernel):
        text = re.sub(r"\s*(;|//).*", "", line).strip()
        label = LABEL.match(text)
        if label:
            labels[label[1]] = len(instructions)
        elif text and not text.startswith("."):
            instructions.append(re.sub(r"\s+", " ", text))
    successors = []
    for n, text in enumerate(instructions):
        after = [] if END.match(text) or text.startswith("s_branch") else [n + 1]
        if text.startswith(("s_branch", "s_cbranch")):
            after.append(labels[text.split()[-1]])
        successors.append([m for m in after if m < len(instructions)])
    return Code(instructions, successors)


def reachable(edges: list[list[int]], start: list[int], barred: int = -1) -> set[int]:
    seen: set[int] = set()
    stack = [n for n in start if n != barred]
    while stack:
        n = stack.pop()
        if n not in seen:
            seen.add(n)
            stack += [m for m in edges[n] if m != barred]
    return seen


def predecessors(code: Code) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in code.instructions]
    for n, after in enumerate(code.successors):
        for m in after:
            before[m].append(n)
    return before


def natural_loops(code: Code) -> list[set[int]]:
    """Bodies of the loops: an edge to a header that every path to the edge passes closes one."""
    before = predecessors(code)
    loops: dict[int, set[int]] = {}
    for tail, after in enumerate(code.successors):
        for header in after:
            if tail != header and tail in reachable(code.successors, [0], barred=header):
                continue  # reached around the header: no loop of its own
            if tail in reachable(code.successors, [header]):
                body = reachable(before, [tail], barred=header) | {header}
                loops[header] = loops.get(header, set()) | body
    return list(loops.values())


def kind_of(instruction: str) -> str | None:
    return next((kind for kind, load in LOADS.items() if load.match(instruction)), None)


def timed_loops(code: Code, clocks: list[int]) -> list[set[int]]:
    """Innermost loops with loads that lie after one clock read and before another."""
    before = predecessors(code)
    loops = natural_loops(code)
    found = []
    for body in loops:
        inner = any(other < body for other in loops)
        loads = any(kind_of(code.instructions[n]) for n in body)
        outside = [clock for clock in clocks if clock not in body]
        ahead = reachable(before, list(body))
        behind = reachable(code.successors, list(body))
        if (loads and not inner and any(clock in ahead for clock in outside)
                and any(clock in behind for clock in outside)):
            found.append(body)
    return found


def may_be_under_way(code: Code, kind: str, loads: list[int]) -> list[bool]:
    """For each instruction, whether some path leads to it with one of the loads not waited for."""
    under_way = [False] * len(code.instructions)
    stack = list(loads)
    seen = set(stack)
    while stack:
        n = stack.pop()
        for m in code.successors[n]:
            under_way[m] = True
            if m not in seen and not WAITS[kind].match(code.instructions[m]):
                seen.add(m)
                stack.append(m)
    return under_way


def timed_stretch(code: Code, clocks: list[int]) -> set[int]:
    """What is run between two clock reads without a barrier between them."""
    walls = set(clocks) | {n for n, text in enumerate(code.instructions) if BARRIER.match(text)}
    open_edges = [[] if n in walls else after for n, after in enumerate(code.successors)]
    found: set[int] = set()
    for start in clocks:
        ahead = reachable(open_edges, code.successors[start])
        ends = [clock for clock in clocks if clock in ahead and clock != start]
        behind = reachable(predecessors(Code(code.instructions, open_edges)), ends)
        found |= (ahead & behind) - walls
    return found


def check_accesses(code: Code, kernel: str, body: set[int], kind: str, hops: int,
                   bits: int | None) -> None:
    """Raises Unexpected unless the body has so many accesses of the kind, and no other."""
    kinds = [kind_of(code.instructions[n]) for n in sorted(body)]
    for other in LOADS:
        count, expected = kinds.count(other), hops if other == kind else 0
        if count != expected:
            raise Unexpected(f"{kernel}: {count} {other} loads in the timed code and not "
                             f"{expected}")
    for n in sorted(body):
        words = code.instructions[n].split()
        is_right = re.search(rf"(read|load|write|store)_b{bits}$", words[0])
        if bits is not None and kind_of(words[0]) == kind and not is_right:
            raise Unexpected(f"{kernel}: {words[0]} in the timed code, not {bits} bits at a time")


def check(assembly: str, kernel: str, kind: str, hops: int, bits: int | None = None,
          once: bool = False) -> None:
    """Raises Unexpected with the reason when the timed loop is not a chase of that kind, or without
    a loop the timed code."""
    code = read_code(assembly, kernel)
    clocks = [n for n, text in enumerate(code.instructions) if CLOCK.match(text)]
    if len(clocks) < 2:
        raise Unexpected(f"{kernel} reads the clock {len(clocks)} times")
    if once:
        body = timed_stretch(code, clocks)
        # The load behind stores, which waits for them, and arguments that are fetched late.
        last = [n for n in sorted(body) if kind_of(code.instructions[n]) == "local"][-1:]
        body -= set(last) if kind == "local-store" else set()
        body = {n for n in body if kind_of(code.instructions[n]) != "scalar"}
        check_accesses(code, kernel, body, kind, hops, bits)
    else:
        loops = timed_loops(code, clocks)
        if not loops:
            raise Unexpected(f"{kernel} has no loop with loads between two clock reads")
        for body in loops:
            check_accesses(code, kernel, body, kind, hops, bits)
    # Scalar loads outside of loops fetch the kernel's arguments, for which no clock need wait.
    looping = set().union(*natural_loops(code))
    waited = [n for n, text in enumerate(code.instructions)
              if LOADS[kind].match(text) and (n in looping or kind != "scalar")]
    under_way = may_be_under_way(code, kind, waited)
    for clock in clocks:
        if under_way[clock]:
            raise Unexpected(f"{kernel}: '{code.instructions[clock]}' does not wait for the last "
                             f"{kind} load")


def main() -> int:
    if len(sys.argv) not in (5, 6):
        print(__doc__, file=sys.stderr)
        return 2
    path, kernel, kind, hops, *rest = sys.argv[1:]
    bits = int(rest[0]) if rest else None
    with open(path, encoding="utf-8") as file:
        try:
            check(file.read(), kernel, kind, int(hops), bits)
        except Unexpected as problem:
            print(f"{path}: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
