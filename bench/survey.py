#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a survey (`clprobe profile --list`) costs a program, as a ratio of times measured in turns.

    bench/survey.py build/release/clprobe build/test/tests/profile/clprobe_surveyed [--rounds N]

The program is one of clprobe's tests: it launches a kernel some number of times, waits after each hundred,
and says how long that took. In each round it runs by itself and under the survey, the second first in every
other round. The table has the medians of both and of their ratio, and of the ratio an interval that holds
the median of nine series in ten.
"""

import argparse
import random
import re
import statistics
import subprocess

# Launches, work-items of each, steps of each work-item.
SERIES = ((1000, 1024, 0), (1000, 1024, 2000), (1000, 16384, 8000), (20000, 1024, 0), (20000, 1024, 2000))
RESAMPLES = 2000


def seconds_of(words: list[str]) -> float:
    """That the program says; raises CalledProcessError where it fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, text=True)
    found = re.search(r"^seconds ([\d.]+)$", done.stdout, re.M)
    if found is None:
        raise SystemExit(f"no time in the output of {' '.join(words)}")
    return float(found.group(1))


def interval_of(ratios: list[float]) -> tuple[float, float]:
    """Of the median, by drawing again and again from the rounds."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 20], medians[-RESAMPLES // 20]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("surveyed")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    print("| launches | each, us | alone, ms | surveyed, ms | ratio |\n|---|---|---|---|---|")
    for launches, items, steps in SERIES:
        program = [given.surveyed, "many", str(launches), str(items), str(steps), "seconds"]
        surveyed = [given.clprobe, "profile", "--list", "--", *program]
        alone_s: list[float] = []
        surveyed_s: list[float] = []
        for turn in range(given.rounds):
            both = [(alone_s, program), (surveyed_s, surveyed)]
            for times, words in both if turn % 2 == 0 else reversed(both):
                times.append(seconds_of(words))
        ratios = [with_survey / without for with_survey, without in zip(surveyed_s, alone_s)]
        low, high = interval_of(ratios)
        alone = statistics.median(alone_s)
        print(f"| {launches} | {1e6 * alone / launches:.1f} | {1e3 * alone:.2f} | "
              f"{1e3 * statistics.median(surveyed_s):.2f} | "
              f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f}) |", flush=True)


if __name__ == "__main__":
    main()
