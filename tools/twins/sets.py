# SPDX-License-Identifier: Apache-2.0
"""Bandwidth by working set: clprobe bandwidth against loops in C++ or CUDA."""

import pathlib
import statistics
from typing import Any

from twins.bandwidth import Rate
from twins.common import (KIB, MIB, CannotRun, build_cuda_twin, build_twin, pages_of, run_document,
                          run_json, size_word)

# What is read, by clprobe's series and by the twin, and how large the set is.
CASES = [("read-own", "own", 128 * KIB), ("read-one-unit", "one", 128 * KIB),
         ("read-one-unit", "one", 8 * MIB), ("read", "shared", 16 * MIB),
         ("read", "shared", 32 * MIB), ("read", "shared", 1024 * MIB)]
# Of a CPU: within the first cache, the second, and far beyond the last.
CPU_CASES = [("read", "read", 16 * KIB), ("read-one-unit", "one", 16 * KIB),
             ("read", "read", 256 * KIB), ("write", "write", 256 * KIB),
             ("copy", "copy", 256 * KIB), ("read", "read", 64 * MIB)]


def point_of(program: pathlib.Path, device: dict[str, Any], series: str,
             size: int) -> dict[str, Any]:
    document = run_document([program, "bandwidth", "--device", device["index"], "--series", series,
                             "--sizes", size])
    points: list[dict[str, Any]] = document["results"][0]["points"]
    if not points or not points[0]["samples"]:
        raise CannotRun(f"clprobe measured no {series} of {size_word(size)}")
    return points[0]


def rates_in(point: dict[str, Any]) -> list[float]:
    """Of each launch, in bytes a second."""
    return [sample["accesses"] / sample["event_ns"] * 1e9 for sample in point["samples"]]


def print_rows(title: str, rows: list[Rate], rounds: int) -> None:
    print(f"{title}, bandwidth by working set in GB/s, the best of {rounds} rounds")
    print(f"  {'clprobe bandwidth, by':<34} {'native':>9} {'clprobe':>9} {'ratio':>7} {'target':>9}")
    for row in rows:
        mark = "" if row.is_within() else "  MISSED"
        print(f"  {row.name:<34} {max(row.other) / 1e9:>9.1f} {max(row.ours) / 1e9:>9.1f} "
              f"{row.ratio():>7.4f} {'>= ' + format(row.least, 'g'):>9}{mark}")


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    """The best launch of each, since what else runs on the cores only takes bandwidth away."""
    twin = build_twin(["g++", "-std=c++20", "-O3", "-march=native", "-pthread"], "sets.cpp", "sets")
    rows = [Rate(f"{series} {size_word(size)}", 0.95) for series, _, size in CPU_CASES]
    for _ in range(options.rounds):
        for row, (series, word, size) in zip(rows, CPU_CASES):
            point = point_of(program, device, series, size)
            row.ours.append(max(rates_in(point)))
            row.other.append(max(run_json([twin, word, size, device["compute_units"],
                                           options.repeats,
                                           pages_of(point["facts"])])["bytes_per_second"]))
    print_rows(device["name"], rows, options.rounds)
    return rows


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, "sets")
    rows = [Rate(f"{series} {size_word(size)}", 0.98) for series, _, size in CASES]
    for _ in range(options.rounds):
        for row, (series, mode, size) in zip(rows, CASES):
            row.other.append(statistics.median(
                run_json([twin, mode, size, options.repeats])["bytes_per_second"]))
            row.ours.append(statistics.median(rates_in(point_of(program, device, series, size))))
    print_rows(device["name"], rows, options.rounds)
    return rows
