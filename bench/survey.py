#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the overhead of a survey (`clprobe profile --list`) as a ratio of alternately measured times.

    bench/survey.py build/release/clprobe build/test/clprobe_surveyed [--rounds N]

The program is one of clprobe's tests. It launches a kernel many times, waits after each hundred launches, and
reports its time in 40 blocks. Every fourth block calls the driver directly, bypassing the loader and so the
survey. Device and host are then as active as in the neighbouring blocks. Each block has its own size and so
its own row in the survey, whose first launches are timed. (Other launches are timed by how long the program
runs, which the direct blocks lengthen by a third.)
In each round, the program runs alone and under the survey, so that the overhead of the loader cancels out.
Columns of the table:
- the median ratio over all rounds, with a 90 % interval
- whether a block gets at most 5 % slower (open: the interval includes 5 %)
- the ratio of the whole program's times, including start and end of clprobe
"""

import argparse
import random
import re
import statistics
import subprocess
import time

# Launches, work-items per launch, steps per work-item.
SERIES = ((1000, 1024, 2000), (1000, 1024, 0), (1000, 1024, 20000))
BLOCKS = 40
RESAMPLES = 2000
MAX_RATIO = 1.05


def times_of(words: list[str]) -> tuple[list[float], float]:
    """Returns the seconds of each block and of the whole program. Ends if the program fails."""
    began = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    took = time.monotonic() - began
    found = re.search(r"^seconds ([\d. ]+)$", done.stdout, re.M)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"{' '.join(words)} ended with status {done.returncode}:\n{done.stdout}")
    return [float(each) for each in found.group(1).split()], took


def interval_of(ratios: list[float]) -> tuple[float, float]:
    """Returns a 90 % bootstrap interval of the median."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 20], medians[-RESAMPLES // 20]


def verdict_of(low: float, high: float) -> str:
    """Returns whether the ratio is at most 5 % above 1: yes, no, or open if the interval includes 5 %."""
    return "yes" if high <= MAX_RATIO else "no" if low > MAX_RATIO else "open"


def ratio_of(seconds: list[float]) -> float:
    """Returns the ratio of blocks through the loader to direct blocks. Of four blocks, the second is direct
    and is compared with its neighbours."""
    fours = zip(*(seconds[k::4] for k in range(4)))
    return statistics.median((before + after) / (2 * past) for before, past, after, _ in fours)


def row_of(series: tuple[int, int, int], clprobe: str, surveyed: str, rounds: int) -> str:
    """Returns a row of the table."""
    launches, items, steps = series
    program = [surveyed, "many", str(launches), str(items), str(steps), "seconds", str(BLOCKS), "direct"]
    with_survey = [clprobe, "profile", "--list", "--", *program]
    times_of(with_survey)  # warms up, since a driver may cache builds
    ratios, wholes, alone = [], [], []
    for round_number in range(rounds):
        both = (program, with_survey)
        measured = [times_of(words) for words in (both if round_number % 2 == 0 else reversed(both))]
        (plain, plain_whole), (slow, slow_whole) = measured if round_number % 2 == 0 else reversed(measured)
        ratios.append(ratio_of(slow) / ratio_of(plain))
        wholes.append(slow_whole / plain_whole)
        alone.append(statistics.median(plain))
    low, high = interval_of(ratios)
    return (f"| {launches} | {1e6 * statistics.median(alone) / launches:.1f} | "
            f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f}) | {verdict_of(low, high)} | "
            f"{statistics.median(wholes):.3f} |")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("surveyed")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    print("| launches | each, us | ratio | at most 5 % | of the whole program |")
    print("|---|---|---|---|---|")
    for series in SERIES:
        print(row_of(series, given.clprobe, given.surveyed, given.rounds), flush=True)


if __name__ == "__main__":
    main()
