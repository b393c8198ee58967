"""The state of one backend: what was seen of it, and what that means.

usable       a small program was lowered for it, ran here, and gave the right numbers
compiles     a small program was lowered for it; this machine or runtime cannot run it
importable   its Python side can be imported; lowering did not work or cannot be tried here
unavailable  its Python side cannot be imported, or it needs something that is not here
removed      this release does not have it any more
unknown      nothing was tried (--fast)
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from executorch_backend_kit.doctor.runtime import Runtime
from executorch_backend_kit.report.finding import Finding, Severity


class State(str, Enum):
    """See the module's description."""

    USABLE = "usable"
    COMPILES = "compiles"
    IMPORTABLE = "importable"
    UNAVAILABLE = "unavailable"
    REMOVED = "removed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Subject:
    """Who is judged."""

    name: str
    title: str
    id: str  # empty for kernel libraries
    tolerance: float
    operators: tuple[str, ...]  # that its programs must contain
    availability_is_real: bool  # is_available() of its runtime looks at something


@dataclass(frozen=True)
class Verdict:
    """The state, why, and what was found."""

    state: State
    evidence: str
    findings: tuple[Finding, ...]
    modules: tuple[dict[str, Any], ...] = ()
    delegates: Mapping[str, int] | None = None
    max_abs_error: float | None = None


def judge(subject: Subject, seen: dict[str, Any], runtime: Runtime) -> Verdict:
    """The verdict on a backend that was tried."""
    modules = tuple(r for r in seen["results"] if "importable" in r)
    findings = list(_process_findings(subject, seen, modules))
    broken = [m for m in modules if not m["importable"]]
    if broken or (seen["outcome"] != "done" and not _reached(seen, "lowering")):
        findings += _import_findings(subject, broken)
        first = broken[0] if broken else None
        evidence = f"{first['module']}: {first['error']}" if first else seen["detail"]
        return Verdict(State.UNAVAILABLE, evidence, tuple(findings), modules)
    lowered = next((r for r in seen["results"] if "bytes" in r), None)
    if lowered is None:
        failed = next((r for r in seen["results"] if "error" in r and "module" not in r), None)
        if failed:
            findings.append(_lowering_failed(subject, failed))
            evidence = f"imported; lowering failed: {failed['error']}"
        elif seen["outcome"] != "done":
            evidence = f"imported; lowering {seen['outcome']}: {seen['detail']}"
        else:
            evidence = "imported; lowering cannot be tried on this kind of machine"
        return Verdict(State.IMPORTABLE, evidence, tuple(findings), modules)
    return _judge_run(subject, seen, runtime, lowered, findings, modules)


def _judge_run(  # noqa: PLR0917 - what was seen, in order
    subject: Subject,
    seen: dict[str, Any],
    runtime: Runtime,
    lowered: dict[str, Any],
    findings: list[Finding],
    modules: tuple[dict[str, Any], ...],
) -> Verdict:
    delegates: dict[str, int] = lowered["delegates"]
    missing = [name for name in subject.operators if name not in lowered["operators"]]
    if (subject.id and subject.id not in delegates) or missing:
        findings.append(
            Finding(
                "BACKEND-TOOK-NOTHING",
                f"{subject.title} took nothing of a small model that it should take.",
                evidence=f"delegates: {delegates or 'none'}; operators: "
                f"{', '.join(lowered['operators']) or 'none'}",
                fix="etbk knowledge verify; the facts or the installation are wrong.",
            )
        )
        return Verdict(State.IMPORTABLE, "lowered, but took nothing", tuple(findings), modules)
    took = _took(subject, delegates)
    run = seen.get("run") or {"results": [], "outcome": "exited", "detail": "was not run"}
    result: dict[str, Any] = next(iter(run["results"]), {})
    verdict: dict[str, Any] = {"modules": modules, "delegates": delegates}
    if "max_abs_error" not in result:
        finding = _not_run(subject, runtime, run, result)
        findings.append(finding)
        return Verdict(
            State.COMPILES,
            f"lowered: {took}; {_as_clause(finding.message)}",
            tuple(findings),
            **verdict,
        )
    error = float(result["max_abs_error"])
    if not error <= subject.tolerance:
        findings.append(
            Finding(
                "BACKEND-WRONG-RESULT",
                f"{subject.title} ran a small model here and gave wrong numbers.",
                evidence=f"largest difference from eager {error:.2g}, "
                f"allowed {subject.tolerance:g}",
                fix="Report it to the maker of the backend; do not use it on this machine.",
            )
        )
        state = State.COMPILES
    else:
        state = State.USABLE
    return Verdict(
        state,
        f"ran on host CPU: {took}, largest difference from eager {error:.1g}",
        tuple(findings),
        max_abs_error=error,
        **verdict,
    )


def _took(subject: Subject, delegates: Mapping[str, int]) -> str:
    if not subject.id:
        return "no delegate, its own operators"
    count = delegates[subject.id]
    return f"{count} delegate{'s' if count > 1 else ''} {subject.id}"


def _not_run(
    subject: Subject, runtime: Runtime, run: dict[str, Any], result: dict[str, Any]
) -> Finding:
    if subject.id and subject.id not in runtime.slots:
        return Finding(
            "BACKEND-NOT-REGISTERED",
            f"The Python runtime of this machine does not have {subject.id}.",
            evidence=f"registered: {', '.join(runtime.slots) or 'nothing'}; "
            f"{result.get('error', run['detail'])}",
            fix="Run it where the backend is; etbk help 0x20 says how a runtime gets it.",
            severity=Severity.INFO,
        )
    if subject.id and not runtime.available.get(subject.id, True):
        return Finding(
            "BACKEND-NOT-AVAILABLE",
            f"{subject.id} is registered here and says that it cannot run.",
            evidence=result.get("said") or "is_available() is false",
            fix="Install what it needs: see the other findings.",
            severity=Severity.WARNING,
        )
    if not subject.id and "0x:14" in result.get("error", "").replace("0x14", "0x:14"):
        return Finding(
            "KERNELS-NOT-REGISTERED",
            f"The Python runtime of this machine does not have the kernels of {subject.title}.",
            evidence=result["error"],
            fix="Run it where the kernels are linked.",
            severity=Severity.INFO,
        )
    said = result.get("said") or result.get("error")
    return Finding(
        "BACKEND-RUN-FAILED",
        f"{subject.title} could not run a small program here.",
        evidence=said or f"{run['outcome']}: {run['detail']}",
        fix=f"etbk help {_quoted(said)}"
        if said
        else "Install versions inside the ranges that the other findings name; else report it.",
    )


def _lowering_failed(subject: Subject, failed: dict[str, Any]) -> Finding:
    return Finding(
        "BACKEND-LOWERING-FAILED",
        f"{subject.title} can be imported, but lowering a small model for it failed.",
        evidence=f"{failed['error']} [{failed['where']}]" if failed["where"] else failed["error"],
        fix=f"etbk help {_quoted(failed['error'])}",
    )


def _import_findings(subject: Subject, broken: list[dict[str, Any]]) -> Iterator[Finding]:
    errors: dict[str, list[str]] = {}
    for module in broken:
        errors.setdefault(module["error"], []).append(module["module"])
    for error, modules in errors.items():
        if error.startswith("SystemExit"):
            yield Finding(
                "IMPORT-EXITS",
                f"Importing {subject.title} ends the program.",
                evidence=f"{', '.join(modules)}: {error}",
                fix="Do not import it; report it to the maker of the package.",
            )
        else:
            yield Finding(
                "BACKEND-IMPORT-FAILED",
                f"{subject.title} cannot be imported.",
                evidence=f"{', '.join(modules)}: {error}",
                fix=f"etbk help {_quoted(error)}",
            )


def _process_findings(
    subject: Subject, seen: dict[str, Any], modules: tuple[dict[str, Any], ...]
) -> Iterator[Finding]:
    if seen["outcome"] != "done":
        begun = [r["module"] for r in seen["results"] if "begun" in r]
        stage = "lowering" if _reached(seen, "lowering") else "importing"
        last = "" if stage == "lowering" or not begun else f" {begun[-1]}"
        code = {"crashed": "PROBE-CRASHED", "timed out": "PROBE-TIMED-OUT"}.get(
            seen["outcome"], "PROBE-EXITED"
        )
        yield Finding(
            code,
            f"{subject.title}: the process {seen['outcome']} while {stage}{last}.",
            evidence="; ".join(filter(None, (seen["detail"], seen["output"].strip()[-200:]))),
            fix="Nothing else was affected. Report it to the maker of the package.",
        )
    if seen["network"]:
        yield Finding(
            "IMPORT-NETWORK",
            f"{subject.title} tried to reach the network; that was refused.",
            evidence=", ".join(seen["network"]),
            fix="Expect downloads when it is used; set up its SDK beforehand.",
            severity=Severity.WARNING,
        )
    changes: list[str] = next((r["changes"] for r in seen["results"] if "changes" in r), [])
    if changes:
        yield Finding(
            "IMPORT-SIDE-EFFECT",
            f"Importing {subject.title} changes the process.",
            evidence="; ".join(changes),
            fix="Set it again after the import, if your program depends on it.",
            severity=Severity.INFO,
        )
    for module in modules:
        if module["missing"]:
            yield Finding(
                "BACKEND-NAME-MISSING",
                f"{module['module']} does not have {', '.join(module['missing'])}.",
                evidence="the knowledge base says so for this release",
                fix="etbk knowledge verify; this release differs from the recorded one.",
                severity=Severity.WARNING,
            )


def _reached(seen: dict[str, Any], stage: str) -> bool:
    return any(stage in result for result in seen["results"])


def _quoted(error: str) -> str:
    return shlex.quote(error)


def _as_clause(sentence: str) -> str:
    return sentence.replace("The ", "the ", 1).rstrip(".")
