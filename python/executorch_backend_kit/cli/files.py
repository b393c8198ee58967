"""The commands about files: `etbk inspect`, and what is declared beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful

FILES = "Choose and ship: files"

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A .pte or .ptd file.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def add_file_commands(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command(rich_help_panel=FILES)(inspect)


@graceful
def inspect(
    file: File,
    hash: Annotated[  # noqa: A002 - the option's name
        bool, typer.Option("--hash", help="Hash every blob and segment; reads the whole file.")
    ] = False,
    json: Json = False,
) -> None:
    """What is in a file: methods, delegates, operators, memory, data, sizes.

    Exit code 0, whatever is found; 2 if there is no such file.
    """
    from executorch_backend_kit.cli.inspect import run

    run(file, hash_payloads=hash, json_output=json)
