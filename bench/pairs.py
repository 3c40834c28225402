#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests whether `clprobe profile` finds the cause that a known fix removes.

    bench/pairs.py build/release/clprobe [PAIR...] [-- OPTION...]

A pair in bench/pairs is a kernel before and after a fix, each as NAME.cl with the launch NAME.json. A pair in
bench/bytes is a kernel before and after its floats became bytes, which shows the share of memory in its time.
The table shows the first cause found before the fix, the rank of the cause that the fix removes, the
predicted maximum saving, and the saving. Working-set reduction models a perfect cache, so that a prediction
below the saving is wrong ("below"), unless the fix also removes other causes. For `occupancy`, the prediction
is the cost of half as many resident groups; doubling the groups saves at most that.
Options go to clprobe: --device, --quick.
"""

import dataclasses
import pathlib
import subprocess
import tempfile
from typing import Any

import profiled

ROOT = pathlib.Path(__file__).resolve().parent
FOLDERS = (ROOT / "pairs", ROOT / "bytes")
MEMORY = ("memory", "main_memory", "last_cache")
CAUSES = (*MEMORY, "barriers", "atomics", "lanes", "tail", "occupancy", "chains")
# Shares of the time: the maximum difference between runs of one kernel, and the minimum of a cause.
NOISE = 0.05
MIN_SHARE = 0.01

# Kernels before and after a fix, and the causes that the fix removes.
PAIRS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "transpose": ("transpose_naive", "transpose_tiled", MEMORY),
    "gemm": ("gemm_naive", "gemm_tiled", MEMORY),
    "particles": ("particles_aos", "particles_soa", MEMORY),
    "order": ("order_strided", "order_coalesced", (*MEMORY, "lanes")),
    "rows": ("rows_each", "rows_turned", (*MEMORY, "lanes")),
    "gather": ("gather_far", "gather_near", MEMORY),
    "passes": ("passes_two", "passes_fused", MEMORY),
    "table": ("table_loaded", "table_computed", MEMORY),
    "width": ("width_double", "width_float", MEMORY),
    "histogram": ("histogram_global", "histogram_private", ("atomics",)),
    "counter": ("counter_shared", "counter_private", ("atomics",)),
    "barriers": ("barriers_many", "barriers_few", ("barriers",)),
    "reduction": ("reduction_barriers", "reduction_registers", ("barriers",)),
    "tail": ("tail_long", "tail_short", ("tail",)),
    "places": ("places_few", "places_more", ("occupancy",)),
    "chains": ("chains_one", "chains_eight", ("chains",)),
    "banks": ("banks_conflicting", "banks_padded", ("lanes",)),
    "banks_bytes": ("banks_padded", "banks_bytes", MEMORY),
    "order_bytes": ("order_coalesced", "order_bytes", MEMORY),
    "particles_bytes": ("particles_soa", "particles_bytes", MEMORY),
    "table_bytes": ("table_computed", "table_bytes", MEMORY),
    "transpose_bytes": ("transpose_tiled", "transpose_bytes", MEMORY),
    "width_bytes": ("width_float", "width_bytes", MEMORY),
}


@dataclasses.dataclass
class Profile:
    """Profile of one kernel."""

    seconds: float
    shares: dict[str, float]
    doubt: str


@dataclasses.dataclass
class Row:
    """Row of the table for a pair."""

    cells: str
    rank: int | None
    is_bound: bool


def profile(clprobe: str, kernel: str, options: list[str]) -> Profile:
    """Returns the profile of a kernel. Raises CalledProcessError if clprobe fails."""
    base = next(folder / kernel for folder in FOLDERS if (folder / f"{kernel}.json").exists())
    result = profiled.profile_of(clprobe, base.with_suffix(".cl"), base.with_suffix(".json"), options)
    findings: list[dict[str, Any]] = result["findings"]
    seconds = next(each["value"] for each in findings if each["name"] == "time")
    shares = {each["name"]: each["value"] for each in findings if each["name"] in CAUSES and
              (each.get("value") or 0) >= MIN_SHARE and not each.get("reason", "").startswith("not resolved")}
    reasons = (each.get("reason", "") for each in findings if each["name"] in ("stall", *CAUSES))
    doubt = next((each for each in reasons if each.startswith(("not believed", "refused"))), "")
    return Profile(seconds, shares, doubt)


def seconds_of(clprobe: str, kernel: str, options: list[str]) -> float:
    """Returns the time of a kernel in seconds, measured with --quick."""
    return profile(clprobe, kernel, ["--quick", *(each for each in options if each != "--quick")]).seconds


def row_of(name: str, clprobe: str, options: list[str]) -> Row:
    """Returns the row of a pair."""
    before_name, after_name, fixed = PAIRS[name]
    try:
        before = profile(clprobe, before_name, options)
        after = seconds_of(clprobe, after_name, options)
    except subprocess.CalledProcessError as error:
        return Row(f"| {name} |{' |' * 7} clprobe ended with status {error.returncode} |", None, False)
    saved = 1 - after / before.seconds
    ranked = sorted(before.shares, key=lambda each: -before.shares[each])
    ranks = [index + 1 for index, each in enumerate(ranked) if each in fixed]
    predicted = sum(before.shares.get(each, 0.0) for each in fixed)
    is_bound = bool(ranks) and predicted >= saved - NOISE
    first = f"{ranked[0]} {100 * before.shares[ranked[0]]:.1f}" if ranked else "none"
    verdict = ("bound" if is_bound else "below") if ranks else before.doubt
    cells = [name, fixed[0] if fixed else "-", first, str(ranks[0]) if ranks else "-",
             f"{1e3 * before.seconds:.3f}", f"{1e3 * after:.3f}", f"{100 * predicted:.1f}",
             f"{100 * saved:.1f}", verdict]
    return Row(f"| {' | '.join(cells)} |", ranks[0] if ranks else None, is_bound)


def main() -> None:
    """Prints the table, and the number of pairs that meet expectations."""
    parser = profiled.parser_of(__doc__, "pair", PAIRS)
    given, options = profiled.given_to(parser, "pair", PAIRS)
    if given.clprobe is None:
        parser.error("name the clprobe to run")
    head = ["pair", "fixed", "first found, %", "rank", "before, ms", "after, ms", "predicted, %", "saved, %",
            ""]
    with tempfile.TemporaryDirectory() as folder:
        levels = profiled.levels_of(given.clprobe, options, pathlib.Path(folder))
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        rows = []
        for name in given.names:
            rows.append(row_of(name, given.clprobe, [*levels, *options]))
            print(rows[-1].cells, flush=True)
    leading = sum(row.rank is not None and row.rank <= 2 for row in rows)
    bounds = sum(row.is_bound for row in rows)
    print(f"\nfirst or second: {leading} of {len(rows)}; predicted at least what was saved: {bounds}")


if __name__ == "__main__":
    main()
