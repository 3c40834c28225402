# SPDX-License-Identifier: Apache-2.0
"""Plugin for flake8 that limits the lengths of files and functions."""

import ast
from collections.abc import Iterator

MAX_FILE = 600
MAX_FUNCTION = 60

Problem = tuple[int, int, str, type]


class Sizes:
    """Checker: SIZ001 for long files, SIZ002 for long functions, in lines."""

    def __init__(self, tree: ast.AST, lines: list[str]) -> None:
        self.tree = tree
        self.lines = lines

    def run(self) -> Iterator[Problem]:
        if len(self.lines) > MAX_FILE:
            yield 1, 0, f"SIZ001 {len(self.lines)} lines, more than {MAX_FILE}", Sizes
        for node in ast.walk(self.tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                message = f"SIZ002 {node.name} has {length} lines, more than {MAX_FUNCTION}"
                yield node.lineno, node.col_offset, message, Sizes
