"""`etbk export`: one program file per target and chain, each by its plan, and the manifest.

A target that fails costs no other its file. What is there from before, whole and made from the
same things, is kept, so that an export that was interrupted goes on where it ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.configuration import PORTABLE
from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.compare.cache import Cache, Program, default_folder
from executorch_backend_kit.compare.lowering_jobs import Export
from executorch_backend_kit.compare.progress import Progress, Silent
from executorch_backend_kit.doctor.environment import platform_name
from executorch_backend_kit.export import manifest
from executorch_backend_kit.export.manifest import Manifest, Row
from executorch_backend_kit.export.programs import Making, Programs, missing_to_lower, node_share
from executorch_backend_kit.export.worker import calibration_finding
from executorch_backend_kit.knowledge import Knowledge
from executorch_backend_kit.report.finding import Finding, KitError, Severity
from executorch_backend_kit.report.output_file import write_whole
from executorch_backend_kit.select import needs
from executorch_backend_kit.select.errors import SelectionError
from executorch_backend_kit.select.measurements import Measurements
from executorch_backend_kit.select.plan import Plan
from executorch_backend_kit.select.questions import decide, knowledge_here, with_needs
from executorch_backend_kit.select.request import DTYPES, Request


@dataclass(frozen=True)
class Order:
    """What is asked for: a request per target, and how many further choices of each."""

    requests: tuple[Request, ...]
    alternatives: int = 0


@dataclass
class _Line:
    """A row while it is being made: its plan, and those to try after it."""

    row: Row
    plan: Plan | None
    others: list[Plan] = field(default_factory=list)
    failures: list[Finding] = field(default_factory=list)
    request: Request | None = None


def export(
    model: Path,
    order: Order,
    folder: Path,
    *,
    making: Making | None = None,
    progress: Progress | None = None,
) -> Manifest:
    """Exports; raises SelectionError, UnknownNameError or ModelError before anything is written."""
    knowledge = knowledge_here()
    for request in order.requests:
        decide(knowledge, request, Measurements())  # a bad request is said before the work
    _make_folder(folder)
    chosen = making or Making()
    with Programs(model, chosen, Cache(default_folder()), progress or Silent()) as programs:
        return _Session(model, folder, programs, knowledge).run(order)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KitError(
            "EXPORT-NOT-WRITTEN",
            f"The folder {folder.name} cannot be made.",
            evidence=f"{folder}: {error.strerror or error}",
            fix="Name another folder with -o.",
        ) from None


class _Session:
    """One export, in rounds: whoever fails is tried with the next choice of its target."""

    def __init__(self, model: Path, folder: Path, programs: Programs, knowledge: Knowledge) -> None:
        self._model = model
        self._folder = folder
        self._programs = programs
        self._knowledge = knowledge
        self._before = {row.get("file"): row for row in manifest.rows_before(folder)}
        self._lines: list[_Line] = []
        self._facts: dict[str, Any] = {}

    def run(self, order: Order) -> Manifest:
        """All rounds; the manifest is written after each file."""
        self._facts = self._programs.prepare()
        for request in order.requests:
            there = {line.row.file for line in self._lines if line.row.file}
            planned = self._plan(request, order.alternatives)
            self._lines += [line for line in planned if line.row.file not in there]
        pending = self._lines
        while pending:
            ready = [line for line in pending if self._can_start(line)]
            self._make([line for line in ready if not self._is_there(line)])
            pending = [line for line in ready if line.row.status == "pending"]
        result = self._manifest()
        result.write(self._folder)
        return result

    def _make(self, lines: Sequence[_Line]) -> None:
        by_plan = {id(line.plan): line for line in lines}
        plans = [line.plan for line in lines if line.plan is not None]
        self._programs.make(plans, lambda plan, made: self._done(by_plan[id(plan)], made))

    def _plan(self, request: Request, alternatives: int) -> list[_Line]:
        dtype = self._facts["dtype"] if self._facts["dtype"] in DTYPES else None
        asked = with_needs(request, self._facts["needs"], dtype)
        decision, planned = decide(self._knowledge, asked, Measurements())
        target = decision.target.name
        if not planned:
            failed = decision.requirement_failed
            why = failed.reason if failed else "no backend is left"
            finding = Finding(
                "EXPORT-NO-PLAN",
                f"There is no plan for {target}: {why}.",
                evidence=", ".join(f"{e.name}: {e.rule}" for e in decision.excluded[:8]),
                fix=f"etbk select --target {target} --verbose shows what excludes whom.",
            )
            row = Row(target, (), request.quantize, "failed", findings=(finding,))
            return [_Line(row, None, request=asked)]
        lines = []
        for number, plan in enumerate(planned[: alternatives + 1]):
            chain = tuple(b.name for b in plan.chain)
            row = Row(target, chain, request.quantize, "pending", _file_of(plan, request))
            # What was asked for by name, or as an alternative, has no substitute.
            free = number == 0 and alternatives == 0 and request.require is None
            others = list(planned[1:]) if free else []
            lines.append(_Line(row, plan, others, request=asked))
        return lines

    def _can_start(self, line: _Line) -> bool:
        """True if its plan can be followed here; else goes on to one that can, or fails."""
        plan = line.plan
        if plan is None or line.request is None:
            return False
        if plan.contender.quantization_required and not line.request.quantized:
            self._fail(line, _quantization_missing(plan))
            return False
        if plan.snippet.code and line.request.quantized and not plan.snippet.quantizes:
            return self._next(line, _no_script(plan, line.request))
        missing = missing_to_lower(plan)
        if missing or not plan.snippet.code:
            return self._next(line, _prerequisite_missing(plan, missing))
        return True

    def _next(self, line: _Line, problem: Finding) -> bool:
        """Puts the next choice in place of the plan; False if there is none."""
        line.failures.append(problem)
        first = line.row.instead_of or line.row.chain[0]
        for index, other in enumerate(line.others):
            if not missing_to_lower(other) and not other.contender.quantization_required:
                line.plan, line.others = other, line.others[index + 1 :]
                chain = tuple(b.name for b in other.chain)
                assert line.request is not None
                file = _file_of(other, line.request)
                line.row = replace(line.row, chain=chain, file=file, instead_of=first)
                return self._can_start(line)
        self._fail(line)
        return False

    def _fail(self, line: _Line, *findings: Finding) -> None:
        line.row = replace(
            line.row, status="failed", file=None, findings=(*line.failures, *findings)
        )
        line.plan = None
        self._save()

    def _is_there(self, line: _Line) -> bool:
        """True if an earlier export left this very file."""
        assert line.plan is not None
        assert line.row.file is not None
        before = self._before.get(line.row.file)
        if before is None or before.get("key") != self._programs.key(line.plan):
            return False
        path = self._folder / line.row.file
        try:
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() != before["sha256"]:
                return False
            delegation = DelegationReport.from_json(before["delegation"])
            date = before["evidence"]["date"]
        except (OSError, KeyError, TypeError):
            return False
        program = Program(path, before["sha256"], len(content), delegation, 0.0)
        self._record(line, program, date=date)
        return True

    def _done(self, line: _Line, made: Export) -> None:
        if made.program is None:
            problem = made.failure.finding if made.failure else None
            assert problem is not None
            if self._next(line, problem):
                return  # it is tried again in the next round
            return
        assert line.row.file is not None
        try:
            content = made.program.path.read_bytes()
            write_whole(self._folder / line.row.file, content)
        except OSError as error:
            self._fail(line, _unreadable(made.program.path, error))
        except KitError as error:
            self._fail(line, error.finding)
        else:
            self._record(line, made.program, date=_today())

    def _record(self, line: _Line, program: Program, *, date: str) -> None:
        assert line.plan is not None
        plan, c = line.plan, line.plan.contender
        share = node_share(program.delegation, c.backend)
        findings = [*line.failures, *self._judged(line, share)]
        source = self._facts["calibration"]["source"]
        if plan.snippet.quantizes and (finding := calibration_finding(source)):
            findings.append(finding)
        required = line.request.require if line.request else None
        failed = any(f.code == "EXPORT-NOT-DELEGATED" for f in findings) and required is not None
        line.row = replace(
            line.row,
            status="failed" if failed else "made",
            findings=tuple(findings),
            facts={
                "key": self._programs.key(plan),
                "sha256": program.sha256,
                "bytes": program.size,
                "settings": dict(plan.settings),
                "delegation": {**program.delegation.to_json(), "node_share": share},
                "evidence": {
                    "level": "compiled",
                    "where": f"lowered on {platform_name()}, not run",
                    "date": date,
                },
                "reproducible": c.backend.get("export", "reproducible"),
                "install": needs.install(c, plan.chain),
            },
        )
        self._save()

    def _judged(self, line: _Line, share: float | None) -> list[Finding]:
        assert line.plan is not None
        c = line.plan.contender
        if share != 0 or c.name == PORTABLE:
            return []
        must = line.request is not None and line.request.require is not None
        return [
            Finding(
                "EXPORT-NOT-DELEGATED",
                f"{c.backend.title} took no part of the model for {line.row.target}.",
                evidence=f"no delegate {c.backend.id} in the program",
                fix="Look for what stands in the way, or choose another backend: "
                f"etbk select MODEL --target {line.row.target}.",
                severity=Severity.ERROR if must else Severity.WARNING,
            )
        ]

    def _save(self) -> None:
        """Keeps what is there so far, so that an interrupted export can go on."""
        with suppress(KitError):  # a full disk: the last write says so
            self._manifest().write(self._folder)

    def _manifest(self) -> Manifest:
        environment = self._programs.environment
        return Manifest(
            model={
                "file": self._model.name,
                "fingerprint": self._facts["fingerprint"],
                "dtype": self._facts["dtype"],
                "needs": list(self._facts["needs"]),
                "calibration": self._facts["calibration"],
            },
            environment={name: environment[name] for name in ("python", "torch", "executorch")}
            | {"platform": platform_name()},
            rows=tuple(line.row for line in self._lines),
            findings=tuple(self._programs.findings),
        )


def _file_of(plan: Plan, request: Request) -> str:
    target = plan.contender.target
    recipe = f".{request.quantize}" if request.quantized else ""
    units = [b for b in target.get("backends", default=()) if b["name"] == plan.contender.name]
    unit = f".{plan.contender.unit}" if len(units) > 1 else ""
    return f"{target.name}.{plan.name}{unit}{recipe}.pte"


def _quantization_missing(plan: Plan) -> Finding:
    target = plan.contender.target.name
    recipes = [r["name"] for r in plan.contender.backend.get("quantization", "recipes", default=())]
    return Finding(
        "EXPORT-QUANTIZATION-REQUIRED",
        f"{plan.contender.backend.title} takes quantized models only, and none was asked for.",
        evidence=plan.contender.known("quantization"),
        fix=f"Add --quantize {target}={(recipes or ['int8'])[0]}, or name another backend.",
    )


def _no_script(plan: Plan, request: Request) -> Finding:
    return Finding(
        "SELECT-NO-QUANTIZATION-SCRIPT",
        f"How to quantize to {request.quantize} for {plan.contender.backend.title} is not recorded "
        "as code.",
        evidence=f"its quantizer: {plan.contender.backend.get('quantizer', 'class') or 'none'}",
        fix="Quantize the model by its makers' guide, then lower it with the snippet.",
    )


def _prerequisite_missing(plan: Plan, missing: Sequence[Mapping[str, Any]]) -> Finding:
    title = plan.contender.backend.title
    if not missing:
        return Finding(
            "EXPORT-PREREQUISITE-MISSING",
            f"How to lower for {title} is not recorded as code.",
            evidence=plan.contender.known(),
            fix="Follow its makers' guide.",
        )
    return Finding(
        "EXPORT-PREREQUISITE-MISSING",
        f"Lowering for {title} needs what this machine does not have.",
        evidence="; ".join(f"{p['what']} ({p['kind']})" for p in missing),
        fix="; ".join(dict.fromkeys(p["fix"] for p in missing)),
    )


def _unreadable(path: Path, error: OSError) -> Finding:
    return Finding(
        "EXPORT-NOT-WRITTEN",
        "The program that was made cannot be read back.",
        evidence=f"{path}: {error.strerror or error}",
        fix="Free disk space, or name another cache folder in ETBK_CACHE.",
    )


def _today() -> str:
    return datetime.now(timezone.utc).date().isoformat()


def requests(targets: Sequence[str], quantize: Sequence[str], base: Request) -> tuple[Request, ...]:
    """A request per target; `quantize` holds RECIPE for all, or TARGET=RECIPE for one."""
    recipes: dict[str, str] = {}
    for text in quantize:
        target, equals, recipe = text.rpartition("=")
        if equals and target not in targets:
            raise SelectionError(
                "SELECT-CONTRADICTION",
                f"--quantize {text} names a target that is not exported.",
                evidence=f"targets: {', '.join(targets)}",
                fix="Correct its name, or add it with --target.",
            )
        if recipes.setdefault(target, recipe) != recipe:
            raise SelectionError(
                "SELECT-CONTRADICTION",
                f"--quantize {text} contradicts another --quantize.",
                fix="Give one recipe for each target.",
            )
    default = recipes.get("")
    return tuple(
        replace(base, target=t, quantize=recipes.get(t, default)) for t in dict.fromkeys(targets)
    )
