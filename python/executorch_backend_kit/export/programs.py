"""The programs of plans: from the cache, or made by worker processes from their snippets."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.aot.discovery import executorch_version
from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.compare import environment, package_digest
from executorch_backend_kit.compare.cache import Cache, Program, key_of
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.compare.lowering_jobs import Export
from executorch_backend_kit.compare.progress import Progress
from executorch_backend_kit.compare.workshop import Workshop
from executorch_backend_kit.knowledge import Backend
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.select import needs
from executorch_backend_kit.select.plan import Plan
from executorch_backend_kit.workers.errors import WorkerError

_MODULE = "executorch_backend_kit.export.worker"
_NOT_THE_MODELS_FAULT = ("FILE-ACCESS-FAILED", "OUT-OF-MEMORY", "PROGRAM-NOT-WRITTEN")

Done = Callable[[Plan, "Export"], None]


@dataclass(frozen=True)
class Making:
    """How programs are made: the time for one stage, the cache, calibration data."""

    time_limit: float = 900.0
    use_cache: bool = True
    inputs: Path | None = None


class Programs:
    """The programs of one MODEL; a context manager, since it owns workers and temporary files."""

    def __init__(
        self, model: Path, making: Making, cache: Cache | None, progress: Progress
    ) -> None:
        if executorch_version() is None:
            raise ConfigurationError(
                "EXECUTORCH-MISSING",
                "ExecuTorch is not installed, and lowering a MODEL needs it.",
                fix="pip install 'executorch>=1.4,<1.6'",
            )
        self.findings: list[Finding] = []
        self.environment = environment.describe([])
        self._model = model.resolve()
        self._making = making
        self._cache = cache if making.use_cache else None
        self._progress = progress
        self._folder = Path(tempfile.mkdtemp(prefix="etbk-export-"))
        self._workshop = Workshop(self._folder, making.time_limit, _MODULE)

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        self._workshop.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def prepare(self) -> dict[str, Any]:
        """Exports the MODEL; what it is and what it needs. Raises ModelError."""
        self._progress.update("model", 0.0, self._model.name)
        inputs = self._making.inputs
        try:
            self._facts = self._workshop.ask(
                "prepare",
                model=str(self._model),
                folder=str(self._folder),
                inputs=None if inputs is None else str(inputs.resolve()),
            )
        except WorkerError as error:
            if error.finding.code in _NOT_THE_MODELS_FAULT:
                raise
            raise ModelError.of(error.finding) from error
        self.findings += [Finding.from_json(f) for f in self._facts["findings"]]
        return self._facts

    def key(self, plan: Plan) -> str:
        """Everything that decides what the snippet makes of the model."""
        chain = plan.chain
        calibration = self._facts["calibration"]["sha256"] if plan.snippet.quantizes else ""
        return key_of(
            {
                "program": self._facts["fingerprint"],
                "code": plan.snippet.code,
                "calibration": calibration,
                "kit": [executorch_backend_kit.__version__, package_digest.of_lowering()],
                "torch": self.environment["torch"],
                "executorch": self.environment["executorch"],
                "packages": {name: _version(name) for b in chain for name in _packages(b)},
                "described": [b.origin for b in chain if b.origin.startswith("descriptor")],
            }
        )

    def make(self, plans: Sequence[Plan], done: Done) -> None:
        """The program of each plan; `done` is told as each is there or has failed."""
        jobs: dict[str, tuple[list[Plan], Path]] = {}
        for plan in plans:
            key = self.key(plan)
            if key in jobs:
                jobs[key][0].append(plan)
                continue
            kept = self._cache.find(key) if self._cache else None
            if isinstance(kept, Program):
                done(plan, Export(kept, cached=True))
                continue
            if isinstance(kept, Finding):
                self.findings.append(kept)
            jobs[key] = ([plan], self._place(key))
        left = dict.fromkeys(jobs)

        def finished(key: str, reply: dict[str, Any] | WorkerError) -> None:
            left.pop(key)
            same, place = jobs[key]
            export = self._export(key, place, reply)
            for plan in same:
                done(plan, export)
            self._tell(left, jobs)

        self._tell(left, jobs)
        try:
            requests = [(k, self._request(k, same[0], place)) for k, (same, place) in jobs.items()]
            self._workshop.share("lower", requests, finished)
        finally:
            for key in left:
                jobs[key][1].unlink(missing_ok=True)

    def _place(self, key: str) -> Path:
        staging = self._cache.staging_file() if self._cache else None
        if isinstance(staging, Finding):
            self.findings.append(staging)
            self._cache, staging = None, None
        return staging or self._folder / f"{key}.pte"

    def _request(self, key: str, plan: Plan, place: Path) -> dict[str, Any]:
        return {
            "model": str(self._model),
            "folder": str(self._folder),
            "name": plan.name,
            "code": plan.snippet.code,
            "backends": [{"name": b.name, "id": b.id} for b in plan.chain if b.id],
            "outputs": [str(place), str(self._folder / f"{key}.pte")],
        }

    def _export(self, key: str, place: Path, reply: dict[str, Any] | WorkerError) -> Export:
        if isinstance(reply, WorkerError):
            place.unlink(missing_ok=True)
            return Export(None, failure=reply)
        self.findings += [Finding.from_json(f) for f in reply["findings"]]
        program = Program(
            Path(reply["path"]),
            reply["sha256"],
            reply["bytes"],
            DelegationReport.from_json(reply["delegation"]),
            reply["seconds"],
        )
        if self._cache and program.path == place:
            program, finding = self._cache.keep(key, program)
            self.findings += [finding] if finding else []
        return Export(program)

    def _tell(self, left: Mapping[str, Any], jobs: Mapping[str, Any]) -> None:
        if jobs:
            names = [jobs[key][0][0].name for key in left]
            self._progress.update("lower", 1 - len(left) / len(jobs), ", ".join(names))


def missing_to_lower(plan: Plan) -> list[dict[str, Any]]:
    """Prerequisites of lowering by this plan that are not on this machine."""
    return [
        p
        for p in needs.prerequisites(plan.contender, plan.chain)
        if p["here"] is False and p["needed_to"] in ("import", "lower")
    ]


def node_share(report: DelegationReport, backend: Backend) -> float | None:
    """The share of nodes that the backend took: delegated, or replaced by its own operators."""
    if backend.id:
        return report.node_share if any(d.id == backend.id for d in report.delegates) else 0.0
    own = {
        operator.partition("::")[0]
        for operator in backend.texts("export", "operators")
        if not operator.startswith("aten::")
    }
    if not own:
        return None
    total = report.nodes_delegated + report.nodes_left
    taken = sum(n for name, n in report.operators_left.items() if name.partition(".")[0] in own)
    return taken / total if total else None


def _packages(backend: Backend) -> list[str]:
    return [need["package"] for need in backend.get("requires", default=())]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
