"""`etbk export`: reads the command line, exports, prints what was made."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli import completion
from executorch_backend_kit.cli.ending import graceful


@graceful
def export(  # noqa: PLR0917 - typer reads the signature
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="Python file that defines model() and example_inputs().",
            show_default=False,
        ),
    ],
    target: Annotated[
        list[str],
        typer.Option(
            metavar="T",
            help="A device; may be repeated.",
            show_default=False,
            autocompletion=completion.targets,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Where the files go.", show_default=False
        ),
    ],
    quantize: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[T=]RECIPE",
            autocompletion=completion.recipes,
            help="none, int8, int8-dynamic or int4, for one target or for all; may be repeated.",
            show_default=False,
        ),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Calibration data: torch.save of a list of tuples. Default: calibration_inputs() "
            "of the MODEL, else its example inputs.",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="BACKEND",
            autocompletion=completion.backends,
            help="Each file must have a delegate of this backend.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="latency, size, portability or quality.",
            show_default=False,
            autocompletion=completion.policies,
        ),
    ] = None,
    alternatives: Annotated[
        int,
        typer.Option(metavar="N", help="Also the next N choices of each target.", min=0),
    ] = 0,
    os_version: Annotated[
        str | None,
        typer.Option(
            metavar="V",
            help="The oldest release of the devices' system that must run it.",
            show_default=False,
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of a target that is otherwise, such as target=ethos-u55-256.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="For lowering one file.", min=1)
    ] = 900.0,
    cache: Annotated[bool, typer.Option(help="Use programs lowered before.")] = True,
    json: Annotated[
        bool, typer.Option("--json", help="Print the manifest (etbk.export/1).")
    ] = False,
) -> None:
    """One program file per target, by the plan of `etbk select`, and a manifest.

    Exit code 0: every target has the file of its first choice. 1: one of them has not. 2: bad
    command line or MODEL. 3: no file could be made.
    """
    from executorch_backend_kit.cli.progress import progress_on_terminal
    from executorch_backend_kit.export import Making, Order
    from executorch_backend_kit.export import export as run
    from executorch_backend_kit.export.engine import requests
    from executorch_backend_kit.select.questions import request_of

    base = request_of(
        target[0],
        host=None,
        executorch=None,
        policy=policy,
        require=require,
        os_version=os_version,
        settings=setting or (),
    )
    order = Order(requests(target, quantize or (), base), alternatives)
    with progress_on_terminal() as progress:
        made = run(
            model,
            order,
            output,
            making=Making(time_limit=time_limit, use_cache=cache, inputs=inputs),
            progress=progress,
        )
    document = made.to_json()
    if json:
        sys.stdout.write(json_module.dumps(document, indent=2) + "\n")
    else:
        from executorch_backend_kit.export.view import render

        render(document, output)
    raise typer.Exit(made.exit_code)
