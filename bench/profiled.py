# SPDX-License-Identifier: Apache-2.0
"""Command lines and `clprobe profile` runs shared by known.py, pairs.py, apps.py and nsight.py."""

import argparse
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterable
from typing import Any


def parser_of(described: str | None, kind: str, names: Iterable[str]) -> argparse.ArgumentParser:
    """Returns the parser of CLPROBE [NAME...]. Words after ` -- ` are for clprobe."""
    parser = argparse.ArgumentParser(description=described, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clprobe", nargs="?")
    parser.add_argument("names", nargs="*", metavar=kind.upper(),
                        help=f"of {', '.join(names)}; default: all")
    return parser


def given_to(parser: argparse.ArgumentParser, kind: str,
             names: Iterable[str]) -> tuple[argparse.Namespace, list[str]]:
    """Returns the arguments, with all names if none was given, and the options for clprobe."""
    own, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    given = parser.parse_args(own.split())
    known = list(names)
    unknown = [each for each in given.names if each not in known]
    if unknown:
        parser.error(f"no {kind} {unknown[0]}: there are {', '.join(known)}")
    given.names = given.names or known
    return given, options.split()


def document_of(words: list[str]) -> dict[str, Any]:
    """Returns the document that clprobe writes. Raises CalledProcessError if clprobe fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    documents: list[dict[str, Any]] = json.loads(done.stdout)
    return documents[0]


def result_of(words: list[str]) -> dict[str, Any]:
    """Returns the first result of the document that clprobe writes."""
    result: dict[str, Any] = document_of(words)["results"][0]
    return result


def levels_of(clprobe: str, options: list[str], folder: pathlib.Path) -> list[str]:
    """Measures the memory levels and returns them as options of `profile`. Drivers may report another cache
    than the last one."""
    path = folder / "levels.json"
    words = [clprobe, "latency", "--series", "global", "-o", str(path), *options]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return ["--levels", str(path)]


def profile_of(clprobe: str, text: pathlib.Path, launch: pathlib.Path, options: list[str]) -> dict[str, Any]:
    """Profiles a kernel from a kernel file and a launch file. Returns the result in the document."""
    return result_of([clprobe, "profile", "--kernel-file", str(text), "--launch", str(launch), "--json",
                      *options])


def write_launch(path: pathlib.Path, launch: dict[str, Any]) -> None:
    """Writes a launch file with one field per line."""
    fields = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in launch.items()]
    path.write_text("{\n" + ",\n".join(fields) + "\n}\n", encoding="utf-8")
