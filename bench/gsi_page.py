#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates again the numbers of docs/gsi.md about GSI's thesis and what-ifs.

    bench/gsi_page.py build/release/clprobe [--check]

Prints these lines:
- the ratios of the thesis and of clprobe, as the median over several seeds and their range
- the number of median changes within 25 % of the thesis's, and of statements (bench/thesis.py) that hold
  with most seeds
- the same numbers for the first seed alone
- the statements that do not hold with all seeds
- the ratios of the arrays with one parameter changed, which shows the causes of differences
- the times of the what-ifs relative to the time without them

--check prints the lines that the page lacks; the exit status is 1 if there are any.
"""

import argparse
import concurrent.futures
import os
import pathlib
import statistics
import sys
from collections.abc import Callable

from calibrate import SEEDS, Settings, bars_of, machine_of
from thesis import SENTENCES, UTS, UTS_OWNING, UTSD, UTSD_OWNING, Bars, is_near, missed_by

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "gsi.md"
SEARCHES = "uts,utsd"
ARRAYS = "implicit"
# The arrays use more seeds: their small size makes them depend more on random latencies, and faster to
# simulate.
SEEDS_OF = {SEARCHES: SEEDS, ARRAYS: (*SEEDS, 4, 5, 6, 7)}
# Single changes to a parameter of the arrays or of the machine.
VARIED: list[Settings] = [
    {"operations": 64},
    {"address-operations": 32},
    {"block": 8},
    {"memory.bytes_per_cycle": 16},
]
WHAT_IFS: dict[str, Settings] = {
    "--set back-off=1000": {"back-off": 1000},
    "--set poll=group": {"poll": "group"},
    "--what-if owned-atomics": {"--what-if": "owned-atomics"},
    "--what-if s-fifo": {"--what-if": "s-fifo"},
}


def median_of(seeds: list[Bars], what: str) -> tuple[float, float]:
    """Returns the thesis's ratio and the median of clprobe's ratios over the seeds."""
    return seeds[0].ratios[what][0], statistics.median(each.ratios[what][1] for each in seeds)


def ratio_lines(cases: list[list[Bars]]) -> list[str]:
    """Returns a row for each ratio: the thesis, the median and the range. `cases` holds bars by case and
    seed."""
    lines = []
    for seeds in cases:
        for what in seeds[0].ratios:
            thesis, median = median_of(seeds, what)
            values = [each.ratios[what][1] for each in seeds]
            all_seeds = f"{min(values):.3g}–{max(values):.3g}"
            lines.append(f"| {what} | {thesis:.3g} | {median:.3g} | {all_seeds} |")
    return lines


def holds_mostly(holds: Callable[[Bars], bool], seeds: list[Bars]) -> bool:
    """Tests whether a sentence holds with more than half of the seeds."""
    return 2 * sum(holds(each) for each in seeds) > len(seeds)


def count_line(names: list[str], cases: list[list[Bars]]) -> str:
    """Counts the median changes within 25 % and the statements that hold with most seeds."""
    near = [is_near(what, *median_of(seeds, what)) for seeds in cases for what in seeds[0].ratios]
    holding = [holds_mostly(holds, seeds) for name, seeds in zip(names, cases)
               for _, holds in SENTENCES[name]]
    return (f"{sum(near)} of {len(near)} changes are within 25 %, and "
            f"{sum(holding)} of {len(holding)} statements hold")


def missed_lines(name: str, seeds: list[Bars]) -> list[str]:
    """Returns the statements of a case that fail with some seed, and the number of seeds with which they
    hold."""
    holding = {says: sum(holds(each) for each in seeds) for says, holds in SENTENCES[name]}
    return [f"{says}: {count} of {len(seeds)}" for says, count in holding.items() if count < len(seeds)]


def what_if_lines(plain: Bars, changed: dict[str, Bars]) -> list[str]:
    """Returns a row for each what-if and search: relative times under GPU coherence and ownership."""
    return [f"| `{words}` | {name} | {bars.time[gpu] / plain.time[gpu]:.3g} "
            f"| {bars.time[owning] / plain.time[owning]:.3g} |"
            for words, bars in changed.items()
            for name, gpu, owning in (("uts", UTS, UTS_OWNING), ("utsd", UTSD, UTSD_OWNING))]


def varied_lines(plain: Bars, varied: list[Bars]) -> list[str]:
    """Returns a row for each changed parameter: the ratios of the arrays and the number of missed
    statements."""
    names = [(name, value) for each in VARIED for name, value in each.items()]
    labels = ["as found", *(f"`{name} {value}`" if "." in name else f"`--set {name}={value}`"
                            for name, value in names)]
    return [f"| {label} | {' | '.join(f'{here:.3g}' for _, here in bars.ratios.values())} "
            f"| {len(missed_by(ARRAYS, bars))} |" for label, bars in zip(labels, [plain, *varied])]


def lines_of(program: str) -> list[str]:
    """Simulates all cases and returns the lines that the page must contain."""
    cases = list(SENTENCES)
    machine = machine_of(program)
    unchanged: Settings = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:

        def simulated(case: str, settings: Settings, seed: int = SEEDS[0]) -> concurrent.futures.Future[Bars]:
            return pool.submit(bars_of, program, machine, case, settings, seed)

        changed = {name: simulated(SEARCHES, words) for name, words in WHAT_IFS.items()}
        varied = [simulated(ARRAYS, settings) for settings in VARIED]
        plain = {case: [simulated(case, unchanged, seed) for seed in SEEDS_OF[case]] for case in cases}
    seeds = {case: [each.result() for each in of_case] for case, of_case in plain.items()}
    by_case = list(seeds.values())
    return [*ratio_lines(by_case), count_line(cases, by_case),
            f"with it alone {count_line(cases, [of_case[:1] for of_case in by_case])}",
            *(line for case, of_case in seeds.items() for line in missed_lines(case, of_case)),
            *varied_lines(seeds[ARRAYS][0], [each.result() for each in varied]),
            *what_if_lines(seeds[SEARCHES][0], {name: each.result() for name, each in changed.items()})]


def main() -> int:
    """Prints the lines, or compares them with the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    lines = lines_of(given.clprobe)
    if not given.check:
        print("\n".join(lines))
        return 0
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    absent = [line for line in lines if line not in page]
    for line in absent:
        print(f"{PAGE.name} does not say: {line}")
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
