"""The commands that choose a backend and make files for it: `select`, `export`."""

from __future__ import annotations

import typer

from executorch_backend_kit.cli.export import export
from executorch_backend_kit.cli.select import select

CHOOSE = "Choose and ship: backends"


def add_choice_commands(app: typer.Typer) -> None:
    """Registers the commands."""
    for command in (select, export):
        app.command(rich_help_panel=CHOOSE)(command)
