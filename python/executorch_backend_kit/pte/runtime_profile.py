"""Profiles of runtimes: this machine's, or one that was recorded elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from executorch_backend_kit.pte.errors import PteError

SCHEMA = "etbk.profile/1"
_TIME_LIMIT = 300.0


def this_machine() -> dict[str, Any]:
    """The runtime of this Python, with every plugin that is found, asked in a child process."""
    command = [sys.executable, "-m", "executorch_backend_kit.pte.runtime_probe"]
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise PteError(
            "PROFILE-TIMEOUT",
            f"The runtime of this Python did not load within {_TIME_LIMIT:.0f} seconds.",
            fix="etbk doctor",
        ) from None
    lines = child.stdout.strip().splitlines()
    if child.returncode != 0 or not lines:
        said = child.stderr.strip().splitlines()
        raise PteError(
            "PROFILE-NO-RUNTIME",
            "The ExecuTorch runtime of this Python cannot be asked.",
            evidence=next(
                (line for line in said if "error[" in line or "Error:" in line),
                f"exit code {child.returncode}",
            ),
            fix="pip install executorch, or give --runtime PROFILE or --binary APP.",
        )
    return _checked(json.loads(lines[-1]), "the child's answer")


def recorded(path: Path) -> dict[str, Any]:
    """A profile that etbk_write_profile() wrote."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PteError(
            "PROFILE-UNREADABLE",
            f"The profile {path.name} cannot be read.",
            evidence=str(error.strerror),
            fix="Give the file that etbk_write_profile() wrote.",
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise PteError(
            "PROFILE-INVALID",
            f"{path.name} is not a runtime profile.",
            evidence=str(error),
            fix="Give the file that etbk_write_profile() wrote.",
        ) from None
    return {"path": str(path), **_checked(document, path.name)}


def _checked(document: object, name: str) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        seen = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise PteError(
            "PROFILE-INVALID",
            f"{name} is not a runtime profile of the schema {SCHEMA}.",
            evidence=f"schema {seen!r}",
            fix="Record it again with etbk_write_profile() of this kit.",
        )
    return document
