#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which of the parameters that GSI's thesis leaves open bring `gsi` nearest to the ratios that it prints.

    bench/calibrate.py build/release/clprobe [--cases searches|arrays] [--rounds N] [--jobs N]

What table 5.1 has stays as it is (latencies, 15 compute units, sizes of caches, 32 MSHRs, 32 entries of
the store buffer). Open are the number of nodes, how many sub-groups search, the work on a node, how long
the queues are, what the second level and memory deliver, and what an atomic takes there; of the arrays the
work on a word, how large its object is, and what the pipelines, the copy engine and the memories deliver.

Coordinate descent over the grids below, from the defaults and from --starts random places (seed 1): each
parameter in turn is set to each value of its grid, and the best is kept, until a round changes nothing.
Best is what gets fewest signs wrong (less or more than before), of those what brings most ratios within
25 % of the thesis's, and of as many the least mean of |ln(here / thesis)|; a ratio of which one side is 0
counts as a factor of 16. The same command gives the same table, for the simulator is exact.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
from typing import Any

# A parameter is an option of gsi, or a place in the machine's file.
Grids = dict[str, tuple[float, ...]]
SEARCHES: Grids = {
    "--nodes": (2048, 4096, 8192, 16384, 32768),
    "--warps": (1, 2, 4, 8),
    "--steps": (3, 6, 12, 24, 48),
    "--local-queue": (2, 4, 8, 16, 32),
    "--back-off": (0, 30, 100, 300),
    "l2.atomic_cycles": (1, 2, 4, 8, 16),
    "l2.bytes_per_cycle": (16, 64, 256),
    "l2_banks.count": (4, 8, 16, 32),
    "memory.bytes_per_cycle": (16, 64, 256),
    "core.branch_cycles": (4, 8, 16),
}
ARRAYS: Grids = {
    "--operations": (2, 8, 16, 32, 64),
    "--object-bytes": (4, 8, 16, 32, 64),
    "alu.latency_cycles": (1, 2, 4, 8),
    "alu.count": (1, 2),
    "core.branch_cycles": (4, 8, 16),
    "load_store.queue_instructions": (1, 2, 4, 8),
    "copy.requests_per_cycle": (1, 2, 4),
    "l2.bytes_per_cycle": (16, 32, 64, 128),
    "memory.bytes_per_cycle": (8, 16, 32, 64, 128),
}
GROUPS = {"searches": ("uts,utsd", SEARCHES), "arrays": ("implicit", ARRAYS)}
WORST = math.log(16.0)

Settings = dict[str, float]
Score = tuple[float, float, float]


def machine_of(clprobe: str) -> dict[str, Any]:
    """sim:gsi, as a file has it."""
    said = subprocess.run([clprobe, "--device", "sim:gsi", "gsi", "--case", "implicit", "--json"],
                          capture_output=True, check=True)
    machine: dict[str, Any] = json.loads(json.loads(said.stdout)["device"]["reported"]["machine"])
    return machine


def with_settings(machine: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The machine with what is set of it."""
    changed: dict[str, Any] = json.loads(json.dumps(machine))
    for name, value in settings.items():
        if name.startswith("--"):
            continue
        section, _, key = name.partition(".")
        whole = isinstance(changed.get(section, {}).get(key, 0), int)
        changed.setdefault(section, {})[key] = int(value) if whole else value
    return changed


def ratios_of(clprobe: str, machine: dict[str, Any], cases: str,
              settings: Settings) -> dict[str, tuple[float, float]]:
    """What is compared, with the thesis's ratio and ours; nothing where it cannot be simulated."""
    words = [word for name, value in settings.items() if name.startswith("--")
             for word in (name, str(int(value)))]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "gsi.json"
        file.write_text(json.dumps(with_settings(machine, settings)), encoding="utf-8")
        done = subprocess.run([clprobe, "--device", f"sim:{file}", "--time-budget", "300s", "gsi",
                               "--case", cases, *words, "--json"], capture_output=True, check=False)
    if done.returncode != 0:
        return {}
    found: dict[str, dict[str, float]] = {}
    for each in json.loads(done.stdout)["results"][0]["findings"]:
        if each["name"] in ("here", "thesis"):
            found.setdefault(each["series"], {})[each["name"]] = each.get("value", 0.0)
    return {what: (of["thesis"], of["here"]) for what, of in found.items() if len(of) == 2}


def distance(thesis: float, here: float) -> float:
    """|ln| of the factor between them, at most that of 16."""
    if thesis == here:
        return 0.0
    if min(thesis, here) <= 0.0:
        return WORST
    return min(WORST, abs(math.log(here / thesis)))


def is_near(thesis: float, here: float) -> bool:
    """Within 25 %."""
    return thesis == here or (thesis > 0.0 and abs(here / thesis - 1.0) <= 0.25)


def score_of(ratios: dict[str, tuple[float, float]]) -> Score:
    """Signs that are wrong, ratios that are not near, the mean distance; infinite where there are none."""
    if not ratios:
        return math.inf, math.inf, math.inf
    wrong = sum((thesis < 1.0) != (here < 1.0) for thesis, here in ratios.values())
    far = sum(not is_near(*each) for each in ratios.values())
    return wrong, far, sum(distance(*each) for each in ratios.values()) / len(ratios)


class Search:
    """Remembers what was simulated."""

    def __init__(self, clprobe: str, cases: str, jobs: int) -> None:
        self.clprobe = clprobe
        self.cases = cases
        self.machine = machine_of(clprobe)
        self.seen: dict[str, dict[str, tuple[float, float]]] = {}
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def ratios(self, settings: Settings) -> dict[str, tuple[float, float]]:
        """Of these settings."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self.seen:
            self.seen[key] = ratios_of(self.clprobe, self.machine, self.cases, settings)
        return self.seen[key]

    def best_of(self, settings: Settings, name: str, grid: tuple[float, ...]) -> Settings:
        """The settings with one of them changed, where that is nearer."""
        tries = [settings, *({**settings, name: value} for value in grid)]
        scores = list(self.pool.map(lambda each: score_of(self.ratios(each)), tries))
        return tries[scores.index(min(scores))]

    def descend(self, settings: Settings, grids: Grids, rounds: int) -> Settings:
        """To where no single change helps."""
        for _ in range(rounds):
            before = settings
            for name, grid in grids.items():
                settings = self.best_of(settings, name, grid)
            if settings == before:
                break
        wrong, far, mean = score_of(self.ratios(settings))
        print(f"  {wrong:.0f} signs wrong, {far:.0f} not within 25 %, mean distance {mean:.3f}: {settings}",
              flush=True)
        return settings

    def run(self, grids: Grids, starts: int, rounds: int) -> Settings:
        """The best of the descents from the defaults and from random places."""
        generator = random.Random(1)
        places: list[Settings] = [{}]
        places += [{name: generator.choice(grid) for name, grid in grids.items()} for _ in range(starts)]
        found = [self.descend(place, grids, rounds) for place in places]
        return min(found, key=lambda each: score_of(self.ratios(each)))


def print_ratios(before: dict[str, tuple[float, float]], after: dict[str, tuple[float, float]]) -> None:
    """Beside each other, with what is within 25 % marked."""
    print("| | thesis | by default | with these | |\n|---|---|---|---|---|")
    for what, (thesis, here) in after.items():
        marked = "within 25 %" if is_near(thesis, here) else ""
        print(f"| {what} | {thesis:.3g} | {before[what][1]:.3g} | {here:.3g} | {marked} |")
    print(f"\n{sum(is_near(*each) for each in after.values())} of {len(after)} within 25 %")


def main() -> None:
    """Prints what was tried, what was found, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("--cases", choices=list(GROUPS), action="append")
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    for name in given.cases or list(GROUPS):
        cases, grids = GROUPS[name]
        print(f"{name}:", flush=True)
        search = Search(given.clprobe, cases, given.jobs)
        settings = search.run(grids, given.starts, given.rounds)
        print(f"\nnearest: {settings or 'the defaults'}\n")
        print_ratios(search.ratios({}), search.ratios(settings))


if __name__ == "__main__":
    main()
