# SPDX-License-Identifier: Apache-2.0
"""One number of clprobe beside another program's, with the target that their ratio has."""

import dataclasses
import statistics
from typing import Any

# What a number is divided by to be shown, and the word behind it.
UNITS = {"bytes_per_second": (1e9, "GB/s"), "seconds": (1e-6, "us"), "hertz": (1e6, "MHz"),
         "bytes_per_cycle": (1.0, "B/cycle")}


@dataclasses.dataclass
class Rate:
    """The best of all rounds on both sides, since what else runs on a machine only takes away. Of what
    CPUs move, whose hosts are shared, and of a cache of all units, the median: these give bursts of more
    than usual, now to one side and now to the other. (Two virtual CPUs: copies of memory by C++ at 33 to
    47 GB/s.)"""

    probe: str
    name: str  # what is measured
    by: str  # who else measures it
    least: float | None = None  # of clprobe's by the other's
    most: float | None = None  # where more means that one of both measures wrongly
    unit: str = "bytes_per_second"
    ours: list[float] = dataclasses.field(default_factory=list)
    other: list[float] = dataclasses.field(default_factory=list)
    is_shared: bool = False  # between those who give bursts

    def of_rounds(self, values: list[float]) -> float:
        if self.is_shared:
            return statistics.median(values)
        return min(values) if self.unit == "seconds" else max(values)

    def ratio(self) -> float:
        return self.of_rounds(self.ours) / self.of_rounds(self.other)

    def is_within(self) -> bool:
        """A row without a target is there to be read."""
        return ((self.least is None or self.ratio() >= self.least)
                and (self.most is None or self.ratio() <= self.most))

    def target(self) -> str:
        if self.least is not None and self.most is not None:
            return f"{self.least:g} - {self.most:g}"
        if self.least is not None:
            return f">= {self.least:g}"
        return "none" if self.most is None else f"<= {self.most:g}"

    def as_json(self) -> dict[str, Any]:
        return {"probe": self.probe, "name": self.name, "by": self.by, "unit": self.unit,
                "ours": self.of_rounds(self.ours), "other": self.of_rounds(self.other),
                "least": self.least, "most": self.most}


def print_rates(title: str, rows: list[Rate]) -> None:
    """A line each, and what is missed behind those that miss their target."""
    which = sorted({"median" if row.is_shared else "best" for row in rows})
    print(f"{title}, the {' or the '.join(which)} of {max(len(row.ours) for row in rows)} rounds")
    print(f"  {'':<34} {'by':<12} {'other':>9} {'clprobe':>9} {'':<7} {'ratio':>7} "
          f"{'of the rounds':>15} {'target':>12}")
    for row in rows:
        scale, word = UNITS[row.unit]
        ratios = [ours / other for ours, other in zip(row.ours, row.other)]
        spread = f"{min(ratios):.3f} - {max(ratios):.3f}"
        mark = "" if row.is_within() else "  MISSED"
        print(f"  {row.name:<34} {row.by:<12} {row.of_rounds(row.other) / scale:>9.2f} "
              f"{row.of_rounds(row.ours) / scale:>9.2f} {word:<7} {row.ratio():>7.4f} {spread:>15} "
              f"{row.target():>12}{mark}")
