#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/gsi.md says of GSI's thesis and of its what-ifs, simulated anew.

    bench/gsi_page.py build/release/clprobe [--check]

Prints the ratios beside the thesis's, how many of them are within 25 % and how many sentences hold
(bench/thesis.py), the sentences that do not, how many with other seeds, the ratios of the arrays with one
parameter varied, which shows what keeps them from the thesis's, and what the what-ifs take as shares of
the time without them.
With --check prints what of this the page does not say, and then the exit status is 1.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys

from calibrate import SEEDS, Settings, bars_of, machine_of
from thesis import SENTENCES, UTS, UTS_OWNING, UTSD, UTSD_OWNING, Bars, is_near, missed_by

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "gsi.md"
SEARCHES = "uts,utsd"
ARRAYS = "implicit"
# One parameter of the arrays or of the machine beside those that were found.
VARIED: list[Settings] = [
    {"--operations": 64},
    {"--address-operations": 4},
    {"--address-operations": 32},
    {"--block": 1},
    {"--block": 8},
    {"--elements": 8},
    {"memory.bytes_per_cycle": 16},
    {"memory.bytes_per_cycle": 64},
]
WHAT_IFS: dict[str, Settings] = {
    "--back-off 1000": {"--back-off": 1000},
    "--poll group": {"--poll": "group"},
    "--what-if owned-atomics": {"--what-if": "owned-atomics"},
    "--what-if s-fifo": {"--what-if": "s-fifo"},
}


def ratio_lines(bars: list[Bars]) -> list[str]:
    """A row of the page's table each."""
    return [f"| {what} | {thesis:.3g} | {here:.3g} |"
            for each in bars for what, (thesis, here) in each.ratios.items()]


def counts_of(cases: list[str], bars: list[Bars]) -> tuple[str, str]:
    """How many ratios are near, and how many sentences hold."""
    ratios = [pair for each in bars for pair in each.ratios.values()]
    near = sum(is_near(*pair) for pair in ratios)
    said = sum(len(SENTENCES[case]) for case in cases)
    missed = sum(len(missed_by(case, each)) for case, each in zip(cases, bars))
    return f"{near} of {len(ratios)}", f"{said - missed} of {said}"


def count_line(cases: list[str], bars: list[Bars]) -> str:
    """The same in words."""
    ratios, sentences = counts_of(cases, bars)
    return f"{ratios} ratios are within 25 %, and {sentences} sentences hold"


def seed_line(cases: list[str], seed: int, bars: list[Bars]) -> str:
    """A row of the page's table: the same with another seed, of the searches and of the arrays."""
    cells = [cell for case, each in zip(cases, bars) for cell in counts_of([case], [each])]
    return f"| `--seed {seed}` | {' | '.join(cells)} |"


def what_if_lines(plain: Bars, changed: dict[str, Bars]) -> list[str]:
    """A row of the page's table each: the search, under GPU coherence and under ownership."""
    return [f"| `{words}` | {name} | {bars.time[gpu] / plain.time[gpu]:.3g} "
            f"| {bars.time[owning] / plain.time[owning]:.3g} |"
            for words, bars in changed.items()
            for name, gpu, owning in (("uts", UTS, UTS_OWNING), ("utsd", UTSD, UTSD_OWNING))]


def varied_lines(plain: Bars, varied: list[Bars]) -> list[str]:
    """A row of the page's table each: the ratios of the arrays, and how many sentences are missed."""
    places = ["as found", *(f"`{name} {value}`" for each in VARIED for name, value in each.items())]
    return [f"| {place} | {' | '.join(f'{here:.3g}' for _, here in bars.ratios.values())} "
            f"| {len(missed_by(ARRAYS, bars))} |" for place, bars in zip(places, [plain, *varied])]


def lines_of(program: str) -> list[str]:
    """All that the page has to say."""
    cases = list(SENTENCES)
    machine = machine_of(program)
    unchanged: Settings = {}
    jobs = [*((case, unchanged, SEEDS[0]) for case in cases),
            *((SEARCHES, words, SEEDS[0]) for words in WHAT_IFS.values()),
            *((ARRAYS, settings, SEEDS[0]) for settings in VARIED),
            *((case, unchanged, seed) for seed in SEEDS[1:] for case in cases)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bars = list(pool.map(lambda job: bars_of(program, machine, *job), jobs))
    stated = bars[:len(cases)]
    missed = [says for case, each in zip(cases, stated) for says in missed_by(case, each)]
    varied = bars[len(cases) + len(WHAT_IFS):][:len(VARIED)]
    of_seeds = [*stated, *bars[len(cases) + len(WHAT_IFS) + len(VARIED):]]
    return [*ratio_lines(stated), count_line(cases, stated), *missed,
            *(seed_line(cases, seed, of_seeds[i * len(cases):]) for i, seed in enumerate(SEEDS)),
            *varied_lines(stated[cases.index(ARRAYS)], varied),
            *what_if_lines(stated[cases.index(SEARCHES)], dict(zip(WHAT_IFS, bars[len(cases):])))]


def main() -> int:
    """Prints, or compares."""
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
