#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PTX of OpenCL kernels, converted for CUDA's driver.

    bench/ptx.py FILE.ptx LAUNCH.json [KERNEL.cl]

LAUNCH.json is a launch written by hand for the text KERNEL.cl, or the launch.json of a bundle.

Nsight Compute profiles CUDA launches only. The machine code is the same, since the PTX in CL_PROGRAM_BINARIES
goes through the same assembler. These features of OpenCL are converted:
- `%envreg` registers, which hold a launch's offsets and group counts
- the target option `texmode_independent`
- local arguments, which become parts of CUDA's dynamic shared memory
- loads from constant arguments. OpenCL's driver also compiles them to `ld.global.nc`.
"""

import ctypes
import json
import pathlib
import re
import sys
from collections.abc import Sequence
from typing import Any

CL_DEVICE_TYPE_GPU = 4
CL_DEVICE_VENDOR_ID = 0x1001
CL_PROGRAM_BINARY_SIZES = 0x1165
CL_PROGRAM_BINARIES = 0x1166
CL_PROGRAM_BUILD_LOG = 0x1183
NVIDIA = 0x10DE

# Registers of group offsets, which are 0, of the launch's offsets, and of the numbers of groups.
GROUP_OFFSETS = range(3)
OFFSETS = range(3, 6)
GROUPS = {6: "x", 7: "y", 8: "z"}

# Local arguments lie one after the other in dynamic shared memory.
LOCAL = "clprobe_local"
LOCAL_ALIGNMENT = 256
LOCAL_NOTE = "// bytes of local arguments:"

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(.*?)[ \t]*(?://.*|/\*.*)?$", re.M)
PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", re.M)
FOLDER_OPTION = re.compile(r"""(?:^|\s)-I\s*(?:"[^"]*"|\S+)""")


class PtxError(Exception):
    """Error: no suitable device, or a kernel that the driver does not accept."""


def checked(status: int, call: str) -> None:
    """Raises PtxError if the status is an error."""
    if status != 0:
        raise PtxError(f"{call}: error {status}")


def nvidia_device(cl: ctypes.CDLL) -> ctypes.c_void_p:
    """Returns the first NVIDIA GPU."""
    platforms = (ctypes.c_void_p * 16)()
    count = ctypes.c_uint(0)
    checked(cl.clGetPlatformIDs(16, platforms, ctypes.byref(count)), "clGetPlatformIDs")
    for platform in platforms[:count.value]:
        device = ctypes.c_void_p()
        status = cl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_ulong(CL_DEVICE_TYPE_GPU), 1,
                                   ctypes.byref(device), None)
        vendor = ctypes.c_uint(0)
        if status == 0:
            cl.clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, ctypes.c_size_t(4), ctypes.byref(vendor), None)
        if vendor.value == NVIDIA:
            return device
    raise PtxError("no GPU of NVIDIA's has OpenCL here")


def whole_text(folder: pathlib.Path, program: dict[str, Any], part: dict[str, Any],
               active: tuple[int, ...] = ()) -> str:
    """Returns the text of a unit or header in a bundle, with headers in place of the #include lines. A
    missing header becomes an #error."""
    headers = {each["written"]: each["header"] for each in part.get("includes", [])}

    def header_text(found: re.Match[str]) -> str:
        index = headers.get(found.group(1))
        if index is None:
            return "#error missing header"
        if index in active:
            return ""
        text = whole_text(folder, program, program["headers"][index], (*active, index))
        once, count = PRAGMA_ONCE.subn("", text)
        macro = f"CLPROBE_ONCE_{index}"
        return f"#ifndef {macro}\n#define {macro}\n{once}\n#endif" if count else text
    # Latin-1 keeps the bytes of any text.
    return INCLUDE.sub(header_text, (folder / f"{part['sha256']}.cl").read_text(encoding="latin-1"))


def program_of(launch: dict[str, Any], folder: pathlib.Path, text: pathlib.Path | None) -> tuple[str, str]:
    """Returns the text of a launch's program and its build options, without folders of headers."""
    program = launch.get("program", {})
    units = program.get("units", [{}])
    if len(units) != 1:
        raise PtxError(f"the program links {len(units)} texts")
    options = FOLDER_OPTION.sub(" ", units[0].get("options", ""))
    return (text.read_text(encoding="latin-1") if text else whole_text(folder, program, units[0])), options


def ptx_of(text: str, options: str) -> str:
    """Returns the PTX that NVIDIA's driver makes of OpenCL C."""
    cl = ctypes.CDLL("libOpenCL.so.1")
    cl.clCreateContext.restype = ctypes.c_void_p
    cl.clCreateProgramWithSource.restype = ctypes.c_void_p
    device = nvidia_device(cl)
    status = ctypes.c_int(0)
    context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(device), None, None,
                                                 ctypes.byref(status)))
    checked(status.value, "clCreateContext")
    source = ctypes.c_char_p(text.encode("latin-1"))
    program = ctypes.c_void_p(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None,
                                                           ctypes.byref(status)))
    checked(status.value, "clCreateProgramWithSource")
    if cl.clBuildProgram(program, 1, ctypes.byref(device), options.encode(), None, None) != 0:
        log = ctypes.create_string_buffer(65536)
        cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, ctypes.c_size_t(len(log)), log, None)
        raise PtxError(log.value.decode(errors="replace"))
    size = ctypes.c_size_t(0)
    checked(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, ctypes.c_size_t(ctypes.sizeof(size)),
                                ctypes.byref(size), None), "clGetProgramInfo")
    binary = ctypes.create_string_buffer(size.value)
    pointer = ctypes.c_void_p(ctypes.addressof(binary))
    checked(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, ctypes.c_size_t(ctypes.sizeof(pointer)),
                                ctypes.byref(pointer), None), "clGetProgramInfo")
    cl.clReleaseProgram(program)
    cl.clReleaseContext(context)
    return binary.raw.rstrip(b"\0").decode()


def parameters_of(ptx: str, kernel: str) -> list[tuple[str, str]]:
    """Returns the names of a kernel's parameters with their declarations."""
    found = re.search(rf"\.entry\s+{kernel}\b\s*(?:\(([^)]*)\))?", ptx)
    if found is None:
        raise PtxError(f"the PTX has no kernel {kernel}")
    listed = [each.strip() for each in (found.group(1) or "").split(",") if each.strip()]
    return [(re.sub(r"\[\d+\]$", "", each.split()[-1]), each) for each in listed]


def without_other_kernels(ptx: str, kernel: str) -> str:
    """Removes all other kernels, which may use features that CUDA's driver refuses."""
    kept, at = "", 0
    for entry in re.finditer(r"(?:\.(?:visible|weak)\s+)?\.entry\s+(\w+)", ptx):
        if entry.group(1) == kernel:
            continue
        kept += ptx[at:entry.start()]
        depth = 0
        for brace in re.compile(r"[{}]").finditer(ptx, entry.end()):
            depth += 1 if brace.group() == "{" else -1
            at = brace.end()
            if depth == 0:
                break
    return kept + ptx[at:]


def with_local_arguments(ptx: str, launch: dict[str, Any]) -> str:
    """Puts local arguments into dynamic shared memory and notes its size."""
    parameters = parameters_of(ptx, launch["kernel"])
    if len(parameters) != len(launch["arguments"]):
        raise PtxError(f"the PTX has {len(parameters)} parameters for {len(launch['arguments'])} arguments")
    used = 0
    for (name, declaration), argument in zip(parameters, launch["arguments"]):
        # The layer cannot distinguish a null pointer to global memory from a local argument.
        if "local_bytes" not in argument or re.search(r"\.ptr\s+\.(global|const)\b", declaration):
            continue
        ptx = re.sub(rf"\bld\.param\.[bsu](32|64)(\s+%\w+),\s*\[{name}\];",
                     rf"mov.u\1\2, {LOCAL}+{used};", ptx)
        if len(re.findall(rf"\b{name}\b", ptx)) > 1:
            raise PtxError(f"the kernel reads its local argument {name} in an unknown way")
        used += -(-argument["local_bytes"] // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
    if used == 0:
        return ptx
    return re.sub(r"(\.address_size\s+\d+)",
                  rf"\1\n{LOCAL_NOTE} {used}\n.extern .shared .align 16 .b8 {LOCAL}[];", ptx, count=1)


def with_constant_arguments(ptx: str, kernel: str) -> str:
    """Loads from constant arguments as from global memory. Constant variables keep their loads."""
    if not any(re.search(r"\.ptr\s+\.const\b", each) for _, each in parameters_of(ptx, kernel)):
        return ptx
    for name in re.findall(r"^(?:\.\w+\s+)*\.const\s+(?:\.align\s+\d+\s+)?\.\w+\s+(\w+)", ptx, re.M):
        if re.search(rf"\bmov\.\w+\s+%\w+,\s*{name}\b", ptx):
            raise PtxError("the kernel has constant arguments and the address of a constant variable")
    return re.sub(r"\bld\.const(\.[^;\[]*\[%)", r"ld.global.nc\1", ptx)


def refuse(launch: dict[str, Any]) -> None:
    """Raises PtxError for launches that CUDA cannot repeat."""
    local = launch.get("local")
    for kind in ("image", "sampler"):
        if any(kind in each for each in launch["arguments"]):
            raise PtxError(f"the kernel has {kind}s")
    if not local:
        raise PtxError("the driver chooses the work-group size")
    if any(items % size for items, size in zip(launch["global"], local)):
        raise PtxError("the last work-groups are smaller than the others")
    if max(launch.get("offset", [0])) >= 1 << 32:
        raise PtxError("the offset has more than 32 bits")


def for_launch(ptx: str, launch: dict[str, Any]) -> str:
    """Converts the PTX of a launch's kernel for CUDA's driver."""
    refuse(launch)
    ptx = without_other_kernels(ptx, launch["kernel"])
    ptx = with_constant_arguments(with_local_arguments(ptx, launch), launch["kernel"])
    return for_cuda(ptx, launch.get("offset", []))


def for_cuda(ptx: str, offset: Sequence[int] = ()) -> str:
    """Converts PTX for CUDA's driver. Raises PtxError if the kernel reads other registers that OpenCL
    launches set."""
    offsets = [*offset, 0, 0, 0]

    def register(found: re.Match[str]) -> str:
        number = int(found.group(2))
        if number in GROUP_OFFSETS:
            return f"mov.u32 {found.group(1)}, 0;"
        if number in OFFSETS:
            return f"mov.u32 {found.group(1)}, {offsets[number - OFFSETS.start]};"
        if number in GROUPS:
            return f"mov.u32 {found.group(1)}, %nctaid.{GROUPS[number]};"
        raise PtxError(f"the kernel reads %envreg{number}")
    converted = re.sub(r"mov\.(?:b|u)32\s+(%\w+),\s*%envreg(\d+);", register, ptx)
    converted = re.sub(r"^(\.target\s+\w+)\s*,\s*texmode_independent", r"\1", converted, flags=re.M)
    # CUDA's driver does not accept address spaces of parameters. Instructions name their own.
    return re.sub(r"\s\.ptr(?:\s+\.(?!align)\w+)?(?:\s+\.align\s+\d+)?", "", converted)


def main() -> None:
    """Writes the PTX of a launch."""
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    made, path, *texts = (pathlib.Path(each) for each in sys.argv[1:])
    launch = json.loads(path.read_text(encoding="utf-8"))
    try:
        refuse(launch)
        ptx = ptx_of(*program_of(launch, path.parent, texts[0] if texts else None))
        made.write_text(for_launch(ptx, launch), encoding="utf-8")
    except PtxError as error:
        sys.exit(" ".join(str(error).split())[:300])


if __name__ == "__main__":
    main()
