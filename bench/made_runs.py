# SPDX-License-Identifier: Apache-2.0
"""Runs of clprobe started by scripts: their documents, durations and machines."""

import contextlib
import json
import pathlib
import subprocess
import time
from typing import Any

import load


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Splits words at `--` into the script's own and those for clprobe."""
    index = words.index("--") if "--" in words else len(words)
    return words[:index], words[index + 1:]


def machine_of(document: dict[str, Any]) -> list[str]:
    """Returns a line each for the host, device and program of a run document."""
    host, device, tool = document["host"], document["device"], document["tool"]
    return [f"host     {host['cpu']}, {host['logical_cpus']} CPUs, {host['os']}, {host['kernel']}",
            f"device   {device['name']}, {device['platform']}, driver {device['driver']}",
            f"clprobe  {tool['version']}, {tool['commit']}"]


def machines_of(documents: list[dict[str, Any]]) -> list[str]:
    """Returns the machine lines of all documents without repeats."""
    return list(dict.fromkeys(line for each in documents for line in machine_of(each)))


def read(path: pathlib.Path | str) -> list[dict[str, Any]]:
    """Returns the run documents of a file, which holds one or a list."""
    found = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return found if isinstance(found, list) else [found]


def run_once(clprobe: str, path: pathlib.Path, options: list[str]) -> float:
    """Writes a run document and returns the seconds. A failed run ends the script."""
    begin = time.monotonic()
    words = [clprobe, *options, "-q", "-o", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.returncode}: {done.stderr}")
    return time.monotonic() - begin


def make_runs(clprobe: str, folder: pathlib.Path, count: int, options: list[str],
              has_load: bool) -> list[float]:
    """Makes runs 01.json and so on, optionally under intermittent load. Returns the seconds of each."""
    folder.mkdir(parents=True, exist_ok=True)
    seconds = []
    with contextlib.ExitStack() as stack:
        if has_load:
            stack.enter_context(load.Load())
        for number in range(count):
            seconds.append(run_once(clprobe, folder / f"{number + 1:02}.json", options))
    return seconds
