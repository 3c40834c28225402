# SPDX-License-Identifier: Apache-2.0
"""Runs to make pages of: those in results/, and made-up ones."""

import copy
import functools
import json
import pathlib
import random
import subprocess
from typing import Any

from options import OPTIONS

Run = dict[str, Any]

EVIL = [
    "<script>window.ran=1</script>",
    "</script><script>window.ran=2</script>",
    "<img src=x onerror=window.ran=3>",
    "\"'><svg onload=window.ran=4>",
    "<!--<script>",
    "javascript:window.ran=5",
    "{{runs}}",
    "\u2028]]>&lt;b&gt;",
    "https://example.org/a.png",
]


@functools.cache
def read(path: pathlib.Path) -> list[Run]:
    """The runs of a file, which many tests want; whoever changes one copies it."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, list) else [found]


def real_runs() -> list[Run]:
    """Those of results/ that are of `latency` alone, and of all its memories: one chart a page."""
    files = sorted((OPTIONS.root / "results").glob("*/*/*.json"))
    runs = [run for path in files for run in read(path)]
    return [run for run in runs if [result["probe"] for result in run["results"]] == ["latency"]
            and any(point["series"] == "local" for point in run["results"][0]["points"])]


def all_probes_runs() -> list[Run]:
    """Of each device of results/ with several probes the run that has the most."""
    best: dict[str, Run] = {}
    for path in sorted((OPTIONS.root / "results").glob("*/*/*.json")):
        for run in read(path):
            name, probes = run["device"]["name"], len(run["results"])
            if probes > max(1, len(best.get(name, {"results": []})["results"])):
                best[name] = run
    return list(best.values())


def probes_of(runs: list[Run]) -> set[str]:
    return {result["probe"] for run in runs for result in run["results"]}


def charts_of(runs: list[Run]) -> int:
    """One for each probe, the roofline, those of `inflight` beside its curves, and the models of `banks`."""
    series = {point["series"] for run in runs for result in run["results"]
              for point in result["points"]}
    return (len(probes_of(runs)) + ({"bandwidth", "compute"} <= probes_of(runs)) +
            ("loaded-traffic" in series) +
            any(name.endswith("-chains") for name in series) +
            len(series & {"load-model", "store-model"}))


def thread_latency_series(run: Run) -> set[str]:
    return {point["series"] for result in run["results"] if result["probe"] == "inflight"
            for point in result["points"] if "-x" in point["series"]}


def run_of(part: str) -> Run:
    """A real run whose device's name contains `part`."""
    return copy.deepcopy(next(run for run in real_runs() if part in run["device"]["name"]))


def poisoned(value: Any, state: list[int]) -> Any:
    """Every free text replaced by something hostile; words that the loader checks stay."""
    checked = {"schema", "status", "source", "unit", "kind", "rate", "timer", "launch_timer",
               "probe", "quantity", "started", "type", "method", "better", "role", "scale"}
    if isinstance(value, list):
        return [poisoned(each, state) for each in value]
    if isinstance(value, dict):
        return {key: each if key in checked else poisoned(each, state)
                for key, each in value.items()}
    if not isinstance(value, str):
        return value
    state[0] += 1
    return EVIL[state[0] % len(EVIL)] + value


def hostile_run() -> Run:
    run = run_of("H200")
    result = run["results"][0]
    result["points"] = result["points"][:60]
    run = poisoned(run, [0])
    points = run["results"][0]["points"]
    points[0]["parameters"]["<b>evil</b>"] = EVIL[0]
    points[1]["parameters"].update({"$rows": 3, "$number": "{", "__proto__": 1})
    run["seed"] = 2**64 - 1
    run["device"]["reported"]["share"] = 11.0
    # A probe that nobody has, with a name that is markup.
    other = copy.deepcopy(run["results"][0])
    other["probe"] = EVIL[2]
    run["results"].append(other)
    run["device"]["name"] = "".join(EVIL[:5])
    return run


def heat_map_run() -> Run:
    """A probe with two parameters that vary: as `banks` has them."""
    run = run_of("H200")
    result = run["results"][0]
    sample = result["points"][0]["samples"][0]
    result.update(probe="banks", findings=[], warnings=[], points=[])
    for stride in range(1, 33):
        for word in (4, 8, 16):
            ways = max(word // 4, stride & -stride)
            ticks = sample["accesses"] * (20 + 8 * ways) + stride
            result["points"].append({
                "series": "load-latency",
                "parameters": {"stride_words": stride, "word_bytes": word}, "facts": {},
                "samples": [dict(sample, ticks=ticks + noise)
                            for noise in (0, sample["accesses"])]})
    return run


def stacks_run(*words: str) -> Run:
    """Bars with parts, in two views, or what is asked for."""
    asked = words or ("--case", "implicit")
    made = subprocess.run([OPTIONS.program, "--device", "sim:gsi", "gsi", *asked, "--json"],
                          check=True, stdout=subprocess.PIPE)
    return json.loads(made.stdout)[0]


def eight_runs() -> list[Run]:
    """The run with the most probes, as of eight devices: each measures a little other numbers."""
    original = max(all_probes_runs(), key=lambda run: (len(run["results"]), len(json.dumps(run))))
    runs = []
    for i in range(8):
        numbers = random.Random(i)
        run = copy.deepcopy(original)
        run["device"]["index"] = i
        for probe, sample in ((result["probe"], sample) for result in run["results"]
                              for point in result["points"] for sample in point.get("samples", [])):
            for key, share in (("ticks", 0.01), ("event_ns", 0.02), ("host_ns", 0.03)):
                if sample.get(key):
                    sample[key] = max(1, round(sample[key] * (1 + numbers.uniform(-share, share))))
            if probe in ("inflight", "stalls"):  # of the others it follows from the iterations
                sample["witness"] = numbers.getrandbits(max(1, sample["witness"].bit_length()))
        runs.append(run)
    return runs


def same(one: Any, other: Any) -> bool:
    """Equal, and 11.0 is not 11."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
