"""A finding as a person reads it in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

_GLYPHS = {"error": "[red]✗[/]", "warning": "[yellow]![/]", "info": "[blue]i[/]"}


def print_finding(finding: dict[str, Any], console: Console, prefix: str = "") -> None:
    """Glyph, code and sentence; then the evidence and what to do."""
    console.print(
        f"{_GLYPHS[finding['severity']]} {escape(prefix)}{escape(finding['message'])} "
        f"[dim]{escape('[' + finding['code'] + ']')}[/]",
        highlight=False,
    )
    if finding["evidence"]:
        console.print(f"    seen: {escape(finding['evidence'])}", style="dim", highlight=False)
    if finding["fix"]:
        console.print(f"    do:   {escape(finding['fix'])}", highlight=False)
