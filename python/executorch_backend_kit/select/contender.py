"""A backend on a unit of a target: what the rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.aot.configuration import PORTABLE
from executorch_backend_kit.knowledge import Backend, Target
from executorch_backend_kit.select.measurements import Measurements
from executorch_backend_kit.select.request import Request


@dataclass(frozen=True)
class Contender:
    """A backend that the target's file lists, or (index None) one that it does not."""

    backend: Backend
    target: Target
    index: int | None
    request: Request
    measured: Measurements

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend.name

    @property
    def is_portable(self) -> bool:
        """True for the kernels that take what nobody else does."""
        return self.name == PORTABLE

    @property
    def entry(self) -> Mapping[str, Any]:
        """What the target's file says of the backend."""
        if self.index is None:
            return {}
        entry: Mapping[str, Any] = self.target.get("backends", self.index, default={})
        return entry

    @property
    def unit(self) -> str:
        """Which unit of the device it uses."""
        return str(self.entry.get("unit", ""))

    @property
    def quantization_required(self) -> bool:
        """True if this unit takes quantized models only."""
        required = self.backend.get("quantization", "required")
        return required == "yes" or (
            required == "on some devices" and self.entry.get("computes") == "integers"
        )

    def known(self, *path: str | int) -> str:
        """How a fact of the backend is known."""
        return self.backend.evidence(*path).to_text()

    def noted(self) -> str:
        """How the target's word on this backend is known."""
        if self.index is None:
            return self.target.evidence("backends").to_text()
        return self.target.evidence("backends", self.index).to_text()
