#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings and curves of stored runs as tables, for notebooks and plots.

    import read_runs
    findings = read_runs.frame(read_runs.findings(["h100.json", "h200.json"]))
    curves = read_runs.frame(read_runs.curves(["h100.json", "h200.json"]))  # a frame is pandas.DataFrame
    l2 = findings.query("probe == 'latency' and series == 'global' and level == 2")

The fields (probe, series, level, name, label, method) identify a finding of a run. Values are in SI units and
bytes. Run as a program, this file prints both tables as CSV: read_runs.py [--program clprobe] FILE...
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
from typing import Any

Row = dict[str, Any]

KEY = ("probe", "series", "level", "name", "label", "method")
VALUES = ("value", "low", "high", "unit", "source", "reason")
NUMBERS = ("x", "value", "low", "high")


def report_of(program: str, path: str, form: str) -> str:
    """The output of `clprobe report` for a file."""
    return subprocess.run([program, "report", path, "-f", form], check=True, capture_output=True,
                          text=True).stdout


def findings(paths: list[str], program: str = "clprobe") -> list[Row]:
    """One row per finding; absent fields are None.

    `program` computes the findings from the samples, because a file stores the findings of the clprobe
    version that wrote the file.
    """
    rows = []
    for path in paths:
        for run in json.loads(report_of(program, path, "json")):
            device = run.get("label") or run["device"]["name"]
            for result in run["results"]:
                for finding in result["findings"]:
                    row = {"device": device, "probe": result["probe"]}
                    row |= {name: finding.get(name) for name in (*KEY, *VALUES) if name not in row}
                    rows.append(row)
    return rows


def curves(paths: list[str], program: str = "clprobe") -> list[Row]:
    """One row per point of a curve: the value that clprobe's charts show, and its interval.

    `program` computes the rows from the samples. A file whose name ends in curves.csv already contains them.
    """
    rows: list[Row] = []
    for path in paths:
        if str(path).endswith("curves.csv"):
            text = pathlib.Path(path).read_text(encoding="utf-8")
        else:
            text = report_of(program, path, "curves")
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
    for rows in (findings(options.files, options.program), curves(options.files, options.program)):
        table = csv.DictWriter(sys.stdout, rows[0] if rows else [])
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
