"""The fork server: imports torch and ExecuTorch once, then forks one child for each job.

Started by `client`. Reads a job per line, as JSON, from stdin, and writes an answer per line:

    {"id", "job", "arguments", "limit"}
    {"id", "outcome": "done"|"crashed"|"exited"|"timed out", "results": [...], "detail", "output",
     "seconds", "network": [...], "changes": [...]}

A job yields results; what it yielded before a crash is kept. The first line written says what could
be imported: {"preloaded": {module: null | error}}.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TextIO

from executorch_backend_kit.probe import containment

PRELOADED = ("torch", "executorch.exir", "torchao.quantization.pt2e.quantize_pt2e")
_OUTPUT_KEPT = 4000


@dataclass
class _Child:
    """A job in a process of its own."""

    number: int
    pid: int
    pipe: int
    output: TextIO
    started: float
    limit: float
    text: bytearray = field(default_factory=bytearray)

    def left(self) -> float:
        """Seconds until its time is up."""
        return self.started + self.limit - time.monotonic()


def main() -> None:
    """Serves until stdin is closed."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    _say(answers, {"preloaded": {name: _preload(name) for name in PRELOADED}})
    waiting: deque[dict[str, Any]] = deque()
    running: dict[int, _Child] = {}
    at_once = max(1, min(4, os.cpu_count() or 1))
    asked = bytearray()
    open_for_jobs = True
    while open_for_jobs or waiting or running:
        while waiting and len(running) < at_once:
            child = _fork(waiting.popleft(), answers, running)
            running[child.pipe] = child
        sources = [*running, *([0] if open_for_jobs else [])]
        patience = min((child.left() for child in running.values()), default=None)
        ready, _, _ = select.select(sources, [], [], None if patience is None else max(0, patience))
        for source in ready:
            data = os.read(source, 1 << 16)
            if source == 0:
                open_for_jobs = bool(data)
                asked += data
                *lines, rest = asked.split(b"\n")
                asked = bytearray(rest)
                waiting.extend(json.loads(line) for line in lines)
            elif data:
                running[source].text += data
            else:
                _say(answers, _ended(running.pop(source), timed_out=False))
        for child in [c for c in running.values() if c.left() <= 0]:
            _say(answers, _ended(running.pop(child.pipe), timed_out=True))


def _preload(name: str) -> str | None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def _fork(job: dict[str, Any], answers: TextIO, others: dict[int, _Child]) -> _Child:
    reading, writing = os.pipe()
    output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(job["id"], pid, reading, output, time.monotonic(), job["limit"])
    status = 1
    try:
        os.setsid()
        answers.close()
        for pipe in (reading, *others):
            os.close(pipe)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _work(job, os.fdopen(writing, "w", encoding="utf-8"))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _work(job: dict[str, Any], pipe: TextIO) -> None:
    from executorch_backend_kit.probe import jobs

    attempts: list[str] = []
    containment.forbid_network(attempts)
    before = containment.state()
    for result in jobs.JOBS[job["job"]](**job["arguments"]):
        _say(pipe, {"result": result})
    changed = containment.changes(before, containment.state())
    _say(pipe, {"end": True, "network": attempts, "changes": changed})
    pipe.close()


def _ended(child: _Child, *, timed_out: bool) -> dict[str, Any]:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    _, status = os.waitpid(child.pid, 0)
    os.close(child.pipe)
    lines = [json.loads(line) for line in child.text.split(b"\n")[:-1]]
    end = next((line for line in lines if "end" in line), None)
    answer: dict[str, Any] = {
        "id": child.number,
        "results": [line["result"] for line in lines if "result" in line],
        "seconds": round(time.monotonic() - child.started, 3),
        "network": end["network"] if end else [],
        "changes": end["changes"] if end else [],
        "detail": "",
    }
    if timed_out:
        answer |= {"outcome": "timed out", "detail": f"no answer within {child.limit:g} s"}
    elif end:
        answer["outcome"] = "done"
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        name = signal.Signals(os.WTERMSIG(status)).name
        answer |= {"outcome": "crashed", "detail": f"ended by {name}"}
    elif os.WIFSIGNALED(status):
        answer |= {"outcome": "exited", "detail": "the process ended before its answer"}
    else:
        code = os.waitstatus_to_exitcode(status)
        answer |= {"outcome": "exited", "detail": f"ended with status {code} before its answer"}
    child.output.seek(0)
    answer["output"] = child.output.read()[-_OUTPUT_KEPT:]
    child.output.close()
    return answer


def _say(stream: TextIO, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
