"""The commands that choose a backend, make files for it, and write down how: `skill`."""

from __future__ import annotations

import typer

from executorch_backend_kit.cli.export import export
from executorch_backend_kit.cli.select import select
from executorch_backend_kit.cli.skill import skill

CHOOSE = "Choose and ship: backends"
MAINTAIN = "Maintain"


def add_choice_commands(app: typer.Typer) -> None:
    """Registers the commands."""
    for command in (select, export):
        app.command(rich_help_panel=CHOOSE)(command)
    app.command(rich_help_panel=MAINTAIN)(skill)
