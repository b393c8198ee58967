"""`etbk.compare/1` as a person reads it: the verdicts first, then sizes, times and findings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from executorch_backend_kit.report.finding_view import print_finding

_STYLES = {"win": "green", "tie": "", "loss": "yellow"}


def render(document: dict[str, Any], console: Console | None = None) -> None:
    """Prints the document."""
    console = console or Console()
    names = _labels(document["rows"])
    environment = document["environment"]
    console.print(
        f"{Path(document['model']).name} on {environment['processor'] or environment['machine']}, "
        f"ExecuTorch {environment['executorch']}",
        highlight=False,
    )
    console.print(_verdicts(document, names))
    console.print(_costs(document, names))
    if described := _described(document, names):
        console.print(described)
    _findings(document, names, console)
    console.print(_legend(document), style="dim", highlight=False)


def _labels(rows: list[dict[str, Any]]) -> list[str]:
    """Names of the rows, told apart by a number where they repeat."""
    seen: Counter[str] = Counter()
    labels = []
    for row in rows:
        seen[row["configuration"]] += 1
        count = seen[row["configuration"]]
        labels.append(row["configuration"] + (f" ({count})" if count > 1 else ""))
    return labels


def _verdicts(document: dict[str, Any], names: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("configuration", no_wrap=True)
    table.add_column("numbers", no_wrap=True)
    table.add_column("median", justify="right", no_wrap=True)
    table.add_column(f"against {document['baseline']}", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for name, row in zip(names, document["rows"], strict=True):
        if row["status"] == "failed":
            table.add_row(name, Text("✗ failed", "red"), "", "", "")
            continue
        latency = row["latency"]
        verdict = (latency or {}).get("verdict") or ""
        table.add_row(
            name,
            _numbers(row["numerics"]),
            _milliseconds(latency["median_ms"]) if latency else "",
            _ratio(latency) if latency else "",
            Text(verdict, _STYLES.get(verdict, "")),
        )
    return table


def _numbers(numerics: dict[str, Any] | None) -> Text:
    if numerics is None:
        return Text("not checked", "yellow")
    if not numerics["pass"]:
        return Text("✗ wrong", "red")
    error = numerics["max_abs_error"]
    return Text("✓ exact" if error == 0 else f"✓ within {error:.1e}", "green")


def _ratio(latency: dict[str, Any]) -> str:
    value, interval = latency["ratio_to_baseline"], latency["interval"]
    if value is None:
        return "not known"
    if value == 1 and interval == [1, 1]:
        return "1x"
    low, high = interval
    if value < 1:
        return f"{_factor(1 / value)} faster ({_factor(1 / high)}-{_factor(1 / low)})"
    return f"{_factor(value)} slower ({_factor(low)}-{_factor(high)})"


def _factor(value: float) -> str:
    return f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def _milliseconds(value: float) -> str:
    if value >= 100:
        return f"{value:.0f} ms"
    return f"{value:.2f} ms" if value >= 1 else f"{value * 1e3:.1f} us"


def _costs(document: dict[str, Any], names: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(1, 2, 0, 0), collapse_padding=True)
    table.add_column("configuration", no_wrap=True)
    table.add_column("delegates: name (id) x calls")
    for heading in ("nodes\ndelegated", ".pte\nMiB", "load\nms", "first\nms", "memory\nMiB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in zip(names, document["rows"], strict=True):
        delegates = [f"{d['name']} ({d['id']}) x {d['count']}" for d in row["delegates"]]
        share = row["delegated"]["nodes"]
        size = row["pte_bytes"]
        table.add_row(
            name,
            "\n".join(delegates) or ("none" if size else ""),
            "" if share is None else f"{share:.0%}",
            "" if size is None else f"{size / 2**20:.2f}",
            *(
                "" if row[key] is None else f"{row[key]:.1f}"
                for key in ("load_ms", "first_ms", "rss_mib")
            ),
        )
    return table


def _described(document: dict[str, Any], names: list[str]) -> Table | None:
    columns = [("eager", document["described"])]
    columns += [(n, r["described"]) for n, r in zip(names, document["rows"], strict=True)]
    columns = [(name, values) for name, values in columns if values]
    if not columns:
        return None
    table = Table(box=None, pad_edge=False, padding=(1, 2, 0, 0), collapse_padding=True)
    table.add_column("what the model says")
    for name, _ in columns:
        table.add_column(name, justify="right")
    labels = dict.fromkeys(label for _, values in columns for label in values)
    for label in labels:
        table.add_row(label, *(values.get(label, "") for _, values in columns))
    return table


def _findings(document: dict[str, Any], names: list[str], console: Console) -> None:
    for name, row in zip(names, document["rows"], strict=True):
        for finding in row["findings"]:
            console.print()
            print_finding(finding, console, prefix=f"{name}: ")
        if row["numerics"] and not row["numerics"]["pass"]:
            console.print()
            console.print(f"[red]✗[/] {name}: wrong numbers: {row['numerics']['reason']}.")
    for finding in document["findings"]:
        console.print()
        print_finding(finding, console)
    console.print()


def _legend(document: dict[str, Any]) -> str:
    rows = document["rows"]
    tolerance = next((r["numerics"]["tolerance"] for r in rows if r["numerics"]), None)
    mode = next((r["load_mode"] for r in rows if r["load_mode"]), None)
    parts = []
    if tolerance:
        parts.append(
            f"Numbers against the eager model: right within {tolerance['rtol']:g} of an element "
            f"plus {tolerance['atol']:g} of the largest."
        )
    if mode:
        parts.append(
            "Median of interleaved rounds; in brackets the 95 % interval. Load mode "
            f"{mode}. Memory is the growth from before loading to after the first run."
        )
    parts.append("A delegate call is no proof that an accelerator was used.")
    parts.append(f"Took {document['seconds']['total']:.0f} s.")
    return " ".join(parts)
