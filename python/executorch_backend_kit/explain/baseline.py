"""What changed since an earlier explanation of the same model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.errors import ConfigurationError


def read(path: Path) -> dict[str, Any]:
    """An earlier document; raises ConfigurationError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            "EXPLAIN-BASELINE-INVALID",
            f"The baseline {path.name} cannot be read.",
            evidence=f"{type(error).__name__}: {error}",
            fix="Give a file that `etbk explain ... --json` printed.",
        ) from None
    if not isinstance(document, dict) or document.get("schema") != "etbk.explain/1":
        seen = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise ConfigurationError(
            "EXPLAIN-BASELINE-INVALID",
            f"{path.name} is no explanation.",
            evidence=f"schema {seen!r}",
            fix="Give a file that `etbk explain ... --json` printed.",
        )
    return document


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Numbers before and after, and the nodes that went out of or into delegates."""
    old, new = _by_name(before), _by_name(after)
    both = [name for name in new if name in old]
    return {
        "configuration": [before["configuration"], after["configuration"]],
        "numbers": {
            key: [_number(before, key), _number(after, key)]
            for key in ("delegates", "boundary_bytes", "arithmetic", "nodes")
        },
        "fell_back": [n for n in both if old[n]["delegated"] and not new[n]["delegated"]],
        "delegated": [n for n in both if not old[n]["delegated"] and new[n]["delegated"]],
        "reason_changed": [
            {"name": n, "before": _code(old[n]), "after": _code(new[n])}
            for n in both
            if not old[n]["delegated"]
            and not new[n]["delegated"]
            and _code(old[n]) != _code(new[n])
        ],
        "appeared": [n for n in new if n not in old],
        "vanished": [n for n in old if n not in new],
    }


def _by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for node in document["nodes"]}


def _code(node: dict[str, Any]) -> str | None:
    return node["reason"]["code"] if node["reason"] else None


def _number(document: dict[str, Any], key: str) -> Any:
    summary = document["summary"]
    if summary is None:
        return None
    return summary["delegated"][key] if key in summary["delegated"] else summary[key]
