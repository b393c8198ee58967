"""`etbk.compare/1` as a person reads it: verdicts first, then what each costs, then findings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from executorch_backend_kit.report.finding_view import print_finding

_STYLES = {"win": "green", "tie": "", "loss": "yellow"}

Document = dict[str, Any]


def render(document: Document, console: Console | None = None) -> None:
    """Prints the document."""
    console = console or Console()
    names = _labels(document["rows"])
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
    console.print(_legend(document), style="dim", highlight=False)


def _table(first: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, no_wrap=True)
    return table


def _labels(rows: list[Document]) -> list[str]:
    """Names of the rows, told apart by a number where they repeat."""
    seen: Counter[str] = Counter()
    labels = []
    for row in rows:
        seen[row["configuration"]] += 1
        count = seen[row["configuration"]]
        labels.append(row["configuration"] + (f" ({count})" if count > 1 else ""))
    return labels


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
            table.add_row(name, _numbers(row["numerics"]))
            continue
        is_baseline = index == document["baseline_row"]
        verdict = "baseline" if is_baseline else latency["verdict"] or "not known"
        if row["numerics"] and not row["numerics"]["pass"]:
            verdict = ""  # being fast and wrong wins nothing
        table.add_row(
            name,
            _numbers(row["numerics"]),
            _milliseconds(latency["median_ms"]),
            "" if is_baseline else _ratio(latency),
            Text(verdict, _STYLES.get(verdict, "")),
        )
    return table


def _numbers(numerics: Document | None) -> Text:
    if numerics is None:
        return Text("not checked", "yellow")
    if not numerics["pass"]:
        return Text("✗ wrong", "red")
    error = numerics["max_abs_error"]
    return Text("✓ exact" if error == 0 else f"✓ within {error:.0e}", "green")


def _ratio(latency: Document) -> str:
    value = latency["ratio_to_baseline"]
    if value is None:
        return ""
    low, high = latency["interval"]
    if latency["verdict"] == "tie":
        return f"about the same ({low:.2f} to {high:.2f})"
    if value < 1:
        value, low, high, word = 1 / value, 1 / high, 1 / low, "faster"
    else:
        word = "slower"
    return f"{_number(value)}x {word} ({_number(low)} to {_number(high)})"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _milliseconds(value: float) -> str:
    if value >= 100:
        return f"{value:.0f} ms"
    return f"{value:.2f} ms" if value >= 1 else f"{value * 1e3:.1f} us"


def _costs(document: Document, names: list[str]) -> Table:
    table = _table("configuration")
    table.add_column("delegates")
    for heading in ("nodes in\nthem", ".pte\nMiB", "load\nms", "first\nms", "memory\nMiB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in zip(names, document["rows"], strict=True):
        size = row["pte_bytes"]
        if size is None:
            continue
        delegates = [f"{d['count']} x {d['name']} ({d['id']})" for d in row["delegates"]]
        share = row["delegated"]["nodes"]
        numbers = (row[key] for key in ("load_ms", "first_ms", "rss_mib"))
        table.add_row(
            name,
            "\n".join(delegates) or "none",
            "" if share is None else f"{share:.0%}",
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


def _legend(document: Document) -> str:
    rows = document["rows"]
    tolerance = next((r["numerics"]["tolerance"] for r in rows if r["numerics"]), None)
    mode = next((r["load_mode"] for r in rows if r["load_mode"]), None)
    parts = []
    if tolerance:
        parts.append(
            f"Numbers: against the eager model, right within {tolerance['rtol']:g} of an element "
            f"plus {tolerance['atol']:g} of the largest."
        )
    if mode:
        parts.append(
            "Times: median of interleaved rounds, in brackets the 95 % interval; loaded with "
            f"{mode}. Memory: growth from before loading to after the first run."
        )
    parts.append("A delegate is no proof that an accelerator ran.")
    parts.append(f"Took {document['seconds']['total']:.0f} s.")
    return " ".join(parts)
