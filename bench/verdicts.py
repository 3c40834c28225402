#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collects the verdicts of `compare` for runs of one machine, among which every change is false.

Usage: verdicts.py CLPROBE FOLDER [--side K] [--draws N] [--threshold SHARE] [--findings N]
                   [--coverage N] [--quiet PERCENT] [--make N [--load]] [-- OPTION...]

Compares all ordered pairs of the folder's run documents. --side K instead draws N pairs (40) of K runs each,
with a fixed seed. The table shows the machine, driver and commit of the runs, the exit statuses of --fail-on
worse, the shares of the verdicts over all probes and for each, and the resolution: the largest change that
could have been missed.

--findings N     lists the N findings that were most often not `same`
--coverage N     shows, for each probe and the N worst findings, how often intervals contain "no change",
                 the 95th percentile of differences, and the median half width of intervals
--quiet PERCENT  keeps runs whose single-core times (arithmetic, own caches) were disturbed at most so much
--make N         first makes N runs in the folder, which has none yet, with the options after --
--load           adds two intermittent busy loops to these runs (bench/load.py)
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
from typing import Any

import intervals_held
import made_runs

VERDICTS = ("same", "better", "worse", "different", "unclear")


def sides_of(files: list[str], side: int, draws: int) -> list[tuple[list[str], list[str]]]:
    """Returns the pairs of runs to compare."""
    if side == 1:
        return [([a], [b]) for a, b in itertools.permutations(files, 2)]
    generator = random.Random(1)
    drawn = [generator.sample(files, 2 * side) for _ in range(draws)]
    return [(each[:side], each[side:]) for each in drawn]


def disturbance_of_cores(file: str) -> float:
    """Returns the largest disturbance, in percent, of single-core references in all runs of a file."""
    kinds = ("core", "cache", "arithmetic")
    references = [each for run in made_runs.read(file) for each in run.get("disturbances", [])]
    of_cores = [each for each in references if each["kind"] in kinds and not each["is_rate"]]
    return max((100 * each["half_width"] for each in of_cores), default=math.inf)


def runs_in(folder: pathlib.Path, most: float | None) -> tuple[list[str], str]:
    """Returns the files to compare, sorted by name, and a description of them."""
    files = sorted(str(path) for path in folder.rglob("*.json"))
    if most is None:
        return files, "runs"
    quiet = [each for each in files if disturbance_of_cores(each) <= most]
    return quiet, f"runs of cores quiet within {most:g} %"


def compare(words: list[str], sides: tuple[list[str], list[str]]) -> tuple[int, Any, str]:
    """Runs a comparison. Returns its exit status, document and messages."""
    done = subprocess.run([*words, *sides[0], "--", *sides[1], "--json"], capture_output=True, check=False)
    document = json.loads(done.stdout) if done.stdout else None
    return done.returncode, document, done.stderr.decode(errors="replace")


def name_of(row: Any) -> str:
    """Returns the name of a finding in a comparison."""
    words = [row["probe"], row["series"], row.get("level"), row["name"], row.get("part")]
    return " ".join(str(word) for word in words if word not in (None, ""))


def print_findings(rows: dict[str, collections.Counter[str]], most: int) -> None:
    """Prints the `most` findings that were most often not `same`, with their verdicts."""
    others = {name: sum(counts.values()) - counts["same"] for name, counts in rows.items()}
    for name in sorted(rows, key=lambda each: -others[each])[:most]:
        said = "   ".join(f"{each} {rows[name][each]}" for each in VERDICTS if rows[name][each])
        print(f"  {name:<60}{said}")


def given_to(words: list[str]) -> tuple[argparse.Namespace, list[str], argparse.ArgumentParser]:
    """Returns the arguments, the words after `--`, and the parser."""
    own, options = made_runs.split(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--side", type=int, default=1, metavar="K")
    parser.add_argument("--draws", type=int, default=40, metavar="N")
    parser.add_argument("--threshold", default="3%", metavar="SHARE")
    parser.add_argument("--findings", type=int, default=0, metavar="N")
    parser.add_argument("--coverage", type=int, metavar="N")
    parser.add_argument("--quiet", type=float, metavar="PERCENT")
    parser.add_argument("--make", type=int, default=0, metavar="N")
    parser.add_argument("--load", action="store_true")
    given = parser.parse_args(own)
    if given.make < 1 and (given.load or options):
        parser.error("--load, and what is behind --, is for the runs of --make")
    if given.make > 0 and any(given.folder.rglob("*.json")):
        parser.error(f"{given.folder} has runs already: --make needs another folder")
    return given, options, parser


def print_machine(files: list[str], seconds: list[float], has_load: bool) -> None:
    """Prints the machine, and the durations of runs made by this script."""
    print("\n".join(made_runs.machines_of([each for file in files for each in made_runs.read(file)])))
    if seconds:
        beside = ", beside a load that comes and goes" if has_load else ""
        print(f"seconds  {min(seconds):.3g} to {max(seconds):.3g} a run{beside}")


def main() -> None:
    """Prints the table."""
    given, options, parser = given_to(sys.argv[1:])
    seconds: list[float] = []
    if given.make > 0:
        seconds = made_runs.make_runs(given.clprobe, given.folder, given.make, options, given.load)
    files, kind = runs_in(given.folder, given.quiet)
    if given.side < 1 or len(files) < 2 * given.side:
        needed = f"two sides of {given.side} need {2 * given.side}"
        parser.error(f"{given.folder} has {len(files)} {kind}: {needed}")
    words = [given.clprobe, "compare", "--fail-on", "worse", "--threshold", given.threshold]
    pairs = sides_of(files, given.side, given.draws)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda sides: compare(words, sides), pairs))
    exits = collections.Counter(status for status, _, _ in results)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    failed: collections.Counter[str] = collections.Counter()
    resolutions = []
    for status, document, said in results:
        if status == 4:
            failed.update(line.split(" -> ")[0].rsplit(": ", 1)[0] for line in said.splitlines())
        if document is None:
            continue
        counts["verdicts"].update(document["runs"][1]["verdicts"])
        for row in document["findings"]:
            said_of_row = [cell["verdict"] for cell in row["runs"] if "verdict" in cell]
            counts[row["probe"]].update(said_of_row)
            rows[name_of(row)].update(said_of_row)
            resolutions += [cell["resolution_share"] for cell in row["runs"] if "resolution_share" in cell]
    print_machine(files, seconds, given.load)
    print(f"{len(files)} {kind}, {len(pairs)} pairs of {given.side} a side, threshold {given.threshold}")
    print("exit       " + "   ".join(f"{status}: {count}" for status, count in sorted(exits.items())))
    for name, verdicts in counts.items():
        total = max(1, sum(verdicts.values()))
        print(f"{name:<11}" + "   ".join(f"{each} {100 * verdicts[each] / total:.1f} %" for each in VERDICTS))
    if resolutions:
        middle, most = statistics.median(resolutions), statistics.quantiles(resolutions, n=20)[-1]
        print(f"resolution  median {100 * middle:.2g} %   95 of 100 within {100 * most:.3g} %")
    for what, count in failed.most_common(10):
        print(f"{count:5} times {what}")
    print_findings(rows, given.findings)
    if given.coverage is not None:
        intervals_held.print_coverage([each for _, each, _ in results if each is not None], given.coverage)


if __name__ == "__main__":
    main()
