# SPDX-License-Identifier: Apache-2.0
"""A load that comes and goes: busy loops for a while, then none, at random.

The script beside it, and what it measures, run as they are: the loops are processes of their own.
"""
import random
import subprocess
import sys
import threading

LOOPS = 2
# Disturbances of shared hosts last about 10 s (docs/method.md).
LEAST_SECONDS = 2.0
MOST_SECONDS = 12.0


class Load:
    """Runs while the `with` block does, beside it. The same seed comes and goes the same way."""

    def __init__(self, loops: int = LOOPS, seed: int = 1) -> None:
        self.is_on = False
        self._loops = loops
        self._random = random.Random(seed)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._come_and_go)

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _wait(self) -> bool:
        """Whether there is more to come."""
        return not self._ended.wait(self._random.uniform(LEAST_SECONDS, MOST_SECONDS))

    def _come_and_go(self) -> None:
        while self._wait():
            loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self._loops)]
            self.is_on = True
            try:
                self._wait()
            finally:
                self.is_on = False
                for each in loops:
                    each.kill()
                    each.wait()
