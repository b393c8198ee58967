"""Ends a backend's code that does not come back, where Python can still be interrupted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TookTooLong(BaseException):
    """Past the limit; not an Exception, so that no `except Exception` of a backend holds it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TookTooLong in the code inside after so many seconds. In the main thread only."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
