"""What is said of a row: from its export, its outputs and its rounds."""

from __future__ import annotations

from typing import Any

from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.compare.cache import Program
from executorch_backend_kit.compare.rounds import Track
from executorch_backend_kit.report.comparison import Latency
from executorch_backend_kit.report.finding import Finding, Severity


def of_program(program: Program, *, cached: bool) -> dict[str, Any]:
    """The fields of a row that its program tells."""
    delegation = program.delegation
    return {
        "delegates": tuple(delegation.to_json()["delegates"]),
        "operators_left": delegation.operators_left,
        "node_share": delegation.node_share,
        "pte_bytes": program.size,
        "lowering_seconds": program.seconds,
        "cached": cached,
    }


def took_nothing(configuration: Configuration, delegation: DelegationReport) -> list[Finding]:
    """A warning for each backend that the model has nothing for."""
    used = {d.id for d in delegation.delegates}
    return [
        Finding(
            "BACKEND-TOOK-NOTHING",
            f"Backend {backend.name} took no part of this model.",
            evidence=f"no delegate {backend.id} in the lowered program",
            fix="Leave it out, or see what it supports.",
            severity=Severity.WARNING,
        )
        for backend in configuration.backends
        if backend.id not in used
    ]


def wrong_numbers(numerics: dict[str, Any]) -> list[Finding]:
    """An error if the outputs are not those of the eager model."""
    if numerics["pass"]:
        return []
    tolerance, cosine = numerics["tolerance"], numerics["cosine"]
    return [
        Finding(
            "NUMERICS-WRONG",
            f"The numbers are not those of the reference: {numerics['reason']}.",
            evidence=f"reference: {numerics['reference']}; "
            f"rtol {tolerance['rtol']:g}, atol {tolerance['atol']:g}"
            + ("" if cosine is None else f", cosine similarity {cosine:.6f}"),
            fix="If the backend computes in a lower precision on purpose, allow that with "
            "--rtol and --atol.",
        )
    ]


def bisected(found: dict[str, Any]) -> list[Finding]:
    """Where the numbers leave the tolerance first."""
    where = "" if found["form"] == "alone" else ", together with what comes before it"
    by = ", ".join(found["delegates"]) or "ExecuTorch's own kernels"
    return [
        Finding(
            "BISECT-FOUND",
            f"The numbers leave the tolerance first at node {found['node']} "
            f"({found['operator']}), computed by {by}{where}.",
            evidence=f"{found['numerics']['reason']}; {found['steps']} parts were run",
            fix=f"etbk run {found['program']} --inputs {found['inputs']}/0 shows it; the right "
            f"outputs are in {found['expected']}.",
            severity=Severity.INFO,
        )
    ]


def not_bisected(finding: Finding | None, text: str) -> list[Finding]:
    """Why it could not be found out."""
    return [
        Finding(
            "BISECT-FAILED",
            "Where the numbers go wrong could not be found out.",
            evidence=finding.to_text() if finding else text,
            fix="See the evidence: a part of the model could not be lowered, run or written.",
            severity=Severity.WARNING,
        )
    ]


def latency(track: Track, baseline: Track | None) -> Latency | None:
    """The measured times, against the baseline if there is one."""
    if track.median is None:
        return None
    found = track.against(baseline) if baseline else None
    return Latency(
        median_ms=track.median,
        minimum_ms=track.minimum,
        ratio_to_baseline=found.value if found else None,
        interval=(found.low, found.high) if found else None,
        verdict=found.verdict.value if found else None,
        rounds=len(track.medians),
        runs=track.runs,
        warm_up_runs=track.warm_up,
    )
