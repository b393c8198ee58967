"""`etbk run`: runs a program stage by stage and prints how far it came."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.compare import program_runs
from executorch_backend_kit.compare.program_runs import Settings
from executorch_backend_kit.report.finding_view import print_finding

_GLYPH = {"ok": "[green]✓[/]", "failed": "[red]✗[/]"}


def settings(
    *,
    inputs: Path | None,
    method: str | None,
    plugins: Sequence[Path] | None,
    data: Sequence[Path] | None,
    load_mode: str | None,
    threads: int | None,
    time_limit: float,
) -> Settings:
    """The options that `run` and `bench` share; raises ConfigurationError."""
    if not math.isfinite(time_limit):
        raise ConfigurationError(
            "NUMBER-NOT-FINITE",
            f"--time-limit cannot be {time_limit}.",
            fix="Give a finite number of seconds.",
        )
    return Settings(
        inputs=inputs,
        method=method,
        plugins=tuple(plugins or ()),
        data=tuple(data or ()),
        load_mode=load_mode,
        threads=threads,
        time_limit=time_limit,
    )


def run(
    file: Path,
    given: Settings,
    *,
    outputs: Path | None,
    etdump: Path | None,
    json_output: bool,
) -> None:
    """Prints the report and ends with its exit code."""
    document, code = program_runs.run(file, given, outputs=outputs, etdump=etdump)
    if json_output:
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
    else:
        _render(document)
    raise typer.Exit(code)


def _render(document: dict[str, Any]) -> None:
    console = Console(highlight=False)
    ran = document["outcome"] == "ran"
    console.print(
        f"[bold {'green' if ran else 'red'}]{document['outcome']}[/] "
        f"{escape(document['file'])}, method {escape(document['method'])}"
    )
    for row in document["stages"]:
        took = "" if row["ms"] is None else f"{row['ms']:.2f} ms"
        console.print(f"  {_GLYPH[row['status']]} {row['stage']:<9} {took:>12}")
    for line in _details(document):
        console.print(f"  [dim]{escape(line)}[/]")
    if error := document["error"]:
        console.print(f"  {escape(error['name'])}: {escape(error['meaning'])}")
        console.print(f"  [dim]often:[/] {escape(error['cause'])}")
    for finding in document["findings"]:
        console.print()
        print_finding(finding, console)


def _details(document: dict[str, Any]) -> list[str]:
    memory, result = document["memory"], document["result"]
    if result is None:
        return [] if memory is None else [f"memory: at most {memory['peak_mib']:.1f} MiB"]
    planned = sum(memory["planned_bytes"]) / 2**20
    grown = f"grew by {memory['rss_mib']:.2f} MiB, of them {memory['anon_rss_mib']:.2f} anonymous"
    steps = document["reached"]["instructions_done"]
    lines = [
        f"memory: planned {planned:.2f} MiB, {grown}",
        f"inputs: {result['inputs']['source']}; {result['threads']} threads; {steps} instructions",
    ]
    lines += [
        f"delegate {number}: {d['id']}, init {d['init_ms']:.2f} ms, called {d['calls']} times, "
        f"{d['execute_ms']:.2f} ms"
        for number, d in enumerate(result["delegates"])
    ]
    strange = [o for o in result["outputs"] if o.get("not_finite")]
    lines += [f"an output has {o['not_finite']} elements that are not finite" for o in strange]
    return lines
