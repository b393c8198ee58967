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
    for command in (inspect, diff, check):
        app.command(rich_help_panel=FILES)(command)


@graceful
def inspect(
    file: File,
    hash: Annotated[  # noqa: A002 - the option's name
        bool, typer.Option("--hash", help="Hash every blob and segment; reads the whole file.")
    ] = False,
    json: Json = False,
) -> None:
    """What is in a file: methods, delegates, operators, memory, data, sizes.

    Exit code 0, whatever is found. 2: there is no such file, or it is no program or data file.
    """
    from executorch_backend_kit.cli.inspect import run

    run(file, hash_payloads=hash, json_output=json)


@graceful
def diff(before: File, after: File, json: Json = False) -> None:
    """What changed between two files: methods, operators, delegates, versions, sizes, weights.

    Exit code 0, whatever is found. 2: one of them is not there, or is no program or data file.
    3: one of them is too damaged to be compared.
    """
    from executorch_backend_kit.cli.diff import run

    run(before, after, json_output=json)


@graceful
def check(  # noqa: PLR0917 - typer reads the signature
    file: File,
    runtime: Annotated[
        Path | None,
        typer.Option(
            metavar="PROFILE",
            help="A profile that etbk_write_profile() recorded. Default: this machine's runtime.",
            show_default=False,
        ),
    ] = None,
    binary: Annotated[
        Path | None,
        typer.Option(
            metavar="APP",
            help="Judge by what an ELF program, library, AAR or APK shows.",
            show_default=False,
        ),
    ] = None,
    ptd: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The program's data file.", show_default=False),
    ] = None,
    hash: Annotated[  # noqa: A002 - the option's name
        bool, typer.Option("--hash", help="Also verify the hashes in envelopes.")
    ] = False,
    for_cmake: Annotated[
        bool, typer.Option("--for-cmake", help="Print what an application must link, for CMake.")
    ] = False,
    json: Json = False,
) -> None:
    """Will this file run there? Everything that is missing at once; nothing is run.

    Exit code 0: nothing stands in the way. 1: blocked. 2: bad command line, or FILE is no program.
    3: unknown.
    """
    from executorch_backend_kit.cli.check import run

    run(
        file,
        runtime=runtime,
        binary=binary,
        ptd=ptd,
        hash_payloads=hash,
        cmake=for_cmake,
        json_output=json,
    )
