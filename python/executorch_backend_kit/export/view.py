"""`etbk.export/1` as a person reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from executorch_backend_kit.export.manifest import NAME
from executorch_backend_kit.report.finding_view import print_finding

Document = dict[str, Any]

_STATES = {"made": "[green]✓[/]", "failed": "[red]✗[/]", "pending": "[yellow]…[/]"}


def render(document: Document, folder: Path, console: Console | None = None) -> None:
    """What was made, how that is known, and what to know of it."""
    console = console or Console(soft_wrap=True, highlight=False)
    for row in document["files"]:
        chain = " + ".join(row["chain"]) or "no plan"
        console.print(f"{_STATES[row['status']]} [bold]{escape(row['target'])}[/]  {chain}")
        if row["status"] == "made":
            console.print(f"    {escape(row['file'])}, {row['bytes']} bytes")
            console.print(f"    {_delegated(row)}; {row['evidence']['level']}")
    for row in document["files"]:
        if row["instead_of"]:
            console.print(
                f"\n[yellow]![/] {escape(row['target'])}: in place of {escape(row['instead_of'])}, "
                "which could not be made"
            )
        for finding in row["findings"]:
            print_finding(finding, console, f"{row['target']}: ")
    for finding in document["findings"]:
        print_finding(finding, console)
    console.print(
        f"\n[dim]{escape(str(folder / NAME))} says of each file what it is and how that is known. "
        "'compiled' is no proof of an accelerator: run it on the device.[/]"
    )


def _delegated(row: Document) -> str:
    delegation = row["delegation"]
    uses = ", ".join(f"{d['count']} x {d['name']} ({d['id']})" for d in delegation["delegates"])
    share = delegation["node_share"]
    taken = "" if share is None else f", {share:.0%} of the nodes"
    return (uses or "no delegate") + taken
