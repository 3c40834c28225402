# SPDX-License-Identifier: Apache-2.0
"""README's table of stored rows: numbers of clprobe and other programs, one column each."""

import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from twins.common import CannotRun


@dataclasses.dataclass(frozen=True)
class Line:
    """A quantity of the table, and the names of its rows."""

    title: str
    probe: str
    names: tuple[str, ...]
    scale: float
    digits: int


# Series of transfers in a program's own memory; clpeak transfers 512 MiB.
ORDINARY = ("to-device", "from-device", "to-device 512 MiB", "from-device 512 MiB")
LINES = [
    Line("memory (`stride`): read, copy, TB/s", "stride", ("read, the best", "copy, the best"), 1e12, 2),
    Line("L2: read, write, copy, TB/s", "bandwidth", ("read 16 MiB", "write 33 MiB", "copy 33 MiB"),
         1e12, 2),
    Line("L1, local memory: read, TB/s", "bandwidth", ("read-own 128 KiB", "local"), 1e12, 1),
    Line("pinned memory: to, from device, both, GB/s", "transfer",
         ("to-device-pinned", "from-device-pinned", "both-pinned"), 1e9, 1),
    Line("ordinary memory, 64 MiB, 512 MiB: to, from device, GB/s", "transfer", ORDINARY, 1e9, 1),
    Line("a launch: alone (clpeak: until it starts), queued, µs", "launch",
         ("1 queued", "4096 queued"), 1e-6, 1),
    Line("core's clock under load, MHz", "clock", ("arithmetic",), 1e6, 0),
]
CPU_LINES = [
    Line("one core: 16 KiB read, GB/s", "bandwidth", ("read-one-unit 16 KiB",), 1e9, 0),
    Line("all cores: 16 KiB, 256 KiB, 64 MiB read, GB/s", "bandwidth",
         ("read 16 KiB", "read 256 KiB", "read 64 MiB"), 1e9, 0),
    Line("all cores: 256 KiB written, copied, GB/s", "bandwidth", ("write 256 KiB", "copy 256 KiB"),
         1e9, 0),
    Line("transfers of 64 MiB, 512 MiB: to, from device, GB/s", "transfer", ORDINARY, 1e9, 1),
    Line("core's clock under load, MHz", "clock", ("arithmetic",), 1e6, 0),
]
# Programs of each column, in order of preference. Transfers in one direction follow nvbandwidth's method.
BY = {"clprobe": (), "CUDA": ("nvbandwidth's way", "CUDA"), "C++": ("C++", "memcpy"),
      "clpeak": ("clpeak",)}
PROGRAMS = ["clprobe", "CUDA", "clpeak"]
CPU_PROGRAMS = ["clprobe", "C++", "clpeak"]
MISSING = "–"


def short_name(device: str) -> str:
    """Returns a short name: H100 for "NVIDIA H100 80GB HBM3", Xeon for "cpu-haswell-Intel(R) Xeon(R)
    Processor"."""
    words = device.replace("(R)", "").split()
    return words[min(1, len(words) - 1)] if words else device


def is_cpu(kept: dict[str, Any]) -> bool:
    return any(row["by"] in BY["C++"] for row in kept["rows"])


def value_of(kept: dict[str, Any], line: Line, name: str, program: str) -> float | None:
    """Returns a program's number for a quantity. On a CPU, clpeak's transfers are compared with clprobe's
    best call."""
    rows = [row for row in kept["rows"] if row["probe"] == line.probe
            and (row["name"] == name or is_cpu(kept) and row["name"] == f"{name}, the best call")]
    if program == "clprobe":
        own = [row["ours"] for row in rows if row["name"] == name]
        return own[0] if own else None
    others = [row["other"] for by in BY[program] for row in rows if row["by"] == by]
    return others[0] if others else None


def cell_of(kept: dict[str, Any], line: Line, program: str) -> str:
    values = [value_of(kept, line, name, program) for name in line.names]
    if all(value is None for value in values):
        return MISSING
    return ", ".join(MISSING if value is None else f"{value / line.scale:.{line.digits}f}"
                     for value in values)


def table_of(files: Sequence[pathlib.Path]) -> str:
    """Returns the table in Markdown: a line per quantity that a file has, and three columns per file. CPUs
    and GPUs have separate tables."""
    try:
        stored = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    except (OSError, ValueError) as problem:
        raise CannotRun(str(problem)) from problem
    if len({is_cpu(kept) for kept in stored}) != 1:
        raise CannotRun("CPUs and GPUs have tables of their own")
    all_lines, programs = ((CPU_LINES, CPU_PROGRAMS) if is_cpu(stored[0])
                           else (LINES, PROGRAMS))
    heads = [f"{short_name(kept['device'])} {program}" if program == "clprobe" else program
             for kept in stored for program in programs]
    lines = [["", *heads], ["---"] * (len(heads) + 1)]
    for line in all_lines:
        cells = [cell_of(kept, line, program) for kept in stored for program in programs]
        if any(cell != MISSING for cell in cells):
            lines.append([line.title, *cells])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
