# SPDX-License-Identifier: Apache-2.0
"""Bandwidth by working set: clprobe bandwidth against loops in C++ or CUDA."""

import dataclasses
import pathlib
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from twins.common import (KIB, MIB, CannotRun, build_cuda_twin, build_twin, pages_of, run_document,
                          run_json, size_word)
from twins.rates import Rate, print_rates

# Cases of a CPU: within the first cache, within the second, and far beyond the last. Each list is one run,
# since small written sets cannot be divided among all cores.
CPU_CASES = [[("read", "read", 16 * KIB), ("read-one-unit", "one", 16 * KIB),
              ("read", "read", 256 * KIB), ("read", "read", 64 * MIB)],
             [("write", "write", 256 * KIB), ("copy", "copy", 256 * KIB)]]

# Passes of a CPU twin per repeat. On a shared host, few passes have all cores to themselves, so the best of
# many passes is too good: the best of 420 was 1.2 times the rate of clprobe's 8 launches for 256 KiB written.
# The best of 21 is comparable.
CPU_PASSES = 3

# Sizes for GPUs: within the second cache of every GPU with a twin, far beyond the last cache, and one whose
# two blocks per unit exceed the first cache when 132 units copy.
NEAR, FAR, SHARED_OUT = 16 * MIB, 1024 * MIB, 33 * MIB
# Sizes whose rates depend on the placement of buffers in the second cache. On an H200, two runs wrote 16 MiB
# at 4.15 and 4.30 TB/s, the twin at 4.16 and 4.27 TB/s.
BY_LUCK = (NEAR, 2 * NEAR, SHARED_OUT)
NEAR_LEAST, NEAR_MOST = 0.96, 1.04
# Work-group size at which both programs have the same layout and differ by noise only.
OWN_ITEMS = 1024
# Maximum ratio for memory, where another order of blocks is up to 2.2 % slower.
FAR_MOST = 1.03


@dataclasses.dataclass(frozen=True)
class Case:
    """A series of clprobe at one working set, and its name in the twin."""

    series: str
    size: int
    mode: str = ""  # empty: the name of the series
    least: float | None = 0.98
    most: float | None = 1.02

    def pair(self) -> list[Any]:
        return [self.mode or self.series, self.size]

    def row(self) -> Rate:
        other_order = ", another order" if self.mode else ""
        word = "" if self.series == "local" else f" {size_word(self.size)}"
        is_shared = self.size in BY_LUCK and not self.series.endswith("one-unit")
        return Rate("bandwidth", f"{self.series}{word}{other_order}", "CUDA", self.least, self.most,
                    is_shared=is_shared)

    def row_of_own_groups(self) -> Rate:
        """Returns the row of the comparison with the twin in groups of clprobe's size, by the median."""
        return Rate("bandwidth", f"{self.series} {size_word(self.size)}, as large groups", "CUDA", 0.98,
                    1.02, is_shared=True)


# Cases of GPUs. Writes of one unit proceed at the rate of its stores, so one size suffices. Blocks in another
# order (read-rotating) are a second estimate of a level's rate, which clprobe must reach. For memory they are
# the reference: on an H200, the twin's blocks of 1,024 threads in clprobe's order read 1 GiB at 5.7 TB/s, all
# others at 4.4 to 4.6 TB/s, so that part of it must have come from the cache.
CASES = [Case("read-own", 128 * KIB), Case("local", 32 * KIB), Case("image", 128 * KIB),
         Case("read", NEAR), Case("read", 2 * NEAR),
         Case("read", NEAR, "read-rotating", most=None),
         Case("read", 2 * NEAR, "read-rotating", least=None, most=None),
         Case("read", FAR, "read-rotating", most=FAR_MOST),
         Case("read", FAR, least=None, most=None),
         Case("write", SHARED_OUT, least=NEAR_LEAST, most=NEAR_MOST), Case("write", FAR),
         Case("copy", SHARED_OUT, least=NEAR_LEAST, most=NEAR_MOST), Case("copy", FAR),
         Case("update", SHARED_OUT, least=NEAR_LEAST, most=NEAR_MOST), Case("update", FAR),
         Case("image", NEAR),
         Case("read-one-unit", 128 * KIB), Case("read-one-unit", NEAR // 2),
         Case("write-one-unit", NEAR), Case("copy-one-unit", NEAR), Case("update-one-unit", NEAR)]

# Bytes per cycle of a unit's path to its first cache on NVIDIA GPUs.
PORT_BYTES = 128.0


def rates_in(point: dict[str, Any]) -> list[float]:
    """Returns the rate of each launch in bytes per second."""
    return [sample["accesses"] / sample["event_ns"] * 1e9 for sample in point["samples"]]


def points_of(program: pathlib.Path, device: dict[str, Any],
              cases: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """Measures all series at all sizes of the cases in one run. Returns the points."""
    series = ",".join(sorted({series for series, _ in cases}))
    sizes = ",".join(str(size) for size in sorted({size for _, size in cases}))
    points: list[dict[str, Any]] = run_document(
        [program, "bandwidth", "--device", device["index"], "--series", series, "--sizes",
         sizes])["results"][0]["points"]
    return points


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    """Compares the best launch of each round, since other processes on the cores only take bandwidth away."""
    twin = build_twin(["g++", "-std=c++20", "-O3", "-march=native", "-pthread"], "sets.cpp", "sets")
    rows = {case: Rate("bandwidth", f"{case[0]} {size_word(case[2])}", "C++", least=0.95,
                       is_shared=True)
            for cases in CPU_CASES for case in cases}
    for _ in range(options.rounds):
        for cases in CPU_CASES:
            points = points_of(program, device, [(series, size) for series, _, size in cases])
            for series, word, size in cases:
                point = nearest_point(points, Case(series, size))
                row = rows[series, word, size]
                row.ours.append(max(rates_in(point)))
                row.other.append(max(run_json([twin, word, size, device["compute_units"],
                                               CPU_PASSES * options.repeats,
                                               pages_of(point["facts"])])["bytes_per_second"]))
    print_rates(f"{device['name']}, bandwidth by working set", list(rows.values()))
    return list(rows.values())


def nearest_point(points: list[dict[str, Any]], case: Case) -> dict[str, Any]:
    """Returns the point of the case's series with the largest set up to its size. Units may divide a little
    less."""
    fitting = [point for point in points if point["series"] == case.series and point["samples"]
               and point["parameters"]["working_set_bytes"] <= case.size]
    if not fitting:
        raise CannotRun(f"clprobe measured no {case.series} of {size_word(case.size)}")
    return max(fitting, key=lambda point: int(point["parameters"]["working_set_bytes"]))


def measure_ours(program: pathlib.Path, device: dict[str, Any]) -> list[float]:
    """Measures all cases in one run. Returns the median rate of each."""
    points = points_of(program, device, [(case.series, case.size) for case in CASES])
    return [statistics.median(rates_in(nearest_point(points, case))) for case in CASES]


def rate_of_own_groups(found: dict[str, Any]) -> float:
    """Returns the twin's rate in groups of clprobe's size. Its grids have names like "264 x 1024, 70 times".
    """
    rates: list[float] = [rate for grid, rate in found["medians"].items() if f" x {OWN_ITEMS}," in grid]
    if len(rates) != 1:
        raise CannotRun(f"the twin has no one grid of groups of {OWN_ITEMS}: {', '.join(found['medians'])}")
    return rates[0]


def port_row(own: Rate, device: dict[str, Any], hertz: float) -> Rate:
    """Compares a unit's reads per cycle from its first cache with the width of its port."""
    by_cycle = 1.0 / (device["compute_units"] * hertz)
    return Rate("bandwidth", "read-own, a unit and cycle", "the port", 120.0 / PORT_BYTES, 1.0,
                "bytes_per_cycle", [rate * by_cycle for rate in own.ours],
                [PORT_BYTES for _ in own.ours])


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, device, "sets")
    clock = build_cuda_twin(nvcc, device, "clock")
    rows = [case.row() for case in CASES]
    rows_of_own_groups = {index: case.row_of_own_groups() for index, case in enumerate(CASES)
                          if case.size == SHARED_OUT}
    pairs = [word for case in CASES for word in case.pair()]
    for _ in range(options.rounds):
        sets = run_json([*twin, options.repeats, *pairs])["sets"]
        for index, (row, found, ours) in enumerate(zip(rows, sets, measure_ours(program, device))):
            row.other.append(statistics.median(found["bytes_per_second"]))
            row.ours.append(ours)
            if index in rows_of_own_groups:
                rows_of_own_groups[index].other.append(rate_of_own_groups(found))
                rows_of_own_groups[index].ours.append(ours)
            grids = ", ".join(f"{grid}: {rate / 1e9:.1f}" for grid, rate in found["medians"].items())
            print(f"  {row.name}: blocks x threads {grids}; clprobe {ours / 1e9:.1f}",
                  file=sys.stderr)
    hertz = statistics.median(run_json([*clock, 500])["hertz"])
    rows += [*rows_of_own_groups.values(), port_row(rows[0], device, hertz)]
    print_rates(f"{device['name']}, bandwidth by working set", rows)
    return rows
