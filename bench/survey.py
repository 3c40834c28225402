#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a survey (`clprobe profile --list`) costs a program, as a ratio of times measured in turns.

    bench/survey.py build/release/clprobe build/test/clprobe_surveyed [--rounds N]

The program is one of clprobe's tests: it launches a kernel some number of times, waits after each hundred,
and says how long that took. In each round it runs by itself and under the survey, the second first in every
other round. The table has the medians of these times and of their ratio with an interval that holds the
median of nine series in ten, and the ratio of the whole program's times, from its start to its end: clprobe's
own start and end are in that.
"""

import argparse
import random
import re
import statistics
import subprocess
import time

# Launches, work-items of each, steps of each work-item.
SERIES = ((1000, 1024, 2000), (1000, 1024, 0), (1000, 1024, 20000), (20000, 1024, 2000), (20000, 1024, 0))
RESAMPLES = 2000


def times_of(words: list[str]) -> tuple[float, float]:
    """Of the launches, as the program says, and of all of it, in seconds; ends where it fails."""
    began = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    took = time.monotonic() - began
    found = re.search(r"^seconds ([\d.]+)$", done.stdout, re.M)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"{' '.join(words)} ended with status {done.returncode}:\n{done.stdout}")
    return float(found.group(1)), took


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
    print("| launches | each, us | alone, ms | surveyed, ms | ratio | of the whole program |")
    print("|---|---|---|---|---|---|")
    for launches, items, steps in SERIES:
        program = [given.surveyed, "many", str(launches), str(items), str(steps), "seconds"]
        surveyed = [given.clprobe, "profile", "--list", "--", *program]
        times_of(surveyed)  # a driver may keep what it compiles
        alone: list[tuple[float, float]] = []
        with_survey: list[tuple[float, float]] = []
        for turn in range(given.rounds):
            both = [(alone, program), (with_survey, surveyed)]
            for times, words in both if turn % 2 == 0 else reversed(both):
                times.append(times_of(words))
        parts, wholes = ([after[k] / before[k] for after, before in zip(with_survey, alone)] for k in (0, 1))
        low, high = interval_of(parts)
        alone_s, survey_s = (statistics.median(each[0] for each in times) for times in (alone, with_survey))
        print(f"| {launches} | {1e6 * alone_s / launches:.1f} | {1e3 * alone_s:.2f} | {1e3 * survey_s:.2f} | "
              f"{statistics.median(parts):.3f} ({low:.3f} to {high:.3f}) | {statistics.median(wholes):.3f} |",
              flush=True)


if __name__ == "__main__":
    main()
