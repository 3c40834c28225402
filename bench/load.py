# SPDX-License-Identifier: Apache-2.0
"""Intermittent load: busy loops that run for random times, with random pauses.

The loops are separate processes, so they do not slow down the script or its measurements directly.
"""
import random
import subprocess
import sys
import threading

LOOPS = 2
# Limits of a period. Disturbances of shared hosts last about 10 s (docs/method.md).
LEAST_SECONDS = 2.0
MOST_SECONDS = 12.0


class Load:
    """Load that runs during a `with` block. Equal seeds give equal periods."""

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
        """Waits for a random time. Returns False if the load is to end."""
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
