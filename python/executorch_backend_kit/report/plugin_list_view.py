"""`etbk.plugins/1` as a person reads it."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from executorch_backend_kit.report.finding_view import print_finding

_GLYPHS = {
    "registered": "[green]✓[/]",
    "already_registered": "[green]✓[/]",
    "candidate": " ",
    "disabled": "[dim]-[/]",
    "refused": "[red]✗[/]",
}


def render(document: dict[str, Any], console: Console | None = None) -> None:
    """Prints the document."""
    console = console or Console()
    runtime = document["runtime"]
    plugins = document["plugins"]
    console.print(
        f"[bold]Plugins[/] for ExecuTorch {escape(runtime['executorch'])}"
        + ("" if plugins else ": none found"),
        highlight=False,
    )
    for plugin in plugins:
        _plugin(plugin, console)
    console.print("\n[bold]Backends[/] that models can be lowered for")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("", "name", "id", "package", "ExecuTorch", "runtime"):
        table.add_column(heading, no_wrap=heading != "package")
    for backend in document["backends"]:
        table.add_row(
            "[green]✓[/]" if backend["usable"] else "[red]✗[/]",
            backend["name"],
            backend["id"],
            f"{backend['package']} {backend['version']}",
            backend["executorch"],
            "plugin" if backend["runtime_library"] else "built in",
        )
    console.print(table)
    for backend in document["backends"]:
        for finding in backend["findings"]:
            console.print()
            print_finding(finding, console)


def _plugin(plugin: dict[str, Any], console: Console) -> None:
    version = f" {plugin['version']}" if plugin["version"] else ""
    vendor = f" by {plugin['vendor']}" if plugin["vendor"] else ""
    ids = ", ".join(plugin["backends"])
    console.print(
        f"{_GLYPHS[plugin['outcome']]} [bold]{escape(plugin['name'])}[/]"
        f"{escape(version + vendor)}: "
        f"{plugin['outcome'].replace('_', ' ')}" + (f" as {escape(ids)}" if ids else ""),
        highlight=False,
    )
    if plugin["path"]:
        needs = f"{plugin['abi_major']}.{plugin['abi_minor_needed']}"
        console.print(
            f"    {escape(plugin['path'])} (needs ABI {needs}, found by: {plugin['origin']})",
            style="dim",
            highlight=False,
            soft_wrap=True,
        )
    for finding in plugin["findings"]:
        print_finding(finding, console)
