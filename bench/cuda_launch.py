#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches kernels in PTX with CUDA's driver, each once, for Nsight Compute.

    bench/cuda_launch.py PTX LAUNCH.json [PTX LAUNCH.json]...

LAUNCH.json is a launch written by hand (docs/profile.md). Its random data differ from clprobe's. Kernels with
local arguments are not supported.
"""

import ctypes
import json
import os
import pathlib
import random
import struct
import sys
from typing import Any

BYTES = {"float": 4, "uint": 4, "int": 4, "double": 8, "ulong": 8, "long": 8}
FORMATS = {"float": "f", "uint": "I", "int": "i", "double": "d", "ulong": "Q", "long": "q"}
# Random floats are generated for one block, which is repeated.
BLOCK = 65536


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
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.read_bytes()))
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        return function

    def memory_of(self, data: bytes) -> ctypes.c_uint64:
        """Copies data to the device and returns its address."""
        memory = ctypes.c_uint64(0)
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", memory, data, ctypes.c_size_t(len(data)))
        return memory


def data_of(described: dict[str, Any]) -> bytes:
    """Returns the initial data of a buffer."""
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


def launch(cuda: Cuda, ptx: pathlib.Path, path: pathlib.Path) -> None:
    """Launches a kernel once and frees its memory."""
    described = json.loads(path.read_text(encoding="utf-8"))
    function = cuda.function_of(ptx, described["kernel"])
    buffers = {each["buffer"]: cuda.memory_of(data_of(each)) for each in described["objects"]}
    values: list[Any] = []
    for each in described["arguments"]:
        if "buffer" in each:
            values.append(buffers[each["buffer"]])
        elif "local_bytes" in each:
            sys.exit(f"cuda_launch: {path}: local arguments are not taken")
        else:
            packed = struct.pack(FORMATS[each["type"]], each["value"])
            values.append(ctypes.create_string_buffer(packed, len(packed)))
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
    local = (described["local"] + [1, 1])[:3]
    items = (described["global"] + [1, 1])[:3]
    groups = [count // size for count, size in zip(items, local)]
    cuda.call("cuLaunchKernel", function, *groups, *local, 0, None, pointers, None)
    cuda.call("cuCtxSynchronize")
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
