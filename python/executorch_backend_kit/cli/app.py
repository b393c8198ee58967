"""The `etbk` command: its subcommands, and how errors reach a person.

Kept thin and quick to start: what a subcommand needs is imported when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import executorch_backend_kit
from executorch_backend_kit.cli.choice_commands import add_choice_commands
from executorch_backend_kit.cli.diagnosis_commands import add_diagnosis_commands
from executorch_backend_kit.cli.ending import graceful
from executorch_backend_kit.cli.files import FILES, add_file_commands
from executorch_backend_kit.cli.running_commands import add_running_commands

UNDERSTAND = "Understand: for model authors"
VENDORS = "Vendors: for makers of backends"

app = typer.Typer(
    name="etbk",
    help="Build an ExecuTorch backend outside ExecuTorch, choose the right one for a model, "
    "and prove it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"etbk {executorch_backend_kit.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options before the subcommand."""


@app.command(rich_help_panel=UNDERSTAND)
@graceful
def compare(  # noqa: PLR0917 - typer reads the signature
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Python file that defines model() and example_inputs(), "
            "package.module:function, a .pt2 file, or a finished .pte file.",
            show_default=False,
        ),
    ],
    backends: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG,...",
            help="Configurations: backend names or ids joined by + in order of priority; "
            "'portable' means none. Default: every usable backend.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="Measure latencies against this one. Default: the first.",
            show_default=False,
        ),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Input sets that torch.save wrote, in place of the MODEL's own.",
            show_default=False,
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Hold the numbers against this eager model. Default: MODEL itself.",
            show_default=False,
        ),
    ] = None,
    bisect: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="For a row with wrong numbers, find the node where they begin; the smallest "
            "program that shows it goes here.",
            show_default=False,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME.KEY=VALUE",
            help="An option of a backend; may be repeated.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="For measuring, all rows together.", min=0)
    ] = 30.0,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="For one stage of one row.", min=1)
    ] = 900.0,
    rtol: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Error allowed, relative to each element. Default: by the output's dtype, "
            "0.001 for float32.",
            min=0,
            show_default=False,
        ),
    ] = None,
    atol: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Error allowed, relative to the output's largest magnitude. Default: by the "
            "output's dtype, 0.0001 for float32.",
            min=0,
            show_default=False,
        ),
    ] = None,
    cache: Annotated[bool, typer.Option(help="Use programs lowered before.")] = True,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the result as a web page too.", show_default=False
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON (etbk.compare/1).")
    ] = False,
) -> None:
    """Which backend for this model here: run, checked against eager, measured.

    Exit code 0: all rows right. 1: a row is wrong or failed. 2: bad command line or MODEL.
    3: nothing could run.
    """
    from executorch_backend_kit.cli.compare import run

    run(
        model,
        backends=backends,
        baseline=baseline,
        inputs=inputs,
        reference=reference,
        bisect=bisect,
        option=option or [],
        budget=budget,
        time_limit=time_limit,
        rtol=rtol,
        atol=atol,
        cache=cache,
        html=html,
        json_output=json,
    )


add_diagnosis_commands(app, UNDERSTAND)
add_choice_commands(app)
add_file_commands(app)
add_running_commands(app, FILES)


@app.command(rich_help_panel=VENDORS)
@graceful
def plugins(
    json: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON (etbk.plugins/1).")
    ] = False,
) -> None:
    """Every candidate plugin and its fate, and the backends to lower for."""
    from executorch_backend_kit.cli.plugins import run

    run(json_output=json)
