#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches kernels in PTX with CUDA's driver, each once, for Nsight Compute.

    bench/cuda_launch.py PTX LAUNCH.json [PTX LAUNCH.json]...

PTX is made by ptx.py. LAUNCH.json is a launch written by hand (docs/profile.md), whose random data differ
from clprobe's, or the launch.json of a bundle. Prints the names of buffers that the launch leaves with other
bytes than the program's launch.
"""

import ctypes
import hashlib
import json
import os
import pathlib
import random
import re
import struct
import sys
from typing import Any

import ptx as conversion

BYTES = {"float": 4, "uint": 4, "int": 4, "double": 8, "ulong": 8, "long": 8}
FORMATS = {"float": "f", "uint": "I", "int": "i", "double": "d", "ulong": "Q", "long": "q"}
# Random floats are generated for one block, which is repeated.
BLOCK = 65536

CHANGED = "buffer with other bytes:"
# CUjit_option and CUfunction_attribute.
JIT_LOG, JIT_LOG_BYTES = 5, 6
MAX_DYNAMIC_SHARED = 8


def checked(status: int, call: str) -> None:
    """Ends the program if the status is an error."""
    if status != 0:
        sys.exit(f"cuda_launch: {call}: error {status}")


class Cuda:
    """CUDA's driver with a context on the first GPU."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int(0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the driver and ends the program if it fails."""
        checked(getattr(self.library, name)(*arguments), name)

    def function_of(self, ptx: pathlib.Path, kernel: str) -> ctypes.c_void_p:
        """Loads a kernel from a PTX file."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        options = (ctypes.c_int * 2)(JIT_LOG, JIT_LOG_BYTES)
        status = self.library.cuModuleLoadDataEx(ctypes.byref(module), ctypes.c_char_p(ptx.read_bytes()), 2,
                                                 options, values)
        checked(status, f"cuModuleLoadDataEx: {' '.join(log.value.decode(errors='replace').split())[:200]}")
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        return function

    def memory_of(self, data: bytes) -> ctypes.c_uint64:
        """Copies data to the device and returns its address."""
        memory = ctypes.c_uint64(0)
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", memory, data, ctypes.c_size_t(len(data)))
        return memory


def data_of(described: dict[str, Any], folder: pathlib.Path) -> bytes:
    """Returns the initial data of a buffer."""
    if "sha256" in described:
        return (folder / f"{described['sha256']}.bin").read_bytes()
    kind, count, fill = described["type"], described["count"], described["fill"]
    if fill == "zero":
        return bytes(count * BYTES[kind])
    if fill == "value":
        return struct.pack(FORMATS[kind], described["value"]) * count
    if fill != "random":
        sys.exit(f"cuda_launch: no fill {fill}")
    if kind not in ("float", "double"):
        return os.urandom(count * BYTES[kind])
    generator = random.Random(count)
    block = struct.pack(f"{BLOCK}{FORMATS[kind]}", *(generator.random() for _ in range(BLOCK)))
    return (block * (count // BLOCK + 1))[:count * BYTES[kind]]


def value_of(each: dict[str, Any], buffers: dict[str, ctypes.c_uint64]) -> Any:
    """Returns the value of an argument. Null pointers are 0, and local arguments are not read (ptx.py)."""
    if "buffer" in each:
        return ctypes.c_uint64(buffers[each["buffer"]].value + each.get("origin", 0))
    if "local_bytes" in each or "null" in each:
        return ctypes.c_uint64(0)
    is_number = "hex" not in each
    packed = struct.pack(FORMATS[each["type"]], each["value"]) if is_number else bytes.fromhex(each["hex"])
    return ctypes.create_string_buffer(packed, len(packed))


def print_changed(cuda: Cuda, described: dict[str, Any], buffers: dict[str, ctypes.c_uint64]) -> None:
    """Prints the names of buffers with other bytes than after the program's launch."""
    sizes = {each["buffer"]: each["bytes"] for each in described["objects"] if "bytes" in each}
    for each in described.get("epilogue", []):
        data = ctypes.create_string_buffer(sizes[each["buffer"]])
        cuda.call("cuMemcpyDtoH_v2", data, buffers[each["buffer"]], ctypes.c_size_t(len(data)))
        if hashlib.sha256(data).hexdigest() != each["sha256"]:
            print(CHANGED, each["buffer"])


def launch(cuda: Cuda, ptx: pathlib.Path, path: pathlib.Path) -> None:
    """Launches a kernel once and frees its memory."""
    described = json.loads(path.read_text(encoding="utf-8"))
    function = cuda.function_of(ptx, described["kernel"])
    shared = re.search(rf"^{conversion.LOCAL_NOTE} (\d+)", ptx.read_text(encoding="utf-8"), re.M)
    shared_bytes = int(shared.group(1)) if shared else 0
    if shared_bytes > 0:
        cuda.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared_bytes)
    buffers = {each["buffer"]: cuda.memory_of(data_of(each, path.parent)) for each in described["objects"]}
    values = [value_of(each, buffers) for each in described["arguments"]]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
    local = (described["local"] + [1, 1])[:3]
    items = (described["global"] + [1, 1])[:3]
    groups = [count // size for count, size in zip(items, local)]
    cuda.call("cuLaunchKernel", function, *groups, *local, shared_bytes, None, pointers, None)
    cuda.call("cuCtxSynchronize")
    print_changed(cuda, described, buffers)
    for memory in buffers.values():
        cuda.call("cuMemFree_v2", memory)


def main() -> None:
    """Launches the kernels in the order of the arguments."""
    paths = [pathlib.Path(each) for each in sys.argv[1:]]
    if not paths or len(paths) % 2:
        sys.exit(__doc__)
    cuda = Cuda()
    for ptx, described in zip(paths[::2], paths[1::2]):
        launch(cuda, ptx, described)


if __name__ == "__main__":
    main()
