"""`etbk doctor`: reads the command line, shows progress, prints the diagnosis."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful


@graceful
def doctor(  # noqa: PLR0917 - typer reads the signature
    backends: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BACKEND]...",
            help="Names, aliases or runtime ids. Default: all.",
            show_default=False,
        ),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Import and run nothing.")] = False,
    cache: Annotated[bool, typer.Option(help="Use trials kept from before.")] = True,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show what only informs.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the report without personal data, to send it to others.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the diagnosis as JSON (etbk.doctor/1).")
    ] = False,
) -> None:
    """What works on this machine, and why the rest does not.

    Every backend is imported, lowered for and run with a small model, in processes of their own.
    Exit code 0: answered. 1: a backend that you named is not usable. 2: unknown backend.
    """
    from executorch_backend_kit.cli.progress import progress_on_terminal
    from executorch_backend_kit.doctor.bundle import write
    from executorch_backend_kit.doctor.diagnosis import diagnose

    with progress_on_terminal() as bars:
        diagnosis = diagnose(
            backends or (),
            fast=fast,
            use_cache=cache,
            progress=lambda note, share: bars.update("trying", share, note),
        )
    document = diagnosis.to_json()
    if bundle is not None:
        write(document, bundle)
    if json:
        sys.stdout.write(json_module.dumps(document, indent=2) + "\n")
    else:
        from executorch_backend_kit.doctor.view import render

        render(document, verbose=verbose or bool(backends))
    raise typer.Exit(diagnosis.exit_code)
