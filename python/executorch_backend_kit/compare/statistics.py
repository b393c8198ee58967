"""Is one configuration faster than another? Paired rounds, a bootstrap interval, a verdict.

Pure functions of numbers. A ratio is time over baseline time: 0.5 takes half as long.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

# Two processes that run the same program differ by up to this share for reasons that have nothing
# to do with the program: where its memory landed, what else the machine did.
TIE_MARGIN = 0.05

CONFIDENCE = 0.95
RESAMPLES = 2000
MINIMUM_ROUNDS = 3

# Warm-up has ended when the medians of two neighbouring windows agree.
_WINDOW = 3
_WARM_AGREEMENT = 0.05


class Verdict(str, Enum):
    """What the interval of the ratio says about a configuration."""

    WIN = "win"
    TIE = "tie"
    LOSS = "loss"


@dataclass(frozen=True)
class Ratio:
    """A ratio of times with its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Win or loss only if the whole interval lies beyond the margin."""
        if self.high < 1 / (1 + TIE_MARGIN):
            return Verdict.WIN
        if self.low > 1 + TIE_MARGIN:
            return Verdict.LOSS
        return Verdict.TIE

    def beyond(self, factor: float) -> bool:
        """True if the whole interval is below 1/factor or above factor."""
        return self.high < 1 / factor or self.low > factor


def ratio(times: Sequence[float], baseline: Sequence[float], seed: int = 0) -> Ratio | None:
    """The ratio of paired times, one pair a round; None with fewer than three pairs."""
    pairs = list(zip(times, baseline, strict=True))
    if len(pairs) < MINIMUM_ROUNDS:
        return None
    logs = [math.log(t / b) for t, b in pairs]
    generator = random.Random(seed)  # noqa: S311 - resampling, not cryptography
    medians = sorted(median(generator.choices(logs, k=len(logs))) for _ in range(RESAMPLES))
    cut = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return Ratio(
        math.exp(median(logs)), math.exp(medians[cut]), math.exp(medians[RESAMPLES - 1 - cut])
    )


def warm_from(times: Sequence[float]) -> int | None:
    """How many runs belong to the warm-up; None if it has not ended yet."""
    for start in range(_WINDOW, len(times) - _WINDOW + 1):
        before = median(times[start - _WINDOW : start])
        after = median(times[start : start + _WINDOW])
        if abs(before / after - 1) < _WARM_AGREEMENT:
            return start - _WINDOW
    return None
