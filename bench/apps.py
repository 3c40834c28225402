#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `clprobe profile` captures and replays the kernels of other people's programs.

    bench/apps.py build/release/clprobe [APP...] [-- OPTION...]

The programs are Debian 12's; those that are not installed are left out, with the package that has them.
Of each it prints how many kernels were to be captured (those that make 80 % of its time, three at most),
how many were, how many of these are deterministic, how many of the deterministic ones left in a replay
every byte that the program's launch left, and how many leave the same bytes behind the text that renames
work-items, which renames none. `output` is what the program wrote in its two runs under clprobe, beside
two runs without: all lines that these two have in common, and all pictures. Behind it stands why the
others are not among them. `--every-kernel` surveys the program first, and profiles each of its kernels by
its name, one at a time. Options go to clprobe: --device, --quick, --time-budget.
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

IMAGE = "IMAGE"  # in a command: a picture that is made for it
# The package, and the command without what it writes.
APPS: dict[str, tuple[str, list[str]]] = {
    "clpeak": ("clpeak", ["clpeak", "--global-bandwidth", "--compute-sp"]),
    "clpeak-latency": ("clpeak", ["clpeak", "--kernel-latency"]),
    "clblast-xaxpy": ("clblast-utils", ["clblast_tuner_xaxpy", "-n", "1048576"]),
    "clblast-xdot": ("clblast-utils", ["clblast_tuner_xdot", "-n", "1048576"]),
    "clblast-xgemv": ("clblast-utils", ["clblast_tuner_xgemv", "-m", "512", "-n", "512"]),
    "clblast-copy": ("clblast-utils", ["clblast_tuner_copy_fast", "-m", "512", "-n", "512"]),
    "clblast-transpose": ("clblast-utils", ["clblast_tuner_transpose_fast", "-m", "512", "-n", "512"]),
    # What they calculate they compare themselves with a BLAS of the host. Debian has no clients of CLBlast.
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
# Times and rates, also in columns, with what they are padded by.
MEASURED = re.compile(r" *\d+\.\d+ (ms|us|s|GB/s|GFLOPS)\b")


@dataclasses.dataclass
class Count:
    """Of the kernels of a program."""

    wanted: int = 0
    captured: int = 0
    deterministic: int = 0
    equal: int = 0
    same: int = 0
    output: str = ""
    why: list[str] = dataclasses.field(default_factory=list)


def write_image(path: pathlib.Path, width: int = 256) -> None:
    """A PNG in which every pixel is another."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((x * y * channel) & 255 for x in range(width) for channel in (1, 3, 5))
                    for y in range(width))
    header = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                     chunk(b"IEND", b""))


def let_darktable_use_cpus(words: list[str], folder: pathlib.Path, environment: dict[str, str]) -> None:
    """Its first start disables them, the next one measures what is enabled; it writes both down."""
    settings = folder / "config" / "darktablerc"
    for _ in range(2):
        subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        (folder / "out.png").unlink(missing_ok=True)
        text = settings.read_text(encoding="utf-8")
        settings.write_text(re.sub(r"^(cldevice_v4_\w+=(?:\S+ ){7})1 ", r"\g<1>0 ", text, flags=re.M),
                            encoding="utf-8")


def with_headers_for_pocl(folder: pathlib.Path) -> dict[str, str]:
    """PoCL 3.1 does not take darktable's -I"FOLDER" for its quotes; it compiles where it keeps builds."""
    shutil.copytree("/usr/share/darktable/kernels", folder / "pocl")
    return {**os.environ, "POCL_CACHE_DIR": str(folder / "pocl")}


def is_identity(point: dict[str, Any]) -> bool:
    """Whether it renames no group and leaves nothing out."""
    known = point["parameters"]
    exponents = [known.get(f"exponent_{dimension}") for dimension in range(3)]
    return (known.get("variant") == "instrumented" and exponents == [NO_FOLDING] * 3 and
            not any(name.startswith("without_") for name in known))


def add_kernels(result: dict[str, Any], count: Count) -> None:
    """What a document says of them."""
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
    """How often each is there, but for empty ones; what was measured is the same whatever it is."""
    text = MEASURED.sub(r"N \1", output.decode(errors="replace"))
    return collections.Counter(line for line in text.splitlines() if line.strip())


def pixels_in(png: bytes) -> bytes:
    """Without what stands beside them: when it was written, and by what."""
    at, packed = 8, b""
    while at + 8 <= len(png):
        length = int.from_bytes(png[at:at + 4], "big")
        packed += png[at + 8:at + 8 + length] if png[at + 4:at + 8] == b"IDAT" else b""
        at += length + 12
    return zlib.decompress(packed)


def output_text(plain: list[collections.Counter[str]], profiled_lines: collections.Counter[str], runs: int,
                pictures: Iterable[bytes]) -> str:
    """Of lines that both plain runs have, those that not all runs under clprobe have as often."""
    steady = plain[0] & plain[1]
    missing = [line for line, count in steady.items() if profiled_lines[line] < runs * count]
    others = len({pixels_in(each) for each in pictures}) > 1
    if missing:
        return f"{len(missing)} of {len(steady)} lines are missing, as {missing[0]!r}"
    return "another picture" if others else f"same in {len(steady)} lines"


def names_in(survey: dict[str, Any]) -> list[str]:
    """Of the kernels, each once, the longest first."""
    return list(dict.fromkeys(each["kernel"] for each in survey["kernels"]))


def kernel_options(clprobe: str, words: list[str], options: list[str],
                   where: dict[str, Any]) -> list[list[str]]:
    """What names each kernel of a program."""
    device = [each for each in options if each.startswith("--device")]
    listed = subprocess.run([clprobe, "profile", "--list", "--json", *device, "--", *words], **where,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [["--kernel", name] for name in names_in(json.loads(listed.stdout))]


def add_profile(command: list[str], document: pathlib.Path, where: dict[str, Any],
                count: Count) -> collections.Counter[str]:
    """Captures and replays; what the program itself says is what is returned."""
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
    """Of the kernels that count, or of each."""
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
        each_time = kernel_options(clprobe, words, options, where) if is_every else [[]]
        said: collections.Counter[str] = collections.Counter()
        for named in each_time:
            said += add_profile([clprobe, "profile", *options, *named, "-o", str(document), "--", *words],
                                document, where, count)
        pictures = [path.read_bytes() for path in pathlib.Path(folder).glob("out*.png")]
        # It is surveyed, and then captured.
        count.output = output_text(plain, said, 2 * len(each_time), pictures)
    count.wanted += count.captured
    return count


def row_of(cells: list[str]) -> str:
    """Of a Markdown table."""
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
