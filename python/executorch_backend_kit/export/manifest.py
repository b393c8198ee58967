"""The manifest beside the files, `etbk.export/1`: what each file is, and how that is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.report.output_file import write_whole

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
        write_whole(folder / NAME, json.dumps(self.to_json(), indent=2) + "\n")


def rows_before(folder: Path) -> Sequence[dict[str, Any]]:
    """The files of the manifest that is there; none if it cannot be understood."""
    try:
        document = json.loads((folder / NAME).read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            return ()
        return [row for row in document["files"] if isinstance(row, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
