"""Interleaved measurement: in each round every configuration has a turn, the order alternating.

Slow drifts of the machine hit all configurations alike, and only times of one round are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol

from executorch_backend_kit.compare.statistics import MINIMUM_ROUNDS, Ratio, ratio, warm_from
from executorch_backend_kit.workers.errors import WorkerError

MAXIMUM_ROUNDS = 60
_TURN_SECONDS = (0.02, 0.25)  # a turn is at least one run
_MAXIMUM_RUNS = 5000  # in one turn
_WARM_UP_SHARE = 0.2  # of the budget, for all configurations together
_WARM_UP_RUNS = 60
# A configuration that is this much faster or slower needs no more rounds: its verdict is plain.
_PLAIN_FACTOR = 1.5
_PLAIN_ROUNDS = 10
_PLAIN_ROUNDS_IF_SLOW = 5  # once half of the budget is spent


class Runner(Protocol):
    """Something that can run a program; raises WorkerError."""

    def run(self, count: int) -> tuple[float, float]:
        """Runs `count` times; median and minimum in milliseconds."""


@dataclass
class Track:
    """The measurements of one configuration."""

    runner: Runner
    medians: dict[int, float] = field(default_factory=dict)  # by round
    minimum: float = float("inf")
    warm_up: int = 0
    runs: int = 0
    count: int = 1
    active: bool = True
    failure: WorkerError | None = None

    @property
    def median(self) -> float | None:
        """Of the rounds' medians, in milliseconds."""
        return median(self.medians.values()) if self.medians else None

    def against(self, baseline: Track) -> Ratio | None:
        """The ratio over the rounds that both took part in."""
        shared = sorted(self.medians.keys() & baseline.medians.keys())
        return ratio([self.medians[r] for r in shared], [baseline.medians[r] for r in shared])

    def turn(self, count: int) -> float | None:
        """Runs `count` times; the median, or None if the runner failed."""
        try:
            middle, least = self.runner.run(count)
        except WorkerError as error:
            self.failure, self.active = error, False
            return None
        self.minimum = min(self.minimum, least)
        return middle


def measure(
    tracks: Sequence[Track],
    baseline: int | None,
    budget: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    progress: Callable[[float], None] = lambda _: None,
) -> None:
    """Fills the tracks: warms up, then runs rounds until the budget is spent or all is plain.

    An interrupt leaves what is measured by then. Three rounds are always run, however long they
    take. `progress` is told the share that is done.
    """
    start = clock()
    turn = min(max(budget / (len(tracks) * 40), _TURN_SECONDS[0]), _TURN_SECONDS[1])
    for track in tracks:
        _warm_up(track, budget * _WARM_UP_SHARE / len(tracks), turn, clock)
    reference = tracks[baseline] if baseline is not None else None
    longest = 0.0
    for number in range(MAXIMUM_ROUNDS):
        begin = clock()
        if number >= MINIMUM_ROUNDS and begin - start + longest > budget:
            break
        active = [t for t in tracks if t.active]
        for track in active if number % 2 == 0 else reversed(active):
            if (time_taken := track.turn(track.count)) is not None:
                track.medians[number] = time_taken
                track.runs += track.count
        spent = clock() - start
        longest = max(longest, clock() - begin)
        progress(min(1.0, spent / budget) if budget > 0 else 1.0)
        plain_after = _PLAIN_ROUNDS_IF_SLOW if spent > budget / 2 else _PLAIN_ROUNDS
        if number + 1 >= plain_after and not _drop_plain(tracks, reference):
            break


def _warm_up(track: Track, seconds: float, turn: float, clock: Callable[[], float]) -> None:
    begin = clock()
    times: list[float] = []
    while len(times) < _WARM_UP_RUNS:
        middle = track.turn(1)
        if middle is None:
            return
        times.append(middle)
        if warm_from(times) is not None or clock() - begin > seconds:
            break
    track.warm_up = len(times)
    steady = median(times[-3:]) / 1e3
    track.count = max(1, min(_MAXIMUM_RUNS, round(turn / max(steady, 1e-9))))


def _drop_plain(tracks: Sequence[Track], reference: Track | None) -> bool:
    """Retires configurations with a plain verdict; False when nothing is left to find out."""
    if reference is None or not reference.active:
        return any(t.active for t in tracks)
    for track in tracks:
        if track is not reference and track.active:
            found = track.against(reference)
            track.active = found is None or not found.beyond(_PLAIN_FACTOR)
    return any(t.active for t in tracks if t is not reference)
