# SPDX-License-Identifier: Apache-2.0
"""Launches: clprobe launch against a minimal OpenCL program, CUDA and clpeak. Only the OpenCL program has a
target. CUDA's driver is another one, for single and queued launches, graphs and idle streams. clpeak measures
how long a launch waits until it starts."""

import pathlib
import re
import shutil
import statistics
from typing import Any

from twins.common import CannotRun, build_cuda_twin, build_twin, run, run_document, run_json
from twins.rates import Rate, print_rates

COUNTS = [1, 16, 256, 4096]
VARIANT_LAUNCHES = 256  # launches in comparisons of graphs and idle queues
IDLE_QUEUES = [1, 64]
# Largest ratio on a GPU. clprobe may be faster, since its driver's memory lies on huge pages
# (src/measure/worker/child_process.cpp), and processes of one program differ. On a host with an H100, each of
# 4,096 launches took 4.0 to 4.9 us with huge pages and 4.3 to 5.7 us without, in five processes each. CPUs
# have no target, since the system's scheduler is part of the time.
PLAIN_MOST = 1.1

# Measurements of clprobe with the twin's arguments for each.
Pairs = list[tuple[str, list[Any]]]


def plain_launches(options: Any) -> Pairs:
    repeats = 10 * options.repeats
    return [*((f"{count} queued", [count, repeats]) for count in COUNTS),
            *((f"idle-queues-{number}", [VARIANT_LAUNCHES, repeats, number]) for number in IDLE_QUEUES)]


class PlainTwin:
    """Minimal OpenCL program on the same device."""

    def __init__(self, device: dict[str, Any], options: Any, most: float | None = None) -> None:
        program = build_twin(["g++", "-std=c++20", "-O3"], "launch_opencl.cpp", "launch_opencl",
                             ("-lOpenCL",))
        self.start = [program, *device["platform_index"].split(":")]
        self.pairs = plain_launches(options)
        self.rows = [Rate("launch", name, "OpenCL", None, most, "seconds", is_shared=True)
                     for name, _ in self.pairs]

    def add_round(self, costs: dict[str, float]) -> None:
        for row, (name, words) in zip(self.rows, self.pairs):
            if name in costs:
                row.other.append(statistics.median(run_json([*self.start, *words])["seconds"]))
                row.ours.append(costs[name])


def costs_of(program: pathlib.Path, device: dict[str, Any]) -> dict[str, float]:
    """Returns the seconds of a launch by kind. Series that the device does not support are missing."""
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
    """Adds clpeak's time of a launch if clpeak is installed."""
    if shutil.which("clpeak") is None:
        return
    platform, number = device["platform_index"].split(":")
    output = run(["clpeak", "--kernel-latency", "-p", platform, "-d", number])
    found = re.search(r"latency : ([0-9.]+) us", output)
    if not found:
        raise CannotRun("clpeak told no latency of a launch")
    row.other.append(float(found[1]) * 1e-6)
    row.ours.append(costs["1 queued"])


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    plain = PlainTwin(device, options)
    row = clpeak_row()
    for _ in range(options.rounds):
        costs = costs_of(program, device)
        plain.add_round(costs)
        add_clpeak(row, device, costs)
    rows = [each for each in [*plain.rows, row] if each.ours]
    print_rates(f"{device['name']}, time of a launch", rows)
    return rows


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, device, "launch")
    plain = PlainTwin(device, options, PLAIN_MOST)
    repeats = 10 * options.repeats
    # A graph is compared with a command buffer if there is one, else with as many single launches.
    pairs = [*((name, "CUDA", ["stream", *words]) for name, words in plain.pairs),
             *((name, "CUDA, graph", ["graph", VARIANT_LAUNCHES, repeats])
               for name in (f"{VARIANT_LAUNCHES} queued", "command-buffer"))]
    rows = [*(Rate("launch", name, by, unit="seconds") for name, by, _ in pairs), clpeak_row()]
    for _ in range(options.rounds):
        costs = costs_of(program, device)
        plain.add_round(costs)
        for row, (name, _, words) in zip(rows, pairs):
            if name in costs:
                row.other.append(statistics.median(run_json([*twin, *words])["seconds"]))
                row.ours.append(costs[name])
        add_clpeak(rows[-1], device, costs)
    rows = [row for row in [*plain.rows, *rows] if row.ours]
    print_rates(f"{device['name']}, time of a launch", rows)
    return rows
