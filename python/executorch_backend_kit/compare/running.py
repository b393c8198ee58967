"""Runs the program of one row in a process of its own.

The process is etbk-run where that can run the program, so that no Python is around what is
measured; otherwise a Python process with `executorch.runtime`. Both speak the same protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.compare import runner
from executorch_backend_kit.compare.cache import Program
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker, wait_any

_PYTHON_WORKER = "executorch_backend_kit.compare.run_worker"
PYTHON = "python"
_STARTING_AT_ONCE = 2

# A Python process may have what etbk-run has not: backends and kernels that packages register when
# they are imported.
_PYTHON_MAY_HAVE = ("RUNTIME-BACKEND-MISSING", "RUNTIME-OPERATOR-MISSING")


@dataclass
class Run:
    """A process that has, or will have, one program loaded. Every call may raise WorkerError."""

    configuration: Configuration
    program: Program
    worker: Worker
    kind: str  # "etbk-run" or "python"
    outputs: Path
    limit: float
    failure: WorkerError | None = None  # of starting
    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def load_and_run(self, inputs: list[Path]) -> None:
        """Loads the program, runs each input set once, keeps what was measured in `facts`."""
        try:
            self._load_and_run(inputs)
        except WorkerError as error:
            if self.kind == PYTHON or error.finding.code not in _PYTHON_MAY_HAVE:
                raise self._with_log(error) from error
            self._use_python(error)
            try:
                self._load_and_run(inputs)
            except WorkerError as second:
                raise self._with_log(second) from second

    def _use_python(self, reason: WorkerError) -> None:
        self.worker.stop()
        self.worker = Worker(_PYTHON_WORKER, self.worker.log)
        self.kind = PYTHON
        backends = self.worker.receive()["backends"]
        missing = [d.id for d in self.program.delegation.delegates if d.id not in backends]
        if reason.finding.code == "RUNTIME-BACKEND-MISSING" and missing:
            raise self._with_log(reason) from reason

    def _with_log(self, error: WorkerError) -> WorkerError:
        """The error with what ExecuTorch or the backend wrote to the log, if it has not got it."""
        finding, log = error.finding, self.worker.log_tail()
        if not log or log in finding.evidence:
            return error
        evidence = f"{finding.evidence}; log: {log}"
        return WorkerError(finding.code, finding.message, evidence=evidence, fix=finding.fix)

    def _load_and_run(self, inputs: list[Path]) -> None:
        delegates = {d.id for d in self.program.delegation.delegates}
        used = [b for b in self.configuration.backends if b.id in delegates]
        loaded = self.worker.ask(
            "load",
            self.limit,
            program=str(self.program.path),
            inputs=[str(p) for p in inputs],
            backends=[b.id for b in used],
            plugins=[str(b.runtime_library) for b in used if b.runtime_library is not None],
            operators=[] if self.kind == PYTHON else _operators(self.program.path),
        )
        self.findings += [Finding.from_json(f) for f in loaded["findings"]]
        first = self.worker.ask(
            "first", self.limit, outputs=[str(self.outputs / str(n)) for n in range(len(inputs))]
        )
        measured = {**loaded, **first, "worker": self.kind}
        self.facts = {key: measured.get(key) for key in _FACTS}

    def run(self, count: int) -> tuple[float, float]:
        """Runs the first input set `count` times; median and minimum in milliseconds."""
        reply = self.worker.ask("time", self.limit, count=count)
        return reply["median_ns"] / 1e6, reply["minimum_ns"] / 1e6

    def delegate_shares(self) -> dict[str, Any] | None:
        """How often delegates were called in one more run, and their share of its time.

        None where it cannot be seen.
        """
        if self.kind == PYTHON:
            return None
        reply = self.worker.ask("shares", self.limit)
        spent = sum(d["execute_ms"] for d in reply["delegates"])
        return {
            "calls": sum(d["calls"] for d in reply["delegates"]),
            "time_share": min(1.0, spent / reply["total_ms"]) if reply["total_ms"] > 0 else None,
        }


def _operators(path: Path) -> list[str]:
    """The kernels that the program calls; none if the file does not tell."""
    try:
        with ProgramFile.open(path) as file:
            methods = file.inspect()["methods"]
    except PteError:
        return []
    return sorted(
        {
            op["name"] + (f".{op['overload']}" if op["overload"] else "")
            for method in methods
            for op in method["operators"]
        }
    )


_FACTS = (
    "worker",
    "load_mode",
    "load_ms",
    "first_ms",
    "rss_mib",
    "anon_rss_mib",
    "file_rss_mib",
    "planned_bytes",
    "threads",
)


def start_all(
    programs: Sequence[tuple[Configuration, Program]], folder: Path, limit: float, runs: list[Run]
) -> None:
    """Starts a process for each program and waits until all are ready or have failed.

    Each is added to `runs` as soon as there is something to end.
    """
    starting: dict[Worker, Run] = {}
    without_python = runner.worker_command()

    def wait() -> None:
        worker, reply = wait_any(starting.keys())
        run = starting.pop(worker)
        run.failure = reply if isinstance(reply, WorkerError) else None

    for number, (configuration, program) in enumerate(programs):
        if len(starting) == _STARTING_AT_ONCE:
            wait()
        worker = Worker(without_python or _PYTHON_WORKER, folder / f"run-{number}.log")
        outputs = folder / f"outputs-{number}"
        kind = runner.NAME if without_python else PYTHON
        starting[worker] = Run(configuration, program, worker, kind, outputs, limit)
        runs.append(starting[worker])
    while starting:
        wait()
