"""An explanation as a person reads it, rendered from its JSON document."""

from __future__ import annotations

from typing import Any

import typer


def render(document: dict[str, Any]) -> None:
    """Each answer: what, why, how sure, what to do."""
    if not document["known"]:
        typer.echo("unknown: nothing is recorded about this text.")
        if document["nearest"]:
            typer.echo(f"  near:  {', '.join(document['nearest'])}")
        typer.echo(
            "  do:    etbk doctor looks at this machine, etbk inspect FILE at a program file;"
        )
        typer.echo("         the first error of a log says more than the last")
        return
    for index, answer in enumerate(document["answers"]):
        if index:
            typer.echo()
        title = f"{answer['id']}: {answer['meaning']}" if answer["meaning"] else answer["id"]
        typer.secho(title, bold=True)
        if answer["cause"]:
            typer.echo(f"  why:   {answer['cause']}")
        typer.echo(f"  sure:  {answer['sure']}")
        typer.echo(f"  do:    {answer['next']}")
        if answer["kind"] == "text":
            typer.secho(f"  from:  {answer['matched'][:160]}", dim=True)
