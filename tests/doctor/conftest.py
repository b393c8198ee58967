"""What the tests of the doctor share: the command, and one diagnosis of everything."""

from __future__ import annotations

import pytest
from harness import Document, Etbk, Result
from kit_command import cache, etbk, validate

__all__ = ["cache", "etbk", "validate"]


@pytest.fixture(scope="session")
def cold(etbk: Etbk) -> Result:
    """`etbk doctor --json` with an empty cache."""
    return etbk("doctor", "--json", timeout=600)


@pytest.fixture(scope="session")
def diagnosis(cold: Result) -> Document:
    """The document that it printed."""
    return cold.document
