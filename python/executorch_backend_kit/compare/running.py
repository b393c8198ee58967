"""Runs the program of one row in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.compare.cache import Program
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker, wait_any

_MODULE = "executorch_backend_kit.compare.run_worker"
_STARTING_AT_ONCE = 2


@dataclass
class Run:
    """A process that has, or will have, one program loaded. Every call may raise WorkerError."""

    configuration: Configuration
    program: Program
    worker: Worker
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
            raise self._with_log(error) from error

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
        )
        self.findings += [Finding.from_json(f) for f in loaded.pop("findings")]
        self.facts |= loaded
        self.facts |= self.worker.ask(
            "first", self.limit, outputs=[str(self.outputs / str(n)) for n in range(len(inputs))]
        )

    def run(self, count: int) -> tuple[float, float]:
        """Runs the first input set `count` times; median and minimum in milliseconds."""
        reply = self.worker.ask("time", self.limit, count=count)
        return reply["median_ns"] / 1e6, reply["minimum_ns"] / 1e6


def start_all(
    programs: Sequence[tuple[Configuration, Program]], folder: Path, limit: float, runs: list[Run]
) -> None:
    """Starts a process for each program and waits until all are ready or have failed.

    Each is added to `runs` as soon as there is something to end.
    """
    starting: dict[Worker, Run] = {}

    def wait() -> None:
        worker, reply = wait_any(starting.keys())
        run = starting.pop(worker)
        run.failure = reply if isinstance(reply, WorkerError) else None

    for number, (configuration, program) in enumerate(programs):
        if len(starting) == _STARTING_AT_ONCE:
            wait()
        worker = Worker(_MODULE, folder / f"run-{number}.log")
        outputs = folder / f"outputs-{number}"
        starting[worker] = Run(configuration, program, worker, outputs, limit)
        runs.append(starting[worker])
    while starting:
        wait()
