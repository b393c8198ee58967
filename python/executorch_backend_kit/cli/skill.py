"""`etbk skill`: writes the agent skill from the knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful


@graceful
def skill(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The files go there.", show_default=False)
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say which files differ.")
    ] = False,
) -> None:
    """Write the agent skill for choosing backends.

    Exit code 0: written, or all as it should be. 1: with --check, a file differs.
    """
    from executorch_backend_kit.knowledge import load
    from executorch_backend_kit.report.output_file import write_whole
    from executorch_backend_kit.skill import files

    differing = []
    for path, text in files(load()):
        file = folder / path
        if check:
            if not file.is_file() or file.read_text(encoding="utf-8") != text:
                differing.append(str(path))
            continue
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_written(folder, error) from None
        write_whole(file, text)
        if path.suffix == ".py":
            file.chmod(0o755)
    if differing:
        typer.echo(f"differ: {', '.join(differing)}; to write them: etbk skill {folder}")
        raise typer.Exit(1)


def _not_written(folder: Path, error: OSError) -> Exception:
    from executorch_backend_kit.report.finding import KitError

    return KitError(
        "EXPORT-NOT-WRITTEN",
        f"The folder {folder.name} cannot be made.",
        evidence=f"{folder}: {error.strerror or error}",
        fix="Name another folder.",
    )
