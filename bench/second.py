#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long `clprobe profile` takes for a program that runs for a second with three kernels.

    bench/second.py build/release/clprobe build/test/clprobe_surveyed [SIDE] [-- OPTION...]

The program is one of clprobe's tests. It adds two matrices of SIDE * SIDE floats, transposes one, and reduces
their product, each for a third of a second. It runs alone and then under the profiler; both times include
start, end and compilation. Options go to clprobe: --device, --quick.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time


def seconds_of(words: list[str]) -> float:
    """Returns the seconds of a command. Ends with its messages if it fails."""
    began = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        sys.exit(f"second: {words[0]} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return time.monotonic() - began


def main() -> None:
    """Prints the times and the findings of the kernels."""
    own, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    if len(own.split()) not in (2, 3):
        sys.exit(__doc__)
    clprobe, *program = own.split()
    program.insert(1, "second")
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "found.json"
        alone = seconds_of(program)
        profiled = seconds_of([clprobe, "profile", *options.split(), "-o", str(document), "--", *program])
        result = json.loads(document.read_text(encoding="utf-8"))["results"][0]
    advice = {each["series"]: each["label"] for each in result["findings"]
              if each["name"] == "advice" and "label" in each}
    points = collections.Counter(each["series"] for each in result["points"])
    print(f"program {alone:.1f} s, profile {profiled:.1f} s, {result['status']}, "
          f"{sum(points.values())} points in {len(points)} series")
    for series, text in advice.items():
        print(f"{series}: {text}")


if __name__ == "__main__":
    main()
