# SPDX-License-Identifier: Apache-2.0
"""Bandwidths: clprobe stride against loops in C++ or CUDA, and against clpeak."""

import dataclasses
import pathlib
import re
import shutil
import statistics
import sys
from collections.abc import Callable
from typing import Any

from twins.common import (MIB, CannotRun, build_cuda_twin, build_twin, pages_of, run, run_document,
                          run_json, size_word)

# The rates of an operation in buffers as a point's parameters have them.
Twin = Callable[[str, dict[str, Any]], list[float]]

# clpeak 1.1 reads so much on a CPU, of which large caches hold a part.
CLPEAK_BYTES = 512 * MIB


@dataclasses.dataclass
class Rate:
    """The best bandwidth of clprobe stride against another program's, over all rounds: the best of
    each, since what else runs on a machine only takes bandwidth away. (Two virtual CPUs of a shared
    host: the ratios of single rounds reach from 0.8 to 1.8.)"""

    name: str
    least: float  # of clprobe's by the other's
    ours: list[float] = dataclasses.field(default_factory=list)
    other: list[float] = dataclasses.field(default_factory=list)

    def ratios(self) -> list[float]:
        return [ours / other for ours, other in zip(self.ours, self.other)]

    def ratio(self) -> float:
        return max(self.ours) / max(self.other)

    def is_within(self) -> bool:
        return self.ratio() >= self.least


def best_of_stride(program: pathlib.Path, device: dict[str, Any], operation: str,
                   buffer_bytes: int | None = None) -> tuple[float, dict[str, Any]]:
    """The largest bandwidth that clprobe found for any element, and what is known of one point."""
    rates: list[float] = []
    parameters: dict[str, Any] = {}
    for vectors in ["1,4,16"] if buffer_bytes is None else ["4", "16"]:
        size: list[Any] = []
        if buffer_bytes is not None:
            size = ["--elements", buffer_bytes // (4 * int(vectors))]
        document = run_document([program, "stride", "--device", device["index"], "--operation",
                                 operation, "--vector", vectors, *size])
        result = document["results"][0]
        found = [finding["value"] for finding in result["findings"]
                 if finding["name"] == "bandwidth" and "value" in finding]
        if not found:
            reason = result.get("reason", "no reason given")
            raise CannotRun(f"clprobe found no bandwidth: {reason}")
        rates += found
        parameters = result["points"][0]["parameters"] | result["points"][0]["facts"]
    return max(rates), parameters


def best_of_clpeak(device: dict[str, Any]) -> float:
    """The largest of clpeak's global bandwidths, which are in GB/s."""
    platform, number = device["platform_index"].split(":")
    said = run(["clpeak", "--global-bandwidth", "--use-event-timer", "-p", platform, "-d", number])
    rates = [float(rate) for rate in re.findall(r"^ +(?:float|double)\d* +: ([0-9.]+)", said, re.M)]
    if not rates:
        raise CannotRun("clpeak told no bandwidth")
    return max(rates) * 1e9


def clpeak_row(is_cpu: bool) -> Rate | None:
    if shutil.which("clpeak") is None:
        print("clpeak is not installed, so nothing is compared with it", file=sys.stderr)
        return None
    return Rate("clpeak, best of its reads" + (", 512 MiB" if is_cpu else ""), 1.0)


def compare(program: pathlib.Path, device: dict[str, Any], twin: Twin, rounds: int) -> list[Rate]:
    rows = {operation: Rate(f"native {operation}", 0.97) for operation in ("read", "copy")}
    is_cpu = device["type"] == "cpu"
    clpeak = clpeak_row(is_cpu)
    _, parameters = best_of_stride(program, device, "read")
    for _ in range(rounds):
        for operation, row in rows.items():
            row.other.append(statistics.median(twin(operation, parameters)))
            ours, _ = best_of_stride(program, device, operation)
            row.ours.append(ours)
            if operation == "read" and clpeak is not None:
                clpeak.other.append(best_of_clpeak(device))
                if is_cpu:
                    ours, _ = best_of_stride(program, device, operation, CLPEAK_BYTES)
                clpeak.ours.append(ours)
    found = [*rows.values(), *([clpeak] if clpeak else [])]
    print_rates(device["name"], parameters, found)
    return found


def print_rates(title: str, parameters: dict[str, Any], rows: list[Rate]) -> None:
    print(f"{title}, bandwidth in GB/s, buffers of {size_word(parameters['buffer_bytes'])}, "
          f"the best of {len(rows[0].ours)} rounds")
    print(f"  {'clprobe stride, the best, by':<34} {'other':>9} {'clprobe':>9} {'ratio':>7} "
          f"{'of the rounds':>15} {'target':>9}")
    for row in rows:
        ratios = row.ratios()
        mark = "" if row.is_within() else "  MISSED"
        spread = f"{min(ratios):.3f} - {max(ratios):.3f}"
        print(f"  {row.name:<34} {max(row.other) / 1e9:>9.2f} {max(row.ours) / 1e9:>9.2f} "
              f"{row.ratio():>7.4f} "
              f"{spread:>15} {'>= ' + format(row.least, 'g'):>9}{mark}")


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    program_of_twin = build_twin(["g++", "-std=c++20", "-O3", "-march=native", "-pthread"],
                                 "stream.cpp", "stream")

    def twin(operation: str, parameters: dict[str, Any]) -> list[float]:
        return run_json([program_of_twin, operation, parameters["buffer_bytes"],
                         device["compute_units"], options.repeats,
                         pages_of(parameters)])["bytes_per_second"]

    return compare(program, device, twin, options.rounds)


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    program_of_twin = build_cuda_twin(nvcc, "stream")

    def twin(operation: str, parameters: dict[str, Any]) -> list[float]:
        return run_json([program_of_twin, operation, parameters["buffer_bytes"],
                         options.repeats])["bytes_per_second"]

    return compare(program, device, twin, options.rounds)
