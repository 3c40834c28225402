# SPDX-License-Identifier: Apache-2.0
"""Bandwidth by working set: clprobe bandwidth against loops in CUDA."""

import pathlib
import statistics
from typing import Any

from twins.bandwidth import Rate
from twins.common import KIB, MIB, CannotRun, build_cuda_twin, run_document, run_json, size_word

# What is read, by clprobe's series and by the twin, and how large the set is.
CASES = [("read-own", "own", 128 * KIB), ("read-one-unit", "one", 128 * KIB),
         ("read-one-unit", "one", 8 * MIB), ("read", "shared", 16 * MIB),
         ("read", "shared", 32 * MIB), ("read", "shared", 1024 * MIB)]


def rate_of(program: pathlib.Path, device: dict[str, Any], series: str, size: int) -> float:
    """The median of the launches of one point, in bytes a second."""
    document = run_document([program, "bandwidth", "--device", device["index"], "--series", series,
                             "--sizes", size])
    points = document["results"][0]["points"]
    if not points or not points[0]["samples"]:
        raise CannotRun(f"clprobe measured no {series} of {size_word(size)}")
    return statistics.median(sample["accesses"] / sample["event_ns"] * 1e9
                             for sample in points[0]["samples"])


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, "sets")
    rows = [Rate(f"{series} {size_word(size)}", 0.98) for series, _, size in CASES]
    for _ in range(options.rounds):
        for row, (series, mode, size) in zip(rows, CASES):
            row.other.append(statistics.median(
                run_json([twin, mode, size, options.repeats])["bytes_per_second"]))
            row.ours.append(rate_of(program, device, series, size))
    print(f"{device['name']}, bandwidth by working set in GB/s, the best of {options.rounds} rounds")
    print(f"  {'clprobe bandwidth, by':<34} {'native':>9} {'clprobe':>9} {'ratio':>7} {'target':>9}")
    for row in rows:
        mark = "" if row.is_within() else "  MISSED"
        print(f"  {row.name:<34} {max(row.other) / 1e9:>9.1f} {max(row.ours) / 1e9:>9.1f} "
              f"{row.ratio():>7.4f} {'>= ' + format(row.least, 'g'):>9}{mark}")
    return rows
