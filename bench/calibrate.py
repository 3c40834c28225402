#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which of the parameters that GSI's thesis leaves open bring `gsi` nearest to what it states.

    bench/calibrate.py build/release/clprobe [--cases searches|arrays] [--starts N] [--descents N]
                       [--rounds N] [--hops N] [--jobs N] [--minutes N] [--show]

What the thesis has stays as it is: 15 compute units, sizes of caches, latencies with the network in them,
32 MSHRs, 32 entries of the store buffer, a request of the copy engine a cycle. So do the pipelines of
GPGPU-Sim's GTX 480 with its two schedulers, greedy then oldest, and its 48 sub-groups of a unit. Open are
the number of nodes, how many sub-groups search, the work on a node, how long the queues are, and what an
atomic takes; of the arrays the work on a word, for a place and of how many, how many sub-groups a
work-group has and how many of these there are (of which local memory holds some at once), and how large
an object is; of both the length of a line, how many instructions the load/store unit holds, and what the
memories deliver, by which the store buffer is flushed.

Coordinate descents over the grids below, at once: from the defaults and from the best --descents of
--starts random places (seed 1). Each parameter in turn is set to each value of its grid, and the best is
kept, until a round changes nothing. Then --hops times the best of 48 places at random that differ from the
best in one to four parameters.
Best is what misses the fewest of the thesis's statements: its ratios within 25 %, and its sentences, as
bench/thesis.py has them, which are signs and orders and count twice; of as many the least mean of
|ln(here / thesis)|, where a ratio of which one side is 0 counts as a factor of 16. The same command gives
the same table, for the simulator is exact, unless --minutes ended it. Each place better than all before is
printed when it is found. --show searches nothing, and prints the table of the defaults.
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
import threading
import time
from typing import Any

from thesis import SENTENCES, Bars

# A parameter is an option of gsi, or a place in the machine's file.
Grids = dict[str, tuple[float, ...]]
SEARCHES: Grids = {
    "--nodes": (4096, 8192, 16384),
    "--warps": (2, 3, 4, 6, 8),
    "--steps": (4, 6, 8, 12, 16),
    "--step-operations": (2, 4, 5, 6, 8),
    "--state-lines": (1, 2, 4, 6),
    "--written-lines": (0, 1, 2),
    "--local-queue": (16, 32),
    "--back-off": (0, 30, 100),
    "l1.line_bytes": (64, 128),
    "load_store.queue_instructions": (1, 2, 4),
    "l2.atomic_cycles": (1, 2, 3, 4, 6),
    "l2.bytes_per_cycle": (16, 32, 64, 256),
    "memory.bytes_per_cycle": (16, 32, 64, 256),
}
ARRAYS: Grids = {
    "--operations": (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48),
    "--address-operations": (0, 1, 2, 3, 4, 6, 8, 12, 16),
    "--elements": (1, 2, 3, 4, 6, 8),
    "--block": (1, 2, 4, 8, 12, 16, 24, 32),
    "--groups": (1, 2, 3, 4, 6, 8, 16),
    "--object-bytes": (4, 8, 16, 32, 64),
    "l1.line_bytes": (32, 64, 128),
    "load_store.queue_instructions": (1, 2, 4, 8),
    "l2.bytes_per_cycle": (4, 8, 16, 32, 64, 128),
    "memory.bytes_per_cycle": (4, 8, 12, 16, 24, 32, 64, 128),
}
GROUPS = {"searches": ("uts,utsd", SEARCHES), "arrays": ("implicit", ARRAYS)}
# What is as long as another thing of the machine.
ALIKE = {"l1.line_bytes": "l1.sector_bytes"}
HOP_PLACES = 48
MOST_CHANGED = 4
WORST = math.log(16.0)

Settings = dict[str, float | str]
Score = tuple[float, float]
NONE: Score = (math.inf, math.inf)


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
        for place in (name, ALIKE.get(name, name)):
            section, _, key = place.partition(".")
            whole = isinstance(changed.get(section, {}).get(key, 0), int)
            changed.setdefault(section, {})[key] = int(value) if whole else value
    return changed


def bars_of(clprobe: str, machine: dict[str, Any], cases: str, settings: Settings) -> Bars:
    """What was simulated; nothing where it cannot be."""
    words = [word for name, value in settings.items() if name.startswith("--")
             for word in (name, value if isinstance(value, str) else str(int(value)))]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "gsi.json"
        file.write_text(json.dumps(with_settings(machine, settings)), encoding="utf-8")
        done = subprocess.run([clprobe, "--device", f"sim:{file}", "--quick", "--time-budget", "300s", "gsi",
                               "--case", cases, *words, "--json"], capture_output=True, check=False)
    return Bars(json.loads(done.stdout)["results"][0]["findings"] if done.returncode == 0 else [])


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


def missed_by(cases: str, bars: Bars) -> list[str]:
    """The sentences that do not come out again."""
    return [says for says, holds in SENTENCES[cases] if not holds(bars)]


def score_of(cases: str, bars: Bars) -> Score:
    """What statements that are missed count, and the mean distance; infinite where there are no bars."""
    if not bars.ratios:
        return NONE
    far = sum(not is_near(*each) for each in bars.ratios.values())
    return (far + 2 * len(missed_by(cases, bars)),
            sum(distance(*each) for each in bars.ratios.values()) / len(bars.ratios))


class Search:
    """Remembers what was simulated."""

    def __init__(self, clprobe: str, cases: str, jobs: int, minutes: float) -> None:
        self.clprobe = clprobe
        self.cases = cases
        self.machine = machine_of(clprobe)
        self.ends = time.monotonic() + 60.0 * minutes
        self.seen: dict[str, Bars] = {}
        self.lock = threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.least = score_of(cases, self.bars({}))

    def bars(self, settings: Settings) -> Bars:
        """Of these settings."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self.seen:
            self.seen[key] = bars_of(self.clprobe, self.machine, self.cases, settings)
        return self.seen[key]

    def score(self, settings: Settings) -> Score:
        """The less the better; nothing new once the time is over."""
        if json.dumps(settings, sort_keys=True) not in self.seen and time.monotonic() > self.ends:
            return NONE
        score = score_of(self.cases, self.bars(settings))
        with self.lock:
            if score < self.least:
                self.least = score
                print(f"  {score[0]:.0f} missed, mean distance {score[1]:.3f}: {settings}",
                      flush=True)
        return score

    def nearest(self, places: list[Settings]) -> Settings:
        """The first of the best."""
        scores = list(self.pool.map(self.score, places))
        return places[scores.index(min(scores))]

    def descend(self, settings: Settings, grids: Grids, rounds: int) -> Settings:
        """To where no single change helps."""
        for _ in range(rounds):
            before = settings
            for name, grid in grids.items():
                tries: list[Settings] = [{**settings, name: value} for value in grid]
                settings = self.nearest([settings, *tries])
            if settings == before:
                break
        return settings

    def descend_from_places(self, grids: Grids, starts: int, descents: int, rounds: int) -> Settings:
        """The best of the descents from the defaults and from the best of the random places."""
        generator = random.Random(1)
        places: list[Settings] = [{name: generator.choice(grid) for name, grid in grids.items()}
                                  for _ in range(starts)]
        scores = list(self.pool.map(self.score, places))
        begun = sorted(range(starts), key=scores.__getitem__)[:descents]
        # Each waits for its own simulations, which the pool runs, so that it is not one of the pool's.
        with concurrent.futures.ThreadPoolExecutor(1 + len(begun)) as waiting:
            found = list(waiting.map(lambda place: self.descend(place, grids, rounds),
                                     [{}, *(places[index] for index in begun)]))
        return min(found, key=self.score)

    def hop(self, settings: Settings, grids: Grids, hops: int) -> Settings:
        """To places near the best one that no single change reaches."""
        generator = random.Random(2)
        for _ in range(hops):
            near = [settings]
            for _ in range(HOP_PLACES):
                names = generator.sample(list(grids), generator.randint(1, MOST_CHANGED))
                changed: Settings = {name: generator.choice(grids[name]) for name in names}
                near.append({**settings, **changed})
            settings = self.nearest(near)
        return settings

    def run(self, grids: Grids, given: argparse.Namespace) -> Settings:
        """The best place that is found."""
        found = self.descend_from_places(grids, given.starts, given.descents, given.rounds)
        found = self.hop(found, grids, given.hops)
        print(f"  {len(self.seen)} simulated")
        return found


def print_table(cases: str, before: Bars, after: Bars) -> None:
    """The ratios beside each other, with what is within 25 % marked, and the sentences that are missed."""
    print("| | thesis | by default | with these | |\n|---|---|---|---|---|")
    for what, (thesis, here) in after.ratios.items():
        marked = "within 25 %" if is_near(thesis, here) else ""
        print(f"| {what} | {thesis:.3g} | {before.ratios[what][1]:.3g} | {here:.3g} | {marked} |")
    near = sum(is_near(*each) for each in after.ratios.values())
    missed = missed_by(cases, after)
    said = len(SENTENCES[cases])
    print(f"\n{near} of {len(after.ratios)} ratios within 25 %, {said - len(missed)} of {said} sentences")
    for says in missed:
        print(f"  missed: {says}")


def main() -> None:
    """Prints what was tried, what was found, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("--cases", choices=list(GROUPS), action="append")
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--descents", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hops", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    for name in given.cases or list(GROUPS):
        cases, grids = GROUPS[name]
        print(f"{name}:", flush=True)
        search = Search(given.clprobe, cases, given.jobs, given.minutes)
        settings = {} if given.show else search.run(grids, given)
        print(f"\nnearest: {settings or 'the defaults'}\n")
        print_table(cases, search.bars({}), search.bars(settings))


if __name__ == "__main__":
    main()
