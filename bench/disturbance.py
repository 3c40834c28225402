#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records disturbances of this machine: prints the same four measurements repeatedly.

Usage: disturbance.py [--minutes M] [--every SECONDS] [--load] > TRACE

Builds bench/native/disturbance.cpp with a C++ compiler (c++ or $CXX) and does not need clprobe. The default
is 15 minutes. --load starts and stops two busy loops (bench/load.py) in the second half of the time. The
files tests/curves/*-noise.txt are such traces. tests/unit/analysis/disturbance_test.cpp uses them to test
whether intervals contain the true value.
"""
import argparse
import contextlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import load

SOURCE = pathlib.Path(__file__).resolve().parent / "native" / "disturbance.cpp"
MIB = 2**20


def build(program: str) -> bool:
    """Builds the program. Returns whether a compiler exists and succeeds."""
    words = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-pthread", str(SOURCE), "-o", program]
    return shutil.which(words[0]) is not None and subprocess.run(words, check=False).returncode == 0


def memory_bytes() -> int:
    """Returns a working set, at most 1 GiB, larger than every cache that the system reports."""
    try:
        last_cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        last_cache = 0
    return min(max(128 * MIB, 4 * last_cache // MIB * MIB), 1024 * MIB)


def cpu_name() -> str:
    """Returns the name of the CPU."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def head_of(cores: int, memory: int) -> str:
    """Returns a header line with the machine and the columns."""
    return (f"# {cpu_name()}, {cores} cores; seconds since the start, "
            "load (1: busy loops that come and go), "
            f"ns per hop (least, median) at 16 KiB, 512 KiB, {memory // MIB} MiB, "
            "read 512 MiB GB/s (best, median)")


def with_load(line: str, is_on: bool) -> str:
    """Inserts the state of the load into a line of the program's output."""
    seconds, numbers = line.split(maxsplit=1)
    return f"{seconds} {int(is_on)} {numbers.rstrip()}"


def record(program: str, seconds: float, every: float, has_load: bool) -> None:
    """Prints the lines of the program as they arrive."""
    cores = len(os.sched_getaffinity(0))
    memory = memory_bytes()
    print(head_of(cores, memory), flush=True)
    words = [program, str(seconds), str(every), str(memory), str(cores)]
    with contextlib.ExitStack() as stack:
        child = stack.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        background = None
        assert child.stdout is not None
        for line in child.stdout:
            print(with_load(line, background is not None and background.is_on), flush=True)
            if has_load and background is None and float(line.split()[0]) >= seconds / 2:
                background = stack.enter_context(load.Load())
        status = child.wait()
    if status != 0:
        raise SystemExit(f"{SOURCE.stem}: exit status {status}")


def main() -> None:
    """Builds the program and prints its trace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0, metavar="M")
    parser.add_argument("--every", type=float, default=2.5, metavar="SECONDS")
    parser.add_argument("--load", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / SOURCE.stem)
        if not build(program):
            sys.exit("disturbance: needs a C++ compiler: c++, or the one that CXX names")
        record(program, 60.0 * given.minutes, given.every, given.load)


if __name__ == "__main__":
    main()
