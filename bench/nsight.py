#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the causes of `clprobe profile` with those of Nsight Compute (NVIDIA only).

    bench/nsight.py build/release/clprobe [KERNEL...] [-- OPTION...]

The kernels are those of bench/pairs and bench/known. `ncu` profiles the PTX that the OpenCL driver makes
(ptx.py), launched by CUDA (cuda_launch.py) with caches flushed. Both divide the time into four parts:
- memory: data and structural stalls, including atomics and fences
- synchronization
- idle: cost of the last wave; for Nsight, cycles in which a unit has no warp
- within: computation, local memory and branches; for `profile`, what remains except waits for loads

Nsight's parts are warp samples in cycles without an issued instruction, scaled to these cycles. Cycles with
an issued instruction count as within.
`profile` has a fifth part, lanes. Nsight counts such waits as memory, local memory or branches. Its counters
show divergent lanes by more than 16 sectors per request (32 adjacent lanes of 16 bytes), local memory with
conflicts in half of the wavefronts, or fewer than 24 of 32 threads.
The table shows the largest part of both, and Kendall's tau-b over the parts above 5 % in either.
"""

import argparse
import csv
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import known
import profiled
import ptx

ROOT = pathlib.Path(__file__).resolve().parent
FOLDERS = (ROOT / "pairs", ROOT / "known")
PARTS = ("memory", "synchronization", "idle", "within")
LANES = "lanes"
MIN_SHARE = 0.05

# Nsight's stall reasons by part; all others count as within.
REASONS = {"long_scoreboard": "memory", "lg_throttle": "memory", "tex_throttle": "memory",
           "drain": "memory", "membar": "memory", "barrier": "synchronization",
           "sleeping": "synchronization"}
NO_REASONS = ("selected", "not_selected")
SAMPLES = "smsp__pcsamp_warps_issue_stalled_"
NOT_ISSUED = "_not_issued"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
ACTIVE = "sm__cycles_active.avg"
ELAPSED = "sm__cycles_elapsed.max"
SECTORS = ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio")
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
MAX_SECTORS = 16
MAX_CONFLICTS = 0.5
MIN_THREADS = 24


@dataclasses.dataclass
class Shares:
    """Shares of a kernel's time by part, and the tool's name for the largest cause."""

    parts: dict[str, float]
    cause: str
    doubt: str = ""
    apart: str = ""  # evidence of divergent lanes

    @property
    def first(self) -> str:
        """Returns the largest part."""
        return max(self.parts, key=lambda each: self.parts[each])


def launches() -> dict[str, tuple[pathlib.Path, pathlib.Path]]:
    """Returns kernel texts and launches by name."""
    found = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.json")):
            own = path.with_suffix(".cl")
            found[path.stem] = (own if own.exists() else known.text_path(path.stem), path)
    return found


def options_in(launch: pathlib.Path) -> str:
    """Returns the build options of a launch's program."""
    units = json.loads(launch.read_text(encoding="utf-8")).get("program", {}).get("units", [])
    return " ".join(each.get("options", "") for each in units)


def part_of_cause(label: str) -> str:
    """Returns the part of a cause, by the words of its label."""
    if label.endswith(LANES):
        return LANES
    word = label.split(" ")[0].rstrip(":")
    return word if word in PARTS else "within"


def profile(clprobe: str, text: pathlib.Path, launch: pathlib.Path, options: list[str]) -> Shares:
    """Returns the shares that `clprobe profile` finds."""
    return shares_in(profiled.profile_of(clprobe, text, launch, options)["findings"])


def shares_in(findings: list[dict[str, Any]]) -> Shares:
    """Returns the shares in a kernel's findings. Groups of the last wave wait as others do, so the shares of
    the stack apply to the time without the tail."""
    parts = dict.fromkeys((*PARTS, LANES), 0.0)
    causes: dict[str, float] = {}
    doubt = ""
    tail = near = 0.0
    for each in findings:
        if each["name"] == "tail" and not each.get("reason"):
            tail = min(1.0, max(0.0, each.get("value") or 0.0))
        if each["name"] == "near_waits":
            near = max(0.0, each["value"])
        if each["name"] != "stall" or each.get("method") != "shapley":
            continue
        reason = each.get("reason", "")
        if not each.get("label"):
            doubt = reason
        if each.get("value") is None or reason:
            continue
        parts[part_of_cause(each["label"])] += each["value"]
        causes[each["label"]] = each["value"]
    # Time that no removed cause explains counts as within.
    parts["within"] += max(0.0, 1.0 - sum(parts.values()))
    near = min(near, parts["within"])
    parts["memory"] += near
    parts["within"] -= near
    parts = {part: (1.0 - tail) * share for part, share in parts.items()}
    parts["idle"] += tail
    name = max(causes, key=lambda each: causes[each], default="unattributed")
    return Shares(parts, f"{name} {100 * causes.get(name, 1.0):.0f}", doubt)


def number_in(row: dict[str, str], name: str) -> float:
    """Returns the number in a column, 0 if it is empty."""
    return float(row[name].replace(",", "") or 0)


def apart_in(row: dict[str, str]) -> str:
    """Returns the evidence that a kernel's lanes diverge; empty if there is none."""
    sectors = max(number_in(row, each) for each in SECTORS)
    conflicts = number_in(row, CONFLICTS) / (number_in(row, WAVEFRONTS) or 1.0)
    threads = number_in(row, THREADS)
    found = [f"{sectors:.0f} sectors"] if sectors > MAX_SECTORS else []
    found += [f"{100 * conflicts:.0f} % conflicts"] if conflicts > MAX_CONFLICTS else []
    found += [f"{threads:.0f} threads"] if threads < MIN_THREADS else []
    return ", ".join(found)


def shares_of(row: dict[str, str]) -> Shares:
    """Returns the shares in a kernel's metrics."""
    stalls = {name.removeprefix(SAMPLES).removesuffix(NOT_ISSUED): number_in(row, name)
              for name in row if name.startswith(SAMPLES) and name.endswith(NOT_ISSUED)}
    stalls = {name: count for name, count in stalls.items() if name not in NO_REASONS}
    total = sum(stalls.values()) or 1.0
    busy = min(1.0, number_in(row, ACTIVE) / number_in(row, ELAPSED))
    issued = number_in(row, ISSUED) / 100
    parts = dict.fromkeys(PARTS, 0.0)
    parts["idle"] = 1 - busy
    parts["within"] = busy * issued
    for name, count in stalls.items():
        parts[REASONS.get(name, "within")] += busy * (1 - issued) * count / total
    first = max(stalls, key=lambda each: stalls[each], default="")
    return Shares(parts, f"{first} {100 * stalls.get(first, 0.0) / total:.0f}", apart=apart_in(row))


def run_ncu(names: Sequence[str], folder: pathlib.Path) -> dict[str, Shares]:
    """Profiles all kernels with Nsight Compute in one process."""
    described = launches()
    words: list[str] = []
    for name in names:
        text, launch = described[name]
        made = folder / f"{name}.ptx"
        own = ptx.ptx_of(text.read_text(encoding="utf-8"), options_in(launch))
        made.write_text(ptx.for_cuda(own), encoding="utf-8")
        words += [str(made), str(launch)]
    log = folder / "ncu.csv"
    metrics = ",".join([f"group:{SAMPLES.removesuffix('s_issue_stalled_')}_stall_reasons{NOT_ISSUED}",
                        ISSUED, ACTIVE, ELAPSED, *SECTORS, CONFLICTS, WAVEFRONTS, THREADS])
    ncu = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
           "--cache-control", "all", "--log-file", str(log), "--metrics", metrics]
    done = subprocess.run([*ncu, sys.executable, str(ROOT / "cuda_launch.py"), *words],
                          stdout=subprocess.DEVNULL, check=False)
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if not line.startswith("==")]
    rows = list(csv.DictReader(lines))[1:]
    if done.returncode != 0 or len(rows) != len(names):
        sys.exit(f"nsight: ncu ended with status {done.returncode}, of {len(names)} kernels it has "
                 f"{len(rows)}:\n{log.read_text(encoding='utf-8')[-2000:]}")
    return {name: shares_of(row) for name, row in zip(names, rows)}


def tau_b(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Returns Kendall's rank correlation with ties (Kendall 1945, Biometrika 33:239); None if undefined."""
    order = ties_a = ties_b = count = 0
    for i, (a, b) in enumerate(pairs):
        for c, d in pairs[:i]:
            count += 1
            ties_a += a == c
            ties_b += b == d
            order += ((a > c) - (a < c)) * ((b > d) - (b < d))
    below = float((count - ties_a) * (count - ties_b))
    return float(order / below**0.5) if below > 0 else None


def main() -> None:
    """Prints the table."""
    described = launches()
    parser: argparse.ArgumentParser = profiled.parser_of(__doc__, "kernel", described)
    given, options = profiled.given_to(parser, "kernel", described)
    if given.clprobe is None:
        parser.error("name the clprobe to run")
    taus = []
    agreed = believed = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        by_counters = run_ncu(given.names, folder)
        levels = profiled.levels_of(given.clprobe, options, folder)
        print("| kernel | profile, % | | Nsight, % | | its lanes | agree | tau |")
        print(f"|{'---|' * 8}")
        for name in given.names:
            ours = profile(given.clprobe, *described[name], [*levels, *options])
            theirs = by_counters[name]
            tau = tau_b([(ours.parts[each], theirs.parts[each]) for each in PARTS
                         if max(ours.parts[each], theirs.parts[each]) > MIN_SHARE])
            agrees = bool(theirs.apart) if ours.first == LANES else ours.first == theirs.first
            if not ours.doubt:
                believed += 1
                agreed += agrees
                taus += [] if tau is None else [tau]
            agreement = ours.doubt or ("yes" if agrees else "no")
            cells = [name, f"{ours.first} {100 * ours.parts[ours.first]:.0f}", ours.cause,
                     f"{theirs.first} {100 * theirs.parts[theirs.first]:.0f}", theirs.cause,
                     theirs.apart, agreement, "" if tau is None else f"{tau:.2f}"]
            print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\nfirst part agrees in {agreed} of {believed}; tau-b in the middle "
          f"{statistics.median(taus) if taus else float('nan'):.2f}")


if __name__ == "__main__":
    main()
