# SPDX-License-Identifier: Apache-2.0
"""A clprobe that answers what a test wants, and remembers how it was called."""

import json
import pathlib
import sys
from typing import Any

PROGRAM = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
with open(here / "calls", "a", encoding="utf-8") as calls:
    print(json.dumps(words), file=calls)
answers = json.loads((here / "answers.json").read_text(encoding="utf-8"))
answer = next(each for each in answers if set(each["if"]) <= set(words))
if "-o" in words:
    pathlib.Path(words[words.index("-o") + 1]).write_text(json.dumps(answer["document"]), encoding="utf-8")
elif answer["document"] is not None:
    print(json.dumps(answer["document"]))
print(answer["said"], end="", file=sys.stderr)
sys.exit(answer["status"])
"""


def answer(document: Any, *words: str, status: int = 0, said: str = "") -> dict[str, Any]:
    """Of calls that have all of these words."""
    return {"if": words, "document": document, "status": status, "said": said}


class Clprobe:
    """Gives the first answer that fits."""

    def __init__(self, folder: pathlib.Path, *answers: dict[str, Any]) -> None:
        self.path = str(folder / "clprobe")
        self._calls = folder / "calls"
        program = pathlib.Path(self.path)
        program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o755)
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")

    def calls(self) -> list[list[str]]:
        """The words of each."""
        return [json.loads(line) for line in self._calls.read_text(encoding="utf-8").splitlines()]


def document(levels: dict[int, float | None] | None = None, **device: str) -> dict[str, Any]:
    """Of a run of `latency` that found these times, in ns, by level."""
    findings = [{"name": "latency", "series": "global", "level": level, **({"value": ns / 1e9} if ns else {})}
                for level, ns in (levels or {}).items()]
    return {"host": {"cpu": "EPYC", "logical_cpus": 2, "os": "Debian", "kernel": "Linux 6"},
            "device": {"name": "cpu", "platform": "PoCL", "driver": "3.1", **device},
            "tool": {"version": "0.1.0", "commit": "abc"},
            "results": [{"probe": "latency", "findings": findings}]}


MACHINE = ["host     EPYC, 2 CPUs, Debian, Linux 6", "device   cpu, PoCL, driver 3.1", "clprobe  0.1.0, abc"]
