"""How busy the machine was with other work while something was measured.

Reads what the kernel counts: processor time of the CPUs that this process may use, less the time of
the processes that measure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

# More than this, in processors, makes times of another moment differ.
BUSY = 0.25


class Busyness:
    """Counts from its making on."""

    def __init__(self, processes: Sequence[int]) -> None:
        """`processes`: those that measure, beside this one."""
        self._processes = [os.getpid(), *processes]
        self._began = time.monotonic()
        self._start = self._counts()

    def others(self) -> float | None:
        """Processors that other work kept busy, on average; None where the kernel does not tell."""
        now, seconds = self._counts(), time.monotonic() - self._began
        if self._start is None or now is None or seconds < 0.1:
            return None
        busy, own = (after - before for before, after in zip(self._start, now, strict=True))
        return max(0.0, (busy - own) / seconds)

    def _counts(self) -> tuple[float, float] | None:
        """Seconds of processor time: of all CPUs that may be used, and of the processes."""
        try:
            usable = {f"cpu{number}" for number in os.sched_getaffinity(0)}
            tick = os.sysconf("SC_CLK_TCK")
            busy = 0.0
            for line in Path("/proc/stat").read_text().splitlines():
                name, *fields = line.split()
                if name in usable:
                    numbers = [int(f) for f in fields]
                    busy += sum(numbers[:8]) - numbers[3] - numbers[4]  # without idle and waiting
            return busy / tick, sum(self._time_of(pid) for pid in self._processes) / tick
        except (AttributeError, OSError, ValueError, IndexError):
            return None

    @staticmethod
    def _time_of(process: int) -> int:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            return 0
        return int(fields[11]) + int(fields[12])
