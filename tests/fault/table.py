#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drivers that fail, in numbers: every OpenCL function that the program calls, failing at the first calls and
at others up to the last, in every way and for every probe.

Usage: table.py CLPROBE FAULT_LIBRARY SCHEMA_FOLDER [WORD...]

Before the probe whose driver fails another one is measured, which must be in the document whole. Whatever
fails: the exit code is 0, 1 or 3, and 0 only where nothing was lost; the document is valid; every point has
samples, a failure, or is refused; and what fails once costs one point. At the end stands a table, tried and
right, of every probe and kind of fault.

CLPROBE_FAULTS in the environment: "all", or "COUNT:SEED", of so many rows that the seed draws (default 30:0).
WORD: only rows whose name ("stride error=-5@clFinish 3/10") contains one of the words.
"""

import collections
import dataclasses
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema

# What is measured before: some points of a second.
BEFORE = "latency"
FEW_POINTS = {
    "latency": ["--sizes", "16KiB,32KiB", "--series", "global"],
    "stride": ["--elements", "4K", "--grid", "64", "--work-group", "8", "--operation", "read,copy"],
    "banks": ["--word-size", "4", "--strides", "1,32", "--series", "load-latency"],
    "inflight": ["--series", "chains"],
    "stalls": ["--case", "dependency-chain,uts"],
}
GLOBALS = ["--quick", "--time-budget", "60s", "--max-memory", "4MiB"]
SECONDS = 400  # of a run, at most: of one that hangs the program, too

# Functions whose errors mean that there is no device at all.
FINDING = {"clGetPlatformIDs", "clGetDeviceIDs", "clGetPlatformInfo", "clGetDeviceInfo", "clRetainDevice",
           "clReleaseDevice"}
LAUNCH = "clEnqueueNDRangeKernel"
STAMPS = "clGetEventProfilingInfo"
# Where in a run: its first calls, and parts of all.
FIRST = [1, 2, 3]
PARTS = [10, 35, 60, 85, 99]
# Beside what happens to all functions: kinds of fault, their function, and where.
SPECIAL = [
    *(("gone", f"gone{code}", function, part) for code in ("", "=-5") for function in (LAUNCH, "clFinish")
      for part in (1, 35, 60, 99)),
    *(("lie", kind, STAMPS, part) for kind in ("zero", "falling", "huge", "lie") for part in (1, 35, 80)),
    *(("garbage", "garbage", function, part)
      for function in ("clGetDeviceInfo", "clGetKernelWorkGroupInfo", "clEnqueueReadBuffer")
      for part in (1, 10, 35, 60, 85, 99)),
    *(("wrong", "wrong", "clEnqueueReadBuffer", part) for part in (35, 60, 99)),
    *(("late", "late=300", function, part) for function in (LAUNCH, "clFinish", "clEnqueueReadBuffer")
      for part in (35, 85)),
    *(("hang", "hang", function, part) for function in (LAUNCH, "clFinish", "clBuildProgram")
      for part in (1, 60)),
]
ONCE = {"error", "crash", "exit", "garbage", "late", "hang"}


@dataclasses.dataclass(frozen=True)
class Row:
    """A fault at one call of a run; `place` is the number of the call, or a part of all in percent."""

    probe: str
    sort: str
    kind: str
    function: str
    place: int
    is_part: bool

    @property
    def name(self) -> str:
        return f"{self.probe} {self.kind}@{self.function} {self.place}{'%' if self.is_part else ''}"

    def call(self, counts: dict[str, int]) -> int:
        if not self.is_part:
            return self.place
        return max(1, counts.get(self.function, 0) * self.place // 100)


@dataclasses.dataclass
class Outcome:
    """What a run left behind."""

    status: int
    stderr: str
    document: Any
    fired_in: str | None  # the kernel that was launched last when it happened; None: it did not


class Bench:
    """Runs the program over the library, in folders below one."""

    def __init__(self, program: str, library: str, schema: str, folder: pathlib.Path) -> None:
        self.program = program
        self.library = library
        self.folder = folder
        self.schema = pathlib.Path(schema)
        self.healthy: dict[str, dict[str, int]] = {}
        self.counts: dict[str, dict[str, int]] = {}
        self.timers: list[str] = []

    def run(self, probe: str, fault: str, folder: pathlib.Path) -> Outcome:
        document, once, counts = (folder / name for name in ("a.json", "once", "counts"))
        counts.write_bytes(bytes(64 * 64))
        environment = {**os.environ, "LD_PRELOAD": self.library, "CLPROBE_FAULT": fault,
                       "CLPROBE_FAULT_ONCE": str(once), "CLPROBE_FAULT_COUNTS": str(counts),
                       "OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd"}
        # Long enough for a busy host, short where a driver hangs.
        timeout = "10s" if "hang" in fault else "60s"
        words = [self.program, *GLOBALS, "--timeout", timeout, "-o", str(document)]
        for each in dict.fromkeys((BEFORE, probe)):
            words += [each, *FEW_POINTS.get(each, [])]
        try:
            ended = subprocess.run(words, env=environment, capture_output=True, timeout=SECONDS, check=False)
            status, stderr = ended.returncode, ended.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, stderr = 124, "the program hangs"
        return Outcome(status, stderr, json.loads(document.read_text()) if document.exists() else None,
                       once.read_text() if once.exists() else None)

    def count(self, probe: str) -> None:
        """Notes the calls of a run without a fault, and its points."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            outcome = self.run(probe, "", pathlib.Path(name))
            data = (pathlib.Path(name) / "counts").read_bytes()
        if outcome.status != 0:
            raise SystemExit(f"{probe} fails without a fault: {outcome.status} {outcome.stderr}")
        self.healthy[probe] = {each["probe"]: planned(each) for each in outcome.document["results"]}
        self.timers = timers(outcome.document)
        self.counts[probe] = {name.rstrip(b"\0").decode(): calls
                              for name, calls in struct.iter_unpack("56sQ", data) if name.rstrip(b"\0")}

    def complaints(self, row: Row) -> list[str]:
        """What is wrong after a fault."""
        call = row.call(self.counts[row.probe])
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            outcome = self.run(row.probe, f"{row.kind}@{row.function}:{call}", pathlib.Path(name))
            found = [*wrong_status(row, outcome)]
            if outcome.document is not None:
                found += self.invalid(outcome.document)
                report = subprocess.run([self.program, "report", f"{name}/a.json"], capture_output=True,
                                        timeout=SECONDS, check=False)
                if report.returncode != 0:
                    said = report.stderr.decode(errors="replace")
                    found.append(f"report: exit {report.returncode}: {said}")
                found += self.lost(row, outcome)
        if found:
            found.append(f"stderr: {outcome.stderr.strip()[:600]}")
        return found

    def invalid(self, document: Any) -> list[str]:
        """Where the document is none of its schema."""
        name = f"clprobe-run-{document['schema_version']}.schema.json"
        validator = jsonschema.Draft7Validator(json.loads((self.schema / name).read_text()))
        return [f"schema: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                for error in validator.iter_errors(document)]

    def lost(self, row: Row, outcome: Outcome) -> list[str]:
        """What the document lacks."""
        found = []
        results = {each["probe"]: each for each in outcome.document["results"]}
        opened = bool(results)
        for probe, points in self.healthy[row.probe].items():
            result = results.get(probe)
            if result is None:
                if opened or outcome.status == 0:
                    found.append(f"{probe} is lost")
                continue
            found += [f"{probe}: {each}" for each in unmeasured(result)]
            # Without a clock that is believed a probe has less to measure, and it tells when time ran out.
            told = any(each["code"] == "time_budget_short" for each in result.get("warnings", []))
            there = planned(result) + refused(result)
            if not told and timers(outcome.document) == self.timers and there < points:
                found.append(f"{probe}: {there} points, {points} without the fault")
            failures = sum(1 for each in result["points"] if each.get("failure"))
            in_kernel = (outcome.fired_in or "").split("_")[0]
            if row.sort in ONCE and failures > 1:
                found.append(f"{probe}: a fault that happens once costs {failures} points")
            if in_kernel == row.probe != probe and result["status"] != "ok":
                found.append(f"{probe}: measured before the fault, and {result['status']}")
            if outcome.status == 0 and (failures or result["status"] == "failed"):
                found.append(f"{probe}: exit 0, and {result['status']} with {failures} failures")
        if opened and outcome.status == 1 and all(each["status"] != "failed" for each in results.values()):
            found.append("exit 1, and no result has failed")
        return found


def wrong_status(row: Row, outcome: Outcome) -> list[str]:
    """Whether the exit code is one that such a fault may have."""
    found = []
    if outcome.status not in (0, 1, 3):
        found.append(f"exit {outcome.status}")
    if outcome.status == 3 and row.function not in FINDING:
        found.append("exit 3, and there is a device")
    if outcome.status == 0 and outcome.document is None:
        found.append("exit 0, and no document")
    if outcome.status != 0 and not outcome.stderr.startswith("clprobe: "):
        found.append("no message")
    if row.sort in ONCE and outcome.fired_in is None and outcome.status != 0:
        found.append("it did not happen, and the run failed")
    return found


def timers(document: Any) -> list[str]:
    """What times are from: clock, events or the host."""
    device = document["device"]
    return [device["timer"], device["launch_timer"], device["clock"]["kind"]]


def planned(result: Any) -> int:
    """How many points are measured in any case: amounts of noise are added until it is seen."""
    return sum("noise_amount" not in each["parameters"] for each in result["points"])


def refused(result: Any) -> int:
    """How many points the device is said to refuse: by an answer that is wrong, too."""
    warnings = [each for each in result.get("warnings", []) if each["code"] == "point_refused"]
    some = sum(each["facts"].get("points", 1) for each in warnings)
    whole = sum("value" not in each and each.get("source") == "reported" for each in result["findings"])
    return int(some + whole)


def unmeasured(result: Any) -> list[str]:
    """Points that have neither samples nor a failure, and are not refused."""
    refused = [each for each in result.get("warnings", []) if "refused" in each["code"]]
    empty = [each for each in result["points"] if not each.get("samples") and not each.get("failure")]
    if len(empty) > 0 and not refused:
        return [f"{len(empty)} points have neither samples nor a reason"]
    return []


def imports(program: str) -> set[str]:
    """The OpenCL functions that the program calls."""
    listed = subprocess.run(["nm", "--dynamic", "--undefined-only", program], capture_output=True, text=True,
                            check=True)
    names = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}
    return {name for name in names if name.startswith("cl") and name[2:3].isupper()}


def all_rows(program: str) -> list[Row]:
    listed = subprocess.run([program, "list", "--device", "sim:gsi", "--json"], capture_output=True,
                            check=True)
    probes = json.loads(listed.stdout)["probes"]
    # A probe of simulated machines has no driver.
    measured = [each["id"] for each in probes if each["id"] != "gsi"]
    rows = []
    for probe in measured:
        for function in sorted(imports(program) - {"clSVMAlloc", "clSVMFree"}):
            for place in FIRST:
                rows.append(Row(probe, "error", "error=-5", function, place, False))
            for part in PARTS:
                rows.append(Row(probe, "error", "error=-5", function, part, True))
            for part in (1, 60):
                rows.append(Row(probe, "crash", "crash", function, part, True))
            rows.append(Row(probe, "exit", "exit", function, 35, True))
        for sort, kind, function, part in SPECIAL:
            rows.append(Row(probe, sort, kind, function, part, True))
    return rows


def chosen(rows: list[Row], words: list[str]) -> list[Row]:
    if words:
        return [row for row in rows if any(word in row.name for word in words)]
    asked = os.environ.get("CLPROBE_FAULTS", "30:0")
    if asked == "all":
        return rows
    count, _, seed = asked.partition(":")
    return random.Random(seed).sample(rows, int(count))


def show_table(tried: collections.Counter[tuple[str, str]],
               right: collections.Counter[tuple[str, str]]) -> None:
    sorts = sorted({sort for _, sort in tried})
    print("probe".ljust(10), *(sort.rjust(10) for sort in [*sorts, "all"]))
    for probe in sorted({probe for probe, _ in tried}):
        cells = [(right[probe, sort], tried[probe, sort]) for sort in sorts]
        cells.append((sum(each[0] for each in cells), sum(each[1] for each in cells)))
        print(probe.ljust(10), *(f"{good}/{all_}".rjust(10) for good, all_ in cells))


def main() -> int:
    program, library, schema, *words = sys.argv[1:]
    rows = chosen(all_rows(program), words)
    tried: collections.Counter[tuple[str, str]] = collections.Counter()
    right: collections.Counter[tuple[str, str]] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("POCL_CACHE_DIR", str(pathlib.Path(folder) / "pocl"))
        bench = Bench(program, library, schema, pathlib.Path(folder))
        for probe in dict.fromkeys(row.probe for row in rows):
            bench.count(probe)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            try:
                for row, complaints in zip(rows, pool.map(bench.complaints, rows)):
                    tried[row.probe, row.sort] += 1
                    right[row.probe, row.sort] += not complaints
                    for complaint in complaints:
                        print(f"{row.name}: {complaint}", flush=True)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                print("interrupted: this far")
    show_table(tried, right)
    print(f"{sum(right.values())} of {sum(tried.values())} right")
    return 0 if tried == right and sum(tried.values()) == len(rows) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
