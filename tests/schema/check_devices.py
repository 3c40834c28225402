# SPDX-License-Identifier: Apache-2.0
"""Describes every run of results/, and checks each description: schema, order of intervals, known devices.

Usage: check_devices.py CLPROBE SOURCE_FOLDER. Exit: 0 all valid, 1 not, 77 skipped. With
CLPROBE_UPDATE_GOLDEN=1 in the environment, the description of the H200 is written anew.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
from typing import Any

try:
    import jsonschema
except ImportError:
    print("skipped: the Python module jsonschema is missing (apt install python3-jsonschema)")
    sys.exit(77)

GOLDEN_RUN = "nvidia/h200/580.159.04_2026-11-28.json"
TOLERANCE = 2e-5  # compilers round differently


def described(program: str, path: pathlib.Path) -> Any:
    return json.loads(subprocess.run([program, "describe", str(path)], check=True, capture_output=True,
                                     text=True).stdout)


def faults_of(device: Any) -> list[str]:
    """Numbers outside their intervals, and levels that do not grow."""
    faults = []
    for name, number in device["numbers"].items():
        ends = [number[key] for key in ("low", "value", "high") if number[key] is not None]
        if ends != sorted(ends):
            faults.append(f"{name}: {ends} is not in order")
    sizes = [device["numbers"][f"{level['name']}.capacity"]["value"] for level in device["levels"]]
    known = [size for size in sizes if size is not None]
    if known != sorted(known):
        faults.append(f"capacities fall: {known}")
    numbers = device["numbers"]
    units = {number["unit"] for name, number in numbers.items() if name.startswith("local.load_")}
    if len(units) > 1:
        faults.append(f"loads of local memory in different units: {sorted(units)}")
    last = numbers["last_cache.capacity"]
    if last["value"] is not None and numbers["last_cache.flush"]["value"] < 2 * last["value"]:
        faults.append("last_cache.flush is too small")
    return faults


def is_alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(is_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_alike, one, other))
    if isinstance(one, float) and isinstance(other, (float, int)):
        return math.isclose(one, other, rel_tol=TOLERANCE)
    return bool(one == other)


def main(program: str, source: pathlib.Path) -> int:
    schema = json.loads((source / "tools/schema/clprobe-device-1.schema.json").read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema["definitions"]["device"]
                                           | {"definitions": schema["definitions"]})
    failures = checked = 0
    golden = source / "tests/golden/device-h200.json"
    made = json.loads((source / "tests/golden/device.json").read_text("utf-8"))
    devices = [("device.json", made)]
    for path in sorted((source / "results").glob("*/*/*.json")):
        for device in described(program, path):
            devices.append((str(path.relative_to(source / "results")), device))
    for name, device in devices:
        checked += 1
        faults = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(device)]
        if name == GOLDEN_RUN:
            if os.environ.get("CLPROBE_UPDATE_GOLDEN") == "1":
                golden.write_text(json.dumps(device, indent=1) + "\n", "utf-8")
            if not is_alike(json.loads(golden.read_text("utf-8")), device):
                faults.append(f"differs from {golden.name} (CLPROBE_UPDATE_GOLDEN=1 accepts)")
        failures += len(faults) + len(faults_of(device))
        for fault in faults + faults_of(device):
            print(f"{name}: {fault}")
        number = device["numbers"]["last_cache.capacity"]
        broken = [dict(device, extra=1), dict(device, numbers={}),
                  dict(device, numbers=device["numbers"] | {"a.b": number | {"unit": "KiB"}}),
                  dict(device, numbers=device["numbers"] | {"a.b": {"value": None}})]
        if any(validator.is_valid(each) for each in broken):
            failures += 1
            print(f"{name}: the schema accepts a broken copy")
    print(f"{checked} descriptions checked, {failures} errors")
    return 1 if failures or checked < 2 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
