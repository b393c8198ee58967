"""The worker's side of the protocol: one JSON request a line on stdin, one JSON reply on stdout.

A reply is the operation's result, or {"finding": {...}, "stage": "..."}. Whatever else the process
prints goes to stderr: file descriptor 1 is moved away before any other code runs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.report.finding import Finding, KitError

Operation = Callable[[dict[str, Any]], dict[str, Any]]


def serve(hello: Callable[[], dict[str, Any]], operations: Mapping[str, Operation]) -> None:
    """Answers `hello` once, then each request, until stdin ends.

    Code of a model may fork: only the process that began to serve answers.
    """
    own = os.getpid()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        _die_with_parent()
        _reply(replies, own, "start", lambda _: hello(), {})
        for line in sys.stdin:
            request = json.loads(line)
            name = request["do"]
            _reply(replies, own, name, operations[name], request)


def _reply(
    replies: Any, own: int, stage: str, operation: Operation, request: dict[str, Any]
) -> None:
    try:
        answer = operation(request)
    except KitError as error:
        answer = {"finding": error.finding.to_json(), "stage": stage}
    except MemoryError as error:
        answer = _failure(stage, "OUT-OF-MEMORY", "Memory ran out", error)
    except OSError as error:
        answer = _failure(stage, "FILE-ACCESS-FAILED", "A file could not be read or written", error)
    except Exception as error:  # the code of a model or a vendor may raise anything
        answer = _failure(stage, "WORKER-ERROR", "An unexpected error came up", error)
    if os.getpid() != own:
        os._exit(0)
    print(json.dumps(answer), file=replies, flush=True)


def _failure(stage: str, code: str, what: str, error: BaseException) -> dict[str, Any]:
    finding = Finding(
        code,
        f"{what} in stage {stage!r}.",
        evidence=summary(error),
        fix="See the evidence; free memory or disk space if it says so.",
    )
    return {"finding": finding.to_json(), "stage": stage}


def _die_with_parent() -> None:
    """On Linux, a worker that hangs in native code does not outlive its parent."""
    if sys.platform == "linux":
        import ctypes
        import signal

        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
