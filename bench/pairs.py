#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `clprobe profile` finds what a known fix takes away.

    bench/pairs.py build/release/clprobe [PAIR...] [-- OPTION...]

A pair is a kernel before and after a fix, NAME.cl with the launch NAME.json each, in bench/pairs. For
each it prints the causes that the fix is for, the rank of the first of them among those that were found
before it, what all of them together are predicted to save at most, and what the fix saved. Folding is a
perfect cache, so that a prediction that is less than what was saved is wrong ("below"), unless the fix
takes away more than that cause. Options go to clprobe: --device, --quick, --time-budget.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent / "pairs"
MEMORY = ("memory", "main_memory", "last_cache")
CAUSES = (*MEMORY, "barriers", "atomics", "tail")

# What each fix is for; nothing: it is for what lies within a group, which cannot be taken away.
PAIRS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "transpose": ("transpose_naive", "transpose_tiled", MEMORY),
    "gemm": ("gemm_naive", "gemm_tiled", MEMORY),
    "particles": ("particles_aos", "particles_soa", MEMORY),
    "order": ("order_strided", "order_coalesced", MEMORY),
    "gather": ("gather_far", "gather_near", MEMORY),
    "passes": ("passes_two", "passes_fused", MEMORY),
    "width": ("width_double", "width_float", MEMORY),
    "histogram": ("histogram_global", "histogram_private", ("atomics",)),
    "counter": ("counter_shared", "counter_private", ("atomics",)),
    "barriers": ("barriers_many", "barriers_few", ("barriers",)),
    "reduction": ("reduction_barriers", "reduction_registers", ("barriers",)),
    "tail": ("tail_long", "tail_short", ("tail",)),
    "banks": ("banks_conflicting", "banks_padded", ()),
}


@dataclasses.dataclass
class Profile:
    """What a document says of one kernel."""

    seconds: float
    shares: dict[str, float]
    doubt: str


def profile(clprobe: str, kernel: str, options: list[str]) -> Profile:
    """Runs clprobe; raises CalledProcessError where it fails."""
    base = FOLDER / kernel
    files = ["--kernel-file", f"{base}.cl", "--launch", f"{base}.json"]
    words = [clprobe, "profile", *files, "--json", *options]
    document = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    findings: list[dict[str, Any]] = document["results"][0]["findings"]
    seconds = next(each["value"] for each in findings if each["name"] == "time")
    shares = {each["name"]: each["value"] for each in findings
              if each["name"] in CAUSES and each.get("value") is not None and "reason" not in each}
    reasons = (each.get("reason", "") for each in findings if each["name"] in ("stall", *CAUSES))
    doubt = next((each for each in reasons if each.startswith(("not believed", "refused"))), "")
    return Profile(seconds, shares, doubt)


def row_of(name: str, clprobe: str, options: list[str]) -> str:
    """One line of the table."""
    before_name, after_name, fixed = PAIRS[name]
    before = profile(clprobe, before_name, options)
    after = profile(clprobe, after_name, options)
    saved = 1 - after.seconds / before.seconds
    times = f"{1e3 * before.seconds:9.3f} {1e3 * after.seconds:9.3f}"
    cells = f"{name:<10} {', '.join(fixed) or '-':<31} {times}"
    ranked = sorted(before.shares, key=lambda each: -before.shares[each])
    ranks = [place + 1 for place, each in enumerate(ranked) if each in fixed]
    predicted = sum(before.shares.get(each, 0.0) for each in fixed)
    rank = str(ranks[0]) if ranks else "-"
    # A tenth of the time is more than two runs of the same kernel differ by.
    verdict = "" if not fixed or not ranks else "bound" if predicted >= saved - 0.1 else "below"
    return f"{cells} {rank:>4} {100 * predicted:9.1f} {100 * saved:7.1f}  {verdict or before.doubt}"


def main() -> None:
    """Prints the table."""
    own, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help=f"of {', '.join(PAIRS)}; default: all")
    given = parser.parse_args(own.split())
    unknown = [each for each in given.pairs if each not in PAIRS]
    if unknown:
        parser.error(f"no pair {unknown[0]}: there are {', '.join(PAIRS)}")
    print(f"{'pair':<10} {'fixed':<31} {'before ms':>9} {'after ms':>9} rank predicted saved %")
    for name in given.pairs or PAIRS:
        print(row_of(name, given.clprobe, options.split()), flush=True)


if __name__ == "__main__":
    main()
