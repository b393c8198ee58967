"""`compare`: exports a MODEL for several configurations, runs each, and judges them.

The calling process imports neither torch nor executorch: models, backends and runtimes live in
worker processes, so that a crash or a hang is a row with its reason.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.discovery import executorch_version
from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.compare import environment, model_name, row_facts
from executorch_backend_kit.compare.bisection import Bisection
from executorch_backend_kit.compare.busyness import BUSY, Busyness
from executorch_backend_kit.compare.cache import Cache, default_folder
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.compare.lines import Line, make_lines, program_line
from executorch_backend_kit.compare.lowering_jobs import Exports, Prepared
from executorch_backend_kit.compare.progress import Progress, Silent
from executorch_backend_kit.compare.rounds import Track, measure
from executorch_backend_kit.compare.running import Run, start_all
from executorch_backend_kit.compare.workshop import Workshop
from executorch_backend_kit.report.comparison import Comparison
from executorch_backend_kit.report.finding import Finding, Severity
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.scratch import Scratch

DEFAULT_BUDGET = 30.0
DEFAULT_TIME_LIMIT = 900.0

_NOT_THE_MODELS_FAULT = ("FILE-ACCESS-FAILED", "OUT-OF-MEMORY", "PROGRAM-NOT-WRITTEN")


@dataclass(frozen=True)
class Limits:
    """How long, and how exact.

    budget:     seconds for measuring latency, all rows together
    time_limit: seconds that one stage of one row may take
    tolerance:  (rtol, atol) for the outputs; by their dtype if None
    """

    budget: float = DEFAULT_BUDGET
    time_limit: float = DEFAULT_TIME_LIMIT
    tolerance: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name, value in (
            ("--budget", self.budget),
            ("--time-limit", self.time_limit),
            *zip(("--rtol", "--atol"), self.tolerance or (), strict=False),
        ):
            if not math.isfinite(value) or value < 0:
                raise ConfigurationError(
                    "NUMBER-NOT-FINITE",
                    f"{name} cannot be {value}.",
                    fix="Give a finite number that is not negative.",
                )


def compare(
    model: Path | str,
    backends: Sequence[str] | None = None,
    *,
    baseline: str | None = None,
    options: Mapping[str, Mapping[str, str]] | None = None,
    limits: Limits | None = None,
    inputs: Path | None = None,
    reference: str | None = None,
    bisect: Path | None = None,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> Comparison:
    """Compares configurations of a MODEL: a Python file, package.module:function, a .pt2 file.

    backends:  configurations such as "reference+xnnpack"; every usable backend if None
    baseline:  the configuration that latencies are compared with; the first if None
    options:   of each backend by its name, as text
    inputs:    a .pt file with input sets, in place of the MODEL's own
    reference: another MODEL whose eager outputs are the right ones, for example the float model
               behind a quantized one
    bisect:    a folder for the smallest program that shows what is wrong, for each wrong row

    A MODEL that is a finished .pte file is run as it is, and measured.

    Raises ConfigurationError, ModelError, or WorkerError if no worker can be started.
    """
    if executorch_version() is None:
        raise ConfigurationError(
            "EXECUTORCH-MISSING",
            "ExecuTorch is not installed, and comparing needs it.",
            fix="pip install 'executorch>=1.4,<1.6'",
        )
    question = Question(
        model_name.absolute(model),
        None if inputs is None else model_name.absolute(inputs),
        None if reference is None else model_name.absolute(reference),
        None if bisect is None else Path(model_name.absolute(bisect)),
    )
    limits, progress = limits or Limits(), progress or Silent()
    lines, base = (
        program_line(question.model, backends)
        if question.is_program
        else make_lines(backends, baseline, options or {})
    )
    session = _Session(question, lines, lines[base], limits, progress)
    try:
        return session.compare(Cache(default_folder()) if use_cache else None)
    finally:
        session.close()


@dataclass(frozen=True)
class Question:
    """What is compared, on what, and with what: names that every process finds."""

    model: str
    inputs: str | None = None
    reference: str | None = None
    bisect: Path | None = None  # where the smallest wrong programs go

    @property
    def is_program(self) -> bool:
        """True if the MODEL is a finished program: nothing is exported or lowered."""
        return Path(self.model).suffix == ".pte"

    @property
    def reference_name(self) -> str:
        """As reports name it."""
        return "eager" if self.reference is None else f"eager {Path(self.reference).name}"


class _Session:
    """One comparison: its workers, its temporary files, and its stages in order."""

    def __init__(
        self,
        question: Question,
        lines: list[Line],
        reference: Line,
        limits: Limits,
        progress: Progress,
    ) -> None:
        self._question = question
        self._model = question.model
        self._lines = lines
        self._reference = reference
        self._limits = limits
        self._progress = progress
        self._scratch = Scratch("compare")
        self._folder = self._scratch.path
        self._workshop = Workshop(self._folder, limits.time_limit)
        self._runs: list[Run] = []
        self._others: float | None = None  # busy processors while measuring
        self._interrupted = ""  # in which stage
        self._inputs: list[Path] = []

    def close(self) -> None:
        """Ends all workers and removes all temporary files."""
        for run in self._runs:
            run.worker.stop()
        self._workshop.close()
        self._scratch.remove()

    def compare(self, cache: Cache | None) -> Comparison:
        """All stages."""
        clock = _Clock()
        configured = [line.configuration for line in self._lines if line.configuration]
        backends = {b.name: b for configuration in configured for b in configuration.backends}
        found = environment.describe(list(backends.values()))
        self._progress.update("model", 0.0, Path(self._model).name)
        try:
            facts = self._facts()
        except WorkerError as error:
            if error.finding.code in _NOT_THE_MODELS_FAULT:
                raise
            raise _of_the_model(error) from error
        self._inputs = [self._folder / "inputs" / str(n) for n in range(len(facts["inputs"]))]
        clock.lap("model")
        findings = [Finding.from_json(f) for f in facts["findings"]]
        if not self._question.is_program:
            prepared = Prepared(Path(self._model), self._folder, facts["fingerprint"], found)
            exports = Exports(prepared, cache, self._progress)
            exports.make(configured, self._workshop)
            self._take_exports(exports)
            findings += exports.findings
        clock.lap("lower")
        with self._interruptible("first runs"):
            self._first_runs()
            if facts["checked"]:
                self._check()
        clock.lap("first runs")
        if not self._interrupted:
            self._measure()
        clock.lap("measure")
        found["other_load"] = None if self._others is None else round(self._others, 2)
        return Comparison(
            model=self._model,
            baseline_row=self._lines.index(self._reference),
            rows=tuple(line.row for line in self._lines),
            inputs=tuple(tuple(values) for values in facts["inputs"]) or ((),),
            described=facts["described"],
            environment=found,
            seconds=clock.total(),
            findings=(
                *findings,
                *self._baseline_findings(),
                *self._worker_findings(),
                *self._circumstances(),
            ),
            checked=facts["checked"],
            interrupted=bool(self._interrupted),
        )

    @contextmanager
    def _interruptible(self, stage: str) -> Iterator[None]:
        """Ctrl-C ends the stage alone: what is known by then is the result."""
        try:
            yield
        except KeyboardInterrupt:
            self._interrupted = stage

    def _stop_running(self, lines: Sequence[Line]) -> None:
        for line in lines:
            if line.run:
                line.run.worker.kill()

    def _circumstances(self) -> list[Finding]:
        """What took place beside the comparison and touches its numbers."""
        found = []
        if self._interrupted:
            missing = [line.row.configuration for line in self._lines if not line.row.latency]
            found.append(
                Finding(
                    "COMPARISON-INTERRUPTED",
                    f"The comparison was interrupted in stage {self._interrupted!r}: the results "
                    "are partial.",
                    evidence=f"not measured: {', '.join(missing) or 'none'}",
                    fix="Run it again; lowered programs are kept.",
                    severity=Severity.WARNING,
                )
            )
        if self._others is not None and self._others > BUSY:
            found.append(
                Finding(
                    "MACHINE-BUSY",
                    f"Other work kept {self._others:.1f} processors busy while latencies were "
                    "measured: the ratios hold, the times would be shorter on an idle machine.",
                    evidence="processor time of the usable CPUs, less that of the comparison",
                    fix="Run it again when the machine is idle.",
                    severity=Severity.WARNING,
                )
            )
        return found

    def _facts(self) -> dict[str, Any]:
        """What preparing the MODEL, its inputs and its reference tells."""
        question, folder = self._question, str(self._folder)
        asked = {"folder": folder, "reference": question.reference, "input_sets": question.inputs}
        if not question.is_program:
            answer = self._workshop.ask("prepare", model=question.model, **asked)
        elif question.reference is not None:
            answer = self._workshop.ask("prepare_reference", **asked)
        elif question.inputs is not None:
            answer = self._workshop.ask("inputs", file=question.inputs, folder=folder)
        else:  # etbk-run fills in ones
            answer = {"inputs": []}
        checked = not question.is_program or question.reference is not None
        return {"described": None, "findings": [], "checked": checked} | answer

    def _take_exports(self, exports: Exports) -> None:
        """Gives each line its program, or the reason why there is none."""
        for line in self._lines:
            if line.configuration is None:
                continue
            export = exports.of(line.configuration)
            line.program = export.program
            if export.program:
                facts = row_facts.of_program(export.program, cached=export.cached)
                delegation = export.program.delegation
                findings = row_facts.took_nothing(line.configuration, delegation)
                line.row = replace(line.row, findings=tuple(findings), **facts)
            elif export.failure:
                line.fail(export.failure)

    def _first_runs(self) -> None:
        """Starts all processes, then loads and runs each program once, one after the other."""
        lines = [line for line in self._lines if line.configuration and line.program]
        self._progress.update("first runs", 0.0, "starting")
        programs = [
            (line.configuration, line.program)
            for line in lines
            if line.configuration and line.program
        ]
        start_all(programs, self._folder, self._limits.time_limit, self._runs)
        for number, (line, run) in enumerate(zip(lines, self._runs, strict=True)):
            self._progress.update("first runs", number / len(lines), line.row.configuration)
            self._first_run(line, run)

    def _first_run(self, line: Line, run: Run) -> None:
        try:
            if run.failure:
                raise run.failure
            run.load_and_run(self._inputs)
        except WorkerError as error:
            line.fail(error)
            run.worker.stop()
            return
        line.run = run
        findings = (*line.row.findings, *run.findings)
        line.row = replace(line.row, findings=findings, **run.facts)

    def _check(self) -> None:
        """Judges the outputs of the first runs."""
        for line in self._lines:
            if line.run is None:
                continue
            try:
                answer = self._workshop.ask(
                    "check",
                    model=self._question.reference or self._model,
                    reference_name=self._question.reference_name,
                    folder=str(self._folder),
                    outputs=str(line.run.outputs),
                    sets=len(self._inputs),
                    tolerance=self._limits.tolerance,
                    describe=True,
                )
            except WorkerError as error:
                line.fail(error)
            else:
                findings = (*line.row.findings, *row_facts.wrong_numbers(answer["numerics"]))
                line.row = replace(line.row, findings=findings, **answer)
                if self._question.bisect and not answer["numerics"]["pass"]:
                    self._bisect(line, self._question.bisect)

    def _bisect(self, line: Line, place: Path) -> None:
        """Finds where a wrong row goes wrong, and keeps the smallest program that shows it."""
        if line.configuration is None:
            return
        if self._question.reference or self._question.is_program:
            text = "it needs a MODEL whose own eager numbers are the right ones"
            findings = row_facts.not_bisected(None, text)
            line.row = replace(line.row, findings=(*line.row.findings, *findings))
            return
        self._progress.update("bisect", 0.0, line.row.configuration)
        search = Bisection(
            self._workshop,
            self._model,
            self._folder,
            len(self._inputs),
            self._limits.tolerance,
            self._limits.time_limit,
        )
        number = self._lines.index(line)
        try:
            found = search.search(line.configuration, place / f"{number}-{line.row.configuration}")
        except (WorkerError, OSError) as error:
            finding = error.finding if isinstance(error, WorkerError) else None
            findings = row_facts.not_bisected(finding, str(error))
        else:
            line.row = replace(line.row, bisect=found)
            findings = row_facts.bisected(found)
        line.row = replace(line.row, findings=(*line.row.findings, *findings))

    def _measure(self) -> None:
        lines = [line for line in self._lines if line.run and not line.row.failed]
        if not lines:
            return
        base = lines.index(self._reference) if self._reference in lines else None
        runs = [line.run for line in lines if line.run]
        busyness = Busyness([run.worker.pid for run in runs])
        tracks = [Track(run) for run in runs]
        with self._interruptible("measure"):
            measure(
                tracks,
                base,
                self._limits.budget,
                progress=lambda share: self._progress.update("measure", share),
            )
        self._others = busyness.others()
        baseline = None if base is None or tracks[base].failure else tracks[base]
        if self._interrupted:
            self._stop_running(lines)
        for line, track in zip(lines, tracks, strict=True):
            if track.failure:
                line.fail(track.failure)
            else:
                line.row = replace(line.row, latency=row_facts.latency(track, baseline))
                self._share(line)

    def _share(self, line: Line) -> None:
        """What part delegates have in a run: an extra one, so that timed runs are left alone."""
        if line.run is None or not line.row.delegates or self._interrupted:
            return
        try:
            line.row = replace(line.row, shares=line.run.delegate_shares())
        except WorkerError as error:
            line.fail(error)

    def _baseline_findings(self) -> list[Finding]:
        if not self._reference.row.failed or len(self._lines) == 1:
            return []
        return [
            Finding(
                "BASELINE-FAILED",
                f"The baseline {self._reference.row.configuration} failed, so no ratio is given.",
                fix="Name another configuration with --baseline.",
                severity=Severity.WARNING,
            )
        ]

    def _worker_findings(self) -> list[Finding]:
        kinds = {line.row.worker for line in self._lines if line.row.latency}
        if len(kinds) < 2:
            return []
        return [
            Finding(
                "WORKERS-DIFFER",
                "Some programs ran in etbk-run and some in Python, so their load times and memory "
                "do not compare; steady times may differ by some microseconds a run.",
                evidence=", ".join(
                    f"{line.row.configuration}: {line.row.worker}"
                    for line in self._lines
                    if line.row.latency
                ),
                fix="Compare configurations whose backends etbk-run can load.",
                severity=Severity.INFO,
            )
        ]


def _of_the_model(error: WorkerError) -> ModelError:
    """Preparing runs the MODEL's code: what goes wrong there is its doing."""
    finding = error.finding
    if finding.code != "WORKER-EXITED":
        return ModelError.of(finding)
    return ModelError(
        "MODEL-ENDED-PROCESS",
        "The MODEL's own code ended the process while it was imported, exported or run.",
        evidence="; ".join(text for text in (finding.message, finding.evidence) if text),
        fix="Remove what calls os._exit or ends the process in a library.",
    )


class _Clock:
    """Wall time of the stages, in seconds."""

    def __init__(self) -> None:
        self._laps: dict[str, float] = {}
        self._start = self._last = time.monotonic()

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self._laps[name] = round(now - self._last, 2)
        self._last = now

    def total(self) -> dict[str, float]:
        return {**self._laps, "total": round(time.monotonic() - self._start, 2)}
