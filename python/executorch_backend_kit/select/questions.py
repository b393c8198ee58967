"""Turns options into a request, and answers it without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.discovery import executorch_version
from executorch_backend_kit.doctor.environment import platform_name
from executorch_backend_kit.knowledge import Knowledge, load
from executorch_backend_kit.select import report, vendors
from executorch_backend_kit.select.decision import Decision, choose
from executorch_backend_kit.select.errors import SelectionError
from executorch_backend_kit.select.measurements import Measurements
from executorch_backend_kit.select.plan import Plan, plans
from executorch_backend_kit.select.recorded import results_of
from executorch_backend_kit.select.request import Request

KNOWN_RELEASE = "1.5.1"  # that the facts were recorded with, where nothing is installed


def request_of(
    target: str | None,
    *,
    host: str | None,
    executorch: str | None,
    settings: Sequence[str],
    **options: Any,
) -> Request:
    """The request that the options of the command line mean; raises SelectionError."""
    if not target:
        raise SelectionError(
            "SELECT-TARGET-MISSING",
            "No target was given.",
            fix="etbk select --list shows the devices; then etbk select --target NAME.",
        )
    release = executorch or executorch_version() or KNOWN_RELEASE
    if not all(part.isdigit() for part in release.partition("+")[0].split(".")):
        raise SelectionError(
            "SELECT-OPTION-INVALID",
            f"--executorch cannot be {release!r}.",
            evidence="--executorch",
            fix="Give a release such as 1.5.1.",
        )
    return Request(
        target=target,
        host=host or platform_name(),
        executorch=release,
        settings=tuple(_setting(text) for text in settings),
        **options,
    )


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value) or not set(value) <= _HARMLESS:
        raise SelectionError(
            "SELECT-OPTION-INVALID",
            f"--setting cannot be {text!r}.",
            evidence="--setting",
            fix="Write --setting NAME=VALUE, for example target=ethos-u55-256.",
        )
    return name, value


# A value goes into code that is run.
_HARMLESS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def knowledge_here() -> Knowledge:
    """What is known, with the backends that installed packages describe."""
    return vendors.with_described(load())


def decide(
    knowledge: Knowledge, request: Request, measured: Measurements
) -> tuple[Decision, tuple[Plan, ...]]:
    """The decision with its plans; raises SelectionError for a setting that nothing has."""
    decision = choose(knowledge, request, measured)
    names = {
        name
        for c in decision.candidates
        for name in c.contender.backend.get("export", "settings", default={})
    }
    for name, _ in request.settings:
        if name not in names:
            raise SelectionError(
                "SELECT-OPTION-INVALID",
                f"No backend that can be used has a setting {name!r}.",
                evidence=f"settings: {', '.join(sorted(names)) or 'none'}",
                fix="Correct the name, or leave it out.",
            )
    return decision, plans(decision, knowledge)


def answer(request: Request, results: Sequence[Path]) -> tuple[dict[str, Any], int]:
    """`etbk.select/1` without a model, and the exit code."""
    knowledge = knowledge_here()
    recorded, findings = results_of(results, knowledge.target(request.target))
    decision, planned = decide(knowledge, request, Measurements(results=recorded))
    found = (*knowledge.findings, *findings)
    document = report.document(decision, planned, knowledge, findings=found)
    return document, report.exit_code(decision)


def with_needs(request: Request, needs: Sequence[str], dtype: str | None) -> Request:
    """The request with what a model needs."""
    together = tuple(dict.fromkeys((*request.needs, *needs)))
    return replace(request, needs=together, dtype=dtype or request.dtype)


def list_document() -> dict[str, Any]:
    """`etbk.targets/1`."""
    return report.targets(load())
