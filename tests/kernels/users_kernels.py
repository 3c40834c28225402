# SPDX-License-Identifier: Apache-2.0
"""Kernels of users, with what `profile` adds to them: barriers, atomics, both, neither, fences and special
functions, several dimensions, and standards of OpenCL C."""

USERS = ["bench/pairs/barriers_many", "bench/pairs/gemm_tiled", "bench/pairs/histogram_global",
         "bench/pairs/transpose_tiled", "bench/known/limited", "bench/known/mixed",
         "bench/known/structural",
         "tests/kernels/users/newer", "tests/kernels/users/older"]
LAUNCHES = {"bench/known/mixed": "bench/known/bank-conflicts",
            "bench/known/structural": "bench/known/release"}


def users_kernels() -> list[str]:
    """Texts and their launches, for instrumented.cpp."""
    return [word for name in USERS for word in (f"{name}.cl", f"{LAUNCHES.get(name, name)}.json")]
