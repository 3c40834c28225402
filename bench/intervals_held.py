# SPDX-License-Identifier: Apache-2.0
"""Coverage of intervals in comparisons of unchanged runs, for each finding and each probe: how often they
contain "no change", and their width compared with the differences between runs."""

import collections
import math
import statistics
from collections.abc import Iterable
from typing import Any


# Tolerance for values that are equal, such as cycles of a wait, whose intervals have no width.
ALIKE = 0.001


class Intervals:
    """Intervals of one finding in all compared pairs of runs."""

    def __init__(self) -> None:
        self.held = 0
        self.changes: list[float] = []
        self.halves: list[float] = []

    def add(self, cell: dict[str, Any], is_share: bool) -> None:
        """Adds the interval of a pair: a ratio, or a difference for shares."""
        low, high = cell["interval_low"], cell["interval_high"]
        no_change = 0.0 if is_share else 1.0
        self.held += low <= no_change + ALIKE and no_change - ALIKE <= high
        if is_share:
            self.changes.append(0.5 * (low + high))
            self.halves.append(0.5 * (high - low))
        elif low > 0.0:
            self.changes.append(0.5 * math.log(low * high))
            self.halves.append(0.5 * math.log(high / low))
        else:  # unbounded below
            self.changes.append(0.0)
            self.halves.append(math.inf)

    def pairs(self) -> int:
        """Returns the number of pairs."""
        return len(self.halves)

    def difference(self) -> float:
        """Returns the 95th percentile of differences between runs, measured at the middles of the
        intervals."""
        ordered = sorted(abs(each) for each in self.changes)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]

    def half(self) -> float:
        """Returns the median half width of the intervals."""
        return statistics.median(self.halves)


def intervals_in(comparisons: Iterable[Any]) -> dict[tuple[str, str], Intervals]:
    """Returns the intervals by probe and finding, for findings that both runs have with an interval."""
    found: dict[tuple[str, str], Intervals] = collections.defaultdict(Intervals)
    for comparison in comparisons:
        for row in comparison["findings"]:
            words = [row["series"], row.get("level"), row["name"], row.get("part")]
            name = " ".join(str(word) for word in words if word not in (None, ""))
            for cell in row["runs"]:
                if "interval_low" in cell and "interval_high" in cell and not cell.get("no_interval"):
                    found[row["probe"], name].add(cell, row.get("unit") == "share")
    return dict(found)


def percent(share: float) -> str:
    """Formats a share as a percentage, or "open" if it is infinite."""
    return f"{100.0 * share:9.3g} %" if math.isfinite(share) else "       open"


def line_of(title: str, of: list[Intervals]) -> str:
    """Formats the coverage of several findings: the share of intervals that contain no change, and
    medians."""
    pairs = sum(each.pairs() for each in of)
    held = sum(each.held for each in of) / pairs
    difference = statistics.median(each.difference() for each in of)
    half = statistics.median(each.half() for each in of)
    return f"{title:<60}{pairs:7} {100.0 * held:6.1f} % {percent(difference)} {percent(half)}"


def print_coverage(comparisons: Iterable[Any], max_count: int) -> None:
    """Prints a line for each probe, and for the `max_count` findings with the lowest coverage."""
    found = intervals_in(comparisons)
    print(f"{'intervals':<60}{'pairs':>7} {'held':>8} {'differ by':>11} {'half width':>11}")
    for probe in dict.fromkeys(probe for probe, _ in found):
        print(line_of(probe, [each for (of, _), each in found.items() if of == probe]))
    worst = sorted(found, key=lambda key: found[key].held / found[key].pairs())
    for key in worst[:max_count]:
        print(line_of("  " + " ".join(key), [found[key]]))
