"""Hears what a backend itself says about nodes while it chooses: its own words, with the node.

Four ways are known: ExecuTorch's two reject-reason helpers, log lines and printed lines. A line
belongs to the node that the code around it was judging. Partitioners that keep `refusals`, as the
kit's reference backend does, are asked afterwards.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

_DEPTH = 16  # frames that are looked at, from the line on outwards
_SILENT = ("torch.", "executorch.exir.", "executorch_backend_kit.", "logging")
_BRACKETED = re.compile(r"[Dd]ue to \[(.+)\], skipping", re.DOTALL)


@dataclass(frozen=True)
class Said:
    """One thing that a backend said of one node."""

    node: str
    op: str
    text: str
    how: str  # "helper", "reporter", "log", "print" or "refusals"
    code: str = ""
    hint: str = ""


class Listener:
    """What was heard, in order."""

    def __init__(self) -> None:
        self.said: list[Said] = []

    def hear(self, node: Any, text: str, how: str) -> None:
        """Keeps a text about a node."""
        from executorch_backend_kit.explain.nodes import operator_name

        text = " ".join(str(text).split())
        if found := _BRACKETED.search(text):
            text = found[1]
        if text and node is not None and getattr(node, "op", "") == "call_function":
            said = Said(node.name, operator_name(node.target), text, how)
            if said not in self.said[-4:]:
                self.said.append(said)

    def take(self) -> tuple[Said, ...]:
        """What was heard since the last call."""
        said, self.said = tuple(self.said), []
        return said


@contextmanager
def listening(package: str, listener: Listener) -> Iterator[None]:
    """Hears the backend whose code lives in `package`."""
    from executorch.exir.backend.utils import WhyNoPartition, WhyNoPartitionReporter

    why, report = WhyNoPartition.__call__, WhyNoPartitionReporter.report_reject

    def heard_why(self: Any, node: Any, reason: str) -> None:
        listener.hear(node, reason, "helper")
        why(self, node, reason)

    def heard_report(self: Any, node: Any, reason: str) -> None:
        listener.hear(node, reason, "reporter")
        report(self, node, reason)

    root = logging.getLogger()
    handler = _Handler(listener)
    loggers = _loggers(package)
    levels = [(logger, logger.level, logger.disabled) for logger in (root, *loggers)]
    handlers, stdout = root.handlers[:], sys.stdout
    WhyNoPartition.__call__ = heard_why
    WhyNoPartitionReporter.report_reject = heard_report
    sys.stdout = _Stdout(listener, stdout)
    try:
        root.handlers[:] = [handler]
        root.setLevel(min(root.level or logging.WARNING, logging.INFO))
        for logger in loggers:
            logger.setLevel(logging.DEBUG)
            logger.disabled = False
        yield
    finally:
        WhyNoPartition.__call__, WhyNoPartitionReporter.report_reject = why, report
        sys.stdout = stdout
        root.handlers[:] = handlers
        for logger, level, disabled in levels:
            logger.setLevel(level)
            logger.disabled = disabled


def refusals(partitioner: Any) -> tuple[Said, ...]:
    """What a partitioner kept in `refusals`: objects with node, op, code, message and hint."""
    found = getattr(partitioner, "refusals", ())
    if not isinstance(found, (tuple, list)):
        return ()
    return tuple(
        Said(
            str(r.node),
            str(getattr(r, "op", "")),
            str(r.message),
            "refusals",
            str(getattr(r, "code", "")),
            str(getattr(r, "hint", "")),
        )
        for r in found
        if hasattr(r, "node") and hasattr(r, "message")
    )


def package_of(partitioner: Any) -> str:
    """The package whose code chooses: executorch.backends.NAME of a stock backend."""
    parts = type(partitioner).__module__.split(".")
    stock = parts[:2] == ["executorch", "backends"]
    return ".".join(parts[:3] if stock else parts[:1])


def _loggers(package: str) -> list[logging.Logger]:
    names = [n for n in logging.root.manager.loggerDict if f"{n}.".startswith(f"{package}.")]
    return [logging.getLogger(name) for name in names]


class _Handler(logging.Handler):
    def __init__(self, listener: Listener) -> None:
        super().__init__(logging.DEBUG)
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        if not isinstance(record.msg, str):  # ExecuTorch's helper logs itself: heard already
            return
        frame = sys._getframe(1)
        self._listener.hear(_judged(frame), record.getMessage(), "log")


class _Stdout:
    """Writes on, and hears lines that are about a node."""

    def __init__(self, listener: Listener, stream: Any) -> None:
        self._listener = listener
        self._stream = stream
        self._line = ""

    def write(self, text: str) -> int:
        self._line += text
        if "\n" in self._line:
            line, self._line = self._line.strip(), ""
            self._listener.hear(_judged(sys._getframe(1)), line, "print")
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _judged(frame: FrameType | None) -> Any:
    """The node that the code around a line is judging; None if it comes from elsewhere."""
    from torch.fx import Node

    for _ in range(_DEPTH):
        if frame is None:
            return None
        module = str(frame.f_globals.get("__name__", ""))
        if not f"{module}.".startswith(_SILENT):
            node = frame.f_locals.get("node")
            if isinstance(node, Node):
                return node
        elif not f"{module}.".startswith("logging"):
            return None
        frame = frame.f_back
    return None
