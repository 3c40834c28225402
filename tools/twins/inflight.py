# SPDX-License-Identifier: Apache-2.0
"""Loads in flight: cycles of a batch of loads of a work-group, clprobe inflight against CUDA."""

import dataclasses
import math
import pathlib
import statistics
from typing import Any

from twins.common import CannotRun, build_cuda_twin, run_document, run_json


@dataclasses.dataclass
class Block:
    """Cycles of a work-group's batch of loads in every launch of all rounds. Each launch loads other lines
    and takes up to a third longer if many lie in one slice of the cache, so that means are compared."""

    work_items: int
    loads: int
    target: float
    native: list[float] = dataclasses.field(default_factory=list)
    ours: list[float] = dataclasses.field(default_factory=list)

    def ratio(self) -> float:
        return statistics.mean(self.ours) / statistics.mean(self.native)

    def error(self) -> float:
        """Returns the standard error of the ratio, relative to the ratio."""
        return math.sqrt(sum(statistics.variance(side) / len(side) / statistics.mean(side) ** 2
                             for side in (self.ours, self.native)))

    def is_within(self) -> bool:
        return abs(self.ratio() - 1) <= self.target


def blocks_of_clprobe(program: pathlib.Path, device: dict[str, Any],
                      rows: list[Block]) -> dict[tuple[int, int], list[float]]:
    """Returns the ticks of a batch in every launch, by work-items and loads."""
    items = ",".join(str(n) for n in sorted({row.work_items for row in rows}))
    loads = ",".join(str(n) for n in sorted({row.loads for row in rows}))
    document = run_document([program, "inflight", "--device", device["index"], "--work-items",
                             items, "--loads", loads, "--target", "cache", "--series",
                             "thread-latency", "--thorough"])
    found = {}
    for point in document["results"][0]["points"]:
        parameters = point["parameters"]
        if parameters.get("loads", 0) == 0 or "work_items" not in parameters:
            continue
        key = parameters["work_items"], parameters["loads"]
        found[key] = [sample["ticks"] / sample["accesses"]
                      for sample in point["samples"] if "ticks" in sample]
    return found


def print_blocks(title: str, rows: list[Block], rounds: int) -> None:
    print(f"{title}, cycles of a work-group's loads, {rounds} rounds")
    print(f"  {'work-items':>10} {'loads':>6} {'native':>9} {'clprobe':>9} {'launches':>9} "
          f"{'ratio':>7} {'error':>7} {'target':>9}")
    for row in rows:
        mark = "" if row.is_within() else "  MISSED"
        print(f"  {row.work_items:>10} {row.loads:>6} {statistics.mean(row.native):>9.1f} "
              f"{statistics.mean(row.ours):>9.1f} {len(row.ours):>9} {row.ratio():>7.4f} "
              f"{100 * row.error():>5.1f} % "
              f"{'+-' + format(100 * row.target, 'g') + ' %':>9}{mark}")


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Block]:
    twin = build_cuda_twin(nvcc, device, "inflight")
    rows = [Block(items, loads, 0.05) for loads in (1, 2, 4, 8) for items in (32, 128, 512, 1024)]
    for _ in range(options.rounds):
        ours = blocks_of_clprobe(program, device, rows)
        for row in rows:
            document = run_json([*twin, row.work_items, row.loads, 4 * options.repeats])
            row.native += document["cycles"]
            if (row.work_items, row.loads) not in ours:
                raise CannotRun(f"clprobe measured no {row.loads} loads of {row.work_items}")
            row.ours += ours[row.work_items, row.loads]
    print_blocks(device["name"], rows, options.rounds)
    return rows
