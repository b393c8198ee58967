"""`etbk inspect`: opens the file and prints the report."""

from __future__ import annotations

from pathlib import Path

import typer

from executorch_backend_kit.cli.ending import BAD_REQUEST, print_json
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.report.inspection_view import render


def run(path: Path, *, hash_payloads: bool, json_output: bool) -> None:
    """Prints what is in the file."""
    with ProgramFile.open(path) as file:
        document = file.inspect(hash=hash_payloads)
        is_program = file.is_program_file
    document = {"schema": document["schema"], "path": str(path), **document}
    if json_output:
        print_json(document)
    else:
        render(document)
    if not is_program:
        raise typer.Exit(BAD_REQUEST)
