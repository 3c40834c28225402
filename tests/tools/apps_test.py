#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/apps.py without its programs: what they write beside what they write under clprobe."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import apps  # noqa: E402  (its folder has just been named)


class Outputs(unittest.TestCase):
    """Lines that a program always writes, and its pictures."""

    def test_lines_that_differ_by_themselves_do_not_count(self) -> None:
        plain = [apps.lines_in(b"sum 5\n\ntook 7 ms\nsum 5\n"), apps.lines_in(b"sum 5\ntook 8 ms\nsum 5\n")]
        both = apps.lines_in(b"clprobe: x\n" + 2 * b"sum 5\nsum 5\ntook 9 ms\n")
        self.assertEqual(apps.output_text(plain, both, 2, []), "same in 1 lines")
        times = [apps.lines_in(f"|  ref | {each} ms |  - | OK |".encode()) for each in ("  0.20", "110.31")]
        self.assertEqual(apps.output_text(times, times[1] + times[1], 2, []), "same in 1 lines")
        fewer = apps.lines_in(b"sum 5\nsum 5\nsum 5\nsum 6\n")
        self.assertEqual(apps.output_text(plain, fewer, 2, []), "1 of 1 lines are missing, as 'sum 5'")

    def test_pictures_are_their_pixels(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.png"
            apps.write_image(path, 8)
            one = path.read_bytes()
            apps.write_image(path, 16)
            other = path.read_bytes()
        dated = one[:-12] + b"\0\0\0\1tEXt!\0\0\0\0" + one[-12:]
        self.assertEqual(len(apps.pixels_in(one)), 8 * (1 + 3 * 8))
        empty = [apps.lines_in(b"")] * 2
        self.assertEqual(apps.output_text(empty, empty[0], 2, [one, dated]), "same in 0 lines")
        self.assertEqual(apps.output_text(empty, empty[0], 2, [one, other]), "another picture")

    def test_kernels_of_a_survey(self) -> None:
        survey = {"kernels": [{"kernel": "b"}, {"kernel": "a"}, {"kernel": "b"}]}
        self.assertEqual(apps.names_in(survey), ["b", "a"])


if __name__ == "__main__":
    unittest.main()
