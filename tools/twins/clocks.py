# SPDX-License-Identifier: Apache-2.0
"""The core clock under load: clprobe clock against CUDA or C++, and against nvidia-smi."""

import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from typing import Any

from twins.common import (CannotRun, build_cuda_twin, build_twin, number_of, run, run_document,
                          run_json)
from twins.rates import Rate, print_rates

BURN_MS = 1500
# On CPUs, short measurements alternate, since the core clock of a shared host depends on its other users. On
# one of 16 cores it rose from 2.2 to 2.9 GHz within seconds.
CPU_BURN_MS = 500
CPU_REPEATS = 4


def clock_of(program: pathlib.Path, device: dict[str, Any], burn_ms: int = BURN_MS) -> float:
    findings = run_document([program, "clock", "--device", device["index"], "--series", "arithmetic",
                             "--burn", f"{burn_ms}ms"])["results"][0]["findings"]
    values = [finding["value"] for finding in findings
              if finding["name"] == "clock" and "value" in finding]
    if not values:
        raise CannotRun("clprobe found no clock")
    return float(values[0])


def sustained(hertz: list[float]) -> float:
    """Returns the median of the last third, as clprobe does."""
    return statistics.median(hertz[2 * len(hertz) // 3:])


def reported_while(command: list[Any], number: int) -> float | None:
    """Returns the clock that nvidia-smi reports while the command runs; None without nvidia-smi."""
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return None
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as burning:
        time.sleep(BURN_MS / 2000)
        output = run([smi, "--query-gpu=clocks.sm", "--format=csv,noheader,nounits", "-i", number])
        burning.wait()
    return float(output.split()[0]) * 1e6


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    twin = build_twin(["g++", "-std=c++20", "-O3", "-march=native", "-pthread"], "clock.cpp", "clock")
    row = Rate("clock", "arithmetic", "C++", 0.98, 1.02, "hertz")
    for _ in range(CPU_REPEATS * options.rounds):
        row.ours.append(clock_of(program, device, CPU_BURN_MS))
        row.other.append(sustained(run_json([twin, CPU_BURN_MS, device["compute_units"]])["hertz"]))
    print_rates(f"{device['name']}, the core's clock", [row])
    return [row]


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, device, "clock")
    rows = [Rate("clock", "arithmetic", "CUDA", 0.99, 1.01, "hertz"),
            Rate("clock", "arithmetic", "nvidia-smi", 0.99, 1.01, "hertz")]
    for _ in range(options.rounds):
        ours = clock_of(program, device)
        document = run_json([*twin, BURN_MS])
        print(f"  the twin's nanoseconds by the host's clock: {document['timer_by_host']:.6f}",
              file=sys.stderr)
        rows[0].other.append(sustained(document["hertz"]))
        rows[0].ours.append(ours)
        reported = reported_while([*twin, BURN_MS], number_of(device))
        if reported is not None:
            rows[1].other.append(reported)
            rows[1].ours.append(ours)
    if not rows[1].ours:
        print("nvidia-smi is not installed, so nothing is compared with it", file=sys.stderr)
        rows.pop()
    print_rates(f"{device['name']}, the core's clock", rows)
    return rows
