"""What was measured with the model at hand, by backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """A latency recorded on the target, as a ratio to some common baseline, with its interval."""

    low: float
    high: float
    where: str = ""
    date: str = ""


@dataclass(frozen=True)
class Measurements:
    """Empty where nothing was measured.

    coverage: the share of nodes that the backend took, from 0 to 1
    failed:   why the model could not be lowered for it
    size:     bytes of the program
    results:  latencies recorded on the target
    """

    coverage: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    size: Mapping[str, int] = field(default_factory=dict)
    results: Mapping[str, Result] = field(default_factory=dict)
