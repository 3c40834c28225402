#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No damaged run passes `compare --fail-on`, and no pair of unchanged runs fails it.

Usage: damages_test.py CLPROBE SOURCE_FOLDER [COUNT]

Damages of stored runs (COUNT of them, 100 if left out) are drawn with a fixed seed: points that are cut
off, thinned out or fail, samples that are noise, clocks that nobody knows, one bad run among three, a status
that somebody wrote. Each is compared with the run that it was made of, and none may end with 0. All ordered
pairs of runs of one device by one driver are compared as well, and none may end with 4.
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

RUNS = (
    "nvidia/h200/580.159.04_2026-11-28",
    "nvidia/h100/580.159.04_2026-11-28",
    "intel/xeon/pocl-5.0_2026-11-28",
    "amd/epyc/pocl-3.1_2026-11-28",
)
FOLDERS = ("nvidia/h200", "nvidia/h100", "intel/xeon", "amd/epyc")
SEED = 20261129


def size_of(point: Any) -> int:
    return int(point["parameters"].get("working_set_bytes", 0))


def samples_of(run: Any) -> Any:
    return (each for result in run["results"] for point in result["points"] for each in point["samples"])


def scale(sample: Any, factor: float) -> None:
    for key in ("ticks", "event_ns", "host_ns"):
        if key in sample:
            sample[key] = max(1, int(sample[key] * factor))


def truncate(run: Any, draw: random.Random) -> None:
    """As with less memory."""
    most = 1 << draw.randint(14, 26)
    for result in run["results"]:
        result["points"] = [each for each in result["points"] if size_of(each) <= most]


def limit(run: Any, draw: random.Random) -> None:
    """As one probe with less memory, whose points are all made for that."""
    result = draw.choice([each for each in run["results"]
                          if each["probe"] in ("latency", "stride", "bandwidth")])
    most = 1 << draw.randint(16, 24)
    for point in result["points"]:
        if result["probe"] == "stride" and size_of(point) > most:
            point["parameters"]["working_set_bytes"] = most
    if result["probe"] != "stride":
        result["points"] = [each for each in result["points"] if size_of(each) <= most]


def thin(run: Any, draw: random.Random) -> None:
    share = draw.uniform(0.02, 0.35)
    for result in run["results"]:
        kept = [each for each in result["points"] if draw.random() < share]
        result["points"] = kept or result["points"][:1]


def cut_series(run: Any, draw: random.Random) -> None:
    """All but two points of one series with a curve."""
    result = draw.choice([each for each in run["results"] if each["probe"] in ("latency", "bandwidth")])
    names = [each["series"] for each in result["points"] if "follow_up" not in each["facts"]]
    series = draw.choice(sorted({each for each in names if names.count(each) > 8}))
    own = [each for each in result["points"] if each["series"] == series]
    kept = own[:2]
    result["points"] = [each for each in result["points"] if each["series"] != series or each in kept]


def noise(run: Any, draw: random.Random) -> None:
    sigma = draw.uniform(1.5, 3.0)
    for each in samples_of(run):
        scale(each, draw.lognormvariate(0.0, sigma))


def slow_noise(run: Any, draw: random.Random) -> None:
    for each in samples_of(run):
        scale(each, 3.0 * draw.lognormvariate(0.0, 1.5))


def widen_clock(run: Any, draw: random.Random) -> None:
    clock = run["device"]["clock"]
    clock["ticks_per_ns_low"] = clock["ticks_per_ns"] * draw.uniform(0.2, 0.6)
    clock["ticks_per_ns_high"] = clock["ticks_per_ns"] * draw.uniform(1.7, 4.0)


def forge_failures(run: Any, draw: random.Random) -> None:
    most = 1 << draw.randint(14, 28)
    for result in run["results"]:
        for point in result["points"]:
            if size_of(point) > most:
                point["samples"] = []
                point["failure"] = "CL_OUT_OF_RESOURCES"


def forge_status(run: Any, draw: random.Random) -> None:
    result = draw.choice(run["results"])
    result["status"] = draw.choice(["failed", "unsupported", "unobservable", "interrupted"])
    result["reason"] = "somebody wrote it"


def lose_probe(run: Any, draw: random.Random) -> None:
    result = draw.choice(run["results"])
    draw.choice([run["results"].remove, lambda each: each["points"].clear()])(result)


Damage = Callable[[Any, random.Random], None]
DAMAGES: tuple[Damage, ...] = (
    truncate, limit, thin, cut_series, noise, slow_noise, widen_clock, forge_failures, forge_status,
    lose_probe,
)
# Of one run among three: what is only wider there, such as its clock, is no harm to the mean.
BAD_RUNS: tuple[Damage, ...] = (truncate, thin, cut_series, noise, slow_noise, forge_failures,
                                forge_status, lose_probe)


class Checker:
    def __init__(self, clprobe: str, source: pathlib.Path, folder: pathlib.Path) -> None:
        self.clprobe = clprobe
        self.results = source / "results"
        self.folder = folder

    def compare(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.clprobe, "compare", *words, "--fail-on", "worse"],
            capture_output=True, text=True, check=False
        )
        return done.returncode, " ".join(words) + ": " + done.stderr.strip()

    def damaged(self, number: int) -> str:
        """Why this damage passed; empty where it did not."""
        draw = random.Random(SEED + number)
        file = self.results / f"{RUNS[number % len(RUNS)]}.json"
        run = json.loads(file.read_text())
        good, bad = self.folder / f"{number}-good.json", self.folder / f"{number}-bad.json"
        good.write_text(json.dumps(run))
        is_one_of_three = number % 5 == 4
        kinds = BAD_RUNS if is_one_of_three else DAMAGES
        damage = kinds[number // 5 % len(kinds)] if is_one_of_three else kinds[number % len(kinds)]
        changed = copy.deepcopy(run)
        damage(changed, draw)
        if changed == run:
            return ""
        bad.write_text(json.dumps(changed))
        sides = [str(good), str(bad)]
        if is_one_of_three:
            sides = [str(good)] * 3 + ["--"] + [str(good)] * 2 + [str(bad)]
        status, said = self.compare(*sides)
        good.unlink()
        bad.unlink()
        if status in (4, 5):
            return ""
        return f"{damage.__name__} {number} of {file.name}: status {status}, {said}"

    def unchanged(self, pair: tuple[str, str]) -> str:
        status, said = self.compare(*pair)
        return f"unchanged: status {status}, {said}" if status not in (0, 5) else ""

    def pairs(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for folder in FOLDERS:
            drivers: dict[str, list[str]] = {}
            for file in sorted((self.results / folder).glob("*.json")):
                device = json.loads(file.read_text())["device"]
                drivers.setdefault(device["driver"] + device["version"], []).append(str(file))
            for files in drivers.values():
                found += [(one, other) for one in files for other in files if one != other]
        return found


def main() -> int:
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(folder))
        pairs = checker.pairs()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = list(pool.map(checker.damaged, range(count))) + list(pool.map(checker.unchanged, pairs))
    wrong = [each for each in wrong if each]
    print("\n".join(wrong))
    print(f"{count} damages, {len(pairs)} pairs: {len(wrong)} wrong")
    return 1 if wrong or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
