"""A diagnosis as a person reads it, rendered from its JSON document."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from executorch_backend_kit.report.finding_view import print_finding

_GLYPHS = {
    "usable": "[green]✓[/]",
    "compiles": "[cyan]◐[/]",
    "importable": "[yellow]○[/]",
    "unavailable": "[dim]✗[/]",
    "removed": "[dim]-[/]",
    "unknown": "[dim]?[/]",
}
_ORDER = tuple(_GLYPHS)


def render(document: dict[str, Any], *, verbose: bool) -> None:
    """The summary, then the findings; those that only inform if `verbose`."""
    console = Console(soft_wrap=True, highlight=False)
    environment = document["environment"]
    console.print(
        f"ExecuTorch {environment['executorch'] or 'not installed'}, "
        f"torch {environment['torch'] or 'not installed'}, Python {environment['python']}, "
        f"{environment['platform']}"
    )
    if document["cached_seconds_ago"] is not None:
        console.print(
            f"[dim]Trials from the cache, {_age(document['cached_seconds_ago'])} ago; "
            "--no-cache tries again.[/]"
        )
    if document["fast"]:
        console.print("[dim]Nothing was imported (--fast); without it backends are tried.[/]")
    slots = document["slots"]
    if slots["examined"]:
        console.print(
            f"[dim]Runtime: {slots['used']} of {slots['limit']} backend slots "
            f"({', '.join(slots['names'])}), {slots['operators']} operators[/]"
        )
    console.print()
    rows = sorted(document["backends"], key=lambda row: _ORDER.index(row["state"]))
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        console.print(
            f"{_GLYPHS[row['state']]} [bold]{row['name']:{width}}[/]  {row['state']:11}  "
            f"{escape(row['evidence'])}"
        )
    for finding in document["findings"]:
        console.print()
        print_finding(finding, console)
    for row in rows:
        shown = [f for f in row["findings"] if verbose or f["severity"] != "info"]
        if shown and (verbose or len(rows) == 1 or row["state"] not in ("unavailable", "removed")):
            console.print(f"\n[bold]{row['name']}[/] ({row['id'] or 'kernels'})")
            for finding in shown:
                print_finding(finding, console)
    if not verbose:
        console.print("\n[dim]etbk doctor NAME: one backend. --verbose: every finding. --json[/]")


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
