#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a survey (`clprobe profile --list`) costs a program, as a ratio of times measured in turns.

    bench/survey.py build/release/clprobe build/test/clprobe_surveyed [--rounds N]

The program is one of clprobe's tests: it launches a kernel some number of times, waits after each hundred,
and says how long that took. It does so in 40 blocks, of which each fourth one calls the driver past the
loader, and so past the survey: device and host are as awake, and as busy, for it as for the blocks before
and behind it. Each block has a size of its own, which is another row of the survey with its own first
launches that are timed. (Others are timed by how long the program runs, in which the blocks past the loader
count: by a third more than in a program without these.) What blocks differ by without a survey, the
loader's part, is taken away: in each round the program runs by itself and under the survey. The table has
the median of all rounds with an interval that holds it in nine series of ten, whether a block is at most
5 % slower (open: the interval has that in it), and the ratio of the whole program's times, from its start
to its end: clprobe's own start and end are in that.
"""

import argparse
import random
import re
import statistics
import subprocess
import time

# Launches, work-items of each, steps of each work-item.
SERIES = ((1000, 1024, 2000), (1000, 1024, 0), (1000, 1024, 20000))
BLOCKS = 40
RESAMPLES = 2000
MAX_RATIO = 1.05


def times_of(words: list[str]) -> tuple[list[float], float]:
    """Of each block, as the program says, and of all of it, in seconds; ends where it fails."""
    began = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    took = time.monotonic() - began
    found = re.search(r"^seconds ([\d. ]+)$", done.stdout, re.M)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"{' '.join(words)} ended with status {done.returncode}:\n{done.stdout}")
    return [float(each) for each in found.group(1).split()], took


def interval_of(ratios: list[float]) -> tuple[float, float]:
    """Of the median, by drawing again and again from the rounds."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 20], medians[-RESAMPLES // 20]


def verdict_of(low: float, high: float) -> str:
    """Whether it is at most 5 % slower."""
    return "yes" if high <= MAX_RATIO else "no" if low > MAX_RATIO else "open"


def ratio_of(seconds: list[float]) -> float:
    """Of blocks through the loader to those past it: the second of four, between two of the others."""
    fours = zip(*(seconds[k::4] for k in range(4)))
    return statistics.median((before + behind) / (2 * past) for before, past, behind, _ in fours)


def row_of(series: tuple[int, int, int], clprobe: str, surveyed: str, rounds: int) -> str:
    """One line of the table."""
    launches, items, steps = series
    program = [surveyed, "many", str(launches), str(items), str(steps), "seconds", str(BLOCKS), "direct"]
    with_survey = [clprobe, "profile", "--list", "--", *program]
    times_of(with_survey)  # a driver may keep what it compiles
    ratios, wholes, alone = [], [], []
    for turn in range(rounds):
        both = (program, with_survey)
        taken = [times_of(words) for words in (both if turn % 2 == 0 else reversed(both))]
        (plain, plain_whole), (slow, slow_whole) = taken if turn % 2 == 0 else reversed(taken)
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
