"""How `compare` tells what it is doing."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told about stages by name, each from 0 to 1, in order."""

    def update(self, stage: str, share: float, note: str = "") -> None:
        """`stage` has come to `share`; `note` says what is being worked on."""


class Silent:
    """Says nothing."""

    def update(self, stage: str, share: float, note: str = "") -> None:
        """Nothing."""
