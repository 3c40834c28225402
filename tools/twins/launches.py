# SPDX-License-Identifier: Apache-2.0
"""What a launch costs: clprobe launch, by OpenCL's driver, beside launches by CUDA's. There is no
target: they are two drivers."""

import pathlib
import statistics
from typing import Any

from twins.common import build_cuda_twin, run_document, run_json

COUNTS = [1, 16, 256, 4096]


class Cost:
    """Launches waited for together, and the seconds of each by both drivers."""

    def __init__(self, launches: int) -> None:
        self.launches = launches
        self.native: list[float] = []
        self.ours: list[float] = []

    def is_within(self) -> bool:
        return True


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Cost]:
    twin = build_cuda_twin(nvcc, "launch")
    rows = [Cost(count) for count in COUNTS]
    for _ in range(options.rounds):
        for row in rows:
            row.native.append(statistics.median(
                run_json([twin, row.launches, 10 * options.repeats])["seconds"]))
        document = run_document([program, "launch", "--device", device["index"], "--series", "queued",
                                 "--launches", ",".join(str(count) for count in COUNTS)])
        for point in document["results"][0]["points"]:
            launches = point["parameters"]["launches"]
            rows[COUNTS.index(launches)].ours.append(statistics.median(
                sample["host_ns"] / sample["accesses"] * 1e-9 for sample in point["samples"]))
    print(f"{device['name']}, microseconds of a launch, the least of {options.rounds} rounds")
    print(f"  {'waited for together':<24} {'CUDA':>9} {'clprobe':>9} {'ratio':>7}")
    for row in rows:
        native, ours = min(row.native), min(row.ours)
        print(f"  {row.launches:<24} {native * 1e6:>9.2f} {ours * 1e6:>9.2f} {ours / native:>7.3f}")
    return rows
