#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the causes of `clprobe profile` with those of Nsight Compute (NVIDIA only).

    bench/nsight.py build/release/clprobe [KERNEL...] [-- OPTION...]
    bench/nsight.py build/release/clprobe [KERNEL...] --bundles FOLDER [-- OPTION...]
    bench/nsight.py --bundles FOLDER --save FILE
    bench/nsight.py --bundles FOLDER --counters FILE --measured DOCUMENT...

The kernels are those of bench/pairs and bench/known, or the bundles below FOLDER (`clprobe profile --keep`).
`ncu` profiles the PTX that the OpenCL driver makes (ptx.py), launched by CUDA (cuda_launch.py) with caches
flushed, in a process per kernel. The table gives the reason if a kernel fails. DOCUMENTs are files that
`clprobe profile -o` wrote. Both tools divide the time into four parts:
- memory: data and structural stalls, including atomics and fences
- synchronization
- idle: cost of the last wave; for Nsight, cycles in which a unit has no warp
- within: computation, local memory and branches; for `profile`, what remains except waits for loads

Nsight's parts are warp samples in cycles without an issued instruction, scaled to these cycles. Cycles with
an issued instruction count as within.
`profile` has a fifth part, lanes. Nsight counts such waits as memory, local memory or branches. Its counters
show divergent lanes by more than 16 sectors per request (32 adjacent lanes of 16 bytes), local memory with
conflicts in half of the wavefronts, or fewer than 24 of 32 threads.
The table shows the largest part of both, and Kendall's tau-b over the parts above 5 % in either. Busy time is
all time except idle. Memory's share does not include lanes.
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
from cuda_launch import CHANGED

ROOT = pathlib.Path(__file__).resolve().parent
FOLDERS = (ROOT / "pairs", ROOT / "known")
PARTS = ("memory", "synchronization", "idle", "within")
LANES = "lanes"
STARTING = "idle: starting groups"  # label of a cause
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

# Times after which a process of a kernel is ended, for Nsight and for `profile`.
COUNTERS_SECONDS = 60
PROFILE_SECONDS = 300


@dataclasses.dataclass
class Shares:
    """Shares of a kernel's time by part, and the tool's name for the largest cause."""

    parts: dict[str, float]
    cause: str
    doubt: str = ""
    apart: str = ""  # evidence of divergent lanes
    changed: str = ""  # buffers that CUDA's launch leaves with other bytes than the program's launch

    @property
    def first(self) -> str:
        """Returns the largest part."""
        return max(self.parts, key=lambda each: self.parts[each])

    @property
    def busy(self) -> "Shares":
        """Returns the shares of the time without idle."""
        total = sum(share for part, share in self.parts.items() if part != "idle") or 1.0
        parts = {part: share / total for part, share in self.parts.items() if part != "idle"}
        return dataclasses.replace(self, parts=parts)

    @property
    def cells(self) -> list[str]:
        """Returns the cells of the table; empty cells if the kernel failed."""
        return [f"{self.first} {100 * self.parts[self.first]:.0f}" if self.parts else "", self.cause]


# Files of the kernel's text and of its launch. Bundles contain their texts, so the first is None.
Launch = tuple[pathlib.Path | None, pathlib.Path]


def launches(bundles: str | None = None) -> dict[str, Launch]:
    """Returns the launches by name."""
    if bundles is not None:
        root = pathlib.Path(bundles)
        return {str(path.parent.relative_to(root)): (None, path)
                for path in sorted(root.rglob("launch.json"))}
    found: dict[str, Launch] = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.json")):
            own = path.with_suffix(".cl")
            found[path.stem] = (own if own.exists() else known.text_path(path.stem), path)
    return found


def part_of_cause(label: str) -> str:
    """Returns the part of a cause, by the words of its label."""
    if label.endswith(LANES):
        return LANES
    if label.endswith("local memory"):
        return "within"
    word = label.split(" ")[0].rstrip(":")
    return word if word in PARTS else "within"


def run_bounded(words: Sequence[str | pathlib.Path], seconds: int, output: pathlib.Path) -> str:
    """Runs a process with its output in a file. Returns why the process failed; empty if it did not."""
    errors = output.with_suffix(".errors")
    # `timeout` also ends the processes that the process started.
    with output.open("wb") as out, errors.open("wb") as err:
        done = subprocess.run(["timeout", "--kill-after=5", str(seconds), *words], stdin=subprocess.DEVNULL,
                              stdout=out, stderr=err, check=False)
    if done.returncode in (124, 137, -9):
        return f"took more than {seconds} s"
    lines = errors.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    return "" if done.returncode == 0 else last.replace("|", "/") or f"status {done.returncode}"


def profile(clprobe: str, launch: Launch, options: list[str], folder: pathlib.Path) -> Shares:
    """Returns the shares that `clprobe profile` finds."""
    text, path = launch
    kernel = [str(path.parent)] if text is None else ["--kernel-file", str(text), "--launch", str(path)]
    output = folder / "profile.json"
    reason = run_bounded([clprobe, "profile", *kernel, "--json", *options], PROFILE_SECONDS, output)
    try:
        result = json.loads(output.read_text(encoding="utf-8"))[0]["results"][0]
    except (ValueError, LookupError):
        return Shares({}, "", reason or "no document")
    return shares_or_reason(result.get("findings", []), result.get("reason") or reason or "no causes")


def shares_or_reason(findings: list[dict[str, Any]], reason: str) -> Shares:
    """Returns the shares in a kernel's findings, or the reason if there are none."""
    has_stack = any(each["name"] == "stall" and each.get("method") == "shapley" for each in findings)
    return shares_in(findings) if has_stack else Shares({}, "", reason)


def measured_in(paths: Sequence[str]) -> dict[tuple[str, int], Shares]:
    """Returns the shares in documents of `profile`, by the kernel's name and the time of the program's launch
    in ns, which differs between launches of kernels with equal names."""
    found = {}
    for path in paths:
        read = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        documents = read if isinstance(read, list) else [read]
        for result in (result for document in documents for result in document["results"]):
            labels: dict[str, list[dict[str, Any]]] = {}
            for each in result.get("findings", []):
                labels.setdefault(each["series"].partition(",")[0], []).append(each)
            for label, findings in labels.items():
                for each in findings:
                    if each["name"] == "app_time" and each.get("value"):
                        key = (label.split(" ")[0], round(1e9 * each["value"]))
                        found[key] = shares_or_reason(findings, result.get("reason") or "no causes")
    return found


def key_of(path: pathlib.Path) -> tuple[str, int]:
    """Returns the key of a launch in `measured_in`."""
    described = json.loads(path.read_text(encoding="utf-8"))
    return described["kernel"], described.get("app_event_ns", [0])[0]


def shares_in(findings: list[dict[str, Any]]) -> Shares:
    """Returns the shares in a kernel's findings. Groups of the last wave wait as others do, so the shares of
    the stack apply to the time without the tail."""
    parts = dict.fromkeys((*PARTS, LANES), 0.0)
    causes: dict[str, float] = {}
    doubt = ""
    tail = near = idle = starting = 0.0
    for each in findings:
        if each["name"] == "tail" and not each.get("reason"):
            tail = min(1.0, max(0.0, each.get("value") or 0.0))
        if each["name"] == "idle_units":
            idle = each["value"]
        if each["name"] == "near_waits":
            near = max(0.0, each["value"])
        if each["name"] != "stall" or each.get("method") != "shapley":
            continue
        reason = each.get("reason", "")
        if not each.get("label"):
            doubt = reason
        if each.get("value") is None or (reason and not reason.startswith("at least")):
            continue
        if each["label"] == STARTING:
            starting = min(0.99, each["value"])
            continue
        parts[part_of_cause(each["label"])] += each["value"]
        causes[each["label"]] = each["value"]
    # Groups that start have no stalls that Nsight could sample.
    parts = {part: share / (1.0 - starting) for part, share in parts.items()}
    # Time that no removed cause explains counts as within.
    parts["within"] += max(0.0, 1.0 - sum(parts.values()))
    near = min(near, parts["within"])
    parts["memory"] += near
    parts["within"] -= near
    idle = max(idle, tail)
    parts = {part: (1.0 - idle) * share for part, share in parts.items()}
    parts["idle"] += idle
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


def run_ncu(launch: Launch, folder: pathlib.Path) -> Shares:
    """Profiles a kernel with Nsight Compute, in two processes: OpenCL's driver makes the PTX, and CUDA's
    driver launches it."""
    text, path = launch
    made, log, output = folder / "kernel.ptx", folder / "ncu.csv", folder / "ncu.txt"
    metrics = ",".join([f"group:{SAMPLES.removesuffix('s_issue_stalled_')}_stall_reasons{NOT_ISSUED}",
                        ISSUED, ACTIVE, ELAPSED, *SECTORS, CONFLICTS, WAVEFRONTS, THREADS])
    ncu = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
           "--cache-control", "all", "--log-file", str(log), "--metrics", metrics]
    log.write_text("", encoding="utf-8")
    reason = run_bounded([sys.executable, ROOT / "ptx.py", made, path, *([text] if text else [])],
                         COUNTERS_SECONDS, output)
    reason = reason or run_bounded([*ncu, sys.executable, ROOT / "cuda_launch.py", made, path],
                                   COUNTERS_SECONDS, output)
    told = log.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = list(csv.DictReader(line for line in told if not line.startswith("==")))[1:]
    if reason or len(rows) != 1:
        own = [line for line in told if line.startswith("==ERROR==")]
        return Shares({}, "", " ".join([reason or f"{len(rows)} launches", *own[:1]]))
    try:
        shares = shares_of(rows[0])
    except (LookupError, ValueError, ZeroDivisionError) as error:
        return Shares({}, "", f"counters: {error!r}")
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    shares.changed = "".join(line.removeprefix(CHANGED) for line in lines if line.startswith(CHANGED)).strip()
    return shares


def counters_of(described: dict[str, Launch], names: Sequence[str], known_file: str | None, saved: str | None,
                folder: pathlib.Path) -> dict[str, Shares]:
    """Returns Nsight's shares from a file, and runs Nsight for kernels that are not in the file. Saves the
    shares after each kernel."""
    read = json.loads(pathlib.Path(known_file).read_text(encoding="utf-8")) if known_file else {}
    found = {name: Shares(**each) for name, each in read.items()}
    for name in names:
        if name not in found:
            found[name] = run_ncu(described[name], folder)
            print(f"{name}: {found[name].doubt or found[name].cause}", file=sys.stderr, flush=True)
        if saved:
            all_shares = {each: dataclasses.asdict(shares) for each, shares in found.items()}
            pathlib.Path(saved).write_text(json.dumps(all_shares, indent=1) + "\n", encoding="utf-8")
    return found


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


def agrees(ours: Shares, theirs: Shares) -> bool:
    """True if the first parts are equal. Nsight has no part for lanes, but other evidence."""
    return bool(theirs.apart) if ours.first == LANES else ours.first == theirs.first


def tau_of(ours: Shares, theirs: Shares) -> float | None:
    """Returns the rank correlation of the parts above 5 % in either."""
    return tau_b([(ours.parts[each], theirs.parts[each]) for each in PARTS
                  if max(ours.parts[each], theirs.parts[each]) > MIN_SHARE])


def print_row(name: str, ours: Shares, theirs: Shares) -> None:
    """Prints a kernel's row of the table."""
    doubt = "; ".join(each for each in (ours.doubt, theirs.doubt) if each)
    both = ours.parts and theirs.parts
    tau = tau_of(ours, theirs) if both else None
    cells = [name, *ours.cells, *theirs.cells, theirs.apart,
             doubt or ("yes" if agrees(ours, theirs) else "no"), "" if tau is None else f"{tau:.2f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


def print_summary(pairs: dict[str, tuple[Shares, Shares]]) -> None:
    """Prints how many kernels agree, of those with shares that are not in doubt."""
    believed = [each for each in pairs.values() if not each[0].doubt and not each[1].doubt]
    taus = [tau for tau in (tau_of(*each) for each in believed) if tau is not None]
    nan = float("nan")
    print(f"\nfirst part agrees in {sum(agrees(*each) for each in believed)} of {len(believed)}; tau-b in "
          f"the middle {statistics.median(taus) if taus else nan:.2f}")
    busy = [(ours.busy, theirs.busy) for ours, theirs in believed]
    apart = [100 * abs(ours.parts["memory"] - theirs.parts["memory"]) for ours, theirs in busy]
    print(f"first part of busy time agrees in {sum(agrees(*each) for each in busy)} of {len(busy)}; memory's "
          f"share of it differs by {statistics.median(apart) if apart else nan:.1f} points in the middle")
    for name, (_, theirs) in pairs.items():
        if theirs.changed:
            print(f"{name}: buffers with other bytes than after the program's launch: {theirs.changed}")


def main() -> None:
    """Prints the table."""
    # The names of kernels depend on this option.
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--bundles")
    described = launches(early.parse_known_args()[0].bundles)
    parser: argparse.ArgumentParser = profiled.parser_of(__doc__, "kernel", described)
    parser.add_argument("--bundles", metavar="FOLDER", help="folder with bundles, at any depth")
    parser.add_argument("--measured", metavar="FILE", nargs="+", default=[],
                        help="documents of `clprobe profile` that contain the bundles' launches")
    parser.add_argument("--save", metavar="FILE", help="write Nsight's shares to FILE after each kernel")
    parser.add_argument("--counters", metavar="FILE", help="read Nsight's shares from FILE of --save")
    given, options = profiled.given_to(parser, "kernel", described)
    if given.clprobe is None and not given.measured and not given.save:
        parser.error("name the clprobe to run")
    measured = measured_in(given.measured)
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        by_counters = counters_of(described, given.names, given.counters, given.save, folder)
        if given.clprobe is None and not given.measured:
            return
        levels = profiled.levels_of(given.clprobe, options, folder) if given.clprobe else []
        print("| kernel | profile, % | | Nsight, % | | its lanes | agree | tau |")
        print(f"|{'---|' * 8}")
        pairs = {}
        for name in given.names:
            ours = measured.get(key_of(described[name][1]))
            if ours is None and given.clprobe:
                ours = profile(given.clprobe, described[name], [*levels, *options], folder)
            pairs[name] = (ours or Shares({}, "", "not measured"), by_counters[name])
            print_row(name, *pairs[name])
    print_summary(pairs)


if __name__ == "__main__":
    main()
