"""`etbk.compare/1` as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from executorch_backend_kit.report import comparison_words as words

Document = dict[str, Any]

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_MOST_TICKS = 9


@dataclass(frozen=True)
class Span:
    """Where the ratio of a row lies on the axis: shares of its width, from 0 to 1."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis of time over baseline time, wide enough for all rows and for 1."""

    least: float
    most: float

    @staticmethod
    def over(ratios: Sequence[float]) -> Axis:
        """An axis that shows these ratios, with a margin."""
        return Axis(min([*ratios, 0.8]) / 1.1, max([*ratios, 1.25]) * 1.1)

    def place(self, value: float) -> float:
        """Where a ratio lies."""
        return math.log(value / self.least) / math.log(self.most / self.least)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of round ratios; powers of ten alone if there would be too many."""
        inside = [t for t in _TICKS if self.least <= t <= self.most]
        if len(inside) > _MOST_TICKS:
            inside = [t for t in inside if math.log10(t).is_integer()]
        return [(self.place(tick), f"{tick:g}x") for tick in inside]


def page(document: Document) -> str:
    """The whole page as text."""
    rows = document["rows"]
    axis = Axis.over([r for row in rows for r in _ratios(row)])
    environment = Environment(
        loader=PackageLoader("executorch_backend_kit.report", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("comparison.html").render(
        document=document,
        model=Path(document["model"]).name,
        rows=list(zip(words.labels(rows), rows, range(len(rows)), strict=True)),
        axis=axis,
        spans=[_span(row, axis) for row in rows],
        largest={
            key: _largest(rows, key) for key in ("pte_bytes", "load_ms", "first_ms", "rss_mib")
        },
        spoken=_spoken(document),
        words=words,
    )


def _ratios(row: Document) -> list[float]:
    latency = row["latency"]
    if latency is None or latency["interval"] is None:
        return []
    return [*latency["interval"], latency["ratio_to_baseline"]]


def _span(row: Document, axis: Axis) -> Span | None:
    ratios = _ratios(row)
    if not ratios:
        return None
    low, high, value = (axis.place(r) for r in ratios)
    return Span(low, value, high)


def _largest(rows: list[Document], key: str) -> float:
    return max([row[key] or 0 for row in rows]) or 1


def _spoken(document: Document) -> list[str]:
    """What describe() of the model says, by label, in the order of first mention."""
    columns = [document["described"], *(row["described"] for row in document["rows"])]
    return list(dict.fromkeys(label for column in columns if column for label in column))
