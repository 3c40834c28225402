# SPDX-License-Identifier: Apache-2.0
"""Transfers between host and device: clprobe transfer against copies in CUDA or by memcpy, and clpeak."""

import dataclasses
import os
import pathlib
import re
import shutil
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

from twins.common import (KIB, MIB, CannotRun, build_cuda_twin, build_twin, number_of, run, run_document,
                          run_json, size_word)
from twins.rates import Rate, print_rates

SIZE = 64 * MIB
# Size of clpeak 1.1's transfers if buffers may be twice as large. The rate of copies by the host depends on
# the size: a Xeon copied 64 MiB at 6 GB/s and 256 MiB at 10 GB/s, since its last cache holds part of 64 MiB.
CLPEAK_BYTES = 512 * MIB


@dataclasses.dataclass(frozen=True)
class Case:
    """A series of clprobe, and the direction and memory of the twin."""

    series: str
    way: str
    memory: str
    by: str = "CUDA"
    least: float | None = 0.97

    def row(self) -> Rate:
        return Rate("transfer", self.series, self.by, self.least, is_shared=self.memory == "pageable")


# nvbandwidth's method: events time copies that are queued in advance. Mappings and shared virtual memory have
# no equivalent twin: OpenCL's driver chooses the place of such memory (docs/transfer.md), but a CUDA program
# chooses it itself.
ENGINE = "nvbandwidth's way"
# Targets of alternating calls. If the last cache holds the data, rates depend on how much is cached: within
# an hour, the twin's copies to an H200 ran at 7 to 16 GB/s and clprobe's at 7 to 13 GB/s (docs/transfer.md).
# The target of 3 % therefore applies to calls that alternate in one process on the same memory, and to copies
# larger than the last cache.
ALTERNATING_LEAST, ALTERNATING_MOST = 0.97, 1.03
CASES = [Case("to-device-pinned", "to", "pinned"), Case("from-device-pinned", "from", "pinned"),
         Case("both-pinned", "both", "pinned"),
         Case("to-device", "to", "pageable", least=None),
         Case("from-device", "from", "pageable", least=None),
         Case("to-device-pinned", "to", "engine", ENGINE),
         Case("from-device-pinned", "from", "engine", ENGINE),
         Case("to-device-duplex", "to-duplex", "engine", ENGINE),
         Case("from-device-duplex", "from-duplex", "engine", ENGINE),
         Case("to-device-map", "to", "staged", "CUDA, staged", None),
         Case("from-device-map", "from", "staged", "CUDA, staged", None),
         Case("to-device-svm", "to", "managed", "CUDA, managed", None),
         Case("from-device-svm", "from", "managed", "CUDA, managed", None)]
# Names in clpeak of transfers in a program's own memory. Its mappings of a GPU's buffer may move no data,
# like those of a CPU's buffer.
CLPEAK_CASES = [("to-device", "enqueueWriteBuffer"), ("from-device", "enqueueReadBuffer")]
# Copies by the host become faster from one to the next while its last cache fills with the data.
HOST_COPIES = 40
HOST_SERIES = ["to-device", "from-device"]
# Odd step, which visits all of 16 cores.
CORE_STRIDE = 3
# Number of alternating copies of each call, which makes a median of one process exact to 1 %.
ALTERNATIONS = 100
# Size of a copy whose time is the overhead of the call, and targets for it in two programs.
START_SIZE = KIB
START_LEAST, START_MOST = 0.8, 1.25


def core_of_round(number: int) -> int:
    """Returns another core for each round, on which both programs copy. With cores of their own choice,
    clprobe had 1.04 and 1.18 of the twin's rate on a host with an H100."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[CORE_STRIDE * number % len(cores)]


def settled(rates: list[float]) -> float:
    """Returns the median of the later half, since earlier copies may still become faster."""
    return statistics.median(rates[len(rates) // 2:])


def rates_of(program: pathlib.Path, device: dict[str, Any], series: list[str],
             choose: Callable[[list[float]], float] = statistics.median,
             size: int = SIZE, more: Sequence[str] = (), before: Sequence[str] = ()) -> dict[str, float]:
    """Returns the rates of the series in bytes per second; `choose` picks one of the samples. `before` and
    `more` are words before and after the command."""
    points = run_document([*before, program, "transfer", "--device", device["index"], "--series",
                           ",".join(series), "--sizes", size, *more])["results"][0]["points"]
    rates = {point["series"]: choose([sample["accesses"] / sample["host_ns"] * 1e9
                                      for sample in point["samples"]])
             for point in points if point["samples"]}
    missing = [each for each in series if each not in rates]
    if missing:
        raise CannotRun(f"clprobe measured no {', '.join(missing)}")
    return rates


def rates_in_clpeak(output: str) -> dict[str, float]:
    """Returns the better of clpeak's blocking and non-blocking calls per direction, in bytes per second."""
    rates = {}
    for series, call in CLPEAK_CASES:
        found = re.findall(rf"^ +{call}(?: non-blocking)? +: ([0-9.]+)$", output, re.M)
        if not found:
            raise CannotRun(f"clpeak told no rate of {call}")
        rates[series] = max(float(rate) for rate in found) * 1e9
    return rates


def rates_of_clpeak(device: dict[str, Any], before: Sequence[str] = ()) -> dict[str, float]:
    platform, number = device["platform_index"].split(":")
    return rates_in_clpeak(run([*before, "clpeak", "--transfer-bandwidth", "-p", platform, "-d", number]))


def size_of_clpeak(device: dict[str, Any]) -> int:
    """Returns the size of clpeak's transfers, without rounding to whole work-groups."""
    return min(CLPEAK_BYTES, int(device["max_allocation_bytes"]) // 2)


def clpeak_rows(size: int | None = None) -> dict[str, Rate]:
    """Returns the rows by series; none if clpeak is not installed. CPUs have a size in the name."""
    if shutil.which("clpeak") is None:
        print("clpeak is not installed, so nothing is compared with it", file=sys.stderr)
        return {}
    word = "" if size is None else f" {size_word(size)}"
    return {series: Rate("transfer", f"{series}{word}, the best call", "clpeak", 1.0,
                         is_shared=size is not None)
            for series, _ in CLPEAK_CASES}


def rows_beyond_cache(size: int, by: str) -> dict[str, Rate]:
    """Returns the rows by series for a program's own memory, of a size that exceeds every cache."""
    return {series: Rate("transfer", f"{series} {size_word(size)}", by, 0.97, is_shared=True)
            for series in HOST_SERIES}


def add_round(rows: dict[str, Rate], theirs: dict[str, float], ours: dict[str, float]) -> None:
    """Adds the rates of a round, measured with equal calls."""
    for series, row in rows.items():
        row.other.append(theirs[series])
        row.ours.append(ours[series])


def add_clpeak(best: dict[str, Rate], theirs: dict[str, float], ours: dict[str, float]) -> None:
    """Adds clpeak's rates, compared with the best of clprobe's calls."""
    add_round(best, theirs, {series: max(ours[series], ours[f"{series}-pinned"]) for series in best})


# Minimum ratio on a CPU, where runs of one program differ by a fifth and all paths are copies in one memory.
HOST_LEAST = 0.8
LARGE_SERIES = ["to-device", "from-device", "to-device-pinned", "from-device-pinned"]
CPU_SERIES = [*LARGE_SERIES, "on-device"]


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    """Compares the best copy of each round, since other processes on the cores only take bandwidth away."""
    twin = build_twin(["g++", "-std=c++20", "-O3"], "copies.cpp", "copies")
    large = size_of_clpeak(device)
    sizes = {SIZE: CPU_SERIES, large: LARGE_SERIES}
    rows = {(size, each): Rate("transfer", each if size == SIZE else f"{each} {size_word(size)}",
                               "memcpy", HOST_LEAST, is_shared=True)
            for size, series in sizes.items() for each in series}
    clpeak_best_rows = clpeak_rows(large)
    for _ in range(options.rounds):
        for size, series in sizes.items():
            other = max(run_json([twin, size, options.repeats])["bytes_per_second"])
            ours = rates_of(program, device, series, max, size)
            for each in series:
                rows[size, each].other.append(other)
                rows[size, each].ours.append(ours[each])
        if clpeak_best_rows:
            add_clpeak(clpeak_best_rows, rates_of_clpeak(device), ours)
    found = [*rows.values(), *clpeak_best_rows.values()]
    print_rates(f"{device['name']}, transfers of {size_word(SIZE)} where no other size is told", found)
    return found


def rows_by_turns() -> dict[str, Rate]:
    """Returns the rows by direction."""
    return {way: Rate("transfer", f"{way}-device, the calls by turns", "CUDA", ALTERNATING_LEAST,
                      ALTERNATING_MOST, is_shared=True) for way in ("to", "from")}


def add_turns(rows: dict[str, Rate], alternating: dict[str, Any]) -> None:
    """Adds the rates of NVIDIA's OpenCL and CUDA in one process."""
    for way, row in rows.items():
        row.ours.append(statistics.median(alternating[way]["opencl"]))
        row.other.append(statistics.median(alternating[way]["cuda"]))


def rows_of_starts() -> dict[str, Rate]:
    """Returns the rows by direction: seconds of a small copy, compared with a minimal program."""
    return {way: Rate("transfer", f"{way}-device {size_word(START_SIZE)}", "OpenCL", START_LEAST,
                      START_MOST, "seconds", is_shared=True) for way in ("to", "from")}


def add_starts(rows: dict[str, Rate], twin: list[Any], ours: dict[str, float]) -> None:
    """Adds the times of small copies. `twin` is the command with the device."""
    for way, row in rows.items():
        row.ours.append(START_SIZE / ours[f"{way}-device"])
        row.other.append(statistics.median(run_json([*twin, way, START_SIZE, ALTERNATIONS])["seconds"]))


def rate_of_twin(twin: Sequence[Any], way: str, memory: str, size: int, on_core: Sequence[str]) -> float:
    """Returns the rate of copies by the host."""
    return settled(run_json([*on_core, *twin, way, memory, size, HOST_COPIES])["bytes_per_second"])


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, device, "transfer")
    calls = build_cuda_twin(nvcc, device, "pageable", libraries=("-lOpenCL",))
    plain = build_twin(["g++", "-std=c++20", "-O3"], "copy_opencl.cpp", "copy_opencl", ("-lOpenCL",))
    platform = device["platform_index"].split(":")[0]
    rows = [case.row() for case in CASES]
    alternating = rows_by_turns()
    starts = rows_of_starts()
    series = list(dict.fromkeys(case.series for case in CASES))
    clpeak_best_rows = clpeak_rows()
    large = size_of_clpeak(device)
    large_cuda_rows = rows_beyond_cache(large, "CUDA")
    large_clpeak_rows = rows_beyond_cache(large, "clpeak") if clpeak_best_rows else {}
    for number in range(options.rounds):
        on_core = ["taskset", "-c", str(core_of_round(number))]
        for row, case in zip(rows, CASES):
            is_by_host = case.memory not in ("pinned", "engine")
            row.other.append(rate_of_twin(twin, case.way, case.memory, SIZE, on_core) if is_by_host
                             else statistics.median(run_json([*twin, case.way, case.memory, SIZE,
                                                              options.repeats])["bytes_per_second"]))
        ours = rates_of(program, device, series)
        for row in rows:
            row.ours.append(ours[row.name])
        add_turns(alternating, run_json([*calls, platform, SIZE, 1, ALTERNATIONS]))
        add_starts(starts, [plain, platform, number_of(device)],
                   rates_of(program, device, HOST_SERIES, size=START_SIZE))
        large_rates = rates_of(program, device, HOST_SERIES, settled, large, ["--thorough"], on_core)
        add_round(large_cuda_rows, {each: rate_of_twin(twin, way, "pageable", large, on_core)
                                    for each, way in zip(HOST_SERIES, ("to", "from"))}, large_rates)
        if clpeak_best_rows:
            theirs = rates_of_clpeak(device, on_core)
            add_clpeak(clpeak_best_rows, theirs, ours)
            add_round(large_clpeak_rows, theirs, large_rates)
    rows += [*alternating.values(), *starts.values(), *clpeak_best_rows.values(), *large_cuda_rows.values(),
             *large_clpeak_rows.values()]
    print_rates(f"{device['name']}, transfers of {size_word(SIZE)}", rows)
    return rows
