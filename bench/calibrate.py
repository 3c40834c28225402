#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds values for the parameters that GSI's thesis leaves open, such that `gsi` reproduces its statements.

    bench/calibrate.py build/release/clprobe [--starts N] [--descents N] [--hops N] [--machines N]
                       [--searched N] [--rounds N] [--jobs N] [--minutes N]
                       [--show | --beyond]

Values from the thesis are fixed: 15 compute units, cache sizes, latencies including the network, 32 MSHRs, 32
store-buffer entries, and one request of the copy engine per cycle. Values from GPGPU-Sim's GTX 480 are fixed
as well: its pipelines, two schedulers (greedy then oldest), and 48 sub-groups per unit.
The open parameters are:
- searches (`uts`, `utsd`): number of nodes, searching sub-groups, work per node, queue lengths, atomics
- arrays (`implicit`): work per word, work per address, number of words, sub-groups per work-group,
  number of work-groups, object size
- machine, shared by both: line length, instructions that the load/store unit holds, memory bandwidths

Simulating one setting takes 0.1 s for the arrays, 2 s for `utsd` and 9 s for both searches. The arrays are
therefore searched, and the searches are evaluated at promising settings:
1. Machine values are dropped if each alone, applied to START, makes the searches miss over two statements.
2. Arrays and machine: coordinate descents from START, from FOUND, and from the best --descents of
   --starts random settings. A descent tries each value of each parameter in turn until a round changes
   nothing. Then follow --hops steps to the best of 48 random settings that differ from the current one
   in one to four parameters.
3. Arrays alone: the same search on each of the best --machines machines.
4. Searches: evaluation on these machines with START's parameters. On the --searched machines with the best
   arrays, steepest descents follow. A setting is abandoned once its arrays, and the statements that `utsd`
   decides alone, make it worse than the best known setting.

The best setting misses the fewest statements of the thesis: changes within 25 %, and the sentences of
bench/thesis.py, which count twice. The arrays are small, so their scores are means over four seeds. Ties go
to the smallest mean |ln(here / thesis)|, summed over arrays and searches; a ratio with a 0 on one side counts
as a factor of 16.
The search is deterministic unless --minutes ends it. --show only prints the table for the defaults. --beyond
changes the defaults one at a time to a value beyond its grid.
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

# A parameter is an option of gsi, or a path in the machine's file.
Settings = dict[str, float | str]
Grids = dict[str, tuple[float, ...]]
MACHINE: Grids = {
    "l1.line_bytes": (32, 64, 128),
    "load_store.queue_instructions": (1, 2, 4, 8),
    # The value 4 is left out: attempts to take the lock of uts saturate L2, and a run takes minutes.
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
# Defaults of the preset and the cases before any search.
START: Settings = {
    "l1.line_bytes": 128, "load_store.queue_instructions": 1, "l2.bytes_per_cycle": 256,
    "memory.bytes_per_cycle": 32, "l2.atomic_cycles": 2,
    "nodes": 16384, "warps": 4, "steps": 16, "step-operations": 8, "state-lines": 4,
    "written-lines": 2, "local-queue": 32, "back-off": 0,
    "operations": 4, "address-operations": 16, "elements": 4, "block": 4, "groups": 6,
    "object-bytes": 32,
}
# A good setting from earlier searches, used as a second start.
FOUND: Settings = {**START, "memory.bytes_per_cycle": 64, "operations": 24, "elements": 2}
# Values beyond the grids in which the defaults of sim:gsi are at an edge. Queues cannot be shorter than 1 nor
# back-off below 0, and clprobe accepts no larger written-lines or local-queue.
BEYOND: Settings = {
    "l1.line_bytes": 256, "l2.bytes_per_cycle": 512, "memory.bytes_per_cycle": 512, "nodes": 32768,
    "steps": 24, "step-operations": 10,
}
OF_ARRAYS, OF_SEARCHES = "implicit", "uts,utsd"
# Seeds of clprobe, the default first. A seed draws the latencies of lines within the machine's ranges. Scores
# with a single seed vary by up to five statements by chance.
SEEDS = (42, 1, 2, 3)
# Machine values that must equal another one.
ALIKE = {"l1.line_bytes": "l1.sector_bytes"}
HOP_CANDIDATES = 48
MAX_CHANGED = 4
MAX_MISSED = 2
# Limit of CPU seconds for a simulation, ten times the usual time. Settings beyond it make no progress.
MAX_SECONDS = 100


def machine_of(clprobe: str) -> dict[str, Any]:
    """Returns the machine sim:gsi in the format of machine files."""
    output = subprocess.run([clprobe, "--device", "sim:gsi", "gsi", "--case", "implicit", "--json"],
                            capture_output=True, check=True)
    machine: dict[str, Any] = json.loads(json.loads(output.stdout)[0]["device"]["reported"]["machine"])
    return machine


def with_settings(machine: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Returns a copy of the machine with the settings applied."""
    changed: dict[str, Any] = json.loads(json.dumps(machine))
    for name, value in settings.items():
        if "." not in name:
            continue
        for path in (name, ALIKE.get(name, name)):
            section, _, key = path.partition(".")
            is_integer = isinstance(changed.get(section, {}).get(key, 0), int)
            changed.setdefault(section, {})[key] = int(value) if is_integer else value
    return changed


def bars_of(clprobe: str, machine: dict[str, Any], cases: str, settings: Settings,
            seed: int = SEEDS[0]) -> Bars:
    """Simulates cases with the settings. Returns their bars, empty if the simulation fails."""
    words = [word for name, value in settings.items() if name.startswith("--") for word in (name, str(value))]
    of_case = [f"{name}={value if isinstance(value, str) else int(value)}" for name, value in settings.items()
               if "." not in name and not name.startswith("--")]
    if of_case:
        words += ["--set", ",".join(of_case)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "gsi.json"
        file.write_text(json.dumps(with_settings(machine, settings)), encoding="utf-8")
        done = subprocess.run(
            ["prlimit", f"--cpu={MAX_SECONDS}", clprobe, "--device", f"sim:{file}", "--quick", "--seed",
             str(seed), "gsi", "--case", cases, *words, "--json"],
            capture_output=True, check=False)
    return Bars(json.loads(done.stdout)[0]["results"][0]["findings"] if done.returncode == 0 else [])


def part_of(settings: Settings, *grids: Grids) -> Settings:
    """Returns the settings that belong to the grids, in the order of the grids."""
    return {name: settings[name] for grid in grids for name in grid}


def key_of(settings: Settings) -> str:
    """Returns a key that is equal for equal settings."""
    return json.dumps(settings, sort_keys=True)


def plus(one: Score, other: Score) -> Score:
    """Adds two scores."""
    return (one[0] + other[0], one[1] + other[1])


def one_core_each() -> Callable[[], None]:
    """Returns an initialiser that pins the threads of a pool, and the programs they start, to one core each.

    A program with one core uses one thread. Many programs with one thread per core of the host would block
    each other.
    """
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))
    return lambda: os.sched_setaffinity(0, {next(cores)})


def shown(score: Score) -> str:
    """Formats a score."""
    return f"{score[0]:.3g} missed, distance {score[1]:.3f}"


class Search:
    """Search that caches simulated settings."""

    def __init__(self, clprobe: str, jobs: int, minutes: float) -> None:
        self.clprobe = clprobe
        self.machine = machine_of(clprobe)
        self.ends = time.monotonic() + 60.0 * minutes
        self.simulated_bars: dict[str, Bars] = {}
        self.scored: dict[str, Score] = {}  # scores of array settings
        self.simulated = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs, initializer=one_core_each())
        # A second pool for concurrent searches, which wait for simulations in the first one.
        self.search_pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def bars(self, cases: str, settings: Settings, seed: int = SEEDS[0]) -> Bars:
        """Returns the bars of the settings; empty for new settings once the time is over."""
        key = f"{cases} {seed} {key_of(settings)}"
        if key not in self.simulated_bars:
            if time.monotonic() > self.ends:
                return Bars([])
            self.simulated_bars[key] = bars_of(self.clprobe, self.machine, cases, settings, seed)
            self.simulated += 1
        return self.simulated_bars[key]

    def arrays(self, settings: Settings) -> Score:
        """Returns the score of the arrays, as the mean over the seeds. Lower is better."""
        candidate = part_of(settings, MACHINE, ARRAYS)
        key = key_of(candidate)
        if key not in self.scored:
            scores = [score_of(OF_ARRAYS, self.bars(OF_ARRAYS, candidate, seed)) for seed in SEEDS]
            if NONE in scores:
                return NONE
            self.scored[key] = (statistics.fmean(missed for missed, _ in scores),
                                statistics.fmean(distance for _, distance in scores))
        return self.scored[key]

    def searches(self, settings: Settings, max_missed: float) -> Score:
        """Returns the score of the searches, or NONE early if `utsd` alone misses more than `max_missed`."""
        candidate = part_of(settings, MACHINE, SEARCHES)
        only_utsd = self.bars("utsd", candidate)
        if not only_utsd.time or 2 * missed_of_some(OF_SEARCHES, only_utsd) > max_missed:
            return NONE
        return score_of(OF_SEARCHES, self.bars(OF_SEARCHES, candidate))

    def nearest(self, candidates: list[Settings], score: Callable[[Settings], Score]) -> Settings:
        """Returns the first of the settings with the best score."""
        scores = list(self.pool.map(score, candidates))
        return candidates[scores.index(min(scores))]

    def descend(self, settings: Settings, grids: Grids, rounds: int,
                score: Callable[[Settings], Score]) -> Settings:
        """Descends by coordinates until no single change improves the score, for `rounds` rounds at most."""
        for _ in range(rounds):
            before = settings
            for name, grid in grids.items():
                tries: list[Settings] = [{**settings, name: value} for value in grid]
                settings = self.nearest([settings, *tries], score)
            if settings == before:
                break
        return settings

    def total(self, settings: Settings, max_missed: float) -> Score:
        """Returns the score of both, or NONE early if they must miss more than `max_missed` statements."""
        score = self.arrays(settings)
        return plus(score, self.searches(settings, max_missed - score[0]))

    def steepest(self, settings: Settings, grids: Grids, rounds: int, max_missed: float) -> Settings:
        """Makes the best single change of all parameters, and repeats this while the score improves, `rounds`
        times at most. Few rounds suffice, which suits slow simulations."""
        for _ in range(rounds):
            tries: list[Settings] = [{**settings, name: value}
                                     for name, grid in grids.items() for value in grid]
            nearest = self.nearest([settings, *tries], partial(self.searches, max_missed=max_missed))
            if nearest == settings:
                break
            settings = nearest
            print(f"  searches, {shown(self.searches(settings, max_missed))}: "
                  f"{part_of(settings, MACHINE, SEARCHES)}", flush=True)
        return settings

    def hop(self, settings: Settings, grids: Grids, hops: int) -> Settings:
        """Moves to better array settings nearby that no single change reaches."""
        generator = random.Random(2)
        for _ in range(hops):
            near = [settings]
            for _ in range(HOP_CANDIDATES):
                names = generator.sample(list(grids), generator.randint(1, MAX_CHANGED))
                changed: Settings = {name: generator.choice(grids[name]) for name in names}
                near.append({**settings, **changed})
            settings = self.nearest(near, self.arrays)
        return settings

    def lowest(self, settings: Settings, grids: Grids, given: argparse.Namespace) -> Settings:
        """Improves array settings by a descent and hops."""
        found = self.hop(self.descend(settings, grids, given.rounds, self.arrays), grids, given.hops)
        print(f"  arrays, {shown(self.arrays(found))}: {part_of(found, MACHINE, ARRAYS)}", flush=True)
        return found

    def possible_machines(self) -> Grids:
        """Returns the grid values that alone, applied to START, let the searches miss few statements."""
        values = [(name, value) for name, grid in MACHINE.items() for value in grid]
        candidates: list[Settings] = [{**START, name: value} for name, value in values]
        scores = list(self.pool.map(lambda candidate: self.searches(candidate, MAX_MISSED), candidates))
        return {name: tuple(value for (of, value), score in zip(values, scores)
                            if of == name and score[0] <= MAX_MISSED) for name in MACHINE}

    def on_all_machines(self, machines: Grids, given: argparse.Namespace) -> None:
        """Improves arrays and machine from START, FOUND and the best random settings."""
        grids = {**machines, **ARRAYS}
        generator = random.Random(1)
        candidates: list[Settings] = []
        for _ in range(given.starts):
            drawn: Settings = {name: generator.choice(grid) for name, grid in grids.items()}
            candidates.append({**START, **drawn})
        scores = list(self.pool.map(self.arrays, candidates))
        best_starts = sorted(range(given.starts), key=scores.__getitem__)[:given.descents]
        begins = [START, FOUND, *(candidates[index] for index in best_starts)]
        list(self.search_pool.map(lambda candidate: self.lowest(candidate, grids, given), begins))

    def best_machines(self, given: argparse.Namespace) -> list[tuple[Score, Settings]]:
        """Returns the best machines with their best arrays, best first. START's machine is always
        included."""
        best: dict[str, tuple[Score, Settings]] = {}
        for key, score in self.scored.items():
            candidate: Settings = {**START, **json.loads(key)}
            machine = key_of(part_of(candidate, MACHINE))
            rank = (score, key_of(candidate))
            if machine not in best or rank < (best[machine][0], key_of(best[machine][1])):
                best[machine] = (score, candidate)
        chosen = sorted(best.values(), key=lambda each: (each[0], key_of(each[1])))[:given.machines]
        of_start = best[key_of(part_of(START, MACHINE))]
        chosen += [] if of_start in chosen else [of_start]
        refined = self.search_pool.map(lambda each: self.lowest(each[1], ARRAYS, given), chosen)
        return sorted(((self.arrays(candidate), candidate) for candidate in refined),
                      key=lambda each: (each[0], key_of(each[1])))

    def run(self, given: argparse.Namespace) -> Settings:
        """Returns the best settings found."""
        possible = self.possible_machines()
        print(f"machines with which the searches miss few statements: {possible}", flush=True)
        self.on_all_machines(possible, given)
        machines = self.best_machines(given)
        print(f"{self.simulated} settings simulated; the best machines:", flush=True)
        for score, candidate in machines:
            print(f"  {shown(score)}: {part_of(candidate, MACHINE, ARRAYS)}", flush=True)
        best, best_score = START, plus(self.arrays(START), self.searches(START, math.inf))
        for descends in (False, True):
            tried = machines[:given.searched] if descends else machines
            bound = best_score[0]
            found = list(self.search_pool.map(
                lambda each, bound=bound: self.steepest(each[1], SEARCHES, given.rounds, bound - each[0][0]),
                tried)) if descends else [candidate for _, candidate in tried]
            totals = self.pool.map(lambda candidate, bound=bound: self.total(candidate, bound), found)
            for total, candidate in zip(totals, found):
                print(f"  both, {shown(total)}: "
                      f"{part_of(candidate, MACHINE, SEARCHES if descends else {})}", flush=True)
                if total < best_score:
                    best, best_score = candidate, total
        ended = "to the end of the search" if time.monotonic() < self.ends else "until the time was over"
        print(f"{self.simulated} settings simulated in all, {ended}", flush=True)
        return best


def print_table(cases: str, before: Bars, after: Bars) -> None:
    """Prints the ratios with marks for changes within 25 %, and the missed sentences."""
    print("| | thesis | by default | with these | |\n|---|---|---|---|---|")
    for what, (thesis, here) in after.ratios.items():
        marked = "within 25 %" if is_near(what, thesis, here) else ""
        print(f"| {what} | {thesis:.3g} | {before.ratios[what][1]:.3g} | {here:.3g} | {marked} |")
    near = sum(is_near(what, *each) for what, each in after.ratios.items())
    missed = missed_by(cases, after)
    output = len(SENTENCES[cases])
    print(f"{near} of {len(after.ratios)} changes within 25 %, {output - len(missed)} of {output} sentences")
    for says in missed:
        print(f"  missed: {says}")


def print_beyond(search: Search) -> None:
    """Prints the scores of the defaults, and of each value beyond a grid."""
    changes: list[Settings] = [{}, *({name: value} for name, value in BEYOND.items())]
    searches = search.pool.map(lambda change: search.bars(OF_SEARCHES, change), changes)
    for change, of_searches in zip(changes, searches):
        output = [f"searches {shown(score_of(OF_SEARCHES, of_searches))}"]
        if not set(change) & set(SEARCHES):
            scores = [score_of(OF_ARRAYS, search.bars(OF_ARRAYS, change, seed)) for seed in SEEDS]
            output.append("arrays " + shown((statistics.fmean(missed for missed, _ in scores),
                                             statistics.fmean(distance for _, distance in scores))))
        print(f"{change or 'the defaults'}: {'; '.join(output)}", flush=True)


def main() -> None:
    """Runs the search and prints its progress, its result and the ratios."""
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
    # The final table ignores the time limit.
    search.ends = math.inf
    for cases, grids in ((OF_SEARCHES, SEARCHES), (OF_ARRAYS, ARRAYS)):
        candidate = part_of(settings, MACHINE, grids) if settings else {}
        print_table(cases, search.bars(cases, {}), search.bars(cases, candidate))


if __name__ == "__main__":
    main()
