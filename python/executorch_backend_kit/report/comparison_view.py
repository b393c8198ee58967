"""`etbk.compare/1` as a person reads it: verdicts first, then what each costs, then findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from executorch_backend_kit.report import comparison_words as words
from executorch_backend_kit.report.finding_view import print_finding

_STYLES = {"win": "green", "tie": "", "loss": "yellow"}

Document = dict[str, Any]


def render(document: Document, console: Console | None = None) -> None:
    """Prints the document."""
    console = console or Console()
    names = words.labels(document["rows"])
    environment = document["environment"]
    console.print(
        f"[bold]{escape(Path(document['model']).name)}[/] on "
        f"{escape(environment['processor'] or environment['machine'])}, "
        f"ExecuTorch {escape(environment['executorch'] or '?')}\n",
        highlight=False,
    )
    console.print(_verdicts(document, names))
    console.print()
    console.print(_costs(document, names))
    if described := _described(document, names):
        console.print()
        console.print(described)
    _findings(document, names, console)
    console.print()
    console.print(" ".join(words.notes(document)), style="dim", highlight=False)


def _table(first: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, no_wrap=True)
    return table


def _verdicts(document: Document, names: list[str]) -> Table:
    table = _table("configuration")
    table.add_column("numbers", no_wrap=True)
    table.add_column("median", justify="right", no_wrap=True)
    table.add_column(f"against {document['baseline']}")
    table.add_column("verdict", no_wrap=True)
    for index, (name, row) in enumerate(zip(names, document["rows"], strict=True)):
        if row["status"] == "failed":
            table.add_row(name, Text("✗ failed", "red"))
            continue
        latency = row["latency"]
        if latency is None:
            table.add_row(name, _numbers(row))
            continue
        verdict = words.verdict(document, index)
        table.add_row(
            name,
            _numbers(row),
            words.milliseconds(latency["median_ms"]),
            "" if index == document["baseline_row"] else words.ratio(latency),
            Text(verdict, _STYLES.get(verdict, "")),
        )
    return table


def _numbers(row: Document) -> Text:
    style = "red" if words.is_wrong(row) else "green" if row["numerics"] else "yellow"
    return Text(words.numbers(row), style)


def _costs(document: Document, names: list[str]) -> Table:
    table = _table("configuration")
    table.add_column("delegates")
    headings = (
        "nodes in\nthem",
        "time in\nthem",
        ".pte\nMiB",
        "load\nms",
        "first\nms",
        "memory\nMiB",
    )
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in zip(names, document["rows"], strict=True):
        size = row["pte_bytes"]
        if size is None:
            continue
        shares = (row["delegated"]["nodes"], row["accelerator"]["time_share"])
        numbers = (row[key] for key in ("load_ms", "first_ms", "rss_mib"))
        table.add_row(
            name,
            "\n".join(words.delegates(row)) or "none",
            *("" if share is None else f"{share:.0%}" for share in shares),
            f"{size / 2**20:.2f}",
            *("" if number is None else f"{number:.1f}" for number in numbers),
        )
    return table


def _described(document: Document, names: list[str]) -> Table | None:
    columns = [("eager", document["described"])]
    columns += [(n, r["described"]) for n, r in zip(names, document["rows"], strict=True)]
    columns = [(name, values) for name, values in columns if values]
    if not columns:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("what the model says")
    for name, _ in columns:
        table.add_column(name.replace("+", "\n+"), justify="right", no_wrap=True)
    for label in dict.fromkeys(label for _, values in columns for label in values):
        table.add_row(label, *(values.get(label, "") for _, values in columns))
    return table


def _findings(document: Document, names: list[str], console: Console) -> None:
    for name, row in zip(names, document["rows"], strict=True):
        for finding in row["findings"]:
            console.print()
            print_finding(finding, console, prefix=f"{name}: ")
    for finding in document["findings"]:
        console.print()
        print_finding(finding, console)
