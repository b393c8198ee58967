"""The parent's side of the worker protocol: start, ask, wait, and notice how a worker died."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.workers.errors import WorkerError

_NOISE = "cpuinfo_utils.cpp:"  # ExecuTorch's search for the kind of CPU; says nothing here

_LONGEST = 1e6  # seconds that the system can wait at once, and more than anybody will

START_LIMIT = 180.0  # seconds until a worker says hello; importing torch can be slow


class Worker:
    """A child process that answers JSON requests. Used by one thread."""

    def __init__(self, command: str | Sequence[str], log: Path, limit: float = START_LIMIT) -> None:
        """`command`: a Python module that serves, or the words of another program's command."""
        self.log = log
        self.ended = False
        self.stage = "start"
        self.limit = limit
        self.deadline = time.monotonic() + min(limit, _LONGEST)
        self._log_file: IO[bytes] = log.open("ab")
        self._stage_log = 0  # where the log of the current stage begins
        self._buffer = b""
        self._process = subprocess.Popen(
            [sys.executable, "-m", command] if isinstance(command, str) else list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log_file,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which then ends its workers
            env={
                **os.environ,
                "PYTHONSAFEPATH": "1",
                "PYTHONUNBUFFERED": "1",
                "TMPDIR": str(log.parent),  # what torch or a vendor leaves behind goes with the log
            },
        )

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def send(self, operation: str, limit: float, **request: Any) -> None:
        """Sends a request; its reply is due in `limit` seconds: see `receive` and `wait_any`."""
        self.stage = operation
        self._stage_log = self.log.stat().st_size
        self.limit = limit
        self.deadline = time.monotonic() + min(limit, _LONGEST)
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"do": operation, **request}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def ask(self, operation: str, limit: float, **request: Any) -> dict[str, Any]:
        """Sends a request and waits for its reply; raises WorkerError."""
        self.send(operation, limit, **request)
        return self.receive()

    def receive(self) -> dict[str, Any]:
        """Waits for the reply; raises WorkerError."""
        _, reply = wait_any([self])
        if isinstance(reply, WorkerError):
            raise reply
        return reply

    def stop(self) -> None:
        """Ends the process: asks by closing its stdin, then kills it and all it started."""
        if self._process.stdin and not self._process.stdin.closed:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        self.kill()

    def kill(self) -> None:
        """Ends the process and all it started, now."""
        self.ended = True
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._log_file.close()

    def fileno(self) -> int:
        """For select."""
        assert self._process.stdout
        return self._process.stdout.fileno()

    def take_reply(self) -> dict[str, Any] | WorkerError | None:
        """Reads what is there; the reply if it is complete, the failure if the process is gone."""
        chunk = os.read(self.fileno(), 1 << 16)
        if not chunk:
            return self._died()
        self._buffer += chunk
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return None
        self._buffer = rest
        reply: dict[str, Any] = json.loads(line)
        if "finding" in reply:
            return WorkerError.of(Finding.from_json(reply["finding"]))
        return reply

    def hung(self) -> WorkerError:
        """The failure of a worker that did not answer in time. Kills it."""
        self.kill()
        return WorkerError(
            "WORKER-HUNG",
            f"There was no answer in stage {self.stage!r} for {self.limit:g} s; the process was "
            "ended.",
            evidence=self.log_tail(),
            fix="Raise --time-limit if the stage really needs longer.",
        )

    def _died(self) -> WorkerError:
        self.ended = True
        code = self._process.wait()
        if code >= 0:
            return WorkerError(
                "WORKER-EXITED",
                f"The process ended by itself in stage {self.stage!r} with exit code {code}.",
                evidence=self.log_tail(),
                fix="See the evidence.",
            )
        name = signal.Signals(-code).name
        memory = " Too little memory is the usual cause." if name == "SIGKILL" else ""
        return WorkerError(
            "WORKER-KILLED",
            f"The process was killed by {name} in stage {self.stage!r}.{memory}",
            evidence=self.log_tail(),
            fix="Run it again under a debugger, or report it to the maker of the backend.",
        )

    def log_tail(self, lines: int = 3, width: int = 300) -> str:
        """The last lines that the process wrote to stderr in the current stage."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(self._stage_log, self.log.stat().st_size - 8192))
                text = file.read().decode(errors="replace")
        except OSError:
            return ""
        said = [line.strip()[:width] for line in text.splitlines()]
        return " | ".join([line for line in said if line and _NOISE not in line][-lines:])


def wait_any(workers: Collection[Worker]) -> tuple[Worker, dict[str, Any] | WorkerError]:
    """The first of these workers to reply, to die or to pass its deadline."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.fileno(), selectors.EVENT_READ, worker)
        next_due = min(workers, key=lambda w: w.deadline)
        while (left := next_due.deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                worker = key.data
                reply = worker.take_reply()
                if reply is not None:
                    return worker, reply
    return next_due, next_due.hung()


def stop_all(workers: Iterable[Worker]) -> None:
    """Ends every worker."""
    for worker in workers:
        worker.stop()
