#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests whether `clprobe describe` helps to choose the block size of a kernel.

    bench/blocks.py device.json [--platform 0] [--device 0] [--array-mib 512] [--passes 16]

bench/native/blocks_opencl updates an array in several passes, block by block. A model predicts the time of
each block size: blocks up to the size of the last cache are read from memory once. The model ranks the block
sizes twice, with the cache size that the driver reports and with `last_cache.capacity`. It takes bandwidths,
the time of a queued launch and the pause between launches from the description. The table shows predicted and
measured times. The regret is the measured time of the model's choice, divided by the minimum time.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent
KIB = 1024
MIB = 1024 * KIB


def value_of(device: Any, name: str) -> float:
    number = device["numbers"].get(name)
    if number is None or number["value"] is None:
        raise SystemExit(f"the description has no value of {name}")
    return float(number["value"])


def rates(device: Any) -> tuple[float, float]:
    """The bandwidth of the last cache and of memory, in bytes read or written per second."""
    found = []
    for level in device["levels"]:
        known = [device["numbers"][f"{level['name']}.{kind}_bandwidth"]["value"]
                 for kind in ("copy", "read")]
        found += [rate for rate in known if rate is not None][:1]
    if len(found) < 2:
        raise SystemExit("the description has no bandwidths of a cache and of memory")
    return found[-2], found[-1]


def predicted(device: Any, cache: float, block: int, array: int, passes: int) -> float:
    """Seconds of all passes over the array."""
    fast, slow = rates(device)
    moved = 2 * block
    queued, gap = value_of(device, "launch.queued"), max(0.0, value_of(device, "launch.gap"))
    first = max(queued, moved / slow + gap)
    later = max(queued, moved / (fast if block <= cache else slow) + gap)
    return array / block * (first + (passes - 1) * later)


def measured(arguments: argparse.Namespace, blocks: list[int]) -> dict[int, float]:
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/blocks"
        subprocess.run(["c++", "-O2", "-std=c++20", str(ROOT / "native/blocks_opencl.cpp"), "-o", program,
                        "-lOpenCL"], check=True)
        words = [arguments.platform, arguments.device, arguments.array_mib * MIB, arguments.passes, *blocks]
        output = subprocess.run([program, *map(str, words)], check=True, capture_output=True,
                                text=True).stdout
    return {int(block): seconds for block, seconds in json.loads(output).items()}


def rank_correlation(one: list[float], other: list[float]) -> float:
    """Spearman's coefficient, for lists without ties."""
    def ranks(values: list[float]) -> list[int]:
        order = sorted(range(len(values)), key=lambda each: values[each])
        return [order.index(each) for each in range(len(values))]

    count = len(one)
    distance = sum((a - b) ** 2 for a, b in zip(ranks(one), ranks(other)))
    return 1 - 6 * distance / (count * (count * count - 1))


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose a block size by its cache size.")
    parser.add_argument("description", type=pathlib.Path)
    parser.add_argument("--platform", type=int, default=0)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--array-mib", type=int, default=512)
    parser.add_argument("--passes", type=int, default=16)
    arguments = parser.parse_args()
    device = json.loads(arguments.description.read_text("utf-8"))
    device = device[0] if isinstance(device, list) else device
    array = arguments.array_mib * MIB
    blocks = [256 * KIB << power for power in range(40) if 256 * KIB << power <= array]
    caches = {"reported": float(device["reported"].get("cache_bytes", 0)),
              "measured": value_of(device, "last_cache.capacity")}
    models = {name: [predicted(device, cache, each, array, arguments.passes) for each in blocks]
              for name, cache in caches.items()}
    times = measured(arguments, blocks)
    print(f"{device['device']}: {arguments.array_mib} MiB, {arguments.passes} passes, times in ms")
    print("     block  measured" + "".join(f"  by {name} size" for name in models))
    for i, block in enumerate(blocks):
        print(f"{block / MIB:6.2f} MiB {1e3 * times[block]:9.2f}"
              + "".join(f"{1e3 * model[i]:18.2f}" for model in models.values()))
    best = min(times.values())
    for name, model in models.items():
        chosen = blocks[model.index(min(model))]
        print(f"{name}: cache {caches[name] / MIB:.2f} MiB, block {chosen / MIB:.2f} MiB, "
              f"regret {times[chosen] / best:.2f}, rank correlation "
              f"{rank_correlation(model, [times[each] for each in blocks]):.2f}")


if __name__ == "__main__":
    main()
