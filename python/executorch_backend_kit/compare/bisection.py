"""Finds the first node where a configuration's numbers leave the tolerance.

Parts of the model are lowered and run like the whole: everything up to a node in the middle, then
in the middle of the half that is left. The node found is then tried alone; the smallest program
that is wrong is kept with its inputs and the right outputs.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.compare.cache import Program
from executorch_backend_kit.compare.running import Run, start_all
from executorch_backend_kit.compare.workshop import Workshop
from executorch_backend_kit.workers.errors import WorkerError


@dataclass(frozen=True)
class _Part:
    """A part of the model that was lowered and run."""

    folder: Path
    program: Program
    operator: str
    numerics: dict[str, Any]

    @property
    def wrong(self) -> bool:
        return not self.numerics["pass"]


@dataclass(frozen=True)
class Bisection:
    """Searches in the prepared model of one comparison."""

    workshop: Workshop
    model: str
    folder: Path  # of the comparison: program.pt2 and inputs
    sets: int
    tolerance: tuple[float, float] | None
    limit: float

    def search(self, configuration: Configuration, keep: Path) -> dict[str, Any]:
        """The field `bisect` of a row; raises WorkerError if a part cannot be lowered or run."""
        names = self.workshop.ask("nodes", folder=str(self.folder))["nodes"]
        good, bad = -1, len(names) - 1
        found = self._try(configuration, names[bad], "prefix")
        steps = 1
        while found.wrong and bad - good > 1:
            middle = (good + bad) // 2
            part = self._try(configuration, names[middle], "prefix")
            steps += 1
            if part.wrong:
                bad, found = middle, part
            else:
                good = middle
        if not found.wrong:
            raise WorkerError(
                "BISECT-NOT-FOUND",
                "The whole model is wrong, and no part of it is: nothing could be narrowed down.",
                evidence=f"parts tried: {steps}",
                fix="The error may come from how the outputs are returned; report the model.",
            )
        single = self._try(configuration, names[bad], "alone")
        smallest, form = (single, "alone") if single.wrong else (found, "prefix")
        return {
            "node": names[bad],
            "operator": smallest.operator,
            "delegates": [d.id for d in smallest.program.delegation.delegates],
            "form": form,
            "steps": steps + 1,
            "numerics": smallest.numerics,
            **_keep(smallest, keep),
        }

    def _try(self, configuration: Configuration, node: str, form: str) -> _Part:
        folder = self.folder / "bisect" / f"{form}-{node}"
        folder.mkdir(parents=True, exist_ok=True)
        cut = self.workshop.ask(
            "cut", folder=str(self.folder), node=node, form=form, into=str(folder), sets=self.sets
        )
        lowered = self.workshop.ask(
            "lower",
            model=self.model,
            folder=str(folder),
            backends=[b.name for b in configuration.backends],
            options={name: dict(o) for name, o in configuration.options.items()},
            outputs=[str(folder / "program.pte")],
        )
        program = Program(
            Path(lowered["path"]),
            lowered["sha256"],
            lowered["bytes"],
            DelegationReport.from_json(lowered["delegation"]),
            lowered["seconds"],
        )
        runs: list[Run] = []
        try:
            start_all([(configuration, program)], folder, self.limit, runs)
            if runs[0].failure:
                raise runs[0].failure
            runs[0].load_and_run([folder / "inputs" / str(n) for n in range(self.sets)])
        finally:
            for run in runs:
                run.worker.stop()
        answer = self.workshop.ask(
            "check",
            model=self.model,
            folder=str(folder),
            outputs=str(runs[0].outputs),
            sets=self.sets,
            tolerance=self.tolerance,
            describe=False,
        )
        return _Part(folder, program, cut["operator"], answer["numerics"])


def _keep(part: _Part, keep: Path) -> dict[str, str]:
    """Copies the program, its inputs and the right outputs to where they stay."""
    shutil.rmtree(keep, ignore_errors=True)
    keep.mkdir(parents=True)
    shutil.copyfile(part.program.path, keep / "program.pte")
    shutil.copytree(part.folder / "inputs", keep / "inputs")
    shutil.copytree(part.folder / "reference", keep / "expected")
    return {
        "program": str(keep / "program.pte"),
        "inputs": str(keep / "inputs"),
        "expected": str(keep / "expected"),
    }
