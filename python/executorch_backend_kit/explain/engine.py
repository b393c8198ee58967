"""`explain`: lowers a MODEL for one configuration and reports why operators stayed outside.

The calling process imports neither torch nor executorch: whatever a model or a backend does to a
process, it does to a worker.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot import configuration as configurations
from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.discovery import executorch_version
from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.compare import environment
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.compare.progress import Progress, Silent
from executorch_backend_kit.explain.kernels import needed
from executorch_backend_kit.report.explanation import Explanation
from executorch_backend_kit.report.finding import Finding, KitError, Severity
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker

_WORKER = "executorch_backend_kit.explain.worker"
_RUNNER = "executorch_backend_kit.explain.runner"
_OF_THE_MODEL = ("MODEL-",)


@dataclass(frozen=True)
class Limits:
    """How long.

    budget:     seconds for experiments
    time_limit: seconds that any one stage may take
    """

    budget: float = 15.0
    time_limit: float = 900.0


def explain(
    model: Path,
    backends: str = "xnnpack",
    *,
    options: Mapping[str, Mapping[str, str]] | None = None,
    limits: Limits | None = None,
    try_cures: bool = False,
    progress: Progress | None = None,
) -> Explanation:
    """Explains the lowering of the MODEL file `model` for a configuration such as "xnnpack".

    Raises ConfigurationError, ModelError, or WorkerError if no worker can be started.
    """
    if executorch_version() is None:
        raise ConfigurationError(
            "EXECUTORCH-MISSING",
            "ExecuTorch is not installed, and explaining needs it.",
            fix="pip install 'executorch>=1.4,<1.6'",
        )
    from executorch_backend_kit.explain.recipes import candidates

    given = options or {}
    configuration = configurations.parse(backends, candidates(), given)
    for name in given:
        if name not in {b.name for b in configuration.backends}:
            raise ConfigurationError(
                "BACKEND-OPTION-UNKNOWN",
                f"Options are given for {name!r}, which the configuration does not use.",
                evidence=f"configuration: {configuration.name}",
                fix="Add the backend to --backends or remove its options.",
            )
    session = _Session(
        model.resolve(), configuration, limits or Limits(), progress or Silent(), try_cures
    )
    try:
        return session.explain()
    finally:
        session.close()


class _Session:
    """One explanation: its workers, its temporary files and its stages in order."""

    def __init__(
        self,
        model: Path,
        configuration: Configuration,
        limits: Limits,
        progress: Progress,
        try_cures: bool,
    ) -> None:
        self._model = model
        self._configuration = configuration
        self._limits = limits
        self._progress = progress
        self._try = try_cures
        self._folder = Path(tempfile.mkdtemp(prefix="etbk-explain-"))
        self._workers: list[Worker] = []
        self._findings: list[dict[str, str]] = []
        self._kernels: list[str] | None = None
        self._begin = time.monotonic()

    def close(self) -> None:
        """Ends all processes and removes all temporary files."""
        for worker in self._workers:
            worker.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, module: str, name: str) -> Worker:
        worker = Worker(module, self._folder / f"{name}.log")
        self._workers.append(worker)
        return worker

    def explain(self) -> Explanation:
        """All stages."""
        names = [b.name for b in self._configuration.backends]
        worker = self._start(_WORKER, "explain")
        worker.receive()
        self._progress.update("model", 0.0, self._model.name)
        opened = self._ask_model(worker, names)
        document: dict[str, Any] = {"stages": opened["stages"]}
        emitted: dict[str, Any] = {"ok": False, "operators": []}
        cures: list[dict[str, Any]] = []
        if self._keep(opened):
            self._progress.update("lower", 0.0, self._configuration.name)
            document, emitted, cures = self._lower(worker, document)
        stages = [*document["stages"], *self._missing(document["stages"])]
        return self._report(document, stages, emitted, cures)

    def _ask_model(self, worker: Worker, names: list[str]) -> dict[str, Any]:
        try:
            return worker.ask(
                "open",
                self._limits.time_limit,
                model=str(self._model),
                folder=str(self._folder),
                backends=names,
            )
        except WorkerError as error:
            if error.finding.code.startswith(_OF_THE_MODEL):
                raise ModelError.of(error.finding) from error
            raise

    def _lower(
        self, worker: Worker, document: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
        options = {name: dict(o) for name, o in self._configuration.options.items()}
        emitted: dict[str, Any] = {"ok": False, "operators": []}
        names = [b.name for b in self._configuration.backends]
        try:
            lowered = worker.ask("lower", self._limits.time_limit, backends=names, options=options)
        except WorkerError as error:
            self._findings.append(error.finding.to_json())
            failed = {"stage": "lower", "status": "failed", "error": error.finding.message}
            return {**document, "stages": [*document["stages"], failed]}, emitted, []
        program = self._folder / "program.pte"
        if self._keep(lowered):
            emitted = worker.ask("emit", self._limits.time_limit, program=str(program))
            self._keep(emitted)
        document = worker.ask("survey", self._limits.time_limit)
        self._progress.update("experiments", 0.0)
        begin = time.monotonic()
        ran = self._run_beside(program) if emitted["ok"] else None
        cures: list[dict[str, Any]] = []
        try:
            limit = self._limits.time_limit
            document = worker.ask("experiment", limit, budget=self._limits.budget)
            cures = worker.ask("cures", limit, document=document, apply=self._try)["cures"]
        except WorkerError as error:
            self._findings.append(_no_experiments(error).to_json())
        self._mention_budget(document, time.monotonic() - begin)
        if ran is not None:
            stages, findings = ran.result()
            document["stages"] = [*document["stages"], *stages]
            self._findings += findings
            self._kernels = ran.kernels
        return document, emitted, cures

    def _run_beside(self, program: Path) -> _Run:
        run = _Run(
            self._start(_RUNNER, "run"),
            program,
            self._folder,
            self._configuration,
            self._limits.time_limit,
        )
        run.start()
        return run

    def _keep(self, reply: dict[str, Any]) -> bool:
        """Keeps the finding of a stage that failed; True if it did not."""
        finding = reply.get("finding_of_stage")
        if finding:
            self._findings.append(finding)
        return finding is None

    def _mention_budget(self, document: dict[str, Any], seconds: float) -> None:
        left = document["experiments"]["not_tried"]
        if left:
            finding = Finding(
                "EXPLAIN-BUDGET-SPENT",
                f"{left} units were not tried, since the time for experiments was up.",
                evidence=f"budget {self._limits.budget:g} s, used {seconds:.1f} s",
                fix=f"etbk explain ... --budget {self._limits.budget * 4:g}",
                severity=Severity.WARNING,
            )
            self._findings.append(finding.to_json())

    @staticmethod
    def _missing(stages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        done = {stage["stage"] for stage in stages}
        names = ("export", "lower", "to_executorch", "load", "execute")
        return [
            {"stage": name, "status": "skipped", "error": None}
            for name in names
            if name not in done
        ]

    def _report(
        self,
        document: dict[str, Any],
        stages: list[dict[str, Any]],
        emitted: dict[str, Any],
        cures: list[dict[str, Any]],
    ) -> Explanation:
        seconds = dict(document.get("seconds", {}))
        seconds["total"] = round(time.monotonic() - self._begin, 2)
        return Explanation(
            model=str(self._model),
            configuration=self._configuration.name,
            backends=tuple(document.get("backends", ())),
            summary=document.get("summary"),
            stages=tuple(stages),
            nodes=tuple(document.get("nodes", ())),
            blockers=tuple(document.get("blockers", ())),
            cures=tuple(cures),
            kernels_needed=tuple(needed(emitted["operators"], self._kernels)),
            experiments={**document.get("experiments", {}), "budget": self._limits.budget},
            findings=(*document.get("findings", ()), *self._findings),
            seconds=seconds,
            environment=environment.describe(list(self._configuration.backends)),
        )


def _no_experiments(error: WorkerError) -> Finding:
    return Finding(
        "EXPLAIN-EXPERIMENTS-FAILED",
        "The process that made the experiments ended before it was done: reasons are those that "
        "need none.",
        evidence=f"{error.finding.message} {error.finding.evidence}".strip(),
        fix="etbk explain ... --budget 0 makes no experiments.",
        severity=Severity.WARNING,
    )


class _Run(threading.Thread):
    """Loads the program and runs it once, in a process of its own."""

    def __init__(
        self,
        worker: Worker,
        program: Path,
        folder: Path,
        configuration: Configuration,
        limit: float,
    ) -> None:
        super().__init__(daemon=True)
        self._worker = worker
        self._program = program
        self._folder = folder
        self._configuration = configuration
        self._limit = limit
        self._stages: list[dict[str, Any]] = []
        self._findings: list[dict[str, str]] = []
        self.kernels: list[str] | None = None

    def run(self) -> None:
        used = self._configuration.backends
        try:
            self.kernels = self._worker.receive()["kernels"]
            self._stage(
                "load",
                program=str(self._program),
                inputs=[str(self._folder / "inputs")],
                backends=[b.id for b in used if b.id.encode() in self._program.read_bytes()],
                plugins=[str(b.runtime_library) for b in used if b.runtime_library is not None],
            )
            self._stage("first", outputs=[str(self._folder / "outputs")])
        except KitError as error:
            finding = error.finding
            stage = "execute" if self._stages else "load"
            said = f"{finding.message} {finding.evidence}".strip()
            self._stages.append({"stage": stage, "status": "failed", "error": said})
            self._findings.append(finding.to_json())

    def _stage(self, operation: str, **request: Any) -> None:
        self._worker.ask(operation, self._limit, **request)
        name = {"first": "execute"}.get(operation, operation)
        self._stages.append({"stage": name, "status": "ok", "error": None})

    def result(self) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
        """The stages, and the finding if one failed."""
        self.join()
        return self._stages, self._findings
