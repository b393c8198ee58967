"""The HTML page of a comparison: complete, self-contained, and safe with odd names."""

from __future__ import annotations

import re
from copy import deepcopy
from html.parser import HTMLParser

import pytest
from executorch_backend_kit.report.comparison_page import Axis, page
from test_comparison_view import COMPARISON

VOID = {"meta", "br", "line", "circle"}


class Balance(HTMLParser):
    """Fails on an element that is closed in the wrong order or never."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_is_whole_and_needs_nothing_else() -> None:
    text = page(COMPARISON.to_json())
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert not re.search(r"https?:|<script|@import|url\(|src=", text)
    assert "prefers-color-scheme: dark" in text


def test_it_says_what_the_terminal_says() -> None:
    text = page(COMPARISON.to_json())
    for said in (
        "80x faster (77 to 83)", "1.20x slower (1.10 to 1.30)",
        "1.03x faster to 1.01x slower", "✗ wrong", "Backend broken failed.",
        "2 x fast (FastBackend)", "3.00 MiB", "similarity", "All was slow.", "Fast CPU",
    ):  # fmt: skip
        assert said in text, said
    assert text.count('class="win"') == 2  # plot and word of the one row that won


def test_names_are_text_and_not_markup() -> None:
    document = deepcopy(COMPARISON.to_json())
    document["rows"][1]["configuration"] = "<b onload=x>&"
    text = page(document)
    assert "<b onload" not in text
    assert "&lt;b onload=x&gt;&amp;" in text


def test_a_comparison_without_any_measurement_is_a_page_too() -> None:
    document = deepcopy(COMPARISON.to_json())
    document["rows"] = [document["rows"][-1]]
    document["baseline_row"] = 0
    assert "✗ failed" in page(document)


@pytest.mark.parametrize("ratios", [[], [1.0], [0.0125, 1.3], [1e-6, 1e6]])
def test_the_axis_holds_every_ratio_and_one(ratios: list[float]) -> None:
    axis = Axis.over(ratios)
    assert all(0 < axis.place(r) < 1 for r in [*ratios, 1.0])
    places = [place for place, _ in axis.ticks()]
    assert places == sorted(places)
    assert 1 <= len(places) <= 9
