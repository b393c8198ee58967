"""Starts the fork server, sends it jobs, and hands back what became of each."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any

from executorch_backend_kit.report.finding import KitError

# The server sees exactly the modules that this process would import.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from executorch_backend_kit.probe.server import main; main()"
)
_QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_START_LIMIT = 120.0
_GRACE = 20.0


class Outcome(str, Enum):
    """How a job ended."""

    DONE = "done"
    CRASHED = "crashed"
    EXITED = "exited"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Reply:
    """What became of a job."""

    outcome: Outcome
    results: tuple[Any, ...] = ()
    detail: str = ""
    output: str = ""
    seconds: float = 0.0
    network: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def ended_badly(self) -> str:
        """Why there are no more results, empty if there are all."""
        return "" if self.outcome is Outcome.DONE else f"{self.outcome.value}: {self.detail}"


@dataclass
class Prober:
    """A fork server in use; a context manager."""

    preloaded: dict[str, str | None] = field(default_factory=dict)

    def __enter__(self) -> Prober:
        # Children end without cleaning up; what they leave behind goes with this folder.
        self._folder = tempfile.TemporaryDirectory(prefix="etbk-probe-")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_QUIET, "TMPDIR": self._folder.name},
            start_new_session=True,
        )
        self._pending: set[int] = set()
        self._next = 0
        self._read = bytearray()
        hello = self._line(_START_LIMIT)
        if hello is None:
            self._end()
            raise KitError(
                "PROBE-SERVER-FAILED",
                "The process that examines backends did not start.",
                evidence=f"{sys.executable} imported torch and executorch for {_START_LIMIT:g} s "
                f"without an answer, or ended with status {self._process.returncode}",
                fix="python -c 'import torch, executorch.exir' shows the error.",
            )
        self.preloaded = hello["preloaded"]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def send(self, job: str, *, limit: float, **arguments: Any) -> int:
        """Queues a job; its number comes back with the reply."""
        self._next += 1
        self._pending.add(self._next)
        line = {"id": self._next, "job": job, "arguments": arguments, "limit": limit}
        assert self._process.stdin
        with suppress(BrokenPipeError):  # a dead server shows when replies are awaited
            self._process.stdin.write(json.dumps(line).encode() + b"\n")
            self._process.stdin.flush()
        self._longest = max(getattr(self, "_longest", 0.0), limit)
        return self._next

    def replies(self) -> Iterator[tuple[int, Reply]]:
        """The replies to all queued jobs, in the order in which they end."""
        while self._pending:
            answer = self._line(self._longest + _GRACE)
            if answer is None:
                for number in sorted(self._pending):
                    yield number, Reply(Outcome.EXITED, detail="the examining process ended")
                self._pending.clear()
                return
            number = answer.pop("id")
            self._pending.discard(number)
            yield (
                number,
                Reply(
                    outcome=Outcome(answer["outcome"]),
                    results=tuple(answer["results"]),
                    detail=answer["detail"],
                    output=answer["output"],
                    seconds=answer["seconds"],
                    network=tuple(answer["network"]),
                    changes=tuple(answer["changes"]),
                ),
            )

    def ask(self, job: str, *, limit: float, **arguments: Any) -> Reply:
        """Queues one job and waits for it; nothing else may be pending."""
        number = self.send(job, limit=limit, **arguments)
        return dict(self.replies())[number]

    def _line(self, limit: float) -> dict[str, Any] | None:
        assert self._process.stdout
        source = self._process.stdout.fileno()
        deadline = time.monotonic() + limit
        while b"\n" not in self._read:
            ready, _, _ = select.select([source], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(source, 1 << 16) if ready else b""
            if not data:
                return None
            self._read += data
        line, _, rest = self._read.partition(b"\n")
        self._read = bytearray(rest)
        message: dict[str, Any] = json.loads(line)
        return message

    def _end(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with suppress(OSError):
                    stream.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()
