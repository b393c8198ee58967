"""`etbk help`: reads the command line, prints what a code or text means."""

from __future__ import annotations

import json as json_module
import sys
from typing import Annotated

import typer

from executorch_backend_kit.cli.ending import graceful


@graceful
def help(  # noqa: A001 - the command's name
    text: Annotated[
        list[str],
        typer.Argument(
            metavar="CODE|TEXT|-",
            help="A code of the kit, an error number of ExecuTorch, an error text, or - for "
            "standard input.",
            show_default=False,
        ),
    ],
    json: Annotated[
        bool, typer.Option("--json", help="Print the explanation as JSON (etbk.help/1).")
    ] = False,
) -> None:
    """What a code or an error text means, and what to do next.

    Exit code 0, also if the answer is "unknown".
    """
    from executorch_backend_kit.help import explain
    from executorch_backend_kit.help.view import render
    from executorch_backend_kit.knowledge.errors import UnknownNameError

    query = _standard_input() if text == ["-"] else " ".join(text)
    if not query.strip():
        raise UnknownNameError(
            "HELP-INPUT-EMPTY",
            "There is nothing to explain.",
            fix="etbk help 0x20, etbk help CODE, or some command 2>&1 | etbk help -",
        )
    document = explain(query).to_json()
    if json:
        sys.stdout.write(json_module.dumps(document, indent=2) + "\n")
    else:
        render(document)


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")
