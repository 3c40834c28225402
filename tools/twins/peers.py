# SPDX-License-Identifier: Apache-2.0
"""Transfers between two NVIDIA GPUs: clprobe transfer against a minimal OpenCL program and CUDA. The target
of the OpenCL program allows for differences between processes in which the host copies. CUDA copies with and
without peer access have no target, since OpenCL's driver may have no direct path."""

import pathlib
import statistics
from typing import Any

from twins.common import MIB, build_cuda_twin, build_twin, run_document, run_json, size_word
from twins.rates import Rate, print_rates

SIZE = 64 * MIB
CUDA_WAYS = ["direct", "staged"]
# Setting that puts the driver's host memory on huge pages, as in src/measure/worker/child_process.cpp.
HUGE_PAGES = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"


def neighbour_of(device: dict[str, Any], devices: list[dict[str, Any]]) -> int | None:
    """Returns the number of the next device on the platform, which CUDA counts alike; None for the last
    one."""
    platform, own = device["platform_index"].split(":")
    following = f"{platform}:{int(own) + 1}"
    return int(own) + 1 if any(each["platform_index"] == following for each in devices) else None


def rate_of(program: pathlib.Path, index: int, series: str) -> float | str:
    """Returns the rate of a series in bytes per second, or the reason why there is none."""
    word = series.rsplit("-", 1)[0]  # to-peer-1 belongs to to-peer
    result = run_document([program, "transfer", "--device", index, "--series", word,
                           "--sizes", SIZE])["results"][0]
    rates = [sample["accesses"] / sample["host_ns"] * 1e9 for point in result["points"]
             if point["series"] == series for sample in point["samples"]]
    return statistics.median(rates) if rates else str(result.get("reason") or "no samples")


def rate_of_twin(words: list[Any]) -> float | str:
    document = run_json(words)
    if "skipped" in document:
        return str(document["skipped"])
    return statistics.median(document["bytes_per_second"])


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Rate]:
    devices = run_json([program, "list", "--json"])["devices"]
    platform, own = (int(word) for word in device["platform_index"].split(":"))
    peer = neighbour_of(device, devices)
    if peer is None:
        why = "the pair was measured with the device before" if own else "its platform has no other"
        print(f"{device['name']}, transfers between devices: skipped, {why}")
        return []
    cuda = build_cuda_twin(nvcc, None, "peer")
    plain = build_twin(["g++", "-std=c++20", "-O3"], "peer_opencl.cpp", "peer_opencl", ("-lOpenCL",))
    rows: list[Rate] = []
    for series, source, target in [(f"to-peer-{peer}", own, peer), (f"from-peer-{peer}", peer, own)]:
        # The twin runs with huge pages, as clprobe's driver process does, and with small pages, as most
        # programs do. Small pages gave half of clprobe's rate between two H100s.
        rest: list[Any] = [platform, source, target]
        twins: list[tuple[Rate, list[Any]]] = [
            (Rate("peer", series, "OpenCL", 0.8, 1.25, is_shared=True),
             ["env", HUGE_PAGES, plain, *rest, "mark", SIZE, options.repeats]),
            (Rate("peer", series, "OpenCL, small pages"),
             [plain, *rest, "mark", SIZE, options.repeats]),
            (Rate("peer", series, "OpenCL, fill"),
             [plain, *rest, "fill", SIZE, options.repeats])]
        twins += [(Rate("peer", series, f"CUDA, {way}"),
                   [*cuda, source, target, way, SIZE, options.repeats]) for way in CUDA_WAYS]
        rows += measure_series(program, device["index"], series, twins, options.rounds)
    if rows:
        print_rates(f"{device['name']}, transfers of {size_word(SIZE)} between devices", rows)
    return rows


def measure_series(program: pathlib.Path, index: int, series: str,
                   twins: list[tuple[Rate, list[Any]]], rounds: int) -> list[Rate]:
    """Returns the rows of the twins that support the series. Prints why the others are skipped."""
    for _ in range(rounds):
        ours = rate_of(program, index, series)
        if isinstance(ours, str):
            print(f"{series}: clprobe: skipped, {ours}")
            return []
        for row, words in twins:
            other = rate_of_twin(words)
            if isinstance(other, str):
                print(f"{series}: {row.by}: skipped, {other}")
                continue
            row.ours.append(ours)
            row.other.append(other)
    return [row for row, _ in twins if row.ours]
