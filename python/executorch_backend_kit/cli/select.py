"""`etbk select`: reads the command line, chooses, prints the plan."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli import completion
from executorch_backend_kit.cli.ending import graceful


@graceful
def select(  # noqa: PLR0917 - typer reads the signature
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]",
            help="Python file that defines model() and example_inputs(): what each backend takes "
            "of it is then measured.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="A device: see --list.",
            show_default=False,
            autocompletion=completion.targets,
        ),
    ] = None,
    list_targets: Annotated[bool, typer.Option("--list", help="List the targets.")] = False,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="BACKEND",
            autocompletion=completion.backends,
            help="Acceleration by this backend, by name or runtime id, is a must.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            autocompletion=completion.policies,
            help="What matters: latency, size, portability or quality. Default: fast, and then "
            "easy to have.",
            show_default=False,
        ),
    ] = None,
    quantize: Annotated[
        str | None,
        typer.Option(
            metavar="RECIPE",
            autocompletion=completion.recipes,
            help="none, int8, int8-dynamic or int4. Default: left open.",
            show_default=False,
        ),
    ] = None,
    dtype: Annotated[
        str, typer.Option(metavar="D", help="What the model computes in.")
    ] = "float32",
    needs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE",
            help="dynamic-shapes or control-flow; may be repeated.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[str, typer.Option(metavar="K", help="The kind of model: llm, or any.")] = "any",
    os_version: Annotated[
        str | None,
        typer.Option(
            metavar="V",
            help="The oldest release of the device's system that must run it.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="PLATFORM",
            help="The machine that lowers, such as macos-arm64. Default: this one.",
            show_default=False,
        ),
    ] = None,
    vendor_sdk: Annotated[
        bool,
        typer.Option(
            "--vendor-sdk/--no-vendor-sdk",
            help="Whether an SDK under a vendor's licence may be needed to lower.",
        ),
    ] = True,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of the target that is otherwise, such as target=ethos-u55-256.",
            show_default=False,
        ),
    ] = None,
    executorch: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE", help="Plan for it. Default: what is installed.", show_default=False
        ),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A document of `etbk compare --json` that was recorded on the target.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Every candidate, every exclusion.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON (etbk.select/1).")
    ] = False,
) -> None:
    """Which backend for this device: ranked by named rules, with evidence and a plan.

    Exit code 0: answered, a tie included. 1: the required backend cannot be used. 2: bad command
    line or MODEL. 3: the answer is not known.
    """
    from executorch_backend_kit.select.errors import SelectionError
    from executorch_backend_kit.select.questions import answer, list_document, request_of

    if list_targets:
        if target is not None or model is not None:
            raise SelectionError(
                "SELECT-CONTRADICTION",
                "--list lists all targets; it takes no target and no MODEL.",
                fix="Leave out --list, or the others.",
            )
        document, code = list_document(), 0
    else:
        request = request_of(
            target,
            host=host,
            executorch=executorch,
            policy=policy,
            require=require,
            quantize=quantize,
            dtype=dtype,
            needs=tuple(needs or ()),
            kind=kind,
            os_version=os_version,
            vendor_sdk=vendor_sdk,
            settings=setting or (),
        )
        if model is None:
            document, code = answer(request, results or ())
        else:
            from executorch_backend_kit.cli.progress import progress_on_terminal
            from executorch_backend_kit.select.with_model import answer_with_model

            with progress_on_terminal() as progress:
                document, code = answer_with_model(model, request, results or (), progress)
    if json:
        sys.stdout.write(json_module.dumps(document, indent=2) + "\n")
    else:
        from executorch_backend_kit.select.view import render, render_targets

        if list_targets:
            render_targets(document)
        else:
            render(document, verbose=verbose)
    raise typer.Exit(code)
