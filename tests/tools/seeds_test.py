#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/index-seeds, and the rules of bench/gsi_page.py: what a row of docs/seeds.md has to show."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import types
import unittest
from collections.abc import Iterator
from functools import partial
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import gsi_page  # noqa: E402  (their folder has just been named)
from thesis import Bars  # noqa: E402


def index_seeds() -> types.ModuleType:
    """A script whose name has no ending."""
    loader = importlib.machinery.SourceFileLoader("index_seeds", str(ROOT / "tools" / "index-seeds"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


seeds = index_seeds()
FOUND: dict[str, Any] = {"name": "stall", "series": "uts", "value": 0.5, "low": 0.4, "high": 0.6,
                         "unit": "share"}
ROW: dict[str, Any] = {"at": "1", "says": "something", "run": "gsi", "find": "stall uts"}


def row(words: str = "report a.json", **more: Any) -> str:
    """The row of a finding of a run."""
    runs = {words: {"results": [{"findings": [FOUND]}]}}
    return seeds.row_of({**ROW, **more}, runs, {"gsi": words})


def next_of(held: Iterator[bool], _: Bars) -> bool:
    """Whether a sentence holds, told in advance."""
    return next(held)


class Rows(unittest.TestCase):
    """Of the table."""

    def test_a_number_that_nothing_is_held_to_shows_nothing(self) -> None:
        with self.assertRaisesRegex(seeds.ItemError, "nothing holds to"):
            row()
        self.assertIn("done", row(seed=0.5))
        self.assertIn("not met: it is so", row(state="unmet", why="it is so"))
        with self.assertRaisesRegex(seeds.ItemError, "without a reason"):
            row(state="unmet")

    def test_bounds_hold_for_all_of_an_interval(self) -> None:
        self.assertIn("50 % (40\N{EN DASH}60), above 39 %: gsi", row(above=0.39))
        self.assertIn(", below 61 %", row(below=0.61))
        for name, bound in (("above", 0.4), ("below", 0.6)):
            with self.assertRaisesRegex(seeds.ItemError, "not (above|below)"):
                row("report a.json", **{name: bound})

    def test_a_number_is_as_near_as_the_row_says(self) -> None:
        self.assertIn("done", row(seed=0.8, within=0.25))
        with self.assertRaisesRegex(seeds.ItemError, "the work has 0.81"):
            row(seed=0.81, within=0.25)
        # From 0.5 to 0.6, a change of -40 % is 33 % from -60 %.
        self.assertIn("done", row(seed=0.4, within=0.01, base=1))
        self.assertIn("done", row(seed=0.7, within=0.34, base=1))
        with self.assertRaisesRegex(seeds.ItemError, "the work has 0.7"):
            row(seed=0.7, within=0.33, base=1)

    def test_a_number_of_a_simulation_says_where_it_comes_from(self) -> None:
        self.assertIn("| found | done |", row(seed=0.5))
        with self.assertRaisesRegex(seeds.ItemError, "a number of a simulation"):
            row("-d sim:gsi gsi", seed=0.5)
        with self.assertRaisesRegex(seeds.ItemError, "no number guessed"):
            row("-d sim:gsi gsi", seed=0.5, number="guessed")
        self.assertIn("| put in | done |", row("-d sim:gsi gsi", seed=0.5, number="put in"))
        self.assertIn("|  | done |", row("-d sim:gsi gsi", above=0.0))
        ratio = "time, utsd against uts, GPU coherence"
        self.assertRegex(seeds.range_of({"find": f"here {ratio}"}), r"^, 0\.\d+–0\.\d+ over seeds$")

    def test_a_row_that_states_several_things_names_a_test_of_each(self) -> None:
        stash = "unit/gsi/cases: implicit: the stash has more"
        named = ["cli/output: a file for each -o", stash, "unit/gsi/cases: implicit: both kinds"]
        self.assertIn("; cli/output, unit/gsi/cases |", row(test=named))
        self.assertIn("; unit/gsi/cases |", row(test=[stash]))
        with self.assertRaisesRegex(seeds.ItemError, "no case that begins with: weather"):
            row(test=[stash, "unit/gsi/cases: weather"])

    def test_a_sentence_of_what_is_done_holds_with_the_first_seed(self) -> None:
        sentence = "bench/thesis: uts: memory time is small"
        bars = [{"name": "time", "series": f"uts, {each}", "value": 100.0}
                for each in ("GPU coherence", "ownership")]
        for share in (0.15, 0.16):
            stalls = [{"name": "stall", "series": each["series"], "method": "gsi", "unit": "share",
                       "label": "memory data: L2", "value": share} for each in bars]
            runs = {"words": {"results": [{"findings": [*bars, *stalls]}]}}
            item = {"at": "1", "says": "something", "test": sentence}
            if share == 0.15:
                self.assertIn("| bench/thesis |", seeds.row_of(item, runs, {"gsi": "words"}))
                continue
            with self.assertRaisesRegex(seeds.ItemError, "does not hold: uts: memory time"):
                seeds.row_of(item, runs, {"gsi": "words"})
            missed = {**item, "state": "unmet", "why": "it is so"}
            self.assertIn("not met", seeds.row_of(missed, runs, {"gsi": "words"}))


class Sentences(unittest.TestCase):
    """Of the thesis, by seeds."""

    def test_a_sentence_holds_with_more_than_half_of_the_seeds(self) -> None:
        bars = [Bars([]) for _ in range(4)]
        for true in range(5):
            held = iter([True] * true + [False] * (4 - true))
            self.assertEqual(gsi_page.holds_mostly(partial(next_of, held), bars), true > 2)

    def test_a_ratio_is_the_median_beside_the_range(self) -> None:
        bars = [Bars([]) for _ in range(3)]
        for each, here in zip(bars, (9.0, 1.0, 2.0)):
            each.ratios = {"time": (1.5, here)}
        self.assertEqual(gsi_page.median_of(bars, "time"), (1.5, 2.0))
        self.assertEqual(gsi_page.ratio_lines([bars]), ["| time | 1.5 | 2 | 1–9 |"])


if __name__ == "__main__":
    unittest.main()
