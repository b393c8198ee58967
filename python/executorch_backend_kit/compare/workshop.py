"""The export workers of one comparison: at most two, replaced when they die."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker, stop_all, wait_any

MAXIMUM_WORKERS = 2
EXPORT_WORKER = "executorch_backend_kit.compare.export_worker"

Job = TypeVar("Job")


class Workshop:
    """Starts export workers as they are needed and gives them work."""

    def __init__(self, logs: Path, limit: float, module: str = EXPORT_WORKER) -> None:
        self._module = module
        self._logs = logs
        self._limit = limit
        self._workers: list[Worker] = []
        self._started = 0

    def _start(self) -> Worker:
        self._started += 1
        worker = Worker(self._module, self._logs / f"export-{self._started}.log")
        self._workers.append(worker)
        return worker

    def ask(self, operation: str, **request: Any) -> dict[str, Any]:
        """One request to one worker; raises WorkerError."""
        self._workers = [w for w in self._workers if not w.ended]
        if not self._workers:
            self._start().receive()
        return self._workers[0].ask(operation, self._limit, **request)

    def share(
        self,
        operation: str,
        jobs: Iterable[tuple[Job, dict[str, Any]]],
        done: Callable[[Job, dict[str, Any] | WorkerError], None],
    ) -> None:
        """Spreads requests over the workers; `done` is called for each as it ends."""
        pending = list(jobs)
        running: dict[Worker, Job | None] = {}  # None: the worker is starting
        while pending or running:
            self._workers = [w for w in self._workers if not w.ended]
            for worker in self._workers:
                if worker not in running and pending:
                    job, request = pending.pop(0)
                    running[worker] = job
                    worker.send(operation, self._limit, **request)
            starting = sum(job is None for job in running.values())
            if len(pending) > starting and len(self._workers) < MAXIMUM_WORKERS:
                running[self._start()] = None
                continue
            worker, reply = wait_any(running.keys())
            finished = running.pop(worker)
            if finished is not None:
                done(finished, reply)
            elif isinstance(reply, WorkerError):
                raise reply

    def close(self) -> None:
        """Ends all workers."""
        stop_all(self._workers)
        self._workers = []
