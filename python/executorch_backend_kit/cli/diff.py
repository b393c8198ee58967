"""`etbk diff`: compares two files and prints what changed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from executorch_backend_kit.cli.ending import BAD_REQUEST
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.differences import diff


def run(before: Path, after: Path, *, json_output: bool) -> None:
    """Prints the differences."""
    with ProgramFile.open(before) as old, ProgramFile.open(after) as new:
        for path, file in ((before, old), (after, new)):
            if not file.is_sound:
                (finding, *_) = file.verify(level="structure").findings
                sys.stderr.write(f"{path.name}: {finding.to_text()}\n")
                raise typer.Exit(BAD_REQUEST)
        document = diff(old, new)
    if json_output:
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        _render(document)


def _render(document: dict[str, Any]) -> None:
    console = Console(highlight=False)
    if document["equal"]:
        console.print("[green]✓[/] no difference")
    for change in document["changes"]:
        console.print(
            f"[bold]{escape(change['what'])}[/] ({escape(change['where'])}): "
            f"{escape(str(change['before']))} → {escape(str(change['after']))}"
        )
