# SPDX-License-Identifier: Apache-2.0
"""PTX of OpenCL kernels, converted for CUDA's driver.

Nsight Compute profiles CUDA launches only. The machine code is the same, since the PTX in CL_PROGRAM_BINARIES
goes through the same assembler. Two features of OpenCL are converted: `%envreg` registers, which hold a
launch's offsets and group counts, and the target option `texmode_independent`.
"""

import ctypes
import re

CL_DEVICE_TYPE_GPU = 4
CL_DEVICE_VENDOR_ID = 0x1001
CL_PROGRAM_BINARY_SIZES = 0x1165
CL_PROGRAM_BINARIES = 0x1166
CL_PROGRAM_BUILD_LOG = 0x1183
NVIDIA = 0x10DE

# Registers of work-item and group offsets, which are 0 in launches without an offset.
OFFSETS = range(6)
GROUPS = {6: "x", 7: "y", 8: "z"}


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
    source = ctypes.c_char_p(text.encode())
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


def for_cuda(ptx: str) -> str:
    """Converts PTX for CUDA's driver. Raises PtxError if the kernel reads other registers that OpenCL
    launches set."""
    def register(found: re.Match[str]) -> str:
        number = int(found.group(2))
        if number in OFFSETS:
            return f"mov.u32 {found.group(1)}, 0;"
        if number in GROUPS:
            return f"mov.u32 {found.group(1)}, %nctaid.{GROUPS[number]};"
        raise PtxError(f"the kernel reads %envreg{number}")
    converted = re.sub(r"mov\.(?:b|u)32\s+(%\w+),\s*%envreg(\d+);", register, ptx)
    converted = re.sub(r"^(\.target\s+\w+)\s*,\s*texmode_independent", r"\1", converted, flags=re.M)
    # CUDA's driver does not accept address spaces of parameters. Instructions name their own.
    return re.sub(r"\s\.ptr(?:\s+\.\w+)?(?:\s+\.align\s+\d+)?", "", converted)
