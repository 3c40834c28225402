#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which of the parameters that GSI's thesis leaves open bring `gsi` nearest to what it states.

    bench/calibrate.py build/release/clprobe [--starts N] [--descents N] [--hops N] [--machines N]
                       [--searched N] [--rounds N] [--jobs N] [--minutes N]
                       [--show | --beyond]

What the thesis has stays as it is: 15 compute units, sizes of caches, latencies with the network in them,
32 MSHRs, 32 entries of the store buffer, a request of the copy engine a cycle. So do the pipelines of
GPGPU-Sim's GTX 480 with its two schedulers, greedy then oldest, and its 48 sub-groups of a unit. Open are
the number of nodes, how many sub-groups search, the work on a node, how long the queues are, and what an
atomic takes; of the arrays the work on a word, for a place and of how many, how many sub-groups a
work-group has and how many of these there are (of which local memory holds some at once), and how large
an object is; of the machine, which is one for both, the length of a line, how many instructions the
load/store unit holds, and what the memories deliver, by which the store buffer is flushed.

One search over all of them, from START. A place of the arrays takes some 0.1 s to simulate, one of `utsd`
2 s, one of both searches 9 s, so that the arrays are searched, and the searches looked at there:
1. The values of the machine's grids that alone, in START's place, make the searches miss more than two
   statements are left out.
2. Arrays and machine: coordinate descents from START, from FOUND, and from the best --descents of
   --starts random places. Each parameter in turn is set to each value of its grid, and the best is kept,
   until a round changes nothing. Then --hops times the best of 48 random places that differ from the best
   in one to four parameters.
3. The arrays alone, in the same way, on each of the --machines best machines of these.
4. The searches on these machines with START's parameters, and on the --searched on which the arrays miss
   least a descent over those of the searches, by the best single change of all. A place is abandoned once
   its arrays, and the sentences that `utsd` decides alone, make it worse than the best before.
Best is what misses the fewest of the thesis's statements: its ratios within 25 %, and its sentences, as
bench/thesis.py has them, which are signs and orders and count twice; of the arrays, which are small, the
mean over four seeds of clprobe. Of as many it is the least sum of the mean |ln(here / thesis)| of arrays
and searches, where a ratio of which one side is 0 counts as a factor of 16.
The same command gives the same place (the simulator is exact, random places have seeds, and what is tried
together is compared together), unless --minutes ended it. --show searches nothing: it prints the table of
the defaults. --beyond changes one thing of the defaults at a time to a value past the edge of its grid.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from thesis import NONE, SENTENCES, Bars, Score, is_near, missed_by, missed_of_some, score_of

# A parameter is an option of gsi, or a place in the machine's file.
Settings = dict[str, float | str]
Grids = dict[str, tuple[float, ...]]
MACHINE: Grids = {
    "l1.line_bytes": (32, 64, 128),
    "load_store.queue_instructions": (1, 2, 4, 8),
    # With 4 the attempts to take the lock of uts fill the second level: it took minutes of a core.
    "l2.bytes_per_cycle": (32, 64, 128, 256),
    "memory.bytes_per_cycle": (8, 12, 16, 24, 32, 48, 64, 128, 256),
}
SEARCHES: Grids = {
    "nodes": (4096, 8192, 16384),
    "warps": (2, 3, 4, 6, 8),
    "steps": (4, 6, 8, 12, 16),
    "step-operations": (2, 4, 5, 6, 8),
    "state-lines": (1, 2, 4, 6),
    "written-lines": (0, 1, 2),
    "local-queue": (16, 32),
    "back-off": (0, 30, 100),
    "l2.atomic_cycles": (1, 2, 3, 4, 6),
}
ARRAYS: Grids = {
    "operations": (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48),
    "address-operations": (0, 1, 2, 3, 4, 6, 8, 12, 16),
    "elements": (1, 2, 3, 4, 6, 8),
    "block": (1, 2, 4, 8, 12, 16, 24, 32),
    "groups": (1, 2, 3, 4, 6, 8, 16),
    "object-bytes": (4, 8, 16, 32, 64),
}
# What the preset and the cases had before the searches.
START: Settings = {
    "l1.line_bytes": 128, "load_store.queue_instructions": 1, "l2.bytes_per_cycle": 256,
    "memory.bytes_per_cycle": 32, "l2.atomic_cycles": 2,
    "nodes": 16384, "warps": 4, "steps": 16, "step-operations": 8, "state-lines": 4,
    "written-lines": 2, "local-queue": 32, "back-off": 0,
    "operations": 4, "address-operations": 16, "elements": 4, "block": 4, "groups": 6,
    "object-bytes": 32,
}
# Another place known before, as a second one to begin at.
FOUND: Settings = {**START, "memory.bytes_per_cycle": 64, "operations": 24, "elements": 2}
# Past the edges of the grids on which what sim:gsi has lies. No queue is shorter than 1, no back-off than 0,
# and clprobe takes no more lines written, nor places of a local queue, than the grids have.
BEYOND: Settings = {
    "l1.line_bytes": 256, "l2.bytes_per_cycle": 512, "memory.bytes_per_cycle": 512, "nodes": 32768,
    "steps": 24, "step-operations": 10,
}
OF_ARRAYS, OF_SEARCHES = "implicit", "uts,utsd"
# Of clprobe, the first one by default: they draw the latencies of lines within the machine's ranges. What
# is right with one alone is so by chance: places of the arrays miss up to five statements more or less.
SEEDS = (42, 1, 2, 3)
# What is as long as another thing of the machine.
ALIKE = {"l1.line_bytes": "l1.sector_bytes"}
HOP_PLACES = 48
MOST_CHANGED = 4
MOST_LOST = 2
# Of a core, for a place: in ten times as long as most take, units hardly get on, and it is none.
MOST_SECONDS = 100


def machine_of(clprobe: str) -> dict[str, Any]:
    """sim:gsi, as a file has it."""
    said = subprocess.run([clprobe, "--device", "sim:gsi", "gsi", "--case", "implicit", "--json"],
                          capture_output=True, check=True)
    machine: dict[str, Any] = json.loads(json.loads(said.stdout)[0]["device"]["reported"]["machine"])
    return machine


def with_settings(machine: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The machine with what is set of it."""
    changed: dict[str, Any] = json.loads(json.dumps(machine))
    for name, value in settings.items():
        if "." not in name:
            continue
        for place in (name, ALIKE.get(name, name)):
            section, _, key = place.partition(".")
            whole = isinstance(changed.get(section, {}).get(key, 0), int)
            changed.setdefault(section, {})[key] = int(value) if whole else value
    return changed


def bars_of(clprobe: str, machine: dict[str, Any], cases: str, settings: Settings,
            seed: int = SEEDS[0]) -> Bars:
    """What was simulated; nothing where it cannot be."""
    words = [word for name, value in settings.items() if name.startswith("--") for word in (name, str(value))]
    of_case = [f"{name}={value if isinstance(value, str) else int(value)}" for name, value in settings.items()
               if "." not in name and not name.startswith("--")]
    if of_case:
        words += ["--set", ",".join(of_case)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "gsi.json"
        file.write_text(json.dumps(with_settings(machine, settings)), encoding="utf-8")
        done = subprocess.run(
            ["prlimit", f"--cpu={MOST_SECONDS}", clprobe, "--device", f"sim:{file}", "--quick", "--seed",
             str(seed), "gsi", "--case", cases, *words, "--json"],
            capture_output=True, check=False)
    return Bars(json.loads(done.stdout)[0]["results"][0]["findings"] if done.returncode == 0 else [])


def part_of(settings: Settings, *grids: Grids) -> Settings:
    """What of it is in the grids, in their order."""
    return {name: settings[name] for grid in grids for name in grid}


def key_of(settings: Settings) -> str:
    """The same for the same settings."""
    return json.dumps(settings, sort_keys=True)


def plus(one: Score, other: Score) -> Score:
    """Of both."""
    return (one[0] + other[0], one[1] + other[1])


def one_core_each() -> Callable[[], None]:
    """For the threads of a pool: each stays on a core, in turn, and so do the programs that it runs.

    A program that has one core uses one thread: many programs with as many threads as there are cores
    would wait for each other's.
    """
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))
    return lambda: os.sched_setaffinity(0, {next(cores)})


def shown(score: Score) -> str:
    """In words."""
    return f"{score[0]:.3g} missed, distance {score[1]:.3f}"


class Search:
    """Remembers what was simulated."""

    def __init__(self, clprobe: str, jobs: int, minutes: float) -> None:
        self.clprobe = clprobe
        self.machine = machine_of(clprobe)
        self.ends = time.monotonic() + 60.0 * minutes
        self.seen: dict[str, Bars] = {}
        self.scored: dict[str, Score] = {}  # places of arrays
        self.simulated = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs, initializer=one_core_each())
        # Searches beside each other wait for the places that they try in the other one.
        self.beside = concurrent.futures.ThreadPoolExecutor(jobs)

    def bars(self, cases: str, settings: Settings, seed: int = SEEDS[0]) -> Bars:
        """Of these settings; nothing new once the time is over."""
        key = f"{cases} {seed} {key_of(settings)}"
        if key not in self.seen:
            if time.monotonic() > self.ends:
                return Bars([])
            self.seen[key] = bars_of(self.clprobe, self.machine, cases, settings, seed)
            self.simulated += 1
        return self.seen[key]

    def arrays(self, settings: Settings) -> Score:
        """The less the better: the mean over the seeds."""
        place = part_of(settings, MACHINE, ARRAYS)
        key = key_of(place)
        if key not in self.scored:
            scores = [score_of(OF_ARRAYS, self.bars(OF_ARRAYS, place, seed)) for seed in SEEDS]
            if NONE in scores:
                return NONE
            self.scored[key] = (statistics.fmean(missed for missed, _ in scores),
                                statistics.fmean(far for _, far in scores))
        return self.scored[key]

    def searches(self, settings: Settings, most: float) -> Score:
        """The same; at once where `utsd` alone misses more than `most`."""
        place = part_of(settings, MACHINE, SEARCHES)
        begun = self.bars("utsd", place)
        if not begun.time or 2 * missed_of_some(OF_SEARCHES, begun) > most:
            return NONE
        return score_of(OF_SEARCHES, self.bars(OF_SEARCHES, place))

    def nearest(self, places: list[Settings], score: Callable[[Settings], Score]) -> Settings:
        """The first of the best."""
        scores = list(self.pool.map(score, places))
        return places[scores.index(min(scores))]

    def descend(self, settings: Settings, grids: Grids, rounds: int,
                score: Callable[[Settings], Score]) -> Settings:
        """To where no single change helps."""
        for _ in range(rounds):
            before = settings
            for name, grid in grids.items():
                tries: list[Settings] = [{**settings, name: value} for value in grid]
                settings = self.nearest([settings, *tries], score)
            if settings == before:
                break
        return settings

    def total(self, settings: Settings, most: float) -> Score:
        """Of arrays and searches; at once where both cannot but miss more than `most`."""
        score = self.arrays(settings)
        return plus(score, self.searches(settings, most - score[0]))

    def steepest(self, settings: Settings, grids: Grids, rounds: int, most: float) -> Settings:
        """The best single change of all, again and again: few rounds for what takes long to simulate."""
        for _ in range(rounds):
            tries: list[Settings] = [{**settings, name: value}
                                     for name, grid in grids.items() for value in grid]
            nearest = self.nearest([settings, *tries], partial(self.searches, most=most))
            if nearest == settings:
                break
            settings = nearest
            print(f"  searches, {shown(self.searches(settings, most))}: "
                  f"{part_of(settings, MACHINE, SEARCHES)}", flush=True)
        return settings

    def hop(self, settings: Settings, grids: Grids, hops: int) -> Settings:
        """To places of arrays near the best one that no single change reaches."""
        generator = random.Random(2)
        for _ in range(hops):
            near = [settings]
            for _ in range(HOP_PLACES):
                names = generator.sample(list(grids), generator.randint(1, MOST_CHANGED))
                changed: Settings = {name: generator.choice(grids[name]) for name in names}
                near.append({**settings, **changed})
            settings = self.nearest(near, self.arrays)
        return settings

    def lowest(self, settings: Settings, grids: Grids, given: argparse.Namespace) -> Settings:
        """Of arrays, from there: a descent, then hops."""
        found = self.hop(self.descend(settings, grids, given.rounds, self.arrays), grids, given.hops)
        print(f"  arrays, {shown(self.arrays(found))}: {part_of(found, MACHINE, ARRAYS)}", flush=True)
        return found

    def possible_machines(self) -> Grids:
        """The values that alone let the searches miss few statements in START's place."""
        values = [(name, value) for name, grid in MACHINE.items() for value in grid]
        places: list[Settings] = [{**START, name: value} for name, value in values]
        scores = list(self.pool.map(lambda place: self.searches(place, MOST_LOST), places))
        return {name: tuple(value for (of, value), score in zip(values, scores)
                            if of == name and score[0] <= MOST_LOST) for name in MACHINE}

    def on_all_machines(self, machines: Grids, given: argparse.Namespace) -> None:
        """Descents of arrays and machine from START and from the best of the random places."""
        grids = {**machines, **ARRAYS}
        generator = random.Random(1)
        places: list[Settings] = []
        for _ in range(given.starts):
            drawn: Settings = {name: generator.choice(grid) for name, grid in grids.items()}
            places.append({**START, **drawn})
        scores = list(self.pool.map(self.arrays, places))
        begun = sorted(range(given.starts), key=scores.__getitem__)[:given.descents]
        begins = [START, FOUND, *(places[index] for index in begun)]
        list(self.beside.map(lambda place: self.lowest(place, grids, given), begins))

    def best_machines(self, given: argparse.Namespace) -> list[tuple[Score, Settings]]:
        """With the arrays that are nearest there, the best one first; START's is always among them."""
        best: dict[str, tuple[Score, Settings]] = {}
        for key, score in self.scored.items():
            place: Settings = {**START, **json.loads(key)}
            machine = key_of(part_of(place, MACHINE))
            if machine not in best or (score, key_of(place)) < (best[machine][0], key_of(best[machine][1])):
                best[machine] = (score, place)
        chosen = sorted(best.values(), key=lambda each: (each[0], key_of(each[1])))[:given.machines]
        of_start = best[key_of(part_of(START, MACHINE))]
        chosen += [] if of_start in chosen else [of_start]
        refined = self.beside.map(lambda each: self.lowest(each[1], ARRAYS, given), chosen)
        return sorted(((self.arrays(place), place) for place in refined),
                      key=lambda each: (each[0], key_of(each[1])))

    def run(self, given: argparse.Namespace) -> Settings:
        """The best place that is found."""
        possible = self.possible_machines()
        print(f"machines with which the searches miss few statements: {possible}", flush=True)
        self.on_all_machines(possible, given)
        machines = self.best_machines(given)
        print(f"{self.simulated} places simulated; the best machines:", flush=True)
        for score, place in machines:
            print(f"  {shown(score)}: {part_of(place, MACHINE, ARRAYS)}", flush=True)
        best, least = START, plus(self.arrays(START), self.searches(START, math.inf))
        for descends in (False, True):
            tried = machines[:given.searched] if descends else machines
            bound = least[0]
            found = list(self.beside.map(
                lambda each, bound=bound: self.steepest(each[1], SEARCHES, given.rounds, bound - each[0][0]),
                tried)) if descends else [place for _, place in tried]
            totals = self.pool.map(lambda place, bound=bound: self.total(place, bound), found)
            for total, place in zip(totals, found):
                print(f"  both, {shown(total)}: "
                      f"{part_of(place, MACHINE, SEARCHES if descends else {})}", flush=True)
                if total < least:
                    best, least = place, total
        ended = "to the end of the search" if time.monotonic() < self.ends else "until the time was over"
        print(f"{self.simulated} places simulated in all, {ended}", flush=True)
        return best


def print_table(cases: str, before: Bars, after: Bars) -> None:
    """The ratios beside each other, with what is within 25 % marked, and the sentences that are missed."""
    print("| | thesis | by default | with these | |\n|---|---|---|---|---|")
    for what, (thesis, here) in after.ratios.items():
        marked = "within 25 %" if is_near(thesis, here) else ""
        print(f"| {what} | {thesis:.3g} | {before.ratios[what][1]:.3g} | {here:.3g} | {marked} |")
    near = sum(is_near(*each) for each in after.ratios.values())
    missed = missed_by(cases, after)
    said = len(SENTENCES[cases])
    print(f"{near} of {len(after.ratios)} ratios within 25 %, {said - len(missed)} of {said} sentences")
    for says in missed:
        print(f"  missed: {says}")


def print_beyond(search: Search) -> None:
    """What the defaults miss, and each of the values past an edge in their place."""
    changes: list[Settings] = [{}, *({name: value} for name, value in BEYOND.items())]
    searches = search.pool.map(lambda change: search.bars(OF_SEARCHES, change), changes)
    for change, of_searches in zip(changes, searches):
        said = [f"searches {shown(score_of(OF_SEARCHES, of_searches))}"]
        if not set(change) & set(SEARCHES):
            scores = [score_of(OF_ARRAYS, search.bars(OF_ARRAYS, change, seed)) for seed in SEEDS]
            said.append("arrays " + shown((statistics.fmean(missed for missed, _ in scores),
                                           statistics.fmean(far for _, far in scores))))
        print(f"{change or 'the defaults'}: {'; '.join(said)}", flush=True)


def main() -> None:
    """Prints what was tried, what was found, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("--starts", type=int, default=300)
    parser.add_argument("--descents", type=int, default=4)
    parser.add_argument("--hops", type=int, default=10)
    parser.add_argument("--machines", type=int, default=6)
    parser.add_argument("--searched", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--beyond", action="store_true")
    given = parser.parse_args()
    search = Search(given.clprobe, given.jobs, given.minutes)
    if given.beyond:
        print_beyond(search)
        return
    settings = None if given.show else search.run(given)
    print(f"\nnearest: {settings or 'the defaults'}\n")
    # What was found is shown however long it took.
    search.ends = math.inf
    for cases, grids in ((OF_SEARCHES, SEARCHES), (OF_ARRAYS, ARRAYS)):
        place = part_of(settings, MACHINE, grids) if settings else {}
        print_table(cases, search.bars(cases, {}), search.bars(cases, place))


if __name__ == "__main__":
    main()
