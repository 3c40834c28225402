# SPDX-License-Identifier: Apache-2.0
"""What a launch costs: clprobe launch, by OpenCL's driver, beside launches by CUDA's, alone, queued, as a
graph and beside idle streams. There is no target: they are two drivers."""

import pathlib
import statistics
from typing import Any

from twins.common import CannotRun, build_cuda_twin, run_document, run_json
from twins.rates import Rate, print_rates

COUNTS = [1, 16, 256, 4096]
BESIDE = 256  # where one thing differs from plain launches
IDLE_QUEUES = [1, 64]


def costs_of(program: pathlib.Path, device: dict[str, Any]) -> dict[str, float]:
    """Seconds of a launch, by what was launched; of series that the device has not there are none."""
    series = ["queued", "command-buffer", *(f"idle-queues-{number}" for number in IDLE_QUEUES)]
    document = run_document([program, "launch", "--device", device["index"], "--series",
                             ",".join(series), "--launches", ",".join(map(str, COUNTS))])
    costs = {}
    for point in document["results"][0]["points"]:
        if not point["samples"]:
            continue
        name = point["series"]
        if name == "queued":
            name = f"{point['parameters']['launches']} queued"
        costs[name] = statistics.median(sample["host_ns"] / sample["accesses"] * 1e-9
                                        for sample in point["samples"])
    if not all(f"{count} queued" in costs for count in COUNTS):
        raise CannotRun("clprobe measured no queued launches")
    return costs


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, "launch")
    # What clprobe does, beside what CUDA does: a graph is beside a command buffer, where there is one,
    # else beside as many launches one by one.
    pairs: list[tuple[str, str, list[Any]]] = [
        *((f"{count} queued", "CUDA", ["stream", count, 10 * options.repeats]) for count in COUNTS),
        *((f"idle-queues-{number}", "CUDA", ["stream", BESIDE, 10 * options.repeats, number])
          for number in IDLE_QUEUES),
        (f"{BESIDE} queued", "CUDA, graph", ["graph", BESIDE, 10 * options.repeats]),
        ("command-buffer", "CUDA, graph", ["graph", BESIDE, 10 * options.repeats])]
    rows = [Rate("launch", name, by, unit="seconds") for name, by, _ in pairs]
    for _ in range(options.rounds):
        costs = costs_of(program, device)
        for row, (name, _, words) in zip(rows, pairs):
            if name in costs:
                row.other.append(statistics.median(run_json([twin, *words])["seconds"]))
                row.ours.append(costs[name])
    rows = [row for row in rows if row.ours]
    print_rates(f"{device['name']}, time of a launch", rows)
    return rows
