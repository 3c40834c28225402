# SPDX-License-Identifier: Apache-2.0
"""Transfers between host and device: clprobe transfer against copies in CUDA and clpeak's."""

import pathlib
import re
import shutil
import statistics
import sys
from typing import Any

from twins.bandwidth import Rate
from twins.common import (MIB, CannotRun, build_cuda_twin, run, run_document, run_json,
                          size_word)

# clprobe's series, the way and the memory of the twin.
CASES = [("to-device-pinned", "to", "pinned"), ("from-device-pinned", "from", "pinned"),
         ("both-pinned", "both", "pinned"), ("to-device", "to", "pageable"),
         ("from-device", "from", "pageable")]
SIZE = 64 * MIB
# What clpeak calls those from and to a program's own memory. Its mappings of a GPU's buffer may
# move nothing, as those of a CPU's.
CLPEAK_CASES = [("to-device", "enqueueWriteBuffer"), ("from-device", "enqueueReadBuffer")]
# Of pageable memory, as in a point of clprobe.
PAGEABLE_COPIES = 4


def rate_of(program: pathlib.Path, device: dict[str, Any], series: str) -> float:
    """The median of the samples of one point, in bytes a second."""
    document = run_document([program, "transfer", "--device", device["index"], "--series", series,
                             "--sizes", SIZE])
    points = document["results"][0]["points"]
    if not points or not points[0]["samples"]:
        raise CannotRun(f"clprobe measured no {series}")
    return statistics.median(sample["accesses"] / sample["host_ns"] * 1e9
                             for sample in points[0]["samples"])


def rates_in_clpeak(said: str) -> dict[str, float]:
    """The better of clpeak's blocking and other calls each way, in bytes a second."""
    rates = {}
    for series, call in CLPEAK_CASES:
        found = re.findall(rf"^ +{call}(?: non-blocking)? +: ([0-9.]+)$", said, re.M)
        if not found:
            raise CannotRun(f"clpeak told no rate of {call}")
        rates[series] = max(float(rate) for rate in found) * 1e9
    return rates


def rates_of_clpeak(device: dict[str, Any]) -> dict[str, float]:
    platform, number = device["platform_index"].split(":")
    return rates_in_clpeak(run(["clpeak", "--transfer-bandwidth", "-p", platform, "-d", number]))


def clpeak_rows() -> dict[str, Rate]:
    """By the series; none where clpeak is not installed."""
    if shutil.which("clpeak") is None:
        print("clpeak is not installed, so nothing is compared with it", file=sys.stderr)
        return {}
    return {series: Rate(f"{series} and -pinned, clpeak", 1.0) for series, _ in CLPEAK_CASES}


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, "transfer")
    rows = [Rate(series, 0.97) for series, _, _ in CASES]
    of_clpeak = clpeak_rows()
    for _ in range(options.rounds):
        for row, (series, way, memory) in zip(rows, CASES):
            repeats = options.repeats if memory == "pinned" else PAGEABLE_COPIES
            row.other.append(statistics.median(
                run_json([twin, way, memory, SIZE, repeats])["bytes_per_second"]))
            row.ours.append(rate_of(program, device, series))
        theirs = rates_of_clpeak(device) if of_clpeak else {}
        for series, row in of_clpeak.items():
            row.other.append(theirs[series])
            # The best of the calls on both sides.
            row.ours.append(max(each.ours[-1] for each in rows
                                if each.name in (series, f"{series}-pinned")))
    rows += of_clpeak.values()
    print(f"{device['name']}, transfers of {size_word(SIZE)} in GB/s, "
          f"the best of {options.rounds} rounds")
    print(f"  {'clprobe transfer, by':<34} {'other':>9} {'clprobe':>9} {'ratio':>7} {'target':>9}")
    for row in rows:
        mark = "" if row.is_within() else "  MISSED"
        print(f"  {row.name:<34} {max(row.other) / 1e9:>9.1f} {max(row.ours) / 1e9:>9.1f} "
              f"{row.ratio():>7.4f} {'>= ' + format(row.least, 'g'):>9}{mark}")
    return rows
