#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how times of reading, showing and comparing grow with documents. Usage: scaling.py CLPROBE

Each case runs with one size and with twice that size: a ratio of 2 is linear, 4 quadratic. The minimum of
several repeats counts, since noise only adds time.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = ROOT / "tests/fuzz/corpus/load/latency-gpu.json"
REPEATS = 3
LIMIT_S = 120


def long_series(points: int) -> str:
    """Returns a run with one series of many points of different sizes."""
    run = json.loads(SEED.read_text(encoding="utf-8"))
    result = run["results"][0]
    first = result["points"][0]
    result["points"] = []
    for i in range(points):
        point = json.loads(json.dumps(first))
        point["parameters"]["working_set_bytes"] = 1024 + 64 * i
        result["points"].append(point)
    return json.dumps(run)


def many_runs(runs: int) -> str:
    """Returns many runs of one device on different days."""
    run = json.loads(SEED.read_text(encoding="utf-8"))
    all_runs = []
    for i in range(runs):
        run["started"] = f"{2000 + i // 300}-{1 + i % 12:02}-{1 + i % 28:02}T00:00:00Z"
        all_runs.append(json.dumps(run))
    return "[" + ",".join(all_runs) + "]"


def seconds(program: str, words: list[str], files: list[str]) -> float:
    """Returns the minimum time of several repeats in seconds; infinite if one takes more than LIMIT_S."""
    minimum = float("inf")
    for _ in range(REPEATS):
        began = time.monotonic()
        try:
            subprocess.run([program, *words, *files], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return float("inf")
        minimum = min(minimum, time.monotonic() - began)
        if minimum > LIMIT_S / 10:
            break
    return minimum


CASES = [
    ("refuse [{},{},...], 1 million", lambda n: "[" + ",".join(["{}"] * n) + "]", 500_000,
     ["report"], 1),
    ("read a series of 100,000 points", long_series, 50_000, ["report", "--json"], 1),
    ("show it as a page", long_series, 50_000, ["report", "-f", "html"], 1),
    ("compare it with itself", long_series, 50_000, ["compare"], 2),
    ("show 2,000 runs in one page", many_runs, 1_000, ["report", "-f", "html"], 1),
]


def main() -> None:
    """Prints a line for each case."""
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for title, make, size, words, times in CASES:
            took = []
            for factor in (1, 2):
                path = os.path.join(folder, f"{factor}.json")
                pathlib.Path(path).write_text(make(size * factor), encoding="utf-8")
                took.append(seconds(program, words, [path] * times))
            print(f"{title:<34} {took[0]:7.2f} s, twice as much {took[1]:7.2f} s, "
                  f"ratio {took[1] / took[0]:.2f}   (target <= 2.5)", flush=True)


main()
