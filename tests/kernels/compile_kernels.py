#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel, with every set of options that the program can pass, by the compilers of
vendors whose hardware is not here.

    compile_kernels.py --builds build/test/tests/kernels/builds --target amdgcn-15
    compile_kernels.py --instrumented build/test/tests/kernels/instrumented --target intel  # users' kernels

What is compiled comes from builds.cpp (or --manifest FILE), one program a line:

    latency.cl<TAB>-DSPACE=0 -DADDRESS=0 ...<TAB>preamble

The options are all but -DCLOCK, which each target adds for the clocks that it has; the preamble,
put between clock.clh and the file, may be empty and absent, and writes newline, tab and backslash
as \\n, \\t and \\\\. A new kernel, series or option is compiled as soon as the program names it.

Exit status: 0 all compiled, 1 one did not, 77 (CTest: skipped) the compiler is not here, which is a
failure when CLPROBE_REQUIRE_ALL is set.
"""

import argparse
import ctypes.util
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import amd_assembly
import intel_assembly
import ptx_assembly
from amd_libraries import AMD_DEVICES, amd_libraries
from users_kernels import users_kernels

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The values of -DCLOCK in cl/clock.clh.
NONE, KHR_DEVICE, KHR_SUB_GROUP, NVIDIA, AMD, INTEL, CPU = range(7)


# How many clocks of a kernel wait for the barrier that they stand behind, by file, -DPART and
# -DSTAMPS.
CLOCKS_BEHIND_BARRIERS = {
    ("inflight.cl", "", ""): {"inflight_block": 2, "inflight_chains": 2},
    ("stalls.cl", "0", "1"): {"stalls_mixed": 1},
    ("stalls.cl", "1", ""): {"stalls_copy": 4},
}


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One line of the manifest."""

    file: str
    options: tuple[str, ...]
    preamble: str
    is_users: bool = False  # the preamble is all of it

    def option(self, name: str, default: str) -> str:
        prefix = f"-D{name}="
        found = [word.removeprefix(prefix) for word in self.options if word.startswith(prefix)]
        return found[-1] if found else default


class Failure(Exception):
    """What a compiler said, or what is wrong with what it made."""


def parse_manifest(text: str, is_users: bool = False) -> list[Kernel]:
    kernels = []
    for line in text.splitlines():
        file, options, *rest = line.split("\t") + [""]
        preamble = rest[0].encode().decode("unicode_escape")
        kernels.append(Kernel(file, tuple(options.split()), preamble, is_users))
    if not kernels:
        raise SystemExit("the manifest is empty")
    return kernels


def with_headers(text: str) -> str:
    """As the program puts headers where a kernel file includes them."""
    return re.sub(r'^#include "([a-z_]+\.clh)"\n',
                  lambda match: (ROOT / "cl" / match[1]).read_text(), text, flags=re.MULTILINE)


def source_of(kernel: Kernel) -> str:
    """What the driver gets, with marks so that messages name our files and lines."""
    if kernel.is_users:
        return kernel.preamble
    parts = [("clock.clh", (ROOT / "cl/clock.clh").read_text()), ("preamble", kernel.preamble),
             (kernel.file, with_headers((ROOT / "cl" / kernel.file).read_text()))]
    return "".join(f'#line 1 "{name}"\n{text}\n' for name, text in parts if text)


def run(command: list[str], cwd: pathlib.Path) -> str:
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


# ---- Targets: each is a list of variants, and a variant a function (kernel, folder) -> None, where
# ---- the folder holds kernel.cl.


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    clock: int
    compile: Callable[[Kernel, pathlib.Path], None]
    # Stands for its vendor: where kernels are sampled, it still compiles every set of options.
    whole: bool = False
    # What the program never builds for such a device.
    refuses: Callable[[Kernel], bool] = lambda kernel: False


# A kernel takes the same arguments in every series, needed or not; a user's needs few functions of those
# that are put before it.
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]


def warnings(kernel: Kernel) -> list[str]:
    return [*WARNINGS, "-Wno-unused-function"] if kernel.is_users else WARNINGS


# The declarations of OpenCL C's functions, which clang does not read for foreign targets by itself.
DECLARATIONS = ["-Xclang", "-finclude-default-header"]


# Clang declares the functions only for a device that says it has them, which its SPIR does not, and
# it does not know the extension's pragma, which is harmless.
KHR_CLOCK = ["-Dcl_khr_kernel_clock", "-D__opencl_c_kernel_clock_scope_device",
             "-D__opencl_c_kernel_clock_scope_sub_group", "-Wno-ignored-pragmas"]


def lint(clang: str, standard: str, clock: int, *more: str) -> Variant:
    def compile_one(kernel: Kernel, folder: pathlib.Path) -> None:
        run([clang, "-x", "cl", f"-cl-std={standard}", "-target", "spir64", *DECLARATIONS,
             *warnings(kernel), *more, f"-DCLOCK={clock}", *kernel.options, "-emit-llvm", "-c", "-O1",
             "-o", os.devnull, "kernel.cl"], folder)

    whole = clang == "clang-14" and (standard, clock) in (("CL1.2", NONE), ("CL3.0", INTEL))
    return Variant(f"spir64 {standard} by {clang}", clock, compile_one, whole)


def lint_variants(clang: str) -> list[Variant]:
    variants = [lint(clang, standard, clock) for standard in ("CL1.2", "CL2.0", "CL3.0")
                for clock in (NONE, INTEL)]
    if clang == "clang-19":  # the first that knows cl_khr_kernel_clock
        variants += [lint(clang, "CL3.0", clock, *KHR_CLOCK)
                     for clock in (KHR_DEVICE, KHR_SUB_GROUP)]
    return variants


# What PoCL has, and clang gives no CPU by itself.
CPU_EXTENSIONS = ("+cl_khr_fp64,+cl_khr_global_int32_base_atomics,+cl_khr_local_int32_base_atomics,"
                  "+cl_khr_int64_base_atomics")


def native(clang: str, triple: str) -> Variant:
    """CPUs, whose CL3.0 has no images in clang. To LLVM's code only: kernels as such have no
    calling convention on every CPU."""
    def compile_one(kernel: Kernel, folder: pathlib.Path) -> None:
        # Functions of the library take vectors, whatever registers the CPU has for them.
        run([clang, "-x", "cl", "-cl-std=CL1.2", "-target", triple, *DECLARATIONS, *warnings(kernel),
             "-Wno-psabi", "-Xclang", f"-cl-ext={CPU_EXTENSIONS}", f"-DCLOCK={CPU}",
             *kernel.options, "-emit-llvm", "-c", "-O2", "-o", os.devnull, "kernel.cl"], folder)

    return Variant(f"{triple} by {clang}", CPU, compile_one, True,
                   lambda kernel: "-cl-std=CL3.0" in kernel.options)


def nvptx(clang: str, clock: int) -> Variant:
    """Clang's PTX is not what NVIDIA's compiler makes; it shows that the source and the clock's
    assembly are right. `asm` is a keyword there and not here."""

    def compile_one(kernel: Kernel, folder: pathlib.Path) -> None:
        run([clang, "-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-nvcl", "-Xclang",
             "-target-cpu", "-Xclang", "sm_70", "-Xclang", "-cl-ext=+cl_khr_int64_base_atomics",
             *DECLARATIONS, *warnings(kernel), "-fasm",
             "-D__NV_CL_C_VERSION=120", f"-DCLOCK={clock}", *kernel.options, "-S", "-O3", "-o",
             "kernel.ptx", "kernel.cl"], folder)
        if clock == NVIDIA and b"%clock64" not in (folder / "kernel.ptx").read_bytes():
            source = (folder / "kernel.cl").read_text()
            if "latency_chase" in source or "banks_access" in source:
                raise Failure("the PTX does not read %clock64")
        # Accesses that are made once are told by the clocks around them.
        if is_of_accesses(kernel) and (clock == NVIDIA or not is_made_once(kernel)):
            check_bank_ptx(kernel, (folder / "kernel.ptx").read_text())
        if clock == NVIDIA:
            check_barrier_ptx(kernel, (folder / "kernel.ptx").read_text())

    return Variant(f"nvptx64 sm_70 by {clang}", clock, compile_one, whole=clock == NVIDIA)


def amdgcn(clang: str, device: str, clock: int) -> Variant:
    def compile_one(kernel: Kernel, folder: pathlib.Path) -> None:
        # -nogpulib and the libraries by hand: clang refuses devices that the libraries do not name.
        run([clang, "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={device}",
             "-mcode-object-version=4", "-nogpulib", *DECLARATIONS, *amd_libraries(device),
             *warnings(kernel), f"-DCLOCK={clock}", *kernel.options, "-O3", "-S", "-o", "kernel.s",
             "kernel.cl"], folder)
        if clock == AMD and is_of_accesses(kernel):
            check_bank_code(kernel, (folder / "kernel.s").read_text())
        elif clock == AMD:
            check_amd_code(kernel, (folder / "kernel.s").read_text())

    return Variant(f"{device} by {clang}", clock, compile_one,
                   whole=(device, clock) == ("gfx1201", AMD))


def is_of_accesses(kernel: Kernel) -> bool:
    """Whether it is banks.cl without the transposition, whose loads no address forces."""
    return kernel.file == "banks.cl" and kernel.option("TRANSPOSE", "0") == "0"


def is_made_once(kernel: Kernel) -> bool:
    """Whether banks.cl makes its accesses once, in no loop."""
    return kernel.option("ONCE", "0") == "1"


def bank_accesses(kernel: Kernel) -> tuple[bool, int, int]:
    """Whether the timed code of banks.cl stores, how often, and bits at a time."""
    number = {name: int(kernel.option(name, "1")) for name in ("WORD", "STORE", "CHAINS", "STEPS")}
    return number["STORE"] == 1, number["CHAINS"] * number["STEPS"], 8 * number["WORD"]


def check_bank_ptx(kernel: Kernel, ptx: str) -> None:
    """Accesses are neither merged nor kept in registers."""
    stores, accesses, bits = bank_accesses(kernel)
    try:
        check = ptx_assembly.check_once if is_made_once(kernel) else ptx_assembly.check
        check(ptx, "banks_access", "st" if stores else "ld", accesses, bits)
    except ptx_assembly.Unexpected as problem:
        raise Failure(str(problem)) from problem


def check_barrier_ptx(kernel: Kernel, ptx: str) -> None:
    """No clock is read before the barrier that it stands behind."""
    built = (kernel.file, kernel.option("PART", ""), kernel.option("STAMPS", ""))
    expected = CLOCKS_BEHIND_BARRIERS.get(built, {})
    for name, count in expected.items():
        found = ptx_assembly.clocks_behind_barriers(ptx, name)
        if found < count:
            raise Failure(f"{name} has {found} clocks that wait for a barrier, and not {count}")


def check_bank_code(kernel: Kernel, assembly: str) -> None:
    stores, accesses, bits = bank_accesses(kernel)
    try:
        amd_assembly.check(assembly, "banks_access", "local-store" if stores else "local", accesses,
                           bits, is_made_once(kernel))
    except amd_assembly.Unexpected as problem:
        raise Failure(str(problem)) from problem


def check_amd_code(kernel: Kernel, assembly: str) -> None:
    """The timed loop of the chase loads as its series says."""
    kinds = {"0": "scalar" if kernel.option("SCALAR", "0") == "1" else "vector",
             "3": "local", "4": "image"}
    kind = kinds.get(kernel.option("SPACE", ""))
    try:
        if kernel.file in ("line.cl", "pages.cl"):
            amd_assembly.check(assembly, "ring_chase", "vector", 16)
        # A constant chase may go either way: it is the compiler's choice that is measured.
        elif kernel.file == "latency.cl" and kind is not None:
            amd_assembly.check(assembly, "latency_chase", kind, int(kernel.option("UNROLL", "16")))
    except amd_assembly.Unexpected as problem:
        raise Failure(str(problem)) from problem


# The probe plans no points with them there.
INTEL_WITHOUT_DOUBLE = ("tgllp", "dg2")
DOUBLE = "2"  # -DTYPE in cl/stride.cl
DOUBLE_OPERATION = "OP_DOUBLE_FMA"  # -DOPERATION in cl/compute.cl
IMAGE = "4"  # -DSPACE in cl/latency.cl; pvc has no images


# Lanes that clprobe's kernels require of Intel's compiler (src/measure/device/platforms.cpp).
INTEL_LANES = 16


def intel_messages(kernel: Kernel) -> tuple[str, int, int] | None:
    """A kernel with timed accesses, its messages to memory between the clock reads, and those of one
    work-item. None: other code."""
    if kernel.file == "latency.cl":
        return "latency_chase", int(kernel.option("UNROLL", "16")), 0
    if kernel.file in ("line.cl", "pages.cl"):
        return "ring_chase", 16, 0
    if is_of_accesses(kernel):
        stores, accesses, _ = bank_accesses(kernel)
        return "banks_access", accesses, 1 if stores else 0
    if kernel.file == "atomics.cl" and kernel.option("LOCAL", "0") == "1":
        return "atomics_chain", 32, 0
    loads = int(kernel.option("LOADS", "0"))
    if kernel.file == "inflight.cl" and loads > 0 and "-DOWN_TIMES" not in kernel.options:
        return "inflight_block", loads, 2  # a barrier holds NVIDIA's clocks back by a load and a store
    return None


def check_intel_code(kernel: Kernel, device: str, folder: pathlib.Path) -> None:
    """The timed code has the accesses that its series promises, each one message."""
    expected = intel_messages(kernel)
    if expected is None or (device == "pvc" and kernel.option("SPACE", "") == IMAGE):
        return
    # ocloc looks for a library by the name that only developers' packages have.
    library = ctypes.util.find_library("iga64")
    if library is None:
        raise Failure("no libiga64, which ocloc needs to disassemble")
    (folder / "libiga64.so").symlink_to(find_in_linker(library))
    run(["env", f"LD_LIBRARY_PATH={folder}", "ocloc", "disasm", "-file", "out/kernel", "-device", device,
         "-dump", "code"], folder)
    name, messages, of_one_item = expected
    try:
        intel_assembly.check((folder / "code" / f"{name}_KernelHeap.asm").read_text(), INTEL_LANES,
                             messages, of_one_item)
    except intel_assembly.Unexpected as problem:
        raise Failure(f"{name}: {problem}") from problem


def find_in_linker(library: str) -> str:
    """The path of a library that the linker knows."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next(line.split("=> ")[1] for line in listed.splitlines() if line.split()[:1] == [library])


def intel(device: str, clock: int) -> Variant:
    def compile_one(kernel: Kernel, folder: pathlib.Path) -> None:
        # ocloc ends with 0 after some errors, so the binary itself is looked for.
        standard = [] if "-cl-std=" in " ".join(kernel.options) else ["-cl-std=CL1.2"]
        options = " ".join([*standard, f"-DCLOCK={clock}", f"-DSUB_GROUP={INTEL_LANES}",
                            *kernel.options])
        said = run(["ocloc", "compile", "-file", "kernel.cl", "-device", device, "-options",
                    options, "-out_dir", "out", "-output", "kernel", "-output_no_suffix"], folder)
        made = [path for path in (folder / "out").glob("*") if path.stat().st_size > 0]
        if "Build succeeded" not in said or not made:
            raise Failure(f"ocloc {device} {options}\n{said}")
        if clock == INTEL and not kernel.is_users:
            check_intel_code(kernel, device, folder)

    def refuses(kernel: Kernel) -> bool:
        # Debian's ocloc compiles nothing for CL1.1 there, nor for CL3.0 where there are no images.
        if {"skl": "-cl-std=CL1.1", "pvc": "-cl-std=CL3.0"}.get(device) in kernel.options:
            return True
        is_double = (kernel.option("TYPE", "") == DOUBLE or
                     kernel.option("OPERATION", "") == DOUBLE_OPERATION)
        return device in INTEL_WITHOUT_DOUBLE and is_double

    return Variant(f"{device} by ocloc", clock, compile_one,
                   whole=(device, clock) == ("dg2", INTEL), refuses=refuses)


def for_devices(make: Callable[[str, int], Variant], devices: list[str], clock: int) -> list[Variant]:
    """With the clock for each device, and for the first without: what is left then is the same."""
    return [make(devices[0], NONE), *(make(device, clock) for device in devices)]


# Clang 15 has no builtin yet for the message that reads gfx11's clock.
BEFORE_GFX11 = ["gfx906", "gfx90a", "gfx1030"]

TARGETS = {
    "lint-14": ("clang-14", lint_variants("clang-14")),
    "lint-19": ("clang-19", lint_variants("clang-19")),
    "native": ("clang-15", [native("clang-15", "x86_64-linux-gnu"),
                            native("clang-15", "aarch64-linux-gnu")]),
    "nvptx": ("clang-14", [nvptx("clang-14", NONE), nvptx("clang-14", NVIDIA)]),
    # Debian's device libraries are bitcode of LLVM 15, which clang 14 cannot read.
    "amdgcn-15": ("clang-15", [amdgcn("clang-15", "gfx1100", NONE),
                               *for_devices(functools.partial(amdgcn, "clang-15"), BEFORE_GFX11,
                                            AMD)]),
    "amdgcn-19": ("clang-19", for_devices(functools.partial(amdgcn, "clang-19"),
                                          list(AMD_DEVICES), AMD)),
    "intel": ("ocloc", for_devices(intel, ["skl", "tgllp", "dg2", "pvc"], INTEL)),
}


def taken(kernels: list[Kernel], number: int, variant: Variant,
          whole_files: set[str] | None) -> Iterator[Kernel]:
    """What a variant compiles. The variant's number picks the set of options, so that a sample of
    many variants is one of many sets."""
    of_file: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        if not variant.refuses(kernel):
            of_file.setdefault(kernel.file, []).append(kernel)
    for file, sets in of_file.items():
        if whole_files is None or variant.whole or file in whole_files:
            yield from sets
        else:
            yield sets[number % len(sets)]


def without_clocks(variants: list[Variant]) -> list[Variant]:
    """Each compiler and device once: users' kernels read none of our clocks."""
    chosen = {variant.name: variant for variant in variants if variant.whole}
    return list(({variant.name: variant for variant in variants} | chosen).values())


def whole_files_asked_for() -> set[str] | None:
    """Those that are not sampled; None: all."""
    names = os.environ.get("CLPROBE_WHOLE_KERNELS")
    return None if names is None else set(names.split())


def compile_in_new_folder(kernel: Kernel, variant: Variant) -> str:
    """Empty when it compiles, else what went wrong."""
    with tempfile.TemporaryDirectory(prefix="clprobe-kernel-") as name:
        folder = pathlib.Path(name)
        (folder / "kernel.cl").write_text(source_of(kernel))
        try:
            variant.compile(kernel, folder)
        except Failure as failure:
            return (f"{variant.name}, clock {variant.clock}: {kernel.file} "
                    f"{' '.join(kernel.options)}\n{failure}")
    return ""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--builds", help="the program that lists the builds (builds.cpp)")
    source.add_argument("--manifest", type=pathlib.Path)
    source.add_argument("--instrumented", help="what makes the programs of users' kernels")
    parser.add_argument("--target", choices=TARGETS, required=True)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def main() -> int:
    options = arguments()
    compiler, variants = TARGETS[options.target]
    if shutil.which(compiler) is None:
        print(f"{compiler} is not installed", file=sys.stderr)
        return 1 if os.environ.get("CLPROBE_REQUIRE_ALL") else 77
    if options.manifest:
        text = options.manifest.read_text()
    elif options.instrumented:
        text = run([options.instrumented, *users_kernels()], ROOT)
        variants = without_clocks(variants)
    else:
        text = run([options.builds], pathlib.Path.cwd())
    kernels = parse_manifest(text, bool(options.instrumented))
    everything = [variant for _, others in TARGETS.values() for variant in others]
    work = [(kernel, variant) for variant in variants
            for kernel in taken(kernels, everything.index(variant), variant, whole_files_asked_for())]
    with ThreadPoolExecutor(options.jobs) as pool:
        said = pool.map(lambda pair: compile_in_new_folder(*pair), work)
        failures = [each for each in said if each]
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    print(f"{options.target}: {len(work) - len(failures)} of {len(work)} compiled")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
