"""`etbk check`: takes a profile, judges the file, prints the verdict."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from executorch_backend_kit.cli.ending import BAD_REQUEST, UNDECIDED, print_json
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.binary_profile import of_binary
from executorch_backend_kit.pte.checking import check, for_cmake
from executorch_backend_kit.pte.runtime_profile import recorded, this_machine
from executorch_backend_kit.report.finding_view import print_finding

_EXIT = {"compatible": 0, "blocked": 1, "unknown": UNDECIDED}


def run(
    path: Path,
    *,
    runtime: Path | None,
    binary: Path | None,
    ptd: Path | None,
    hash_payloads: bool,
    cmake: bool,
    json_output: bool,
) -> None:
    """Prints the verdict and ends with its exit code."""
    if runtime is not None and binary is not None:
        sys.stderr.write("Give --runtime or --binary, not both.\n")
        raise typer.Exit(BAD_REQUEST)
    if binary is not None:
        profile = of_binary(binary)
    else:
        profile = this_machine() if runtime is None else recorded(runtime)
    with ExitStack() as files:
        file = files.enter_context(ProgramFile.open(path))
        external = None if ptd is None else files.enter_context(ProgramFile.open(ptd))
        document = check(file, profile, external=external, hash=hash_payloads)
        are_programs = all(f.is_program_file for f in (file, external) if f is not None)
    document = {"schema": document["schema"], "path": str(path), **document}
    if json_output:
        print_json(document)
    elif cmake:
        sys.stdout.write(for_cmake(document))
    else:
        _render(document)
    raise typer.Exit(_EXIT[document["verdict"]] if are_programs else BAD_REQUEST)


def _render(document: dict[str, Any]) -> None:
    console = Console(highlight=False)
    runtime = document["runtime"]
    versions = ", ".join(f"{name} {value}" for name, value in runtime["versions"].items())
    colour = {"compatible": "green", "blocked": "red", "unknown": "yellow"}[document["verdict"]]
    console.print(
        f"[bold {colour}]{document['verdict']}[/] with {escape(runtime['kind'])} "
        f"[dim]{escape(runtime['path'])}[/] {escape(versions)}"
    )
    console.print(f"  {document['basis']}", style="dim")
    for finding in document["findings"]:
        print_finding(finding, console)
