"""`etbk bench`: measures program files and prints what each costs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.cli.progress import progress_on_terminal
from executorch_backend_kit.compare import program_runs
from executorch_backend_kit.compare.program_runs import Settings
from executorch_backend_kit.report import comparison_words as words
from executorch_backend_kit.report.finding_view import print_finding


def run(files: Sequence[Path], given: Settings, *, budget: float, json_output: bool) -> None:
    """Prints the measurements and ends with the exit code."""
    if not math.isfinite(budget):
        raise ConfigurationError(
            "NUMBER-NOT-FINITE",
            f"--budget cannot be {budget}.",
            fix="Give a finite number of seconds.",
        )
    with progress_on_terminal() as progress:
        document, code = program_runs.bench(files, given, budget=budget, progress=progress)
    if json_output:
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
    else:
        _render(document)
    raise typer.Exit(code)


def _render(document: dict[str, Any]) -> None:
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("file", no_wrap=True)
    for heading in ("load\nms", "first\nms", "median", "memory\nMiB"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("against the first")
    table.add_column("verdict", no_wrap=True)
    for index, row in enumerate(document["rows"]):
        latency = row["latency"]
        if latency is None:
            table.add_row(Path(row["file"]).name, "", "", "[red]✗ failed[/]", "", "", "")
            continue
        table.add_row(
            Path(row["file"]).name,
            f"{row['load_ms']:.2f}",
            f"{row['first_ms']:.2f}",
            words.milliseconds(latency["median_ms"]),
            f"{row['rss_mib']:.2f}",
            "" if index == 0 else words.ratio(latency),
            "" if index == 0 else latency["verdict"] or "not known",
        )
    console.print(table)
    for row in document["rows"]:
        for finding in row["findings"]:
            console.print()
            print_finding(finding, console, prefix=f"{Path(row['file']).name}: ")
