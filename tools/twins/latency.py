# SPDX-License-Identifier: Apache-2.0
"""Latencies: clprobe latency against a pointer chase in C++ or CUDA."""

import dataclasses
import pathlib
import statistics
from collections.abc import Callable
from typing import Any

from twins.common import (KIB, MIB, CannotRun, build_cuda_twin, build_twin, least, pages_of,
                          run_document, run_json, size_word, ticks_of)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One working set in clprobe and in the twin, and the allowed deviation of their ratio from 1."""

    level: str
    series: str  # series of clprobe
    twin: str  # series of the twin
    size: int
    target: float


CPU = [
    Comparison("L1", "global", "", 16 * KIB, 0.05),
    Comparison("L2", "global", "", 512 * KIB, 0.05),
    Comparison("DRAM", "global", "", 1024 * MIB, 0.10),
]
NVIDIA = [
    Comparison("L1", "global", "global", 16 * KIB, 0.015),
    Comparison("L2", "global", "global", 4 * MIB, 0.015),
    Comparison("DRAM", "global", "global", 512 * MIB, 0.015),
    Comparison("local", "local", "local", 16 * KIB, 0.015),
    Comparison("constant, near", "constant-program", "constant", 1 * KIB, 0.05),
    Comparison("constant, far", "constant-program", "constant", 32 * KIB, 0.05),
]


# Function that returns the twin's document for a working set, given a point's parameters and facts.
Twin = Callable[[Comparison, dict[str, Any]], dict[str, Any]]


def clprobe_ticks(document: dict[str, Any],
                  comparison: Comparison) -> tuple[float, dict[str, Any]]:
    """Returns clprobe's ticks of one access, and the point's parameters and facts."""
    overhead = document["device"]["clock"]["overhead_ticks"]
    for point in (point for result in document["results"] for point in result["points"]):
        parameters = point["parameters"]
        if (point["series"] == comparison.series
                and parameters["working_set_bytes"] == comparison.size):
            return least(ticks_of(point, overhead)), parameters | point["facts"]
    raise CannotRun(f"clprobe measured no {comparison.series} of {comparison.size} bytes")


def measure_with_clprobe(program: pathlib.Path, device: str,
                         comparisons: list[Comparison]) -> dict[str, Any]:
    sizes = ",".join(str(size) for size in sorted({one.size for one in comparisons}))
    series = ",".join(sorted({one.series for one in comparisons}))
    # The limit exceeds the largest set, since small buffers count as well.
    return run_document([program, "latency", "--device", device, "--sizes", sizes, "--series",
                         series, "--max-memory", "1280MiB"])


@dataclasses.dataclass
class Row:
    """One comparison over all rounds, in ticks (cycles on a GPU) per hop."""

    comparison: Comparison
    native: list[float] = dataclasses.field(default_factory=list)
    ours: list[float] = dataclasses.field(default_factory=list)

    def ratios(self) -> list[float]:
        return [ours / native for ours, native in zip(self.ours, self.native)]

    def is_within(self) -> bool:
        return abs(statistics.median(self.ratios()) - 1) <= self.comparison.target


def compare(program: pathlib.Path, device: str, comparisons: list[Comparison], twin: Twin,
            tick: str, rounds: int) -> tuple[list[Row], float]:
    """Returns the rows, and clprobe's ticks per ns in the last round."""
    rows = [Row(comparison) for comparison in comparisons]
    document = measure_with_clprobe(program, device, comparisons)  # gives step and pages
    for _ in range(rounds):
        for row in rows:
            _, parameters = clprobe_ticks(document, row.comparison)
            row.native.append(least(twin(row.comparison, parameters)[tick]))
        document = measure_with_clprobe(program, device, comparisons)
        for row in rows:
            row.ours.append(clprobe_ticks(document, row.comparison)[0])
    return rows, document["device"]["clock"]["ticks_per_ns"]


def print_table(title: str, rows: list[Row], unit: str, ticks_per_ns: float) -> None:
    print(f"{title}, {unit} a hop ({ticks_per_ns:.3f} a ns), {len(rows[0].ours)} rounds")
    print(f"  {'level':<15} {'working set':>11} {'native':>9} {'clprobe':>9} {'ratio':>7} "
          f"{'of the rounds':>15} {'target':>9}")
    for row in rows:
        ratios = row.ratios()
        mark = "" if row.is_within() else "  MISSED"
        spread = f"{min(ratios):.3f} - {max(ratios):.3f}"
        print(f"  {row.comparison.level:<15} {size_word(row.comparison.size):>11} "
              f"{statistics.median(row.native):>9.2f} {statistics.median(row.ours):>9.2f} "
              f"{statistics.median(ratios):>7.4f} {spread:>15} "
              f"{'+-' + format(100 * row.comparison.target, 'g') + ' %':>9}{mark}")


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Row]:
    program_of_twin = build_twin(["g++", "-std=c++20", "-O2"], "chase.cpp", "chase")

    def twin(comparison: Comparison, parameters: dict[str, Any]) -> dict[str, Any]:
        return run_json([program_of_twin, comparison.size, parameters["step_bytes"],
                         pages_of(parameters), options.repeats])

    rows, rate = compare(program, str(device["index"]), CPU, twin, "ticks", options.rounds)
    print_table(f"{device['name']} against C++", rows, "ticks", rate)
    return rows


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Row]:
    words_of_twin = build_cuda_twin(nvcc, device, "chase", "--extended-lambda")

    def twin(comparison: Comparison, parameters: dict[str, Any]) -> dict[str, Any]:
        return run_json([*words_of_twin, comparison.twin, comparison.size,
                         parameters["step_bytes"], options.repeats])

    rows, rate = compare(program, str(device["index"]), NVIDIA, twin, "cycles", options.rounds)
    print_table(f"{device['name']} against CUDA", rows, "cycles", rate)
    return rows
