"""`etbk inspect` as a person reads it."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from executorch_backend_kit.report.finding_view import print_finding


def render(document: dict[str, Any]) -> None:
    """Summary, methods, data, findings."""
    console = Console(highlight=False)
    _summary(document, console)
    for method in document["methods"]:
        _method(method, console)
    _data(document, console)
    for finding in document["findings"]:
        print_finding(finding, console)
    if not document["findings"]:
        console.print("[green]✓[/] no rule is broken")


def size_text(count: int) -> str:
    """Bytes for people."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return ""


def _summary(document: dict[str, Any], console: Console) -> None:
    file = document["file"]
    name = escape(str(document["path"]))
    if file is None:
        console.print(f"[bold]{name}[/]: cannot be read as a program")
        return
    kind = "ExecuTorch program" if file["kind"] == "program" else "ExecuTorch data file"
    console.print(
        f"[bold]{name}[/]: {kind}, {size_text(file['bytes'])}, schema {file['schema_version']}"
    )


def _method(method: dict[str, Any], console: Console) -> None:
    console.print(f"\n[bold]method {escape(method['name'])}[/]")
    for title, ends in (("in", method["inputs"]), ("out", method["outputs"])):
        for end in ends:
            console.print(f"  {title:<4}{escape(_end(end))}")
    for index, delegate in enumerate(method["delegates"]):
        console.print(f"  delegate {index}: {escape(_delegate(delegate))}")
    if method["operators"]:
        table = Table("operator", "calls", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for operator in method["operators"]:
            overload = f".{operator['overload']}" if operator["overload"] else ""
            table.add_row(escape(f"  {operator['name']}{overload}"), str(operator["calls"]))
        console.print(table)
    planned = sum(buffer["bytes"] for buffer in method["memory_plan"])
    constants = method["constants"]
    console.print(
        f"  memory planned {size_text(planned)}; "
        f"{constants['tensors']} constants, {size_text(constants['bytes'])}; "
        f"{method['values']['count']} values; "
        f"{sum(method['instructions'].values())} instructions"
    )
    if method["external_data"]:
        names = ", ".join(method["external_data"][:5])
        more = len(method["external_data"]) - 5
        console.print(escape(f"  needs a .ptd with {names}" + (f" and {more} more" * (more > 0))))


def _end(end: dict[str, Any]) -> str:
    if "dtype" not in end:
        return str(end["kind"])
    shape = "x".join(str(size) for size in end["shape"]) or "scalar"
    dynamic = "" if end["dynamism"] == "static" else f", {end['dynamism']}"
    return f"{end['dtype']} {shape}{dynamic}"


def _delegate(delegate: dict[str, Any]) -> str:
    text = f"{delegate['id']}, {size_text(delegate['bytes'])}, called {delegate['calls']} times"
    envelope = delegate["envelope"]
    if envelope is not None and envelope["sound"]:
        text += (
            f"; made by {envelope['package'] or envelope['backend_id']} "
            f"{envelope['backend_version']}, blob format {envelope['blob_format']}, "
            f"for {envelope['target']['arch']}"
        )
    elif envelope is not None:
        text += f"; {envelope['problem']}"
    elif delegate["header"] is not None:
        text += f"; {delegate['header']['format']}"
    return text


def _data(document: dict[str, Any], console: Console) -> None:
    if document["file"] is None:
        return
    parts = {"program": document["sizes"]["program"], **document["sizes"]["segments"]}
    console.print(
        "\nsizes: " + ", ".join(f"{name} {size_text(size)}" for name, size in parts.items())
    )
    if document["named_data"]:
        console.print(f"named data: {len(document['named_data'])} entries")
