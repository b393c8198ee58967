"""`etbk run` and `etbk bench`, as declared on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful

Program = Annotated[Path, typer.Argument(metavar="FILE", help="A .pte file.", show_default=False)]
Inputs = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What it is given: a .pt file of torch.save, or a folder with index.json. "
        "Default: ones.",
        show_default=False,
    ),
]
Method = Annotated[
    str | None, typer.Option(metavar="NAME", help="Default: forward.", show_default=False)
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="A plugin to load; installed ones are found.",
        show_default=False,
    ),
]
Data = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A .ptd file of the program.", show_default=False),
]
LoadMode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="File, Mmap, MmapUseMlock or MmapUseMlockIgnoreErrors.",
        show_default=False,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", help="For kernels and XNNPACK.", min=1, show_default=False),
]
TimeLimit = Annotated[float, typer.Option(metavar="SECONDS", help="For each program.", min=0.001)]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def add_running_commands(app: typer.Typer, panel: str) -> None:
    """Registers the commands."""
    for command in (run, bench):
        app.command(rich_help_panel=panel)(command)


@graceful
def run(  # noqa: PLR0917 - typer reads the signature
    file: Program,
    inputs: Inputs = None,
    method: Method = None,
    plugin: Plugins = None,
    data: Data = None,
    load_mode: LoadMode = None,
    threads: Threads = None,
    outputs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the outputs here.", show_default=False),
    ] = None,
    etdump: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an ETDump here.", show_default=False),
    ] = None,
    time_limit: TimeLimit = 900.0,
    json: Json = False,
) -> None:
    """Run a program stage by stage in a child: how far it comes, and why it ends.

    Exit code 0: it ran. 1: it did not. 2: bad command line or no such file.
    """
    from executorch_backend_kit.cli import run as command

    command.run(
        file,
        command.settings(
            inputs=inputs,
            method=method,
            plugins=plugin,
            data=data,
            load_mode=load_mode,
            threads=threads,
            time_limit=time_limit,
        ),
        outputs=outputs,
        etdump=etdump,
        json_output=json,
    )


@graceful
def bench(  # noqa: PLR0917 - typer reads the signature
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help=".pte files.", show_default=False),
    ],
    inputs: Inputs = None,
    method: Method = None,
    plugin: Plugins = None,
    data: Data = None,
    load_mode: LoadMode = None,
    threads: Threads = None,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="For measuring, all files together.", min=0)
    ] = 10.0,
    time_limit: TimeLimit = 900.0,
    json: Json = False,
) -> None:
    """Load, first and steady time and memory of programs, measured against the first one.

    Exit code 0: all ran. 1: one did not. 2: bad command line or no such file. 3: none ran.
    """
    from executorch_backend_kit.cli import bench as command
    from executorch_backend_kit.cli.run import settings

    command.run(
        files,
        settings(
            inputs=inputs,
            method=method,
            plugins=plugin,
            data=data,
            load_mode=load_mode,
            threads=threads,
            time_limit=time_limit,
        ),
        budget=budget,
        json_output=json,
    )
