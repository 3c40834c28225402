# SPDX-License-Identifier: Apache-2.0
"""What the tests of pages are told on the command line."""

import argparse
import pathlib

ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("--program", required=True)
ARGUMENTS.add_argument("--root", required=True, type=pathlib.Path)
ARGUMENTS.add_argument("--keep", type=pathlib.Path)
OPTIONS = ARGUMENTS.parse_args()
