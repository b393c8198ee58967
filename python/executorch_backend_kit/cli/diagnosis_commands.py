"""The commands that find out what works here and why: `explain`, `doctor`, `help`, `knowledge`."""

from __future__ import annotations

import typer

from executorch_backend_kit.cli.doctor import doctor
from executorch_backend_kit.cli.explain import explain
from executorch_backend_kit.cli.help import help  # noqa: A004 - the command's name
from executorch_backend_kit.cli.knowledge import knowledge

MAINTAIN = "Maintain"


def add_diagnosis_commands(app: typer.Typer, panel: str) -> None:
    """Registers the commands."""
    app.command(rich_help_panel=panel)(explain)
    app.command(rich_help_panel=panel)(doctor)
    app.command(
        rich_help_panel=panel,
        context_settings={"ignore_unknown_options": True},
    )(help)
    app.add_typer(knowledge, name="knowledge", rich_help_panel=MAINTAIN)
