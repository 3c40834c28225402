# SPDX-License-Identifier: Apache-2.0
"""Sentences of GSI's thesis about its case studies, as conditions on simulated bars.

Sentences without a size ("significant", "insignificant", "very little") get one here, stated in the sentence.
"""

import contextlib
import math
from collections.abc import Callable
from typing import Any

SCRATCHPAD, DMA, STASH = "scratchpad", "scratchpad with DMA", "stash"
COPIES = (SCRATCHPAD, DMA, STASH)
SIZES = (32, 64, 128, 256)
STRUCTURAL = "memory structural: "
PENDING_RELEASE = STRUCTURAL + "pending release"
REMOTE = "memory data: remote L1"
MAIN_MEMORY = "memory data: main memory"


class Bars:
    """Cycles by bar and by part of GSI's classification, and ratios of the thesis and of clprobe."""

    def __init__(self, findings: list[dict[str, Any]]) -> None:
        self.time: dict[str, float] = {}
        self.parts: dict[str, dict[str, float]] = {}
        sides: dict[str, dict[str, float]] = {}
        for each in findings:
            if each["name"] == "time":
                self.time[each["series"]] = each["value"]
            elif each["name"] in ("here", "thesis"):
                sides.setdefault(each["series"], {})[each["name"]] = each.get("value", 0.0)
            elif each["name"] == "stall" and each["method"] == "gsi":
                cycles = each["value"] * self.time[each["series"]]
                self.parts.setdefault(each["series"], {})[each["label"]] = cycles
        self.ratios = {what: (of["thesis"], of["here"]) for what, of in sides.items() if len(of) == 2}

    def cycles(self, bar: str, part: str) -> float:
        """Returns the cycles of all parts whose labels begin with `part`."""
        return sum(cycles for label, cycles in self.parts[bar].items() if label.startswith(part))

    def share(self, bar: str, part: str) -> float:
        """Returns the share of the bar's time in all parts whose labels begin with `part`."""
        return self.cycles(bar, part) / self.time[bar]


def searched(queues: str, coherence: str = "GPU coherence") -> str:
    """Returns the name of a search's bar."""
    return f"{queues}, {coherence}"


UTS, UTS_OWNING = searched("uts"), searched("uts", "ownership")
UTSD, UTSD_OWNING = searched("utsd"), searched("utsd", "ownership")


def copied(copy: str, mshrs: int = 32) -> str:
    """Returns the name of an array's bar."""
    return f"implicit, {copy}, {mshrs} MSHRs"


def fall(bars: Bars, part: str) -> float:
    """Returns the cycles by which ownership reduces a part of utsd."""
    return bars.cycles(UTSD, part) - bars.cycles(UTSD_OWNING, part)


def gain(bars: Bars, copy: str) -> float:
    """Returns the time with 256 MSHRs as a share of that with 32."""
    return bars.time[copied(copy, 256)] / bars.time[copied(copy)]


def stash_has_more(bars: Bars, kind: str) -> bool:
    """Tests whether the scratchpad has structural stalls of a kind, and the stash more of them."""
    scratchpad = bars.cycles(copied(SCRATCHPAD), STRUCTURAL + kind)
    return bars.cycles(copied(STASH), STRUCTURAL + kind) > scratchpad > 0.0


Sentence = tuple[str, Callable[[Bars], bool]]

OF_SEARCHES: list[Sentence] = [
    ("uts: very little difference between GPU coherence and ownership (at most 10 %)",
     lambda b: abs(b.time[UTS_OWNING] / b.time[UTS] - 1.0) <= 0.1),
    ("uts: dominated by synchronization (more than half)",
     lambda b: min(b.share(UTS, "synchronization"), b.share(UTS_OWNING, "synchronization")) > 0.5),
    ("uts: memory time is small (at most 15 %)",
     lambda b: max(b.share(UTS, "memory"), b.share(UTS_OWNING, "memory")) <= 0.15),
    ("utsd gains more by ownership",
     lambda b: b.time[UTSD_OWNING] / b.time[UTS_OWNING] < b.time[UTSD] / b.time[UTS]),
    ("synchronization falls, and so does no stall",
     lambda b: all(b.cycles(after, part) < b.cycles(before, part)
                   for before, after in ((UTS, UTSD), (UTS_OWNING, UTSD_OWNING))
                   for part in ("synchronization", "no stall"))),
    ("the share of memory stalls rises",
     lambda b: all(b.share(after, "memory") > b.share(before, "memory")
                   for before, after in ((UTS, UTSD), (UTS_OWNING, UTSD_OWNING)))),
    ("the fall of data is the second level's (most of it)",
     lambda b: fall(b, "memory data: L2") > 0.5 * fall(b, "memory data") > 0.0),
    ("main memory's stay (within 25 %)",
     lambda b: abs(fall(b, MAIN_MEMORY)) <= 0.25 * b.cycles(UTSD, MAIN_MEMORY)),
    ("the fall of structural stalls is pending release (most of it)",
     lambda b: fall(b, PENDING_RELEASE) > 0.5 * fall(b, "memory structural") > 0.0),
    ("uts with ownership has stalls for remote L1",
     lambda b: b.cycles(UTS, REMOTE) == 0.0 and b.share(UTS_OWNING, REMOTE) > 0.01),
    ("uts with ownership has more pending release",
     lambda b: b.cycles(UTS_OWNING, PENDING_RELEASE) > b.cycles(UTS, PENDING_RELEASE)),
    ("utsd: remote L1 virtually disappears (at most 10 % of what uts has)",
     lambda b: b.cycles(UTSD_OWNING, REMOTE) <= 0.1 * b.cycles(UTS_OWNING, REMOTE)),
    ("utsd: synchronization is still significant (more than 20 %)",
     lambda b: min(b.share(UTSD, "synchronization"), b.share(UTSD_OWNING, "synchronization")) > 0.2),
]

OF_ARRAYS: list[Sentence] = [
    ("DMA and stash are faster",
     lambda b: max(b.time[copied(DMA)], b.time[copied(STASH)]) < b.time[copied(SCRATCHPAD)]),
    ("no stall falls more with DMA than with the stash",
     lambda b: b.cycles(copied(DMA), "no stall") <= b.cycles(copied(STASH), "no stall")
     < b.cycles(copied(SCRATCHPAD), "no stall")),
    ("structural stalls grow more with DMA than with the stash",
     lambda b: b.cycles(copied(DMA), STRUCTURAL) > b.cycles(copied(STASH), STRUCTURAL)
     > b.cycles(copied(SCRATCHPAD), STRUCTURAL)),
    ("the scratchpad has full MSHRs, full store buffers and bank conflicts, and the stash has more of each",
     lambda b: all(stash_has_more(b, kind)
                   for kind in ("full MSHR", "full store buffer", "bank conflict"))),
    ("the DMA's bank conflicts are insignificant (at most 10 % of the scratchpad's)",
     lambda b: b.cycles(copied(DMA), STRUCTURAL + "bank conflict")
     <= 0.1 * b.cycles(copied(SCRATCHPAD), STRUCTURAL + "bank conflict")),
    ("the DMA has full MSHRs and pending DMA",
     lambda b: min(b.cycles(copied(DMA), STRUCTURAL + "full MSHR"),
                   b.cycles(copied(DMA), STRUCTURAL + "pending DMA")) > 0.0),
    ("the difference of data stalls is insignificant (at most 10 % of the scratchpad's time)",
     lambda b: max(abs(b.cycles(copied(copy), "memory data") - b.cycles(copied(SCRATCHPAD), "memory data"))
                   for copy in (DMA, STASH)) <= 0.1 * b.time[copied(SCRATCHPAD)]),
    ("256 MSHRs are faster than 32 for all",
     lambda b: max(gain(b, copy) for copy in COPIES) < 1.0),
    ("each doubling of the MSHRs is no slower (a strict reading of Fig. 6.4)",
     lambda b: all(b.time[copied(copy, more)] <= b.time[copied(copy, less)]
                   for copy in COPIES for less, more in zip(SIZES, SIZES[1:]))),
    ("more MSHRs help the scratchpad least and the DMA most",
     lambda b: gain(b, DMA) < gain(b, STASH) < gain(b, SCRATCHPAD)),
    ("more MSHRs increase data stalls, but less for the stash than for the scratchpad",
     lambda b: b.ratios["memory data stalls, scratchpad, 256 MSHRs against 32"][1]
     > b.ratios["memory data stalls, stash, 256 MSHRs against 32"][1] > 1.0),
    ("pending DMA grows",
     lambda b: b.ratios["pending DMA, DMA, 256 MSHRs against 32"][1] > 1.0),
    ("with 256 MSHRs the stash uses the core better (a larger share of no stall)",
     lambda b: b.share(copied(STASH, 256), "no stall") > b.share(copied(SCRATCHPAD, 256), "no stall")),
]

SENTENCES = {"uts,utsd": OF_SEARCHES, "implicit": OF_ARRAYS}

Score = tuple[float, float]
NONE: Score = (math.inf, math.inf)
WORST = math.log(16.0)


def distance(thesis: float, here: float) -> float:
    """Returns |ln| of the factor between two values, at most ln 16."""
    if thesis == here:
        return 0.0
    if min(thesis, here) <= 0.0:
        return WORST
    return min(WORST, abs(math.log(here / thesis)))


def is_near(what: str, thesis: float, here: float) -> bool:
    """Tests whether a share or change is within 25 % of the thesis's. The ratio 0.72 is a change of -28 %."""
    base = 0.0 if "as a share of" in what else 1.0
    return thesis == here or abs(here - thesis) <= 0.25 * abs(thesis - base)


def missed_by(cases: str, bars: Bars) -> list[str]:
    """Returns the sentences that do not hold."""
    return [says for says, holds in SENTENCES[cases] if not holds(bars)]


def missed_of_some(cases: str, bars: Bars) -> int:
    """Counts the sentences that these bars decide and that do not hold."""
    missed = 0
    for _, holds in SENTENCES[cases]:
        with contextlib.suppress(KeyError):
            missed += not holds(bars)
    return missed


def score_of(cases: str, bars: Bars) -> Score:
    """Returns the missed statements, with sentences counted twice, and the mean distance. Infinite without
    bars."""
    if not bars.ratios:
        return NONE
    missed_ratios = sum(not is_near(what, *each) for what, each in bars.ratios.items())
    return (missed_ratios + 2 * len(missed_by(cases, bars)),
            sum(distance(*each) for each in bars.ratios.values()) / len(bars.ratios))
