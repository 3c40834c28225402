# SPDX-License-Identifier: Apache-2.0
"""What a launch costs: clprobe launch, by OpenCL's driver, beside launches by CUDA's, alone, queued, as a
graph and beside idle streams, and beside clpeak's. There is no target: they are two drivers, and clpeak
says how long a launch waits until it starts."""

import pathlib
import re
import shutil
import statistics
from typing import Any

from twins.common import CannotRun, build_cuda_twin, run, run_document, run_json
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


def clpeak_row() -> Rate:
    return Rate("launch", "1 queued", "clpeak", unit="seconds")


def add_clpeak(row: Rate, device: dict[str, Any], costs: dict[str, float]) -> None:
    """Nothing where clpeak is not installed."""
    if shutil.which("clpeak") is None:
        return
    platform, number = device["platform_index"].split(":")
    said = run(["clpeak", "--kernel-latency", "-p", platform, "-d", number])
    found = re.search(r"latency : ([0-9.]+) us", said)
    if not found:
        raise CannotRun("clpeak told no latency of a launch")
    row.other.append(float(found[1]) * 1e-6)
    row.ours.append(costs["1 queued"])


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    row = clpeak_row()
    for _ in range(options.rounds):
        add_clpeak(row, device, costs_of(program, device))
    rows = [row] if row.ours else []
    if rows:
        print_rates(f"{device['name']}, time of a launch", rows)
    return rows


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, device, "launch")
    # What clprobe does, beside what CUDA does: a graph is beside a command buffer, where there is one,
    # else beside as many launches one by one.
    pairs: list[tuple[str, str, list[Any]]] = [
        *((f"{count} queued", "CUDA", ["stream", count, 10 * options.repeats]) for count in COUNTS),
        *((f"idle-queues-{number}", "CUDA", ["stream", BESIDE, 10 * options.repeats, number])
          for number in IDLE_QUEUES),
        (f"{BESIDE} queued", "CUDA, graph", ["graph", BESIDE, 10 * options.repeats]),
        ("command-buffer", "CUDA, graph", ["graph", BESIDE, 10 * options.repeats])]
    rows = [*(Rate("launch", name, by, unit="seconds") for name, by, _ in pairs), clpeak_row()]
    for _ in range(options.rounds):
        costs = costs_of(program, device)
        for row, (name, _, words) in zip(rows, pairs):
            if name in costs:
                row.other.append(statistics.median(run_json([*twin, *words])["seconds"]))
                row.ours.append(costs[name])
        add_clpeak(rows[-1], device, costs)
    rows = [row for row in rows if row.ours]
    print_rates(f"{device['name']}, time of a launch", rows)
    return rows
