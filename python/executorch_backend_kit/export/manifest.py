"""The manifest beside the files, `etbk.export/1`: what each file is, and how that is known."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.report.finding import Finding, KitError

SCHEMA = "etbk.export/1"
NAME = "manifest.json"


@dataclass(frozen=True)
class Row:
    """One file that was asked for: made, failed, or not made yet."""

    target: str
    chain: tuple[str, ...]
    quantize: str | None
    status: str  # "made", "failed" or "pending"
    file: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    instead_of: str | None = None  # the first choice, if this is what could be made in its place
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """One element of `files`."""
        return {
            "target": self.target,
            "chain": list(self.chain),
            "quantize": self.quantize,
            "status": self.status,
            "file": self.file,
            "instead_of": self.instead_of,
            "key": None,
            "sha256": None,
            "bytes": None,
            "settings": {},
            "delegation": None,
            "evidence": {"level": "none", "where": "", "date": ""},
            "reproducible": None,
            "install": [],
            **self.facts,
            "findings": [f.to_json() for f in self.findings],
        }


@dataclass(frozen=True)
class Manifest:
    """All rows, and what they were made from."""

    model: dict[str, Any]
    environment: dict[str, Any]
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if every target has its first choice; 3 if nothing could be made."""
        if not any(row.status == "made" for row in self.rows):
            return 3
        good = all(row.status == "made" and row.instead_of is None for row in self.rows)
        return 0 if good else 1

    def to_json(self) -> dict[str, Any]:
        """The document `etbk.export/1`."""
        return {
            "schema": SCHEMA,
            "kit": executorch_backend_kit.__version__,
            "model": self.model,
            "environment": self.environment,
            "files": [row.to_json() for row in self.rows],
            "findings": [f.to_json() for f in self.findings],
        }

    def write(self, folder: Path) -> None:
        """Writes it whole, or leaves what was there."""
        text = json.dumps(self.to_json(), indent=2) + "\n"
        write_whole(folder / NAME, text.encode())


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file under a temporary name and renames it; raises KitError."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise KitError(
            "EXPORT-NOT-WRITTEN",
            f"{path.name} could not be written.",
            evidence=f"{path.parent}: {error.strerror or error}",
            fix="Free disk space there, or name another folder with -o.",
        ) from None


def rows_before(folder: Path) -> Sequence[dict[str, Any]]:
    """The files of the manifest that is there; none if it cannot be understood."""
    try:
        document = json.loads((folder / NAME).read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            return ()
        return [row for row in document["files"] if isinstance(row, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
