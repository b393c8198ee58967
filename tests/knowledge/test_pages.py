"""The documentation pages are what the facts say."""

from __future__ import annotations

from pathlib import Path

import pytest
from executorch_backend_kit.knowledge import load
from executorch_backend_kit.knowledge.pages import pages

DOCS = Path(__file__).parents[2] / "docs"


def test_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: etbk knowledge pages docs."""
    monkeypatch.setenv("ETBK_KNOWLEDGE", "")
    written = dict(pages(load()))
    for path, text in written.items():
        assert (DOCS / path).read_text(encoding="utf-8") == text, path
    kept = {p.relative_to(DOCS) for k in ("backends", "targets") for p in (DOCS / k).glob("*.md")}
    assert kept == set(written)
