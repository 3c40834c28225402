# SPDX-License-Identifier: Apache-2.0
"""Bandwidths: clprobe stride against loops in C++ or CUDA, and against clpeak."""

import pathlib
import re
import shutil
import statistics
import sys
from collections.abc import Callable
from typing import Any

from twins.common import (MIB, CannotRun, build_cuda_twin, build_twin, pages_of, run, run_document,
                          run_json, size_word)
from twins.rates import Rate, print_rates

# Function that returns the twin's rates of an operation, given a point's parameters and facts.
Twin = Callable[[str, dict[str, Any]], list[float]]

# Buffer size of clpeak 1.1 on a CPU, of which large caches hold a part. All programs use it on CPUs, for a
# short time each: 17 runs on a Xeon took more than a minute.
CPU_BYTES = 512 * MIB
CPU_BUDGET = ["--time-budget", "2s"]
# Passes of the twin per repeat (sets.py gives the reason). One pass reads the whole buffer.
CPU_PASSES = 10


def best_of_stride(program: pathlib.Path, device: dict[str, Any],
                   operation: str) -> tuple[float, dict[str, Any]]:
    """Returns the largest bandwidth that clprobe finds for any element, and the parameters and facts of a
    point."""
    rates: list[float] = []
    parameters: dict[str, Any] = {}
    is_cpu = device["type"] == "cpu"
    for vectors in ["4", "16"] if is_cpu else ["1,4,16"]:
        more: list[Any] = []
        if is_cpu:
            more = ["--elements", CPU_BYTES // (4 * int(vectors)), *CPU_BUDGET]
        document = run_document([program, "stride", "--device", device["index"], "--operation",
                                 operation, "--vector", vectors, *more])
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
    """Returns the largest of clpeak's global bandwidths in bytes per second."""
    platform, number = device["platform_index"].split(":")
    output = run(["clpeak", "--global-bandwidth", "--use-event-timer", "-p", platform, "-d", number])
    rates = [float(rate) for rate in re.findall(r"^ +(?:float|double)\d* +: ([0-9.]+)", output, re.M)]
    if not rates:
        raise CannotRun("clpeak told no bandwidth")
    return max(rates) * 1e9


def clpeak_row(is_cpu: bool) -> Rate | None:
    if shutil.which("clpeak") is None:
        print("clpeak is not installed, so nothing is compared with it", file=sys.stderr)
        return None
    return Rate("stride", "read, the best", "clpeak", least=1.0, is_shared=is_cpu)


def compare(program: pathlib.Path, device: dict[str, Any], twin: Twin, rounds: int) -> list[Rate]:
    is_cpu = device["type"] == "cpu"
    rows = {operation: Rate("stride", f"{operation}, the best", "C++" if is_cpu else "CUDA", least=0.97,
                            is_shared=is_cpu)
            for operation in ("read", "copy")}
    clpeak = clpeak_row(is_cpu)
    parameters: dict[str, Any] = {}
    for _ in range(rounds):
        for operation, row in rows.items():
            ours, parameters = best_of_stride(program, device, operation)
            row.ours.append(ours)
            rates = twin(operation, parameters)
            row.other.append(max(rates) if is_cpu else statistics.median(rates))
            if operation == "read" and clpeak is not None:
                clpeak.other.append(best_of_clpeak(device))
                clpeak.ours.append(ours)
    found = [*rows.values(), *([clpeak] if clpeak else [])]
    print_rates(f"{device['name']}, bandwidth, buffers of {size_word(parameters['buffer_bytes'])}",
                found)
    return found


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    program_of_twin = build_twin(["g++", "-std=c++20", "-O3", "-march=native", "-pthread"],
                                 "stream.cpp", "stream")

    def twin(operation: str, parameters: dict[str, Any]) -> list[float]:
        return run_json([program_of_twin, operation, parameters["buffer_bytes"],
                         device["compute_units"], CPU_PASSES * options.repeats,
                         pages_of(parameters)])["bytes_per_second"]

    return compare(program, device, twin, options.rounds)


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    words_of_twin = build_cuda_twin(nvcc, device, "stream")

    def twin(operation: str, parameters: dict[str, Any]) -> list[float]:
        return run_json([*words_of_twin, operation, parameters["buffer_bytes"],
                         options.repeats])["bytes_per_second"]

    return compare(program, device, twin, options.rounds)
