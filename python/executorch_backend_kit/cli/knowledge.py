"""`etbk knowledge`: verify the facts, check a file of one's own, show an entry."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful

knowledge = typer.Typer(
    no_args_is_help=True,
    help="The facts about backends and targets.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@knowledge.command()
@graceful
def verify(
    backends: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BACKEND]...", help="Default: all.", show_default=False),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A source tree of ExecuTorch, for build flags and CMake targets.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every check.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the checks as JSON (etbk.knowledge/1).")
    ] = False,
) -> None:
    """Check every recorded fact that this machine can check.

    Exit code 0: all that could be checked are right. 1: a fact is wrong. 2: unknown backend.
    3: ExecuTorch is not installed.
    """
    from executorch_backend_kit.cli.progress import progress_on_terminal
    from executorch_backend_kit.doctor import environment
    from executorch_backend_kit.knowledge import load
    from executorch_backend_kit.knowledge.verification import verify as run
    from executorch_backend_kit.knowledge.verification.view import render
    from executorch_backend_kit.report.finding import KitError

    here = environment.read()
    if here.executorch is None:
        raise KitError.of(next(environment.findings(here)))
    with progress_on_terminal() as bars:
        verification = run(
            load(),
            backends or (),
            executorch=here.executorch,
            platform=here.platform,
            source=source,
            progress=lambda note, share: bars.update("verifying", share, note),
        )
    document = verification.to_json()
    if json:
        sys.stdout.write(json_module.dumps(document, indent=2) + "\n")
    else:
        render(document, verbose=verbose)
    raise typer.Exit(verification.exit_code)


@knowledge.command()
@graceful
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backend or target file (TOML).")],
) -> None:
    """Check a knowledge file of your own against its schema.

    Exit code 0: good. 3: broken; the error names file, line and field.
    """
    from executorch_backend_kit.knowledge import store
    from executorch_backend_kit.knowledge.source import parse

    _, document = parse(file)
    kind = "targets" if document.get("schema") == "etbk.target/1" else "backends"
    entry = store.read_over(file, kind, store.kit_documents()[kind])
    typer.echo(f"{file}: good; {kind.removesuffix('s')} {entry['name']}")


@knowledge.command()
@graceful
def pages(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The pages go below it.", show_default=False)
    ],
) -> None:
    """Write a documentation page for each backend and target."""
    from executorch_backend_kit.knowledge import load
    from executorch_backend_kit.knowledge.pages import pages as all_pages

    for path, text in all_pages(load()):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
