# SPDX-License-Identifier: Apache-2.0
"""Transfers between two NVIDIA GPUs: clprobe transfer, by OpenCL's driver, beside copies in CUDA with
access to each other's memory and without. There is no target: they are two drivers, and OpenCL's may
know no direct way."""

import pathlib
import statistics
from typing import Any

from twins.common import MIB, build_cuda_twin, run_document, run_json, size_word

SIZE = 64 * MIB
CUDA_WAYS = ["direct", "staged"]


class Copy:
    """Copies from one device to another, in bytes a second: by CUDA, each way, and by clprobe."""

    def __init__(self, series: str, source: int, target: int) -> None:
        self.series = series
        self.source = source
        self.target = target
        self.native: dict[str, list[float]] = {way: [] for way in CUDA_WAYS}
        self.ours: list[float] = []
        self.skipped: dict[str, str] = {}

    def is_within(self) -> bool:
        return True

    def measure_native(self, twin: pathlib.Path, repeats: int) -> None:
        for way, found in self.native.items():
            if way in self.skipped:
                continue
            told = run_json([twin, self.source, self.target, way, SIZE, repeats])
            if "skipped" in told:
                self.skipped[way] = told["skipped"]
            else:
                found.append(statistics.median(told["bytes_per_second"]))

    def measure_ours(self, program: pathlib.Path, index: int) -> None:
        if "clprobe" in self.skipped:
            return
        word = self.series.rsplit("-", 1)[0]  # to-peer-1 is one of to-peer
        result = run_document([program, "transfer", "--device", index, "--series", word,
                               "--sizes", SIZE])["results"][0]
        samples = [sample for point in result["points"] if point["series"] == self.series
                   for sample in point["samples"]]
        if samples:
            self.ours.append(statistics.median(sample["accesses"] / sample["host_ns"] * 1e9
                                               for sample in samples))
        else:
            self.skipped["clprobe"] = result.get("reason") or "no samples"

    def line(self) -> str:
        def word(values: list[float]) -> str:
            return f"{max(values) / 1e9:.1f}" if values else "-"

        numbers = [*(self.native[way] for way in CUDA_WAYS), self.ours]
        return f"  {self.series:<34}" + "".join(f" {word(values):>9}" for values in numbers)


def neighbour_of(device: dict[str, Any], devices: list[dict[str, Any]]) -> int | None:
    """The number of the next device of its platform, which CUDA counts alike; nothing of the last."""
    platform, own = device["platform_index"].split(":")
    following = f"{platform}:{int(own) + 1}"
    return int(own) + 1 if any(each["platform_index"] == following for each in devices) else None


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Copy]:
    devices = run_json([program, "list", "--json"])["devices"]
    own = int(device["platform_index"].split(":")[1])
    peer = neighbour_of(device, devices)
    if peer is None:
        why = "the pair was measured with the device before" if own else "its platform has no other"
        print(f"{device['name']}, transfers between devices: skipped, {why}")
        return []
    twin = build_cuda_twin(nvcc, "peer")
    rows = [Copy(f"to-peer-{peer}", own, peer), Copy(f"from-peer-{peer}", peer, own)]
    for _ in range(options.rounds):
        for row in rows:
            row.measure_native(twin, options.repeats)
            row.measure_ours(program, device["index"])
    print(f"{device['name']}, transfers of {size_word(SIZE)} between devices in GB/s, "
          f"the best of {options.rounds} rounds")
    print(f"  {'clprobe transfer, by':<34} {'direct':>9} {'staged':>9} {'clprobe':>9}")
    for row in rows:
        print(row.line())
        for what, why in row.skipped.items():
            print(f"    {what}: skipped, {why}")
    return rows
