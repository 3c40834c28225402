#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a number of `clprobe describe -o device.json`: describe.py device.json last_cache.capacity"""

import json
import pathlib
import sys


def value_of(path: str, name: str, otherwise: float) -> float:
    """The measured value in SI units or bytes. Without a value, the lower bound, else `otherwise`."""
    device = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    number = device["numbers"].get(name, {"value": None, "low": None})
    known = [number[key] for key in ("value", "low") if number[key] is not None]
    return known[0] if known else otherwise


if __name__ == "__main__":
    print(value_of(sys.argv[1], sys.argv[2], float("nan")))
