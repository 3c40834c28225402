#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how often `compare --live` finds a slower driver, and how often it finds a change without one.

Usage: live.py [--times N] [--percent P] [--kernel WORD] [--time TIME] [--device SEL]
              CLPROBE LIBRARY PROBE...

Compares one device with itself N times (4), and N times with itself under LIBRARY (libclprobe_fault.so). The
library lengthens launches by P percent (10) in programs whose source contains WORD (`latency_chase`). The two
kinds of comparison alternate. Words after LIBRARY go to clprobe: `latency --series global`.

`found` counts comparisons in which some headline is worse; `all`, those in which every headline measured
alternately is worse; `changed`, those in which some headline is better, worse or different.
"""
import argparse
import json
import os
import statistics
import subprocess
import time
from typing import Any

CHANGES = ("better", "worse", "different")


def compare(words: list[str]) -> tuple[float, int, Any]:
    """Runs a comparison. Returns its seconds, exit status and document."""
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, check=False)
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 4) or not done.stdout:
        raise SystemExit(f"{' '.join(words)}: {done.returncode}: {done.stderr.decode(errors='replace')}")
    return seconds, done.returncode, json.loads(done.stdout)


class Tally:
    """Counts over the comparisons of one kind."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.seconds: list[float] = []
        self.ratios: dict[str, list[float]] = {}
        self.widths: list[float] = []
        self.changed = 0
        self.worse = 0
        self.all_worse = 0
        self.failed = 0
        self.unclear: list[str] = []

    def add(self, seconds: float, status: int, comparison: Any) -> None:
        """Adds a comparison."""
        self.seconds.append(seconds)
        self.failed += status == 4
        verdicts, followed = [], []
        for row in comparison["findings"]:
            cell: dict[str, Any] = next((each for each in row["runs"] if each["run"] == 1), {})
            if "verdict" not in cell:
                continue
            name = " ".join(str(row[key]) for key in ("probe", "series", "level", "name") if key in row)
            verdicts.append(cell["verdict"])
            if " alternating pass" not in cell.get("reason", ""):
                continue
            followed.append(cell["verdict"])
            self.ratios.setdefault(name, []).append(cell["ratio"])
            if cell["verdict"] == "unclear":
                self.unclear.append(name)
            if "interval_high" in cell:
                self.widths.append(cell["interval_high"] - cell["interval_low"])
        self.changed += any(each in CHANGES for each in verdicts)
        self.worse += "worse" in verdicts
        self.all_worse += bool(followed) and all(each == "worse" for each in followed)

    def print(self) -> None:
        """Prints a line of totals, and one for each headline."""
        count = len(self.seconds)
        width = f"{100 * statistics.median(self.widths):.2g} %" if self.widths else "none"
        print(f"{self.title:12} {count:5} {self.worse:6} {self.all_worse:4} {self.changed:8} "
              f"{self.failed:7} "
              f"{statistics.median(self.seconds):9.0f} {max(self.seconds):6.0f}  {width}")
        for name, ratios in sorted(self.ratios.items()):
            missed = self.unclear.count(name)
            print(f"    {name}: {len(ratios)} times, ratio {min(ratios):.3f} to {max(ratios):.3f}, "
                  f"median {statistics.median(ratios):.3f}{f', unclear {missed} times' if missed else ''}")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe")
    parser.add_argument("library")
    parser.add_argument("--times", type=int, default=4, metavar="N")
    parser.add_argument("--percent", type=int, default=10, metavar="P")
    parser.add_argument("--kernel", default="latency_chase", metavar="WORD")
    parser.add_argument("--time", default="60s", metavar="TIME")
    parser.add_argument("--device", default="", metavar="SEL")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="PROBE...")
    given = parser.parse_args()
    if not os.path.isfile(given.library):  # without it, the loader would run an unchanged driver
        parser.error(f"{given.library} is no library: build libclprobe_fault.so, and give its path")
    common = [given.clprobe, "compare", "--live", "--json", "--time-budget", given.time, "--fail-on", "worse"]
    if given.device:
        common += ["--device", given.device]
    library = f"LD_PRELOAD={os.path.abspath(given.library)}"
    slower = [library, f"CLPROBE_FAULT_STRETCHED={given.kernel}",
              f"CLPROBE_FAULT=stretch={given.percent}@clEnqueueNDRangeKernel"]
    on_side_b = [word for each in slower for word in ("--b-env", each)]
    kinds = [(Tally("alike"), common + given.words),
             (Tally(f"{given.percent} % slower"), common + on_side_b + given.words)]
    for _ in range(given.times):
        for tally, words in kinds:
            tally.add(*compare(words))
    print("side B       times  found  all  changed  exit 4  seconds   most  "
          "width of the ratio's interval")
    for tally, _ in kinds:
        tally.print()


if __name__ == "__main__":
    main()
