"""Gets the program of each configuration: from the cache, or lowered in worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.compare import package_digest
from executorch_backend_kit.compare.cache import Cache, Program, key_of
from executorch_backend_kit.compare.progress import Progress
from executorch_backend_kit.compare.workshop import Workshop
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.workers.errors import WorkerError


@dataclass(frozen=True)
class Prepared:
    """A MODEL that was exported: where its files are, and what lowering it depends on."""

    model: Path
    folder: Path
    fingerprint: str
    environment: dict[str, Any]


@dataclass(frozen=True)
class Export:
    """A configuration's program, or why there is none."""

    program: Program | None
    cached: bool = False
    failure: WorkerError | None = None


@dataclass(frozen=True)
class Job:
    """What is lowered for one configuration, and where the program goes first."""

    configuration: Configuration
    key: str
    staging: Path


def key(configuration: Configuration, prepared: Prepared) -> str:
    """The cache key: everything that decides what lowering makes."""
    return key_of(
        {
            "program": prepared.fingerprint,
            "kit": [executorch_backend_kit.__version__, package_digest.of_lowering()],
            "torch": prepared.environment["torch"],
            "executorch": prepared.environment["executorch"],
            "backends": [
                {
                    "name": b.name,
                    "id": b.id,
                    "package": [b.package, b.version],
                    "code": package_digest.of_backend(b),
                    "options": dict(configuration.options.get(b.name, {})),
                }
                for b in configuration.backends
            ],
        }
    )


class Exports:
    """The exports of one comparison, by configuration."""

    def __init__(self, prepared: Prepared, cache: Cache | None, progress: Progress) -> None:
        self.findings: list[Finding] = []
        self._prepared = prepared
        self._cache = cache
        self._progress = progress
        self._exports: dict[str, Export] = {}
        self._jobs: dict[str, Job] = {}

    def of(self, configuration: Configuration) -> Export:
        """The export of a configuration that was given to `make`."""
        return self._exports[key(configuration, self._prepared)]

    def make(self, configurations: Sequence[Configuration], workshop: Workshop) -> None:
        """Fills itself, each distinct configuration once."""
        for configuration in configurations:
            self._plan(configuration, key(configuration, self._prepared))
        self._tell()
        try:
            requests = [(job, self._request(job)) for job in self._jobs.values()]
            workshop.share("lower", requests, self._done)
        finally:
            for job in self._jobs.values():
                if job.key not in self._exports:
                    job.staging.unlink(missing_ok=True)

    def _plan(self, configuration: Configuration, identity: str) -> None:
        if identity in self._exports or identity in self._jobs:
            return
        kept = self._cache.find(identity) if self._cache else None
        if isinstance(kept, Program):
            self._exports[identity] = Export(kept, cached=True)
            return
        if kept is not None:
            self.findings.append(kept)
        staging = self._cache.staging_file() if self._cache else None
        if isinstance(staging, Finding):
            self.findings.append(staging)
            self._cache, staging = None, None
        place = staging or self._prepared.folder / f"{identity}.pte"
        self._jobs[identity] = Job(configuration, identity, place)

    def _request(self, job: Job) -> dict[str, Any]:
        folder = self._prepared.folder
        return {
            "model": str(self._prepared.model),
            "folder": str(folder),
            "backends": [b.name for b in job.configuration.backends],
            "options": {name: dict(o) for name, o in job.configuration.options.items()},
            "outputs": [str(job.staging), str(folder / f"{job.key}.pte")],
        }

    def _done(self, job: Job, reply: dict[str, Any] | WorkerError) -> None:
        if isinstance(reply, WorkerError):
            job.staging.unlink(missing_ok=True)
            self._exports[job.key] = Export(None, failure=reply)
        else:
            self.findings += [Finding.from_json(f) for f in reply["findings"]]
            self._exports[job.key] = Export(self._keep(job, reply))
        self._tell()

    def _keep(self, job: Job, reply: dict[str, Any]) -> Program:
        program = Program(
            Path(reply["path"]),
            reply["sha256"],
            reply["bytes"],
            DelegationReport.from_json(reply["delegation"]),
            reply["seconds"],
        )
        if self._cache and program.path == job.staging:
            program, finding = self._cache.keep(job.key, program)
            self.findings += [finding] if finding else []
        return program

    def _tell(self) -> None:
        left = [j.configuration.name for j in self._jobs.values() if j.key not in self._exports]
        if self._jobs:
            self._progress.update("lower", 1 - len(left) / len(self._jobs), ", ".join(left))
