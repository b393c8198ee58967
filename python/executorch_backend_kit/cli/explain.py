"""`etbk explain`: reads the command line, shows progress, prints the report."""

from __future__ import annotations

import json as json_module
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful


@graceful
def explain(  # noqa: PLR0917 - typer reads the signature
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|FILE.pte",
            help="Python file that defines model() and example_inputs(), or a program file.",
            show_default=False,
        ),
    ],
    backends: Annotated[
        str,
        typer.Option(
            metavar="CONFIG",
            help="Backend names or ids joined by + in order of priority.",
        ),
    ] = "xnnpack",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME.KEY=VALUE",
            help="An option of a backend; may be repeated.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="For experiments, all together.", min=0)
    ] = 15.0,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="For any one stage.", min=1)
    ] = 900.0,
    try_cures: Annotated[
        bool, typer.Option("--try", help="Apply each cure to the whole model and measure it.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An earlier --json output: show what changed.",
            show_default=False,
        ),
    ] = None,
    max_fallback: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Fail if more of the arithmetic is outside of delegates: 5% or 0.05.",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BACKEND", help="Fail if it took nothing; name or id.", show_default=False
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Fail if an operator fell back for this reason.",
            show_default=False,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write stages and gates as JUnit."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every reason.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON (etbk.explain/1).")
    ] = False,
) -> None:
    """Why operators fell back, what would change it, and what that is worth.

    Exit code 0: answered, whatever was found. 1: a gate failed. 2: bad command line or MODEL.
    3: nothing could be found out.
    """
    from executorch_backend_kit.cli.backend_options import options
    from executorch_backend_kit.cli.progress import progress_on_terminal
    from executorch_backend_kit.explain import Gates, Limits, gates, program_file
    from executorch_backend_kit.explain import explain as run
    from executorch_backend_kit.explain.baseline import changes, read
    from executorch_backend_kit.report.explanation_view import render
    from executorch_backend_kit.report.output_file import write_whole

    share = None if max_fallback is None else gates.share(max_fallback)
    asked = Gates(share, tuple(require or ()), gates.known_codes(forbid or ()))
    earlier = None if baseline is None else read(baseline)
    if model.suffix == ".pte":
        result = program_file.explain(model)
    else:
        with progress_on_terminal() as progress:
            result = run(
                model,
                backends,
                options=options(option or ()),
                limits=Limits(budget, time_limit),
                try_cures=try_cures,
                progress=progress,
            )
    document = result.to_json()
    result = replace(
        result,
        gates=tuple(gate.to_json() for gate in asked.judge(document)),
        changes=None if earlier is None else changes(earlier, document),
    )
    document = result.to_json()
    if junit is not None:
        write_whole(junit, gates.junit(document))
    if json:
        sys.stdout.write(json_module.dumps(document, indent=2) + "\n")
    else:
        render(document, verbose=verbose)
    raise typer.Exit(result.exit_code)
