# SPDX-License-Identifier: Apache-2.0
"""Checks every run document and launch of the repository against the JSON Schema of its version.

Usage: check_documents.py SOURCE_FOLDER. Exit: 0 all valid, 1 not, 77 skipped.
"""

import json
import pathlib
import sys
from typing import Any

try:
    import jsonschema
except ImportError:
    print("skipped: the Python module jsonschema is missing (apt install python3-jsonschema)")
    sys.exit(77)


def is_run(document: Any) -> bool:
    """Golden files hold other JSON too; in results/ all but the index are runs."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and first.get("schema") == "clprobe-run"


def validators(source: pathlib.Path) -> dict[int, Any]:
    """For each version, what checks one run: the errors of the schema's outer "anyOf" say nothing."""
    made = {}
    for path in sorted((source / "tools/schema").glob("clprobe-run-*.schema.json")):
        schema = json.loads(path.read_text("utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        version = schema["definitions"]["run"]["properties"]["schema_version"]["const"]
        made[version] = jsonschema.Draft7Validator(
            {"$ref": "#/definitions/run", "definitions": schema["definitions"]}
        )
    return made


def check_schema_is_strict(validator: Any, good: Any) -> bool:
    """The schema refuses what the loader refuses: an unknown key, a missing one, a wrong type."""
    broken = [dict(good, extra=1), dict(good, seed=-1), dict(good, seed="42")]
    broken.append({key: value for key, value in good.items() if key != "device"})
    return all(not validator.is_valid(document) for document in broken)


def check_launches(source: pathlib.Path) -> int:
    """The good launches are valid, and the hostile ones of the fuzzers' corpus are not."""
    schema = json.loads((source / "tools/schema/clprobe-launch-1.schema.json").read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = 0
    for name in ("golden/launch", "fuzz/corpus/launch/described", "fuzz/corpus/launch/headers"):
        launch = json.loads((source / f"tests/{name}.json").read_text("utf-8"))
        for error in validator.iter_errors(launch):
            failures += 1
            print(f"{name}: {error.json_path}: {error.message[:200]}")
        broken = [dict(launch, extra=1), dict(launch, kernel="a b"), dict(launch, arguments=[{}])]
        if any(validator.is_valid(document) for document in broken):
            failures += 1
            print(f"{name}: the schema accepts a broken copy of it")
    for name in ("path-for-a-hash", "path-for-a-header", "more-than-64-bits"):
        path = source / f"tests/fuzz/corpus/launch/{name}.json"
        if validator.is_valid(json.loads(path.read_text("utf-8"))):
            failures += 1
            print(f"{name}: the schema accepts it")
    return failures


def main(source: pathlib.Path) -> int:
    of_version = validators(source)
    files = sorted((source / "tests/golden").glob("*.json"))
    files += sorted((source / "results").glob("**/*.json"))
    checked = failures = 0
    versions = set()
    for path in files:
        document = json.loads(path.read_text("utf-8"))
        is_index = path.name == "index.json"
        is_result = source / "results" in path.parents and not is_index
        if not (is_result or is_run(document)):
            continue
        checked += 1
        name = path.relative_to(source)
        for run in document if isinstance(document, list) else [document]:
            version = run["schema_version"]
            each = of_version[version]
            versions.add(version)
            for error in each.iter_errors(run):
                failures += 1
                print(f"{name}: {error.json_path}: {error.message[:200]}")
            if not check_schema_is_strict(each, run):
                failures += 1
                print(f"{name}: the schema accepts a broken copy of it")
    for version in of_version.keys() - versions:
        failures += 1
        print(f"no document of version {version} is there to be checked")
    failures += check_launches(source)
    print(f"{checked} documents checked, {failures} errors")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
