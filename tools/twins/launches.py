# SPDX-License-Identifier: Apache-2.0
"""What a launch costs: clprobe launch beside the plainest program in OpenCL, to which it is held, and beside
launches by CUDA's driver, alone, queued, as a graph and beside idle streams, and beside clpeak's. These have
no target: CUDA's is another driver, and clpeak says how long a launch waits until it starts."""

import pathlib
import re
import shutil
import statistics
from typing import Any

from twins.common import CannotRun, build_cuda_twin, build_twin, run, run_document, run_json
from twins.rates import Rate, print_rates

COUNTS = [1, 16, 256, 4096]
BESIDE = 256  # where one thing differs from plain launches
IDLE_QUEUES = [1, 64]
# Of a GPU's driver. clprobe's may be faster: what the driver allocates in its process is on huge pages
# (src/measure/worker/child_process.cpp), and processes of one program differ. Beside an H100 five of them
# took 4.0 to 4.9 us for each of 4,096 launches with huge pages, and 4.3 to 5.7 without. On a CPU the
# system's scheduler is a part of it, and there is no target.
PLAIN_MOST = 1.1

# What clprobe does, and the words for the twin that does it.
Pairs = list[tuple[str, list[Any]]]


def plain_launches(options: Any) -> Pairs:
    repeats = 10 * options.repeats
    return [*((f"{count} queued", [count, repeats]) for count in COUNTS),
            *((f"idle-queues-{number}", [BESIDE, repeats, number]) for number in IDLE_QUEUES)]


class PlainTwin:
    """The plainest program in OpenCL, on the same device."""

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
    # A graph is beside a command buffer, where there is one, else beside as many launches one by one.
    pairs = [*((name, "CUDA", ["stream", *words]) for name, words in plain.pairs),
             *((name, "CUDA, graph", ["graph", BESIDE, repeats])
               for name in (f"{BESIDE} queued", "command-buffer"))]
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
