# SPDX-License-Identifier: Apache-2.0
"""Transfers between host and device: clprobe transfer against copies in CUDA or by memcpy, and clpeak's."""

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
# What clpeak 1.1 moves where a buffer may be twice as large. Where the host copies the rate depends on the
# size: a Xeon copied 64 MiB at 6 GB/s and 256 MiB at 10, and 64 MiB come in part from its last cache.
CLPEAK_BYTES = 512 * MIB


@dataclasses.dataclass(frozen=True)
class Case:
    """A series of clprobe's, and the way and the memory of the twin."""

    series: str
    way: str
    memory: str
    by: str = "CUDA"
    least: float | None = 0.97

    def row(self) -> Rate:
        return Rate("transfer", self.series, self.by, self.least, is_shared=self.memory == "pageable")


# nvbandwidth times by events what is queued beforehand. Mappings and shared virtual memory have no fair
# twin: OpenCL's driver chooses where such memory is (docs/transfer.md), and CUDA's program does.
ENGINE = "nvbandwidth's way"
# Where the host copies no more than its last cache holds, how much is there decides: in one hour the twin's
# copies went to an H200 at 7 to 16 GB/s, and clprobe's at 7 to 13 (docs/transfer.md). What is held to 3 % are
# calls that copy the same memory by turns in one process, and copies of more than that cache.
TURNS_LEAST, TURNS_MOST = 0.97, 1.03
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
# What clpeak calls those from and to a program's own memory. Its mappings of a GPU's buffer may
# move nothing, as those of a CPU's.
CLPEAK_CASES = [("to-device", "enqueueWriteBuffer"), ("from-device", "enqueueReadBuffer")]
# Where the host copies, it becomes faster from one copy to the next, as its last cache holds more and more
# of the memory.
HOST_COPIES = 40
HOST_SERIES = ["to-device", "from-device"]
# Odd, so that it meets all of 16 cores.
CORE_STRIDE = 3
# Copies of each by turns: together as many as make a middle of one process good to 1 %.
TURNS = 100
# What takes the time it takes to start a copy, by calls of one driver in two programs.
START_SIZE = KIB
START_LEAST, START_MOST = 0.8, 1.25


def core_of_round(number: int) -> int:
    """Another one each time, on which both copy: where each chose for itself, clprobe's had 1.04 and 1.18 of
    the twin's beside an H100."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[CORE_STRIDE * number % len(cores)]


def settled(rates: list[float]) -> float:
    """The median of the later half: those before may still become faster."""
    return statistics.median(rates[len(rates) // 2:])


def rates_of(program: pathlib.Path, device: dict[str, Any], series: list[str],
             choose: Callable[[list[float]], float] = statistics.median,
             size: int = SIZE, more: Sequence[str] = (), before: Sequence[str] = ()) -> dict[str, float]:
    """Of each series what is chosen of its samples, in bytes a second. More words may come behind all others,
    and before them."""
    points = run_document([*before, program, "transfer", "--device", device["index"], "--series",
                           ",".join(series), "--sizes", size, *more])["results"][0]["points"]
    rates = {point["series"]: choose([sample["accesses"] / sample["host_ns"] * 1e9
                                      for sample in point["samples"]])
             for point in points if point["samples"]}
    missing = [each for each in series if each not in rates]
    if missing:
        raise CannotRun(f"clprobe measured no {', '.join(missing)}")
    return rates


def rates_in_clpeak(said: str) -> dict[str, float]:
    """The better of clpeak's blocking and other calls each way, in bytes a second."""
    rates = {}
    for series, call in CLPEAK_CASES:
        found = re.findall(rf"^ +{call}(?: non-blocking)? +: ([0-9.]+)$", said, re.M)
        if not found:
            raise CannotRun(f"clpeak told no rate of {call}")
        rates[series] = max(float(rate) for rate in found) * 1e9
    return rates


def rates_of_clpeak(device: dict[str, Any], before: Sequence[str] = ()) -> dict[str, float]:
    platform, number = device["platform_index"].split(":")
    return rates_in_clpeak(run([*before, "clpeak", "--transfer-bandwidth", "-p", platform, "-d", number]))


def size_of_clpeak(device: dict[str, Any]) -> int:
    """Of its transfers, but for what whole work-groups leave over."""
    return min(CLPEAK_BYTES, int(device["max_allocation_bytes"]) // 2)


def clpeak_rows(size: int | None = None) -> dict[str, Rate]:
    """By the series; none where clpeak is not installed. A size is told of CPUs."""
    if shutil.which("clpeak") is None:
        print("clpeak is not installed, so nothing is compared with it", file=sys.stderr)
        return {}
    word = "" if size is None else f" {size_word(size)}"
    return {series: Rate("transfer", f"{series}{word}, the best call", "clpeak", 1.0,
                         is_shared=size is not None)
            for series, _ in CLPEAK_CASES}


def rows_beyond_cache(size: int, by: str) -> dict[str, Rate]:
    """By the series: a program's own memory, by the same call, of a size that no cache holds."""
    return {series: Rate("transfer", f"{series} {size_word(size)}", by, 0.97, is_shared=True)
            for series in HOST_SERIES}


def add_round(rows: dict[str, Rate], theirs: dict[str, float], ours: dict[str, float]) -> None:
    """Beside the same call."""
    for series, row in rows.items():
        row.other.append(theirs[series])
        row.ours.append(ours[series])


def add_clpeak(best: dict[str, Rate], theirs: dict[str, float], ours: dict[str, float]) -> None:
    """Beside the best of clprobe's calls."""
    add_round(best, theirs, {series: max(ours[series], ours[f"{series}-pinned"]) for series in best})


# Runs of one program on a CPU differ by a fifth and more, and all ways are a copy in one memory.
HOST_LEAST = 0.8
LARGE_SERIES = ["to-device", "from-device", "to-device-pinned", "from-device-pinned"]
CPU_SERIES = [*LARGE_SERIES, "on-device"]


def compare_cpu(program: pathlib.Path, device: dict[str, Any], options: Any) -> list[Rate]:
    """The best copy of each in a round, since what else runs on the cores only takes bandwidth away."""
    twin = build_twin(["g++", "-std=c++20", "-O3"], "copies.cpp", "copies")
    large = size_of_clpeak(device)
    sizes = {SIZE: CPU_SERIES, large: LARGE_SERIES}
    rows = {(size, each): Rate("transfer", each if size == SIZE else f"{each} {size_word(size)}",
                               "memcpy", HOST_LEAST, is_shared=True)
            for size, series in sizes.items() for each in series}
    of_clpeak = clpeak_rows(large)
    for _ in range(options.rounds):
        for size, series in sizes.items():
            other = max(run_json([twin, size, options.repeats])["bytes_per_second"])
            ours = rates_of(program, device, series, max, size)
            for each in series:
                rows[size, each].other.append(other)
                rows[size, each].ours.append(ours[each])
        if of_clpeak:
            add_clpeak(of_clpeak, rates_of_clpeak(device), ours)
    found = [*rows.values(), *of_clpeak.values()]
    print_rates(f"{device['name']}, transfers of {size_word(SIZE)} where no other size is told", found)
    return found


def rows_by_turns() -> dict[str, Rate]:
    """By the way."""
    return {way: Rate("transfer", f"{way}-device, the calls by turns", "CUDA", TURNS_LEAST, TURNS_MOST,
                      is_shared=True) for way in ("to", "from")}


def add_turns(rows: dict[str, Rate], by_turns: dict[str, Any]) -> None:
    """What NVIDIA's OpenCL and CUDA copied in one process."""
    for way, row in rows.items():
        row.ours.append(statistics.median(by_turns[way]["opencl"]))
        row.other.append(statistics.median(by_turns[way]["cuda"]))


def rows_of_starts() -> dict[str, Rate]:
    """By the way: seconds of a small copy, beside the same call of a plain program."""
    return {way: Rate("transfer", f"{way}-device {size_word(START_SIZE)}", "OpenCL", START_LEAST,
                      START_MOST, "seconds", is_shared=True) for way in ("to", "from")}


def add_starts(rows: dict[str, Rate], twin: list[Any], ours: dict[str, float]) -> None:
    """`twin`: the words that start it, and of which device."""
    for way, row in rows.items():
        row.ours.append(START_SIZE / ours[f"{way}-device"])
        row.other.append(statistics.median(run_json([*twin, way, START_SIZE, TURNS])["seconds"]))


def rate_of_twin(twin: Sequence[Any], way: str, memory: str, size: int, on_core: Sequence[str]) -> float:
    """Of copies that the host makes."""
    return settled(run_json([*on_core, *twin, way, memory, size, HOST_COPIES])["bytes_per_second"])


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    twin = build_cuda_twin(nvcc, device, "transfer")
    calls = build_cuda_twin(nvcc, device, "pageable", libraries=("-lOpenCL",))
    plain = build_twin(["g++", "-std=c++20", "-O3"], "copy_opencl.cpp", "copy_opencl", ("-lOpenCL",))
    platform = device["platform_index"].split(":")[0]
    rows = [case.row() for case in CASES]
    by_turns = rows_by_turns()
    starts = rows_of_starts()
    series = list(dict.fromkeys(case.series for case in CASES))
    of_clpeak = clpeak_rows()
    large = size_of_clpeak(device)
    beside_cuda = rows_beyond_cache(large, "CUDA")
    beside_clpeak = rows_beyond_cache(large, "clpeak") if of_clpeak else {}
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
        add_turns(by_turns, run_json([*calls, platform, SIZE, 1, TURNS]))
        add_starts(starts, [plain, platform, number_of(device)],
                   rates_of(program, device, HOST_SERIES, size=START_SIZE))
        beyond = rates_of(program, device, HOST_SERIES, settled, large, ["--thorough"], on_core)
        add_round(beside_cuda, {each: rate_of_twin(twin, way, "pageable", large, on_core)
                                for each, way in zip(HOST_SERIES, ("to", "from"))}, beyond)
        if of_clpeak:
            theirs = rates_of_clpeak(device, on_core)
            add_clpeak(of_clpeak, theirs, ours)
            add_round(beside_clpeak, theirs, beyond)
    rows += [*by_turns.values(), *starts.values(), *of_clpeak.values(), *beside_cuda.values(),
             *beside_clpeak.values()]
    print_rates(f"{device['name']}, transfers of {size_word(SIZE)}", rows)
    return rows
