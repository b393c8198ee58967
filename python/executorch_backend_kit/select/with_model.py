"""Answers a request for a MODEL: what backends take of it is measured, then the rules apply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch_backend_kit.compare.cache import Cache, default_folder
from executorch_backend_kit.compare.lowering_jobs import Export
from executorch_backend_kit.compare.progress import Progress
from executorch_backend_kit.export.programs import Making, Programs, missing_to_lower, node_share
from executorch_backend_kit.select import report
from executorch_backend_kit.select.measurements import Measurements
from executorch_backend_kit.select.plan import Plan
from executorch_backend_kit.select.questions import decide, knowledge_here, with_needs
from executorch_backend_kit.select.recorded import results_of
from executorch_backend_kit.select.request import DTYPES, Request


def answer_with_model(
    model: Path, request: Request, results: Sequence[Path], progress: Progress
) -> tuple[dict[str, Any], int]:
    """`etbk.select/1` with measured coverage, and the exit code. Raises ModelError."""
    knowledge = knowledge_here()
    recorded, findings = results_of(results, knowledge.target(request.target))
    decide(knowledge, request, Measurements())  # a bad request is said before the work
    coverage: dict[str, dict[str, Any]] = {}
    with Programs(model, Making(), Cache(default_folder()), progress) as programs:
        facts = programs.prepare()
        dtype = facts["dtype"] if facts["dtype"] in DTYPES else None
        request = with_needs(request, facts["needs"], dtype)
        _, planned = decide(knowledge, request, Measurements(results=recorded))
        tried: list[Plan] = []
        for plan in planned:
            missing = missing_to_lower(plan)
            if missing or not plan.snippet.code:
                what = missing[0]["what"] if missing else "code that lowers for it"
                coverage[plan.contender.name] = _not_measured(f"not here: {what}")
            else:
                tried.append(plan)

        def done(plan: Plan, export: Export) -> None:
            coverage[plan.contender.name] = _coverage(plan, export)

        programs.make(tried, done)
    decision, planned = decide(
        knowledge, request, Measurements(**_measured(coverage), results=recorded)
    )
    document = report.document(
        decision,
        planned,
        knowledge,
        model=str(model),
        coverage=coverage,
        findings=(*knowledge.findings, *findings, *programs.findings),
    )
    return document, report.exit_code(decision)


def _not_measured(why: str, *, failed: bool = False) -> dict[str, Any]:
    return {
        "node_share": None,
        "nodes_delegated": None,
        "nodes_left": None,
        "delegates": [],
        "operators_left": {},
        "pte_bytes": None,
        "seconds": None,
        "failed": failed,
        "reason": why,
    }


def _coverage(plan: Plan, export: Export) -> dict[str, Any]:
    if export.program is None:
        finding = export.failure.finding if export.failure else None
        why = f"{finding.message} {finding.evidence}".strip() if finding else ""
        return _not_measured(why, failed=True)
    program = export.program
    delegation = program.delegation
    return {
        "node_share": node_share(delegation, plan.contender.backend),
        "nodes_delegated": delegation.nodes_delegated,
        "nodes_left": delegation.nodes_left,
        "delegates": delegation.to_json()["delegates"],
        "operators_left": delegation.operators_left,
        "pte_bytes": program.size,
        "seconds": program.seconds,
        "failed": False,
        "reason": "",
    }


def _measured(coverage: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "coverage": {
            name: c["node_share"] for name, c in coverage.items() if c["node_share"] is not None
        },
        "failed": {name: c["reason"] for name, c in coverage.items() if c["failed"]},
        "size": {name: c["pte_bytes"] for name, c in coverage.items() if c["pte_bytes"]},
    }
