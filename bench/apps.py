#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests whether `clprobe profile` captures and replays the kernels of third-party programs.

    bench/apps.py build/release/clprobe [APP...] [-- OPTION...]

The programs come from Debian 12. For a program that is not installed, the table names its package.
Columns of the table, in numbers of kernels:
- wanted: kernels that make 80 % of the program's time, three at most
- captured: kernels that were captured
- deterministic: captured kernels whose replays agree
- equal to it: deterministic kernels whose replay leaves every byte that the program's launch left
- equal renamed: deterministic kernels that an identity remapping of the work-items leaves unchanged

`output` compares two runs under clprobe with two plain runs: all lines that the plain runs have in common,
and all pictures. `why not` gives the reasons for kernels that are not counted. `--every-kernel` surveys the
program first and then profiles each of its kernels by name, one at a time. Options after `--` go to clprobe:
--device, --quick, --time-budget.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterable
from typing import Any

import profiled

PYOPENCL = """
import numpy, pyopencl, pyopencl.array
context = pyopencl.create_some_context(interactive=False)
queue = pyopencl.CommandQueue(context)
x, y = (pyopencl.array.to_device(queue, numpy.random.rand(1 << 20).astype(numpy.float32)) for _ in range(2))
for _ in range(20):
    z = 2 * x + 3 * y
queue.finish()
"""

IMAGE = "IMAGE"  # placeholder in a command for a generated picture
# Package and command of each program.
APPS: dict[str, tuple[str, list[str]]] = {
    "clpeak": ("clpeak", ["clpeak", "--global-bandwidth", "--compute-sp"]),
    "clpeak-latency": ("clpeak", ["clpeak", "--kernel-latency"]),
    "clblast-xaxpy": ("clblast-utils", ["clblast_tuner_xaxpy", "-n", "1048576"]),
    "clblast-xdot": ("clblast-utils", ["clblast_tuner_xdot", "-n", "1048576"]),
    "clblast-xgemv": ("clblast-utils", ["clblast_tuner_xgemv", "-m", "512", "-n", "512"]),
    "clblast-copy": ("clblast-utils", ["clblast_tuner_copy_fast", "-m", "512", "-n", "512"]),
    "clblast-transpose": ("clblast-utils", ["clblast_tuner_transpose_fast", "-m", "512", "-n", "512"]),
    # These tests compare their results with a BLAS of the host. Debian has no clients of CLBlast.
    "clblast-test-xaxpy": ("clblast-tests", ["clblast_test_xaxpy"]),
    "clblast-test-xgemm": ("clblast-tests", ["clblast_test_xgemm"]),
    "clfft": ("clfft-client", ["clFFT-client", "-x", "1024", "-y", "256"]),
    "pyopencl": ("python3-pyopencl", ["/usr/bin/python3", "-c", PYOPENCL]),
    "hashcat": ("hashcat", ["hashcat", "-b", "-m", "0", "--force", "--runtime", "5",
                            "--backend-ignore-cuda"]),
    "darktable": ("darktable", ["darktable-cli", IMAGE, "out.png", "--core", "--library", ":memory:",
                                "--configdir", "config", "--conf", "opencl=TRUE"]),
}
NO_FOLDING = 31
# Times and rates, with the blanks that pad them in columns.
MEASURED = re.compile(r" *\d+\.\d+ (ms|us|s|GB/s|GFLOPS)\b")


@dataclasses.dataclass
class Count:
    """Numbers of kernels of a program, the comparison of its output, and reasons for kernels not counted."""

    wanted: int = 0
    captured: int = 0
    deterministic: int = 0
    equal: int = 0
    same: int = 0
    output: str = ""
    why: list[str] = dataclasses.field(default_factory=list)


def write_image(path: pathlib.Path, width: int = 256) -> None:
    """Writes a PNG whose pixels differ."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((x * y * channel) & 255 for x in range(width) for channel in (1, 3, 5))
                    for y in range(width))
    header = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                     chunk(b"IEND", b""))


def let_darktable_use_cpus(words: list[str], folder: pathlib.Path, environment: dict[str, str]) -> None:
    """Enables CPUs in darktable's settings. Its first start disables them; its second measures enabled
    devices. Both starts write to the settings."""
    settings = folder / "config" / "darktablerc"
    for _ in range(2):
        subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        (folder / "out.png").unlink(missing_ok=True)
        text = settings.read_text(encoding="utf-8")
        settings.write_text(re.sub(r"^(cldevice_v4_\w+=(?:\S+ ){7})1 ", r"\g<1>0 ", text, flags=re.M),
                            encoding="utf-8")


def with_headers_for_pocl(folder: pathlib.Path) -> dict[str, str]:
    """Returns an environment in which PoCL finds darktable's headers. PoCL 3.1 does not accept the quotes of
    darktable's -I"FOLDER", but it compiles in its cache folder."""
    shutil.copytree("/usr/share/darktable/kernels", folder / "pocl")
    return {**os.environ, "POCL_CACHE_DIR": str(folder / "pocl")}


def is_identity(point: dict[str, Any]) -> bool:
    """Tests whether a point runs the instrumented kernel without remapping work-groups or removing causes."""
    known = point["parameters"]
    exponents = [known.get(f"exponent_{dimension}") for dimension in range(3)]
    return (known.get("variant") == "instrumented" and exponents == [NO_FOLDING] * 3 and
            not any(name.startswith("without_") for name in known))


def add_kernels(result: dict[str, Any], count: Count) -> None:
    """Counts the kernels of a document."""
    points: list[dict[str, Any]] = result["points"]
    plain = [each for each in points
             if each["parameters"]["variant"] == "plain"]
    for each in plain:
        name, facts = each["series"], each["facts"]
        count.captured += 1
        if not facts.get("deterministic"):
            count.why.append(f"{name}: " + (each.get("failure") or "not deterministic"))
            continue
        count.deterministic += 1
        count.equal += facts.get("equal_to_app", 0)
        if not facts.get("equal_to_app"):
            count.why.append(f"{name}: other bytes in {facts.get('wrong_buffers', 'a buffer')}")
        identity = next((point for point in points
                         if point["series"] == f"{name}, folded" and is_identity(point)), None)
        if identity is not None and identity.get("samples"):
            count.same += 1
            continue
        absence = facts.get("memory_absence", "not renamed")
        reason = absence if identity is None else identity.get("failure")
        count.why.append(f"{name}: {reason or 'not measured'}")


def lines_in(output: bytes) -> collections.Counter[str]:
    """Counts the lines of an output, without empty ones. Measured numbers are replaced by N."""
    text = MEASURED.sub(r"N \1", output.decode(errors="replace"))
    return collections.Counter(line for line in text.splitlines() if line.strip())


def pixels_in(png: bytes) -> bytes:
    """Returns the pixels of a PNG without its metadata, such as the time and the program."""
    offset, packed = 8, b""
    while offset + 8 <= len(png):
        length = int.from_bytes(png[offset:offset + 4], "big")
        packed += png[offset + 8:offset + 8 + length] if png[offset + 4:offset + 8] == b"IDAT" else b""
        offset += length + 12
    return zlib.decompress(packed)


def output_text(plain: list[collections.Counter[str]], profiled_lines: collections.Counter[str], runs: int,
                pictures: Iterable[bytes]) -> str:
    """Describes how the output under clprobe differs from the plain output: lines common to both plain runs
    that some run under clprobe lacks, and pictures."""
    common = plain[0] & plain[1]
    missing = [line for line, count in common.items() if profiled_lines[line] < runs * count]
    others = len({pixels_in(each) for each in pictures}) > 1
    if missing:
        return f"{len(missing)} of {len(common)} lines are missing, as {missing[0]!r}"
    return "another picture" if others else f"same in {len(common)} lines"


def names_in(survey: dict[str, Any]) -> list[str]:
    """Returns the names of the kernels without repeats, longest time first."""
    return list(dict.fromkeys(each["kernel"] for each in survey["kernels"]))


def kernel_options(clprobe: str, words: list[str], options: list[str],
                   where: dict[str, Any]) -> list[list[str]]:
    """Returns the options that select each kernel of a program."""
    device = [each for each in options if each.startswith("--device")]
    listed = subprocess.run([clprobe, "profile", "--list", "--json", *device, "--", *words], **where,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [["--kernel", name] for name in names_in(json.loads(listed.stdout))]


def add_profile(command: list[str], document: pathlib.Path, where: dict[str, Any],
                count: Count) -> collections.Counter[str]:
    """Captures and replays kernels of a program and counts them. Returns the lines that the program
    printed."""
    document.unlink(missing_ok=True)
    done = subprocess.run(command, **where, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in done.stderr.decode(errors="replace").splitlines():
        if not line.startswith("clprobe: "):
            continue
        refused = re.match(r"clprobe: '(.*)' is not captured: (.*)", line)
        count.wanted += refused is not None
        count.why.append(": ".join(refused.groups()) if refused else line.removeprefix("clprobe: "))
    if document.exists():
        add_kernels(json.loads(document.read_text(encoding="utf-8"))["results"][0], count)
    return lines_in(done.stderr)


def count_kernels(clprobe: str, command: list[str], options: list[str], is_every: bool) -> Count:
    """Counts the kernels of a program: those with most of its time, or every kernel."""
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder) / "in.png"
        write_image(image)
        document = pathlib.Path(folder) / "found.json"
        words = [str(image) if word == IMAGE else word for word in command]
        environment = dict(os.environ)
        if command[0] == "darktable-cli":
            environment = with_headers_for_pocl(pathlib.Path(folder))
            let_darktable_use_cpus(words, pathlib.Path(folder), environment)
        where: dict[str, Any] = {"cwd": folder, "env": environment, "stdin": subprocess.DEVNULL,
                                 "check": False}
        plain = [lines_in(subprocess.run(words, **where, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL).stdout) for _ in range(2)]
        selections = kernel_options(clprobe, words, options, where) if is_every else [[]]
        printed: collections.Counter[str] = collections.Counter()
        for named in selections:
            printed += add_profile([clprobe, "profile", *options, *named, "-o", str(document), "--", *words],
                                   document, where, count)
        pictures = [path.read_bytes() for path in pathlib.Path(folder).glob("out*.png")]
        # A profile runs the program twice: once for the survey and once for the capture.
        count.output = output_text(plain, printed, 2 * len(selections), pictures)
    count.wanted += count.captured
    return count


def row_of(cells: list[str]) -> str:
    """Formats a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Prints the table."""
    parser = profiled.parser_of(__doc__, "app", APPS)
    parser.add_argument("--every-kernel", action="store_true")
    given, options = profiled.given_to(parser, "app", APPS)
    if given.clprobe is None:
        parser.error("name the clprobe to run")
    clprobe = str(pathlib.Path(given.clprobe).resolve())
    head = ["program", "wanted", "captured", "deterministic", "equal to it", "equal renamed", "output",
            "why not"]
    print(f"{row_of(head)}\n|{'---|' * len(head)}")
    sums = Count()
    for name in given.names:
        package, command = APPS[name]
        if shutil.which(command[0]) is None:
            print(row_of([name, "", "", "", "", "", "", f"not installed: package {package}"]), flush=True)
            continue
        found = count_kernels(clprobe, command, options, given.every_kernel)
        numbers = [found.wanted, found.captured, found.deterministic, found.equal, found.same]
        print(row_of([name, *map(str, numbers), found.output, "; ".join(found.why)]), flush=True)
        for field in ("wanted", "captured", "deterministic", "equal", "same"):
            setattr(sums, field, getattr(sums, field) + getattr(found, field))
    numbers = [sums.wanted, sums.captured, sums.deterministic, sums.equal, sums.same]
    print(row_of(["all", *map(str, numbers), "", ""]))


if __name__ == "__main__":
    main()
