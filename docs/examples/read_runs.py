#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings and curves of stored runs as tables, for notebooks and plots.

    import read_runs
    findings = read_runs.frame(read_runs.findings(["h100.json", "h200.json"]))
    curves = read_runs.frame(read_runs.curves(["h100.json", "h200.json"]))
    l2 = findings.query("probe == 'latency' and series == 'global' and level == 2")

A finding of a run is identified by (probe, series, level, name, label, method). Values are in SI units and
bytes. As a program it prints both tables: read_runs.py [--program clprobe] FILE...
"""

import argparse
import csv
import json
import pathlib
import subprocess
from typing import Any

Row = dict[str, Any]

KEY = ("probe", "series", "level", "name", "label", "method")
VALUES = ("value", "low", "high", "unit", "source", "reason")
NUMBERS = ("x", "value", "low", "high")


def runs_in(path: str | pathlib.Path) -> list[dict[str, Any]]:
    """The run documents of a file: one document, or an array of them."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    document = json.loads(text)
    runs = document if isinstance(document, list) else [document]
    for run in runs:
        if run.get("schema") != "clprobe-run":
            raise ValueError(f"{path}: expected runs of clprobe")
    return runs


def findings(paths: list[str]) -> list[Row]:
    """A row per finding as the files store it; absent fields are None."""
    rows = []
    for path in paths:
        for run in runs_in(path):
            device = run.get("label") or run["device"]["name"]
            for result in run["results"]:
                for finding in result["findings"]:
                    row = {"device": device, "probe": result["probe"]}
                    row |= {name: finding.get(name) for name in (*KEY, *VALUES) if name not in row}
                    rows.append(row)
    return rows


def curves(paths: list[str], program: str = "clprobe") -> list[Row]:
    """A row per point of a curve, with the value that clprobe's charts show and its interval.

    `program` makes them of the samples. A file whose name ends in curves.csv has them already.
    """
    rows: list[Row] = []
    for path in paths:
        if str(path).endswith("curves.csv"):
            text = pathlib.Path(path).read_text(encoding="utf-8")
        else:
            text = subprocess.run([program, "report", path, "-f", "curves"], check=True,
                                  capture_output=True, text=True).stdout
        for row in csv.DictReader(text.splitlines()):
            rows.append({name: float(cell) if name in NUMBERS else cell for name, cell in row.items()})
    return rows


def frame(rows: list[Row]) -> Any:
    """The rows as a pandas DataFrame."""
    import pandas  # pylint: disable=import-outside-toplevel

    return pandas.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Print findings and curves of stored runs.")
    parser.add_argument("--program", default="clprobe")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    print(frame(findings(options.files)).to_string())
    print(frame(curves(options.files, options.program)).to_string())


if __name__ == "__main__":
    main()
