"""`etbk diff`: compares two files and prints what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from executorch_backend_kit.cli.ending import BAD_REQUEST, UNDECIDED, print_json
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.differences import diff
from executorch_backend_kit.report.finding_view import print_finding


def run(before: Path, after: Path, *, json_output: bool) -> None:
    """Prints the differences."""
    with ProgramFile.open(before) as old, ProgramFile.open(after) as new:
        document = diff(old, new)
        are_programs = old.is_program_file and new.is_program_file
    document = {
        "schema": document["schema"],
        "before": str(before),
        "after": str(after),
        **document,
    }
    if json_output:
        print_json(document)
    else:
        _render(document)
    if not are_programs:
        raise typer.Exit(BAD_REQUEST)
    if document["equal"] is None:
        raise typer.Exit(UNDECIDED)


def _render(document: dict[str, Any]) -> None:
    console = Console(highlight=False)
    if document["equal"]:
        console.print("[green]✓[/] no difference")
    for change in document["changes"]:
        console.print(
            f"[bold]{escape(change['what'])}[/] ({escape(change['where'])}): "
            f"{escape(str(change['before']))} → {escape(str(change['after']))}"
        )
    for finding in document["findings"]:
        print_finding(finding, console)
