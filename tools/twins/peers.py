# SPDX-License-Identifier: Apache-2.0
"""Transfers between two NVIDIA GPUs: clprobe transfer beside the plainest program in OpenCL, to which it
is held as near as two runs are in which the host copies, and beside copies in CUDA with access to each
other's memory and without. Those have no target: they are another driver, and OpenCL's may know no
direct way."""

import pathlib
import statistics
from typing import Any

from twins.common import MIB, build_cuda_twin, build_twin, run_document, run_json, size_word
from twins.rates import Rate, print_rates

SIZE = 64 * MIB
CUDA_WAYS = ["direct", "staged"]
# What a driver allocates on the host is on huge pages then, as in src/measure/worker/child_process.cpp.
HUGE_PAGES = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"


def neighbour_of(device: dict[str, Any], devices: list[dict[str, Any]]) -> int | None:
    """The number of the next device of its platform, which CUDA counts alike; nothing of the last."""
    platform, own = device["platform_index"].split(":")
    following = f"{platform}:{int(own) + 1}"
    return int(own) + 1 if any(each["platform_index"] == following for each in devices) else None


def rate_of(program: pathlib.Path, index: int, series: str) -> float | str:
    """Of one series in bytes a second, or why there is none."""
    word = series.rsplit("-", 1)[0]  # to-peer-1 is one of to-peer
    result = run_document([program, "transfer", "--device", index, "--series", word,
                           "--sizes", SIZE])["results"][0]
    rates = [sample["accesses"] / sample["host_ns"] * 1e9 for point in result["points"]
             if point["series"] == series for sample in point["samples"]]
    return statistics.median(rates) if rates else str(result.get("reason") or "no samples")


def rate_of_twin(words: list[Any]) -> float | str:
    told = run_json(words)
    return statistics.median(told["bytes_per_second"]) if "skipped" not in told else told["skipped"]


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
        # As clprobe's process of the driver has it, so that both are the same thing; and as most programs
        # do, which got half of clprobe's rate between two H100s.
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
    """The rows of those twins that can do it; of the others why they cannot is printed."""
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
