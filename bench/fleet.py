#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes fleets from a stored run, to test and time `clprobe fleet report`.

Usage: bench/fleet.py --make FOLDER [--devices N] [--slow I]... [--noise PERCENT] [--seed N]
       bench/fleet.py --table [PROGRAM]

Each device is the stored run with its findings changed: all findings of a probe by normal noise, and
the memory of slow devices by 15 %. The samples are removed. `--table` prints how many healthy devices
are slow or suspect, and how long the report takes.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
RUN = ROOT / "results/nvidia/h200/580.159.04_2026-12-01.json"
PROBES = ("latency", "stride", "bandwidth", "transfer", "launch", "clock")
RATES = ("bytes_per_second", "operations_per_second", "hertz")
PER_NODE = 8


def scaled(finding: dict[str, Any], loss: float) -> None:
    """Makes a finding worse by the share `loss`."""
    if finding.get("unit") not in (*RATES, "seconds", "cycles"):
        return
    factor = 1 / (1 + loss) if finding["unit"] in RATES else 1 + loss
    for key in ("value", "low", "high"):
        if key in finding:
            finding[key] *= factor


def is_memory(probe: str, finding: dict[str, Any], last_level: int | None) -> bool:
    if probe == "stride":
        return True
    return finding.get("level") == last_level and probe in ("latency", "bandwidth")


def make(folder: pathlib.Path, devices: int, slow: list[int], noise: float, seed: int,
         version: dict[str, str] | None) -> None:
    """Writes a document per device into `folder`. `version`: of the program, so that it keeps findings."""
    folder.mkdir(parents=True, exist_ok=True)
    text = RUN.read_text(encoding="utf-8")
    source = random.Random(seed)
    template = json.loads(text)
    template["results"] = [each for each in template["results"] if each["probe"] in PROBES]
    for result in template["results"]:
        result["points"] = []
        result.pop("references", None)
    template.pop("references", None)
    if version:
        template["tool"].update(version)
    packed = json.dumps(template)
    for index in range(devices):
        run = json.loads(packed)
        node = f"a{index // PER_NODE + 1:03}"
        run["device"]["uuid"] = f"{index:032x}"
        run["labels"] = {"node": node, "slot": str(index % PER_NODE), "campaign": "1"}
        for result in run["results"]:
            levels: dict[str, int] = {}
            for finding in result["findings"]:
                level = finding.get("level")
                if level is not None:
                    levels[finding["series"]] = max(level, levels.get(finding["series"], 0))
            for finding in result["findings"]:
                loss = source.gauss(0, noise)
                if index in slow and is_memory(result["probe"], finding, levels.get(finding["series"])):
                    loss += 0.15
                scaled(finding, loss)
        (folder / f"{node}-{index:02}.json").write_text(json.dumps(run), encoding="utf-8")


def program_version(program: str) -> dict[str, str]:
    """Returns version and commit of the program as run documents have them."""
    words = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.split()
    return {"version": words[1], "commit": words[2].strip("(,")}


def table(program: str) -> None:
    """Prints a row per fleet of healthy devices."""
    print("| devices | slow | suspect | seconds |\n|---|---|---|---|")
    version = program_version(program)
    for devices, fleets in ((8, 20), (32, 10), (256, 5), (4096, 1)):
        counts = {"slow": 0, "suspect": 0}
        spent = 0.0
        for fleet in range(fleets):
            with tempfile.TemporaryDirectory() as name:
                make(pathlib.Path(name), devices, [], 0.005, fleet, version)
                start = time.monotonic()
                report = subprocess.run(
                    [program, "fleet", "report", name, "--json"], capture_output=True, text=True, check=True
                )
                spent += time.monotonic() - start
            for offender in json.loads(report.stdout)["offenders"]:
                if offender["standing"] in counts:
                    counts[offender["standing"]] += 1
        print(
            f"| {devices} | {counts['slow'] / fleets:.2f} | {counts['suspect'] / fleets:.2f} | "
            f"{spent / fleets:.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--table", nargs="?", const="clprobe", metavar="PROGRAM")
    parser.add_argument("--devices", type=int, default=32)
    parser.add_argument("--slow", type=int, action="append", default=[])
    parser.add_argument("--noise", type=float, default=0.5, help="percent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", help="program whose version the documents name: it keeps their findings")
    options = parser.parse_args()
    if options.table:
        table(options.table)
    elif options.make:
        version = program_version(options.program) if options.program else None
        make(options.make, options.devices, options.slow, options.noise / 100, options.seed, version)
    else:
        parser.error("give --make or --table")


if __name__ == "__main__":
    main()
