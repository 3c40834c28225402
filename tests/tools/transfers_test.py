#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/twins/transfers.py reads of clpeak's text."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from twins import transfers  # noqa: E402
from twins.common import CannotRun  # noqa: E402

# Of clpeak 1.1.2.
SAID = """
Platform: Portable Computing Language
  Device: pthread
    Driver version  : 3.1 (Linux x64)
    Compute units   : 2

    Transfer bandwidth (GBPS)
      enqueueWriteBuffer              : 8.5
      enqueueReadBuffer               : 5.74
      enqueueWriteBuffer non-blocking : 6.58
      enqueueReadBuffer non-blocking  : 6.5
      enqueueMapBuffer(for read)      : 52123.39
        memcpy from mapped ptr        : 7.75
      enqueueUnmap(after write)       : 45497.54
        memcpy to mapped ptr          : 8.77
"""


class Clpeak(unittest.TestCase):
    """Its transfers."""

    def test_the_better_call_each_way_counts_and_no_mapping(self) -> None:
        self.assertEqual(transfers.rates_in_clpeak(SAID),
                         {"to-device": 8.5e9, "from-device": 6.5e9})

    def test_without_a_rate_it_cannot_be_run(self) -> None:
        for call in ("enqueueWriteBuffer", "enqueueReadBuffer"):
            with self.assertRaisesRegex(CannotRun, call):
                transfers.rates_in_clpeak(SAID.replace(call, "failed"))


if __name__ == "__main__":
    unittest.main()
