"""`etbk compare`: reads the command line, shows progress, prints the result."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from executorch_backend_kit.cli.backend_options import options
from executorch_backend_kit.cli.progress import progress_on_terminal
from executorch_backend_kit.compare import Limits, compare
from executorch_backend_kit.compare.numerics import FLOAT32_TOLERANCE
from executorch_backend_kit.report.comparison_view import render
from executorch_backend_kit.report.output_file import check_place, write_whole


def run(
    model: str,
    *,
    backends: str | None,
    baseline: str | None,
    inputs: Path | None,
    reference: str | None,
    bisect: Path | None,
    option: Sequence[str],
    budget: float,
    time_limit: float,
    rtol: float | None,
    atol: float | None,
    cache: bool,
    html: Path | None,
    json_output: bool,
) -> None:
    """Runs the comparison and ends with its exit code."""
    if html is not None:
        check_place(html)
    tolerance = None
    if rtol is not None or atol is not None:
        tolerance = (
            FLOAT32_TOLERANCE[0] if rtol is None else rtol,
            FLOAT32_TOLERANCE[1] if atol is None else atol,
        )
    with progress_on_terminal() as progress:
        result = compare(
            model,
            None if backends is None else backends.split(","),
            baseline=baseline,
            inputs=inputs,
            reference=reference,
            bisect=bisect,
            options=options(option),
            limits=Limits(budget, time_limit, tolerance),
            use_cache=cache,
            progress=progress,
        )
    document = result.to_json()
    if html is not None:
        from executorch_backend_kit.report.comparison_page import page

        write_whole(html, page(document))
    if json_output:
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
    else:
        render(document)
    raise typer.Exit(result.exit_code)
