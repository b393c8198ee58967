"""The documents `etbk.select/1` and `etbk.targets/1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from executorch_backend_kit.knowledge import Knowledge
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.select.decision import Decision
from executorch_backend_kit.select.plan import Plan

SCHEMA = "etbk.select/1"
TARGETS_SCHEMA = "etbk.targets/1"


def document(
    decision: Decision,
    plans: Sequence[Plan],
    knowledge: Knowledge,
    *,
    model: str | None = None,
    coverage: Mapping[str, Mapping[str, Any]] | None = None,
    findings: Sequence[Finding] = (),
) -> dict[str, Any]:
    """`etbk.select/1`."""
    request, target = decision.request, decision.target
    measured = coverage or {}
    return {
        "schema": SCHEMA,
        "target": {
            "name": target.name,
            "title": target.title,
            "kind": target.get("kind"),
            "os": target.get("os", "name"),
            "limits": list(target.texts("limits")),
        },
        "request": {
            "model": model,
            "host": request.host,
            "executorch": request.executorch,
            "policy": request.policy,
            "require": request.require,
            "quantize": request.quantize,
            "dtype": request.dtype,
            "needs": list(request.needs),
            "kind": request.kind,
            "os_version": request.os_version,
            "vendor_sdk": request.vendor_sdk,
            "settings": dict(request.settings),
        },
        "verdict": decision.verdict,
        "tied": list(decision.tied),
        "open_questions": [dict(q) for q in target.get("questions", default=())],
        "candidates": [plan.to_json(measured.get(plan.contender.name)) for plan in plans],
        "excluded": [
            {
                "backend": e.name,
                "id": knowledge.backends[e.name].id,
                "rule": e.rule,
                "reason": e.reason,
            }
            for e in decision.excluded
        ],
        "findings": [f.to_json() for f in (*_findings(decision), *findings)],
    }


def exit_code(decision: Decision) -> int:
    """0 answered; 1 the required backend cannot be used; 3 the answer is not known."""
    if decision.requirement_failed:
        return 1
    return 3 if decision.verdict == "unknown" else 0


def targets(knowledge: Knowledge) -> dict[str, Any]:
    """`etbk.targets/1`."""
    return {
        "schema": TARGETS_SCHEMA,
        "targets": [
            {
                "name": t.name,
                "title": t.title,
                "aliases": list(t.aliases),
                "kind": t.get("kind"),
                "description": t.get("description", default=""),
                "backends": list(dict.fromkeys(b["name"] for b in t.get("backends", default=()))),
            }
            for t in knowledge.targets.values()
        ],
    }


def _findings(decision: Decision) -> list[Finding]:
    found = []
    failed = decision.requirement_failed
    if failed:
        found.append(
            Finding(
                "SELECT-REQUIREMENT-FAILED",
                f"The required backend {failed.name} cannot be used: {failed.reason}.",
                evidence=f"rule {failed.rule}",
                fix="Change what stands in the way, or drop --require to see what can be used.",
            )
        )
    elif not decision.candidates:
        found.append(
            Finding(
                "SELECT-NOTHING-LEFT",
                "No backend is left for this target and these constraints.",
                evidence=", ".join(f"{e.name}: {e.rule}" for e in decision.excluded[:8]),
                fix="Give up a constraint; the list of exclusions says which one excludes whom.",
            )
        )
    return found
