#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sample of the kernels leaves out, and what it does not."""

import os
import unittest
import unittest.mock

import compile_kernels
from compile_kernels import TARGETS, Kernel, Variant, taken

KERNELS = [Kernel(file, (f"-DTYPE={number}",), "") for file in ("a.cl", "b.cl") for number in range(5)]
VARIANTS = [variant for _, variants in TARGETS.values() for variant in variants]


def files(kernels: list[Kernel]) -> list[str]:
    return [kernel.file for kernel in kernels]


def sample(variant: Variant, whole: set[str] | None) -> list[Kernel]:
    return list(taken(KERNELS, VARIANTS.index(variant), variant, whole))


class Sample(unittest.TestCase):
    def test_every_vendor_has_one_variant_that_compiles_everything(self) -> None:
        whole = [variant for variant in VARIANTS if variant.whole]
        for vendor in ("gfx", "dg2", "nvptx", "x86_64", "aarch64", "CL1.2", "CL3.0"):
            self.assertTrue(any(vendor in variant.name for variant in whole), vendor)
        for variant in whole:
            self.assertEqual(set(sample(variant, set())),
                             {kernel for kernel in KERNELS if not variant.refuses(kernel)})

    def test_the_others_compile_one_of_every_file(self) -> None:
        others = [variant for variant in VARIANTS if not variant.whole]
        self.assertGreater(len(others), 20)
        for variant in others:
            self.assertEqual(files(sample(variant, set())), ["a.cl", "b.cl"], variant.name)
        chosen = {kernel.options for variant in others for kernel in sample(variant, set())}
        self.assertEqual(len(chosen), 5, "each set of options has its turn")

    def test_a_file_that_has_changed_is_compiled_whole(self) -> None:
        others = [variant for variant in VARIANTS if not variant.whole]
        for variant in others:
            self.assertEqual(sum(kernel.file == "b.cl" for kernel in sample(variant, {"b.cl"})),
                             sum(not variant.refuses(k) for k in KERNELS if k.file == "b.cl"))
            self.assertEqual(sum(kernel.file == "a.cl" for kernel in sample(variant, {"b.cl"})), 1)

    def test_without_a_wish_all_is_compiled(self) -> None:
        for variant in VARIANTS:
            self.assertEqual(len(sample(variant, None)),
                             sum(not variant.refuses(kernel) for kernel in KERNELS))

    def test_what_a_device_refuses_is_no_sample(self) -> None:
        refusing = [variant for variant in VARIANTS if any(map(variant.refuses, KERNELS))]
        self.assertEqual({variant.name for variant in refusing}, {"tgllp by ocloc", "dg2 by ocloc"})
        for variant in refusing:
            self.assertFalse(any(map(variant.refuses, sample(variant, set()))))

    def test_the_environment_says_what_is_whole(self) -> None:
        wish = "CLPROBE_WHOLE_KERNELS"
        with unittest.mock.patch.dict("os.environ", {wish: "a.cl b.cl"}):
            self.assertEqual(compile_kernels.whole_files_asked_for(), {"a.cl", "b.cl"})
        with unittest.mock.patch.dict("os.environ", {wish: ""}):
            self.assertEqual(compile_kernels.whole_files_asked_for(), set())
        with unittest.mock.patch.dict("os.environ"):
            os.environ.pop(wish, None)
            self.assertIsNone(compile_kernels.whole_files_asked_for())


if __name__ == "__main__":
    unittest.main()
