# SPDX-License-Identifier: Apache-2.0
"""A number of clprobe and of another program, with a target for their ratio."""

import dataclasses
import statistics
from typing import Any

# Divisor and unit with which a number is shown.
UNITS = {"bytes_per_second": (1e9, "GB/s"), "seconds": (1e-6, "us"), "hertz": (1e6, "MHz"),
         "bytes_per_cycle": (1.0, "B/cycle")}


@dataclasses.dataclass
class Rate:
    """Rates of clprobe and another program in all rounds. The best round of each counts, since other
    processes only take time away. If `is_shared`, the median counts: transfers by shared CPUs and caches of
    all units have bursts above their usual rate. (Two virtual CPUs copied memory at 33 to 47 GB/s.)"""

    probe: str
    name: str  # measured quantity
    by: str  # the other program
    least: float | None = None  # minimum ratio of clprobe to the other
    most: float | None = None  # maximum ratio, above which one of both must be wrong
    unit: str = "bytes_per_second"
    ours: list[float] = dataclasses.field(default_factory=list)
    other: list[float] = dataclasses.field(default_factory=list)
    is_shared: bool = False  # resource with bursts, see above

    def of_rounds(self, values: list[float]) -> float:
        if self.is_shared:
            return statistics.median(values)
        return min(values) if self.unit == "seconds" else max(values)

    def ratio(self) -> float:
        return self.of_rounds(self.ours) / self.of_rounds(self.other)

    def is_within(self) -> bool:
        """Tests the ratio against the target. Rows without a target always pass."""
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
    """Prints a line per row, and marks rows that miss their target."""
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
