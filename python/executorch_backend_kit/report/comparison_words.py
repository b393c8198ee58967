"""How the rows of `etbk.compare/1` are named and their numbers said, in terminal and page."""

from __future__ import annotations

from collections import Counter
from typing import Any

Document = dict[str, Any]


def labels(rows: list[Document]) -> list[str]:
    """Names of the rows, told apart by a number where they repeat."""
    seen: Counter[str] = Counter()
    names = []
    for row in rows:
        seen[row["configuration"]] += 1
        count = seen[row["configuration"]]
        names.append(row["configuration"] + (f" ({count})" if count > 1 else ""))
    return names


def is_wrong(row: Document) -> bool:
    """True if the row ran and its numbers are outside the tolerance."""
    return row["numerics"] is not None and not row["numerics"]["pass"]


def verdict(document: Document, index: int) -> str:
    """Of a row that was measured: "baseline", "win", "tie", "loss", "not known", or nothing."""
    row = document["rows"][index]
    if row["latency"] is None or is_wrong(row):
        return ""  # being fast and wrong wins nothing
    if index == document["baseline_row"]:
        return "baseline"
    return row["latency"]["verdict"] or "not known"


def numbers(row: Document) -> str:
    """Whether the outputs are right."""
    if row["numerics"] is None:
        return "not checked"
    if is_wrong(row):
        return "✗ wrong"
    error = row["numerics"]["max_abs_error"]
    return "✓ exact" if error == 0 else f"✓ within {error:.0e}"


def ratio(latency: Document) -> str:
    """How many times faster or slower than the baseline, with the interval; empty if not known."""
    value = latency["ratio_to_baseline"]
    if value is None:
        return ""
    low, high = latency["interval"]
    if latency["verdict"] == "tie":
        return f"{_times(low)} to {_times(high)}"
    if value < 1:
        value, low, high, word = 1 / value, 1 / high, 1 / low, "faster"
    else:
        word = "slower"
    return f"{number(value)}x {word} ({number(low)} to {number(high)})"


def _times(value: float) -> str:
    return f"{number(1 / value)}x faster" if value < 1 else f"{number(value)}x slower"


def number(value: float) -> str:
    """Two decimals as long as they say something."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def milliseconds(value: float) -> str:
    """A time in the unit that suits it."""
    if value >= 100:
        return f"{value:.0f} ms"
    return f"{value:.2f} ms" if value >= 1 else f"{value * 1e3:.1f} us"


def delegates(row: Document) -> list[str]:
    """A line for each backend that has delegates in the program."""
    return [f"{d['count']} x {d['name']} ({d['id']})" for d in row["delegates"]]


def notes(document: Document) -> list[str]:
    """What has to be known to read the numbers."""
    rows = document["rows"]
    numerics = next((r["numerics"] for r in rows if r["numerics"]), None)
    tolerance = numerics["tolerance"] if numerics else None
    mode = next((r["load_mode"] for r in rows if r["load_mode"]), None)
    said = []
    if numerics and tolerance:
        against = numerics["reference"]
        against = "the eager model" if against == "eager" else against
        said.append(
            f"Numbers: against {against}, right within {tolerance['rtol']:g} of an element "
            f"plus {tolerance['atol']:g} of the largest."
        )
    if mode:
        said.append(
            "Times: median of interleaved rounds, in brackets the 95 % interval; loaded with "
            f"{mode}. Memory: growth from before loading to after the first run."
        )
    if workers := {r["worker"] for r in rows if r["worker"]}:
        said.append(f"Ran in {' and '.join(sorted(workers))}.")
    if any(r["accelerator"]["calls"] for r in rows):
        said.append("Time in delegates: of one more run, as observed.")
    said.append("A delegate is no proof that an accelerator ran.")
    said.append(f"Took {document['seconds']['total']:.0f} s.")
    return said
