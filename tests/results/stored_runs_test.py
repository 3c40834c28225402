#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What today's analysis finds in stored runs, against what somebody read and found right.

Usage: stored_runs_test.py CLPROBE SOURCE_FOLDER [--names-aside] [WORD...]

Each run of results/ and each run or curve of tests/curves is analysed anew by `clprobe report` (a curve
by `clprobe import`), and each pair of PAIRS is set side by side by `clprobe compare`. The findings and the
verdicts stand in tests/results/golden, a line each. With CLPROBE_UPDATE_GOLDEN=1 in the environment the
files are written anew: read their diff, it is what people will be told about these devices.

WORD: only the cases whose name contains one of the words. --names-aside: probes and findings may have other
names and another order than in the files, and reasons other words (to check a change that renames); nothing
is written.

Numbers have six digits and may differ in the last, since compilers round differently.
"""

import concurrent.futures
import difflib
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

# Baseline and what is compared to it, below results/ without ".json".
PAIRS = {
    "same-device-h200": ("nvidia/h200/580.159.04_2026-11-26", "nvidia/h200/580.159.04_2026-11-28"),
    "same-device-h100": ("nvidia/h100/580.159.04_2026-11-27", "nvidia/h100/580.159.04_2026-11-28"),
    "h200-to-h100": ("nvidia/h200/580.159.04_2026-11-22", "nvidia/h100/580.159.04_2026-11-22"),
    "h100-to-h200": ("nvidia/h100/580.159.04_2026-11-22", "nvidia/h200/580.159.04_2026-11-22"),
    "pocl-two-days": ("intel/xeon/pocl-5.0_2026-11-27", "intel/xeon/pocl-5.0_2026-11-28"),
    "pocl-two-versions": ("intel/xeon/pocl-3.1_2026-11-25", "intel/xeon/pocl-5.0_2026-11-27"),
    "gpu-to-cpu": ("nvidia/h200/580.159.04_2026-11-28", "intel/xeon/pocl-5.0_2026-11-28"),
}
SEPARATOR = " | "
# The columns of findings and of verdicts that hold names and, of findings, reasons: left out with
# --names-aside.
NAME_COLUMNS = {0, 3, 9}
TOLERANCE = 2e-5  # two units in the last of six digits, at worst
SMALLEST = 1e-14  # what should be 0 is not always
PROSE_LENGTH = 48
LABEL_LENGTH = 64


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def word(text: Any) -> str:
    return str(text).replace("|", "/") if text not in (None, "") else "-"


def label_text(label: str | None) -> str:
    """A label is a word or two; a sentence of advice is one in any words."""
    return "(a sentence)" if label and len(label) > LABEL_LENGTH else word(label)


def short(reason: str | None) -> str:
    """A reason's first words, whole ones: what follows is numbers, which have columns of their own."""
    text = re.split(r"[:;,(]", reason or "")[0].strip()
    return word(text if len(text) <= PROSE_LENGTH else text[: PROSE_LENGTH + 1].rsplit(" ", 1)[0])


def line(*cells: str) -> str:
    return SEPARATOR.join(cells)


def warning_lines(of: str, place: Any) -> list[str]:
    """What is warned of by code: that a device was disturbed is a claim, too."""
    return [line(of, "-", "-", "warning", each["code"]) for each in place.get("warnings", [])]


def findings_text(runs: Any) -> list[str]:
    """One line per finding of the documents that `report` and `import` write."""
    lines = ["probe | series | level | name | value | low | high | unit | label | reason"]
    for run in runs if isinstance(runs, list) else [runs]:
        lines += warning_lines("run", run)
        for result in run["results"]:
            lines += warning_lines(result["probe"], result)
            if "reason" in result:
                lines.append(
                    line(result["probe"], "-", "-", result["status"], short(result["reason"]))
                )
            for each in result["findings"]:
                numbers = [number(each.get(key)) for key in ("value", "low", "high")]
                lines.append(
                    line(
                        result["probe"],
                        word(each["series"]),
                        word(each.get("level")),
                        each["name"],
                        *numbers,
                        word(each.get("unit")),
                        label_text(each.get("label")),
                        short(each.get("reason")),
                    )
                )
    return lines


def verdicts_text(comparison: Any) -> list[str]:
    """One line per finding that both runs have, then those that one alone has, then the curves."""
    lines = ["probe | series | level | name | unit | baseline | value | ratio | verdict"]
    for row in comparison["findings"]:
        for cell in row["runs"]:
            base = row["baseline"]
            shown = [
                number(each["value"]) if "value" in each else word(each.get("label"))
                for each in (base, cell)
            ]
            lines.append(
                line(
                    row["probe"],
                    word(row["series"]),
                    word(row.get("level")) + word(row.get("part")).replace("-", ""),
                    row["name"],
                    word(row.get("unit")),
                    *shown,
                    number(cell.get("ratio")),
                    cell.get("verdict", "-"),
                )
            )
    for each in comparison["unmatched"]:
        lines.append(
            line(
                each["probe"],
                word(each.get("series")),
                word(each.get("level")),
                word(each.get("name")),
                "unmatched",
            )
        )
    for each in comparison["curves"]:
        counts = [str(each[key]) for key in ("matched", "only_baseline", "only_here")]
        ratios = [number(each.get(key)) for key in ("median_ratio", "low_ratio", "high_ratio")]
        lines.append(line(each["probe"], word(each["series"]), "-", "curve", *counts, *ratios))
    for run in comparison["runs"]:
        lines.append(
            "counts " + " ".join(f"{verdict} {count}" for verdict, count in run["verdicts"].items())
        )
    return lines


def run_clprobe(clprobe: str, *arguments: str) -> Any:
    """What clprobe writes as JSON."""
    done = subprocess.run([clprobe, *arguments, "-f", "json"], capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"clprobe {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def renew(clprobe: str, path: pathlib.Path) -> Any:
    """The findings of a file by this analysis. Those that the file has are taken away first: none of
    them may show through. A finding of the plan is kept, since `report` cannot make it anew."""
    document = json.loads(path.read_text("utf-8"))
    for run in document if isinstance(document, list) else [document]:
        for result in run["results"]:
            result["findings"] = [each for each in result["findings"] if each["method"] == "plan"]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as bare:
        json.dump(document, bare)
        bare.flush()
        return run_clprobe(clprobe, "report", bare.name)


def renewed_text(clprobe: str, path: pathlib.Path) -> list[str]:
    return findings_text(renew(clprobe, path))


def imported_text(clprobe: str, path: pathlib.Path) -> list[str]:
    return findings_text(run_clprobe(clprobe, "import", str(path)))


def compared_text(clprobe: str, files: list[str]) -> list[str]:
    return verdicts_text(run_clprobe(clprobe, "compare", *files))


def cases(clprobe: str, source: pathlib.Path) -> dict[str, Callable[[], list[str]]]:
    """The name of each golden file, and the function that gives its lines anew."""
    found: dict[str, Callable[[], list[str]]] = {}
    for path in sorted(source.glob("results/**/*.json")):
        name = "-".join(path.relative_to(source / "results").with_suffix("").parts)
        found[name] = functools.partial(renewed_text, clprobe, path)
    for path in sorted((source / "tests/curves").glob("*.json")):
        found[f"curve-{path.stem}"] = functools.partial(renewed_text, clprobe, path)
    for path in sorted((source / "tests/curves").glob("*.size-latency.csv")):
        name = f"curve-{path.name.removesuffix('.size-latency.csv')}"
        found[name] = functools.partial(imported_text, clprobe, path)
    for name, pair in PAIRS.items():
        files = [str(source / "results" / f"{each}.json") for each in pair]
        found[f"compare-{name}"] = functools.partial(compared_text, clprobe, files)
    return found


def are_same_cell(left: str, right: str) -> bool:
    if left == right:
        return True
    try:
        a, b = float(left), float(right)
    except ValueError:
        return False
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) + SMALLEST


def are_same_line(left: str, right: str) -> bool:
    a, b = left.split(SEPARATOR), right.split(SEPARATOR)
    return len(a) == len(b) and all(map(are_same_cell, a, b))


def without_names(lines: list[str]) -> list[str]:
    """The lines behind the heading without names, in an order of their own."""
    shown = []
    for each in lines[1:]:
        cells = each.split(SEPARATOR)
        shown.append(SEPARATOR.join(cell for i, cell in enumerate(cells) if i not in NAME_COLUMNS))
    return sorted(shown)


def difference(golden: list[str], now: list[str]) -> list[str]:
    """The lines that differ, as a diff; empty when none does."""
    if len(golden) == len(now) and all(map(are_same_line, golden, now)):
        return []
    # Lines within the tolerance are no news: show the golden one on both sides.
    known = set(golden)
    shown = [
        next((old for old in golden if are_same_line(old, new)), new) if new not in known else new
        for new in now
    ]
    return [
        each for each in difflib.unified_diff(golden, shown, "golden", "now", lineterm="", n=0)
    ][2:]


def check(path: pathlib.Path, now: list[str], names_aside: bool) -> list[str]:
    """The differences between a golden file and the lines of now; writes it where that is asked for."""
    if os.environ.get("CLPROBE_UPDATE_GOLDEN") == "1" and not names_aside:
        old = path.read_text("utf-8").splitlines() if path.exists() else []
        if difference(old, now) or not old:
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(now) + "\n", "utf-8")
        return []
    if not path.exists():
        return [f"{path.name} is missing: run with CLPROBE_UPDATE_GOLDEN=1"]
    golden = path.read_text("utf-8").splitlines()
    if names_aside:
        golden, now = without_names(golden), without_names(now)
    return difference(golden, now)


def main(arguments: list[str]) -> int:
    names_aside = "--names-aside" in arguments
    arguments = [each for each in arguments if each != "--names-aside"]
    if len(arguments) < 2:
        sys.exit(__doc__.strip())
    clprobe, source, words = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    folder = source / "tests/results/golden"
    every = cases(clprobe, source)
    chosen = {
        name: make
        for name, make in every.items()
        if not words or any(each in name for each in words)
    }
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, made in [(name, pool.submit(make)) for name, make in chosen.items()]:
            found = check(folder / f"{name}.txt", made.result(), names_aside)
            failed += bool(found)
            for each in [f"{name}: {len(found)} lines of difference", *found] if found else []:
                print(each)
    # A golden file without a case guards nothing any more.
    for left in sorted({path.stem for path in folder.glob("*.txt")} - set(every)):
        failed += 1
        print(f"{left}: the golden file has no run: remove it")
    print(f"{len(chosen)} cases, {failed} differ")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
