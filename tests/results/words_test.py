#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`clprobe explain` knows the words that reports show, and those of other tools and manuals.

Usage: words_test.py CLPROBE SOURCE_FOLDER [--list]

Reports every stored run of results/, a run of the probe `kernel` and the simulated runs of tests/curves, as
text and as Markdown, and collects: names of findings, probes, rows, columns and warnings, and cells of words
alone. Golden files give the words of `profile` and `compare`. Each word must be explained. --list prints
the words.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

# What vendors' manuals, papers and other tools call it.
OTHER_WORDS = """
warp; warps; wavefront; thread; block; thread block; CTA; work-group; work-item; sub-group; SM; SMs; CU;
EU; L1; L2; L3; LLC; TLB; DRAM; VRAM; HBM; shared memory; LDS; local memory; global memory; huge pages;
occupancy; roofline; coalescing; cacheline; cache line; bank conflict; bank conflicts; barrier;
divergence; plateau; no plateau; lanes; pointer chase; Little's law; MSHR; pinned; serial; at least; ±;
timed by; alone; in a queue; 99th percentile; after idling; half the bandwidth at; one compute unit;
small strides; almost any stride; coalesced; by set; per way; global 1; L2?; memory data: L2; not seen;
beware of; warnings; far L2; core clock; pointer chase under load; not significant; memory bandwidth;
levels that disagree; shared cores; changing speed; a changing speed; refused points; scattering
samples; prelude; folded; by groups at once; app time; warm time; equal to app; resident groups;
starting; whole waves; sizes; --quick; thorough; cache, or its near half; cache or memory;
reach of a TLB
""".replace("\n", " ")

# Values, sentences, and the names of runs and of a captured kernel.
NOT_WORDS = re.compile(r"yes|no|none|type|at work-items|Warning|run|run's value|[A-Z]|parts|rising|"
                       r"(no (jump|factor)|only) .*")
WORDS = re.compile(r"[A-Za-z][A-Za-z0-9' -]*")
LONGEST = 30  # characters; longer cells are sentences


def output(*command: str) -> str:
    environment = os.environ | {"COLUMNS": "200", "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def words_in(cell: str) -> set[str]:
    """A cell's words: without a reason behind a colon, a number, an order's number or a unit's."""
    cell = re.sub(r"\\(.)", r"\1", cell)
    word = re.split(r": |\(|,|\*\*", cell)[0].strip(" *:")
    word = re.sub(r"^[a-zA-Z#] ", "", word)  # the letter of a part in a bar
    is_word = WORDS.fullmatch(word) and len(word) <= LONGEST and not NOT_WORDS.fullmatch(word)
    return {word} if is_word else set()


def without_setting(row: str) -> str:
    """The series of a row, which may have a setting behind it: "read int4", "load-latency 16 B"."""
    return re.sub(r" (int\d*|\d+( B)?|rows|padded|diagonal|shifted)$", "", row)


def words_of_markdown(text: str) -> set[str]:
    found: set[str] = set()
    for line in text.splitlines():
        if line.startswith("### "):
            found |= words_in(line[4:])
        elif bold := re.match(r"- \*\*(.+?)\*\*", line):
            found |= words_in(without_setting(bold[1].rstrip(":")))
        elif line.startswith("| "):
            cells = [each.strip() for each in line.strip("|").split("|")]
            cells[0] = without_setting(cells[0])
            # Stalls by two causes: "compute data + control".
            for cell in [*cells[0].split(" + "), *cells[1:]]:
                found |= words_in(cell.split(": ")[-1] if re.match(r"[a-z ]+: [a-z L0-9-]+$", cell) else cell)
    return found


def words_of_text(text: str) -> set[str]:
    """Rows of the card and of the charts, and the titles of warnings."""
    found: set[str] = set()
    for line in text.splitlines():
        if row := re.match(r" ([a-z][A-Za-z -]*?)( \d+)?  +\S", line):
            found |= words_in(without_setting(row[1]))
        if titles := re.search(r"(?:beware of|warnings:?) +(.+)", line):
            for title in titles[1].split(", "):
                found |= words_in(re.sub(r"^\d+ more$|…", "", title))
    return found


def words_of_table(lines: list[str]) -> set[str]:
    """Heads of a table on a terminal and what stands before colons below it."""
    cells = [cell for line in lines for cell in re.split(r" {2,}", line.strip())]
    return {word for cell in cells for word in words_in(cell)}


def words_of_run(clprobe: str, path: pathlib.Path) -> set[str]:
    results = json.loads(path.read_text())["results"]
    names = {finding["name"] for result in results for finding in result["findings"]}
    return names | words_of_markdown(output(clprobe, "report", str(path), "-f", "markdown")) | words_of_text(
        output(clprobe, "report", str(path))
    )


def words_of_golden(folder: pathlib.Path) -> set[str]:
    survey = (folder / "survey.txt").read_text().splitlines()
    found = words_of_table([line for line in survey if line.strip().startswith("share")])
    found |= {line.split(":")[0] for line in survey
              if re.match(r"[a-z ]+: ", line) and not line.startswith("app")}
    for line in (folder / "compare.md").read_text().splitlines():
        # Heads of columns without levels' names, and verdicts.
        if line.startswith("| finding"):
            found |= {word for cell in line.split("|") for word in words_in(cell.strip())}
        found |= {word for verdict in re.findall(r"\*\*(.+?)\*\*", line) for word in words_in(verdict)}
    return found


def failure(clprobe: str, word: str) -> str:
    done = subprocess.run([clprobe, "explain", "--", word], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{word!r}: exit {done.returncode}: {done.stderr.strip()}"


def main() -> int:
    clprobe, root = sys.argv[1], pathlib.Path(sys.argv[2])
    runs = [*sorted(root.glob("results/*/*/*.json")), root / "tests/fuzz/corpus/load/kernel-gpu.json"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        collected = set().union(*pool.map(lambda path: words_of_run(clprobe, path), runs))
        collected |= words_of_golden(root / "tests/golden")
        collected |= {word.strip() for word in OTHER_WORDS.split(";")}
        if "--list" in sys.argv:
            print("\n".join(sorted(collected)))
            return 0
        failures = [each for each in pool.map(lambda word: failure(clprobe, word), sorted(collected)) if each]
    print(f"{len(collected)} words, {len(failures)} not explained", *failures, sep="\n  ")
    # A collection that finds next to nothing would prove nothing.
    return 1 if failures or len(collected) < 250 else 0


if __name__ == "__main__":
    sys.exit(main())
