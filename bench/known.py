#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the causes that `clprobe profile` finds for a kernel with those that `clprobe stalls` knows.

    bench/known.py build/release/clprobe [CASE...] [-- OPTION...]
    bench/known.py --write

Each case of `stalls` is a kernel built to wait for one thing, and its own arguments can remove the causes.
Here the kernel is profiled like a user's kernel: bench/known has its text, and the launch
bench/known/CASE.json has the groups, arrays and iterations of `stalls`, which runs first.
The table shows the first cause of both, whether they agree, and what else `profile` found or refused. They
agree if the cause is the same and the shares differ by at most ten points. Some causes have different names
(NAMES): full store buffers belong to two causes of `profile`, whose sum is compared.
Options go to both commands, and to a run of `latency` for the memory levels. `--write` regenerates the kernel
texts from cl/ and the launches from the numbers in this file. structural.cl is the kernel whose work waits
for a functional unit.
"""

import dataclasses
import pathlib
import re
import tempfile
from typing import Any

import profiled

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bench" / "known"
MAX_DIFFERENCE = 0.10
UNATTRIBUTED = "unattributed"
REFUSABLE = ("memory", "barriers", "atomics", "lanes", "fences", "functions", "chains")
# Cause of `profile` for conflicts between lanes.
LANES = "memory structural: lanes"
# Causes of `stalls` that `profile` calls by other names: the prefixes of its causes, which are summed. A full
# store buffer counts as memory and as lanes: memory accepts fewer stores if they have too many bytes, which
# removing either cause reduces.
NAMES = {"memory structural: bank conflict": (LANES,), "memory structural: serial requests": (LANES,),
         "control": (LANES,), "memory structural: full store buffer": ("memory data", LANES)}
# Minimum share of a first cause, below which a kernel would not be changed.
MIN_SHARE = 0.05

WORD_BYTES = 4
LINE_WORDS = 32
BLOCK_WORDS = LINE_WORDS * LINE_WORDS
TURNS_OF_LANES = 8
HALVING = 0.5
MAX_COLUMNS = 100  # line length in a kernel's text
# Constants of case.hpp.
STEP_MULTIPLIER = 747796405
STEP_ADDEND = 0x9E3779B9
# Value of every word of the array. Lanes that follow loaded indexes then stay together, as in `stalls`.
FILL = 2654435769

# Cases of cases/wait_for_one.hpp: work of one iteration, groups per compute unit, and work-items per group.
CASES: dict[str, dict[str, int]] = {
    "memory-bound": {"groups_per_unit": 2, "work_items": 256, "far_loads": 4},
    "latency-bound": {"far_loads": 4, "is_chase": 1},
    "bank-conflicts": {"groups_per_unit": 2, "work_items": 256, "near_loads": 1, "tile_loads": 4,
                       "tile_stride": 32, "has_barrier": 1},
    "barrier": {"work_items": 256, "near_loads": 1, "turn_steps": 512, "has_barrier": 1},
    "dependency-chain": {"groups_per_unit": 4, "near_loads": 1, "chain_steps": 256, "has_barrier": 1},
    "divergence": {"groups_per_unit": 2, "work_items": 256, "near_loads": 1, "turn_steps": 256,
                   "is_divergent": 1},
    "uncoalesced-loads": {"groups_per_unit": 2, "work_items": 256, "near_loads": 1, "tile_loads": 0,
                          "chain_steps": 0, "block_loads": 8, "is_scattered": 1},
    "uncoalesced-stores": {"work_items": 128, "near_loads": 1, "tile_loads": 0, "chain_steps": 0,
                           "stores": 8, "is_scattered": 1},
    "store-bound": {"groups_per_unit": 2, "work_items": 256, "near_loads": 1, "tile_loads": 0,
                    "chain_steps": 0, "stores": 8, "stores_go_far": 1},
    "release": {"work_items": 128, "tile_loads": 0, "chain_steps": 0, "stores": 1, "has_fence": 1},
    "function-unit": {"groups_per_unit": 2, "work_items": 256, "near_loads": 1, "tile_loads": 0,
                      "chain_steps": 0, "functions": 8},
}
UNITS = ("block_loads", "stores", "functions")  # units that a structural case waits for
DEFAULTS = {"groups_per_unit": 1, "work_items": 32, "far_loads": 0, "is_chase": 0, "near_loads": 0,
            "tile_loads": 1, "tile_stride": 2, "chain_steps": 1, "turn_steps": 0, "has_barrier": 0,
            "is_divergent": 0, "block_loads": 0, "stores": 0, "is_scattered": 0, "stores_go_far": 0,
            "has_fence": 0, "functions": 0}


@dataclasses.dataclass
class Sizes:
    """Sizes of a launch, which depend on the device."""

    groups: int
    work_items: int
    lanes: int
    far_bytes: int
    near_bytes: int
    first_bytes: int
    iterations: int


def mask_of(size: int) -> int:
    """Returns the index mask for the lines of an array."""
    return size // (LINE_WORDS * WORD_BYTES) - 1


def power_below(number: int) -> int:
    """Returns the largest power of two up to the number, at least 1."""
    return 1 << (max(number, 1).bit_length() - 1)


def is_structural(case: str) -> bool:
    """Tests whether a case waits for a functional unit and so uses the structural kernel."""
    return any(CASES[case].get(each) for each in UNITS)


def text_path(case: str) -> pathlib.Path:
    """Returns the path of a case's kernel."""
    return FOLDER / ("structural.cl" if is_structural(case) else "mixed.cl")


def stored_blocks(mix: dict[str, int], sizes: Sizes, rows: int) -> int:
    """Returns the number of blocks stored to: half of the array, or one for each row, which caches hold."""
    every = power_below(sizes.far_bytes // 2 // (BLOCK_WORDS * WORD_BYTES))
    return every if mix["stores_go_far"] else min(every, 1 << (rows - 1).bit_length())


def structural_numbers(mix: dict[str, int], sizes: Sizes) -> dict[str, int]:
    """Returns the additional arguments of the structural kernel (wait_for_one.cpp)."""
    rows = max(sizes.groups * sizes.work_items // LINE_WORDS, 1)
    blocks = stored_blocks(mix, sizes, rows)
    return {"block_loads": mix["block_loads"],
            "load_mask": power_below(sizes.first_bytes // (BLOCK_WORDS * WORD_BYTES)) - 1,
            "lane_stride": LINE_WORDS if mix["is_scattered"] else 1,
            "turn_stride": 1 if mix["is_scattered"] else LINE_WORDS,
            "block_stores": mix["stores"], "row_blocks": max(blocks // rows, 1), "store_mask": blocks - 1,
            "store_gate": 0, "has_fence": mix["has_fence"], "functions": mix["functions"],
            "is_special": min(mix["functions"], 1)}


def options_of(case: str, version: str) -> str:
    """Returns the build options of a case's kernel. Fences need OpenCL C 2.0, except on NVIDIA's drivers."""
    if not is_structural(case):
        return ""
    if not CASES[case].get("has_fence"):
        return "-DSTRUCTURAL=1"
    found = re.match(r"OpenCL ([23])\.", version)
    standard = f"-cl-std=CL{found.group(1)}.0 " if found and "CUDA" not in version else ""
    return f"{standard}-DSTRUCTURAL=2"


def launch_of(case: str, sizes: Sizes, version: str) -> dict[str, Any]:
    """Returns the launch of a case with no cause removed, as `stalls` makes it."""
    mix = {**DEFAULTS, **CASES[case]}
    rows = max(sizes.work_items // sizes.lanes, 1)
    numbers = {
        "launch": 1, "iterations": sizes.iterations, "workers": sizes.work_items,
        "far_loads": mix["far_loads"], "far_mask": mask_of(sizes.far_bytes), "is_chase": mix["is_chase"],
        "near_loads": mix["near_loads"], "near_mask": mask_of(sizes.near_bytes),
        "tile_loads": mix["tile_loads"], "tile_stride": mix["tile_stride"],
        "chain_steps": mix["chain_steps"], "is_chain": 1, "turn_steps": mix["turn_steps"],
        "turn_shift": 0 if mix["is_divergent"] else sizes.lanes.bit_length() - 1,
        "turn_mask": TURNS_OF_LANES - 1 if mix["is_divergent"] else power_below(rows) - 1,
        "has_barrier": mix["has_barrier"], "noise_kind": 0, "noise": 0, "noise_mask": 63,
        "multiplier": STEP_MULTIPLIER, "addend": STEP_ADDEND}
    items = sizes.groups * sizes.work_items
    objects = [{"buffer": "data", "type": "uint", "count": sizes.far_bytes // WORD_BYTES, "fill": "value",
                "value": FILL},
               {"buffer": "out", "type": "uint", "count": items, "fill": "zero"}]
    more: list[dict[str, Any]] = []
    if is_structural(case):
        own = structural_numbers(mix, sizes)
        numbers |= own
        more = [{"type": "float", "value": HALVING},
                {"type": "float", "value": 2.0 if own["is_special"] else 2.0**-57},
                {"buffer": "stored" if mix["stores"] else "out"}]
        if mix["stores"]:
            objects.append({"buffer": "stored", "type": "uint",
                            "count": (own["store_mask"] + 1) * BLOCK_WORDS, "fill": "zero"})
    options = options_of(case, version)
    return {"schema": "clprobe-launch", "schema_version": 1,
            **({"program": {"units": [{"options": options}]}} if options else {}),
            "kernel": "stalls_mixed", "global": [items], "local": [sizes.work_items],
            "arguments": [{"buffer": "data"},
                          *({"type": "uint", "value": number} for number in numbers.values()), *more,
                          {"buffer": "out"}],
            "objects": objects}


def usual_launch(case: str) -> dict[str, Any]:
    """Returns the launch for a GPU with 132 compute units."""
    mix = {**DEFAULTS, **CASES[case]}
    sizes = Sizes(groups=132 * mix["groups_per_unit"], work_items=mix["work_items"], lanes=32,
                  far_bytes=2**29, near_bytes=2**21, first_bytes=2**13, iterations=256)
    return launch_of(case, sizes, "OpenCL 3.0 CUDA")


def resolved(text: str, known: dict[str, bool]) -> str:
    """Removes preprocessor conditions whose value is known, and the branches that are not taken."""
    kept = []
    branches: list[bool | None] = []
    for line in text.splitlines(keepends=True):
        words = line.strip()
        if words.startswith("#if"):
            branches.append(known.get(words.removeprefix("#if").strip()))
            is_known = branches[-1] is not None
        elif words.startswith("#endif"):
            is_known = branches.pop() is not None
        elif words == "#else" and branches[-1] is not None:
            branches[-1] = not branches[-1]
            is_known = True
        else:
            is_known = False
        if not is_known and False not in branches:
            kept.append(line)
    return "".join(kept)


def wrapped(parameters: str, indent: int, reserved: int) -> str:
    """Wraps parameters as clang-format does. `reserved`: number of columns needed after the last one."""
    lines = [""]
    each = " ".join(parameters.split()).split(", ")
    for index, parameter in enumerate(each):
        text = parameter + (", " if index + 1 < len(each) else reserved * "_")
        if indent + len((lines[-1] + text).rstrip()) > MAX_COLUMNS:
            lines.append("")
        lines[-1] += text
    lines[-1] = lines[-1].removesuffix(reserved * "_")
    return ("\n" + indent * " ").join(line.rstrip() for line in lines)


def text_of_kernel(structural: bool) -> str:
    """Returns the text of one of the two kernels of `stalls` as a single file, without clock reads."""
    known = {"STAMPS": False, "STAMPS == 1": False, "STRUCTURAL": structural, "!STRUCTURAL": not structural}

    def included(name: str) -> str:
        text = resolved((ROOT / "cl" / name).read_text(encoding="utf-8"), known)
        return text.removeprefix("// SPDX-License-Identifier: Apache-2.0\n").strip("\n")
    names = "LINE_WORDS|TILE_WORDS|NEXT|LINE_OF|STEP"
    macros = "".join(re.findall(rf"^#define (?:{names})\b.*\n", included("stalls.cl"), re.M))
    units, _, parameters = included("stalls_structural.clh").partition("#define STRUCTURAL_PARAMETERS")
    mixed = re.sub(r"^#define STRUCTURAL_PARAMETERS\n\n", "", included("stalls_mixed.clh"), flags=re.M)
    # The parameters replace their macro, as a user would write them.
    listed = " ".join(parameters.replace("\\", " ").replace(" *", "* ").split())
    mixed = mixed.replace("STRUCTURAL_PARAMETERS", listed if structural else "").replace("\n) {", ") {")
    mixed = re.sub(r"(kernel void stalls_mixed\()(.*?)(\) \{)",
                   lambda found: found[1] + wrapped(found[2], len(found[1]), len(found[3])) + found[3],
                   mixed, flags=re.S)
    if structural:
        mixed = re.sub(r"^// clang-format off\n.*?^// clang-format on\n", "", mixed, flags=re.M | re.S)
        mixed = re.sub(r"^// Eight loads .*?(?=^// One iteration)", "", mixed, flags=re.M | re.S)
    head = ("// SPDX-License-Identifier: Apache-2.0\n"
            "// A kernel of clprobe's `stalls` as a user's: bench/known.py --write made it of cl/.\n")
    mixed = re.sub(r"// Fills the array: each work-item.*?\n}\n\n", "", mixed, flags=re.S)
    mixed = re.sub(r" stamps: (?:.*\n)+?(?=kernel )", "\n", mixed)
    parts = [included("mixed.clh"), macros.rstrip("\n"), included("stalls_noise.clh"),
             *([units.rstrip("\n")] if structural else []), mixed]
    return head + "\n".join(parts) + "\n"


def write_files() -> None:
    """Writes the kernels and launches of bench/known."""
    for case in CASES:
        text_path(case).write_text(text_of_kernel(is_structural(case)), encoding="utf-8")
        profiled.write_launch(FOLDER / f"{case}.json", usual_launch(case))


def sizes_of(result: dict[str, Any], case: str) -> Sizes:
    """Returns the sizes of the launches of a case with no cause removed and no noise."""
    point = next(each for each in result["points"] if each["series"] == case and
                 each["parameters"].get("idealised") == 0 and each.get("samples") and
                 not {"phase", "noise"} & each["parameters"].keys())
    known = point["parameters"]
    iterations = max(each["accesses"] for each in point["samples"])
    return Sizes(known["groups"], known["work_items"], known["lanes"], known["far_bytes"],
                 known["near_bytes"], known["first_bytes"], iterations)


def stack_of(result: dict[str, Any], series: str) -> tuple[dict[str, float], str]:
    """Returns the shares by cause, and the reason if there are none."""
    parts = [each for each in result["findings"]
             if each["name"] == "stall" and each["series"] == series and each["method"] == "shapley"]
    shares = {each["label"]: each["value"] for each in parts
              if each.get("value") is not None and "reason" not in each}
    return shares, next((each["reason"] for each in parts if "label" not in each), "")


def first_of(shares: dict[str, float]) -> str:
    """Returns the largest cause, empty if there is none."""
    causes = {name: share for name, share in shares.items() if name != UNATTRIBUTED and share > 0}
    return max(causes, key=lambda each: causes[each], default="")


def share_text(shares: dict[str, float], name: str) -> str:
    """Formats a share as a report does."""
    return f"{name} {100 * shares[name]:.1f} %" if name else "none"


def verdict_of(known: dict[str, float], found: dict[str, float], doubt: str) -> str:
    """Returns the verdict: "yes", or why `profile` disagrees. To agree, it must find the first cause of
    `stalls` as its largest cause, and within ten points."""
    truth = first_of(known)
    if doubt:
        return doubt
    if not truth:
        return "nothing to agree with"
    own = [each for each in found if each.startswith(NAMES.get(truth, (truth,)))]
    # If `profile` cannot separate main memory and the last cache, all parts of memory are compared.
    memory_parts = [each for each in found if truth.startswith(each)] if not own else []
    share = sum(found[each] for each in own + memory_parts)
    others = {name: each for name, each in found.items() if name not in own + memory_parts}
    first = first_of(others)
    if share <= 0 or others.get(first, 0.0) > share:
        return "other cause" if others.get(first, 0.0) >= MIN_SHARE else "not found"
    expected = sum(known[each] for each in known
                   if each == truth or each.startswith(tuple(memory_parts)))
    difference = abs(expected - share)
    if difference > MAX_DIFFERENCE:
        return f"{100 * difference:.0f} points apart"
    return "yes" if len(own) < 2 else f"yes, in {len(own)} parts"


def row_of(case: str, document: dict[str, Any], clprobe: str, options: list[str]) -> str:
    """Returns a row of the table. `document` is the document of `stalls`."""
    built_in = document["results"][0]
    with tempfile.TemporaryDirectory() as folder:
        launch = pathlib.Path(folder) / "launch.json"
        profiled.write_launch(launch, launch_of(case, sizes_of(built_in, case),
                                                document["device"]["version"]))
        result = profiled.profile_of(clprobe, text_path(case), launch, options)
    known, _ = stack_of(built_in, case)
    found, doubt = stack_of(result, "stalls_mixed, folded")
    first = "" if doubt else first_of(found)
    others = [share_text(found, each) for each in sorted(found, key=lambda each: -found[each])
              if each not in (first, UNATTRIBUTED)]
    why = [f"{each['name']} {each['reason']}" for each in result["findings"]
           if each["name"] in REFUSABLE and each.get("reason", "").startswith("refused")]
    cells = [share_text(known, first_of(known)), share_text(found, first), verdict_of(known, found, doubt),
             "; ".join(others + why)]
    return f"| {case} | {' | '.join(cells)} |"


def main() -> None:
    """Prints the table."""
    parser = profiled.parser_of(__doc__, "case", CASES)
    parser.add_argument("--write", action="store_true")
    given, options = profiled.given_to(parser, "case", CASES)
    if given.write:
        write_files()
        return
    if given.clprobe is None:
        parser.error("name the clprobe to run")
    with tempfile.TemporaryDirectory() as folder:
        levels = profiled.levels_of(given.clprobe, options, pathlib.Path(folder))
        cases = ",".join(given.names)
        document = profiled.document_of([given.clprobe, "stalls", "--case", cases, "--json", *options])
        print("| case | stalls | profile | agree | and |\n|---|---|---|---|---|")
        for case in given.names:
            print(row_of(case, document, given.clprobe, [*levels, *options]), flush=True)


if __name__ == "__main__":
    main()
