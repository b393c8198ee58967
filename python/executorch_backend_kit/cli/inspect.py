"""`etbk inspect`: opens the file and prints the report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer

from executorch_backend_kit.cli.ending import BAD_REQUEST
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.report.inspection_view import render

_NO_FILE = ("PTE-001", "PTE-002")


def run(path: Path, *, hash_payloads: bool, json_output: bool) -> None:
    """Prints what is in the file."""
    with ProgramFile.open(path) as file:
        document = file.inspect(hash=hash_payloads)
    document = {"schema": document["schema"], "path": str(path), **document}
    if json_output:
        text = json.dumps(document, indent=2)
        sys.stdout.write(text.encode(errors="replace").decode() + "\n")
    else:
        render(document)
    if any(finding["code"] in _NO_FILE for finding in document["findings"]):
        raise typer.Exit(BAD_REQUEST)
