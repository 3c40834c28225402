# SPDX-License-Identifier: Apache-2.0
"""How often intervals of ratios hold "no change" where nothing changed, and how wide they are beside what
runs differ by: of each finding, and of each probe."""

import collections
import math
import statistics
from collections.abc import Iterable
from typing import Any


# What is alike to so many parts is the same: a wait of cycles has no other interval.
ALIKE = 0.001


class Intervals:
    """Of one finding, in all pairs of runs that were compared."""

    def __init__(self) -> None:
        self.held = 0
        self.changes: list[float] = []
        self.halves: list[float] = []

    def add(self, cell: dict[str, Any], is_share: bool) -> None:
        """A pair: the interval is of a ratio, of shares of a difference."""
        low, high = cell["interval_low"], cell["interval_high"]
        none = 0.0 if is_share else 1.0
        self.held += low <= none + ALIKE and none - ALIKE <= high
        if is_share:
            self.changes.append(0.5 * (low + high))
            self.halves.append(0.5 * (high - low))
        elif low > 0.0:
            self.changes.append(0.5 * math.log(low * high))
            self.halves.append(0.5 * math.log(high / low))
        else:  # open below
            self.changes.append(0.0)
            self.halves.append(math.inf)

    def pairs(self) -> int:
        """How many there were."""
        return len(self.halves)

    def apart(self) -> float:
        """What 95 % of pairs differ by at most, by the middles of their intervals."""
        ordered = sorted(abs(each) for each in self.changes)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]

    def half(self) -> float:
        """Half of the usual interval."""
        return statistics.median(self.halves)


def intervals_in(comparisons: Iterable[Any]) -> dict[tuple[str, str], Intervals]:
    """By probe, and by the rest of a finding's name; only of what two sides have with an interval."""
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
    """Or that it is open."""
    return f"{100.0 * share:9.3g} %" if math.isfinite(share) else "       open"


def line_of(title: str, of: list[Intervals]) -> str:
    """All of these findings together: what was held, and the middle ones of what they say."""
    pairs = sum(each.pairs() for each in of)
    held = sum(each.held for each in of) / pairs
    apart = statistics.median(each.apart() for each in of)
    half = statistics.median(each.half() for each in of)
    return f"{title:<60}{pairs:7} {100.0 * held:6.1f} % {percent(apart)} {percent(half)}"


def print_coverage(comparisons: Iterable[Any], most: int) -> None:
    """A line of each probe, and of the `most` findings that hold no change least often."""
    found = intervals_in(comparisons)
    print(f"{'intervals':<60}{'pairs':>7} {'held':>8} {'differ by':>11} {'half width':>11}")
    for probe in dict.fromkeys(probe for probe, _ in found):
        print(line_of(probe, [each for (of, _), each in found.items() if of == probe]))
    least = sorted(found, key=lambda key: found[key].held / found[key].pairs())
    for key in least[:most]:
        print(line_of("  " + " ".join(key), [found[key]]))
