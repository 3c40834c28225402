# SPDX-License-Identifier: Apache-2.0
"""Banks: cycles of an access to local memory by stride, clprobe banks against CUDA."""

import dataclasses
import pathlib
import statistics
from typing import Any

from twins.common import CannotRun, build_cuda_twin, least, run_document, run_json, ticks_of

SERIES = ("load-latency", "load-throughput", "store-throughput")
STRIDES = range(66)
TARGET = 0.03

# Cycles of an access and the number of sub-groups, by series, bytes of a word and stride.
Ticks = dict[tuple[str, int, int], tuple[float, int]]


def bank_ticks(document: dict[str, Any]) -> Ticks:
    overhead = document["device"]["clock"]["overhead_ticks"]
    found = {}
    for point in (point for result in document["results"] for point in result["points"]):
        parameters = point["parameters"] | point["facts"]
        if parameters.get("pattern") != "stride" or not point.get("samples"):
            continue
        key = point["series"], parameters["word_bytes"], parameters["stride_words"]
        found[key] = least(ticks_of(point, overhead)), parameters["sub_groups"]
    return found


@dataclasses.dataclass
class Strides:
    """All strides of one series and word size: ratios of clprobe's cycles to CUDA's."""

    series: str
    word: int
    ratios: dict[int, float]

    def worst(self) -> int:
        return max(self.ratios, key=lambda stride: abs(self.ratios[stride] - 1))

    def is_within(self) -> bool:
        return abs(self.ratios[self.worst()] - 1) <= TARGET


def compare_strides(twin: list[Any], series: str, word: int, ours: Ticks,
                    repeats: int) -> Strides:
    missing = [n for n in STRIDES if (series, word, n) not in ours]
    if missing:
        raise CannotRun(f"clprobe measured no stride {missing[0]} of {word} bytes ({series})")
    sub_groups = ours[series, word, STRIDES[0]][1]
    cycles = run_json([*twin, series, word, sub_groups, repeats])["cycles"]
    return Strides(series, word, {n: ours[series, word, n][0] / least(cycles[n]) for n in STRIDES})


def compare_nvidia(program: pathlib.Path, device: dict[str, Any], nvcc: str,
                   options: Any) -> list[Strides]:
    twin = build_cuda_twin(nvcc, device, "banks")
    ours = bank_ticks(run_document([program, "banks", "--device", device["index"], "--series",
                                    ",".join(SERIES), "--time-budget", "20s"]))
    rows = [compare_strides(twin, series, word, ours, options.repeats)
            for series in SERIES for word in (4, 8, 16)]
    print_strides(device["name"], rows)
    return rows


def print_strides(title: str, rows: list[Strides]) -> None:
    print(f"{title} against CUDA, local memory, cycles of an access, "
          f"strides {STRIDES[0]} to {STRIDES[-1]}")
    for row in rows:
        mark = "" if row.is_within() else "  MISSED"
        print(f"  {row.series:<17} {row.word:>2} B  median ratio "
              f"{statistics.median(row.ratios.values()):.4f}  worst {row.ratios[row.worst()]:.4f} "
              f"at stride {row.worst()}  {'+-' + format(100 * TARGET, 'g') + ' %'}{mark}")
