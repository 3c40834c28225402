# SPDX-License-Identifier: Apache-2.0
"""Running, building and robust numbers for all comparisons with native twins."""

import json
import pathlib
import shutil
import statistics
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "accuracy"
KIB, MIB = 1 << 10, 1 << 20
CUDA = ["-std=c++17", "-O3", "-arch=native"]


class CannotRun(Exception):
    """Failure of a program that is needed."""


def run(command: list[Any], **options: Any) -> str:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options)
    except FileNotFoundError as problem:
        raise CannotRun(f"{words[0]}: not found") from problem
    except subprocess.CalledProcessError as problem:
        raise CannotRun(f"{' '.join(words)}: status {problem.returncode}") from problem
    return done.stdout


def least(values: list[float]) -> float:
    """Returns the minimum of up to 8 values, or the lower quartile of more (as clprobe does), since noise
    only adds."""
    if not values:
        raise CannotRun("no usable samples")
    if len(values) <= 8:
        return min(values)
    return statistics.quantiles(values, n=4, method="inclusive")[0]


def run_json(command: list[Any]) -> Any:
    return json.loads(run(command))


def run_document(command: list[Any]) -> dict[str, Any]:
    """Returns the document of a single run."""
    document = run_json([*command, "--json"])
    return document[0] if isinstance(document, list) else document


def is_newer(program: pathlib.Path, folder: pathlib.Path) -> bool:
    """Tests whether the program is newer than all files of the folder."""
    return program.exists() and all(program.stat().st_mtime >= path.stat().st_mtime
                                    for path in folder.iterdir())


def build_twin(command: list[Any], source: str, name: str,
               libraries: tuple[str, ...] = ()) -> pathlib.Path:
    """Builds a twin unless it is newer than all sources. Returns its path."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / name
    if not is_newer(program, ROOT / "bench" / "native"):
        run([*command, "-o", program, ROOT / "bench" / "native" / source, *libraries])
    return program


def number_of(device: dict[str, Any]) -> int:
    """Returns the device's number on its platform, by which CUDA and nvidia-smi count GPUs, too."""
    return int(device["platform_index"].split(":")[1])


def build_cuda_twin(nvcc: str, device: dict[str, Any] | None, name: str, *words: str,
                    libraries: tuple[str, ...] = ()) -> list[Any]:
    """Builds a CUDA twin. Returns the command that starts it on the device, or on all devices if it is None.
    The device matters: two H100s of a host ran at 1995 and 1978 MHz."""
    program = build_twin([nvcc, *CUDA, *words], f"{name}.cu", f"{name}_cuda", libraries)
    if device is None:
        return [program]
    return ["env", "CUDA_DEVICE_ORDER=PCI_BUS_ID", f"CUDA_VISIBLE_DEVICES={number_of(device)}", program]


def find_nvcc() -> str | None:
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def pages_of(facts: dict[str, Any]) -> str:
    """Returns the kind of pages that a CPU twin must use to match a point with these facts. Memory allocated
    by a driver has no such fact."""
    return "huge" if facts.get("huge_page_percent", 0) >= 50 else "small"


def size_word(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def ticks_of(point: dict[str, Any], overhead: float) -> list[float]:
    """Returns the ticks of an access in each sample, without the ticks of an empty clock pair
    (`overhead`)."""
    return [(sample["ticks"] - overhead) / sample["accesses"]
            for sample in point.get("samples", []) if "ticks" in sample]
