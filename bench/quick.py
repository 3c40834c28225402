#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how often `latency --quick` agrees with a run of default effort.

Usage: quick.py CLPROBE [--times N] [--load] [--against FILE] [-- OPTION...]

Makes the default run, or reads it from FILE, and then N quick runs (20). --load adds two intermittent busy
loops (bench/load.py). L1 and L2 are the first two levels of global memory; memory is the last level. A
latency is `right` within 25 % of the default run's, and `silent` if the level or its value is missing.
Options go to every run.
"""

import argparse
import collections
import pathlib
import statistics
import sys
import tempfile
from typing import Any

import made_runs

# Largest difference that `compare` accepts for values without intervals.
WITHIN = 0.25
NAMES = ("L1", "L2", "memory")
WORDS = ("right", "silent", "wrong")


def levels_of(document: dict[str, Any]) -> dict[int, float | None]:
    """Returns the seconds of a load by level of global memory; None for a level without a value."""
    found = next((each for each in document["results"] if each["probe"] == "latency"), None)
    return {each["level"]: each.get("value") for each in (found or {"findings": []})["findings"]
            if each["name"] == "latency" and each["series"] == "global" and "level" in each}


def latencies_of(document: dict[str, Any]) -> dict[str, float | None]:
    """Returns the latencies of L1, L2 and memory. Of two levels, the last is memory; a single one is L1."""
    levels = levels_of(document)
    last = max(levels, default=0)
    return {"L1": levels.get(1), "L2": levels.get(2) if last > 2 else None,
            "memory": levels[last] if last > 1 else None}


def verdict_of(truth: float, found: float | None) -> str:
    """Returns one of WORDS."""
    if found is None:
        return "silent"
    return "right" if abs(found / truth - 1.0) <= WITHIN else "wrong"


def table_of(truth: dict[str, float | None], documents: list[dict[str, Any]]) -> list[str]:
    """Returns a row for each latency of the default run, and one for runs in which all are right."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for document in documents:
        verdicts = {name: verdict_of(value, latencies_of(document)[name])
                    for name, value in truth.items() if value is not None}
        for name, word in verdicts.items():
            counts[name][word] += 1
        counts["all"][next((each for each in reversed(WORDS) if each in verdicts.values()), "right")] += 1
    rows = [f"{'':<8}{'ns':>8}" + "".join(f"{word:>8}" for word in WORDS)]
    for name in (*(each for each in NAMES if each in counts), "all"):
        value = truth.get(name)
        time = "" if value is None else f"{1e9 * value:.3g}"
        rows.append(f"{name:<8}{time:>8}" + "".join(f"{counts[name][word]:>8}" for word in WORDS))
    return rows


def main() -> None:
    """Prints the table."""
    own, options = made_runs.split(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("--times", type=int, default=20, metavar="N")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--against", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args(own)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        against = given.against or folder / "default.json"
        if given.against is None:
            took = made_runs.run_once(given.clprobe, against, ["latency", *options])
            print(f"default run: {took:.1f} s")
        truth = latencies_of(made_runs.read(against)[0])
        if not any(truth.values()):
            raise SystemExit(f"quick: {against.name} has no level of global memory")
        quick = folder / "quick"
        words = ["latency", "--quick", *options]
        seconds = made_runs.make_runs(given.clprobe, quick, given.times, words, given.load)
        documents = [made_runs.read(path)[0] for path in sorted(quick.glob("*.json"))]
    print("\n".join(made_runs.machines_of(documents)))
    print(f"seconds  median {statistics.median(seconds):.3g}, at most {max(seconds):.3g}"
          f"{', beside a load that comes and goes' if given.load else ''}")
    print("\n".join(table_of(truth, documents)))


if __name__ == "__main__":
    main()
