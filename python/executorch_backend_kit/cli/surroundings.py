"""What a process may find broken around it when it starts: closed streams, Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import sys
from typing import IO

# True if the program was started without a standard output: nothing can be answered.
output_is_closed = False


def prepare() -> None:
    """To be called first. Closed descriptors are filled, so that no file takes their numbers."""
    global output_is_closed  # noqa: PLW0603 - one standard output per process
    quiet_interrupt()
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            output_is_closed = output_is_closed or name == "stdout"
            setattr(sys, name, _nothing(number, mode))


def _nothing(number: int, mode: str) -> IO[str]:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
    return open(number, mode, encoding="utf-8", closefd=False)


def quiet_interrupt() -> None:
    """Ctrl-C ends the process, as it does with programs that are not written in Python."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def audible_interrupt() -> None:
    """Ctrl-C raises KeyboardInterrupt, unless the process was told to ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
