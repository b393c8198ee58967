"""Rounds are interleaved, bounded by the budget, and survive a runner that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from executorch_backend_kit.compare import rounds
from executorch_backend_kit.compare.rounds import MAXIMUM_ROUNDS, Track
from executorch_backend_kit.workers.errors import WorkerError


def measured(
    runners: Sequence[rounds.Runner], baseline: int | None, budget: float, **how: Any
) -> list[Track]:
    tracks = [Track(runner) for runner in runners]
    rounds.measure(tracks, baseline, budget, **how)
    return tracks


@dataclass
class World:
    """A clock that only runs take time on, and who ran when."""

    now: float = 0.0
    order: list[str] = field(default_factory=list)

    def clock(self) -> float:
        return self.now


@dataclass
class Fake:
    """A program that takes a known time."""

    world: World
    name: str
    milliseconds: float
    fails_at: int = -1
    first_runs_slower: int = 0

    def run(self, count: int) -> tuple[float, float]:
        self.world.order.append(self.name)
        if self.world.order.count(self.name) == self.fails_at:
            raise WorkerError("WORKER-KILLED", "The process was killed by SIGSEGV.")
        time = self.milliseconds
        if self.world.order.count(self.name) <= self.first_runs_slower:
            time *= 10
        self.world.now += time / 1e3 * count
        return time, time


def test_every_round_gives_each_a_turn_in_alternating_order() -> None:
    world = World()
    a, b = Fake(world, "a", 100), Fake(world, "b", 101)
    tracks = measured([a, b], 0, 10, clock=world.clock)
    assert "abba" * 5 in "".join(world.order)
    assert tracks[0].medians.keys() == tracks[1].medians.keys()


@pytest.mark.parametrize("milliseconds", [0.01, 1, 50, 300])
def test_the_budget_holds(milliseconds: float) -> None:
    world = World()
    runners = [Fake(world, "a", milliseconds), Fake(world, "b", milliseconds * 1.01)]
    tracks = measured(runners, 0, 5, clock=world.clock)
    assert world.now <= 5 * 1.02
    assert 3 <= len(tracks[0].medians) <= MAXIMUM_ROUNDS


def test_three_rounds_are_run_whatever_they_take() -> None:
    world = World()
    tracks = measured([Fake(world, "a", 9000), Fake(world, "b", 9000)], 0, 1, clock=world.clock)
    assert len(tracks[0].medians) == 3
    ratio = tracks[1].against(tracks[0])
    assert ratio
    assert ratio.value == 1


def test_a_plain_verdict_ends_early() -> None:
    world = World()
    tracks = measured([Fake(world, "a", 100), Fake(world, "b", 1)], 0, 1000, clock=world.clock)
    assert len(tracks[0].medians) == 10


def test_a_plain_loser_makes_room_for_a_close_race() -> None:
    world = World()
    runners = [Fake(world, "a", 10), Fake(world, "slow", 100), Fake(world, "close", 10.1)]
    tracks = measured(runners, 0, 1000, clock=world.clock)
    assert len(tracks[1].medians) == 10
    assert len(tracks[2].medians) == MAXIMUM_ROUNDS


def test_a_runner_that_fails_leaves_the_others_running() -> None:
    world = World()
    tracks = measured(
        [Fake(world, "a", 20), Fake(world, "b", 20, fails_at=8)], 0, 2, clock=world.clock
    )
    assert tracks[1].failure
    assert tracks[0].failure is None
    assert len(tracks[0].medians) > len(tracks[1].medians)


def test_without_a_baseline_times_are_measured_and_no_ratio_is_known() -> None:
    world = World()
    tracks = measured([Fake(world, "a", 20)], None, 1, clock=world.clock)
    assert tracks[0].median == 20


def test_warm_up_is_left_out() -> None:
    world = World()
    slow_start = Fake(world, "a", 10, first_runs_slower=5)
    (track,) = measured([slow_start], None, 30, clock=world.clock)
    assert track.median == 10
    assert track.warm_up >= 5


def test_fast_programs_run_many_times_a_turn() -> None:
    world = World()
    (track,) = measured([Fake(world, "a", 0.01)], None, 1, clock=world.clock)
    assert track.count > 1000


def test_progress_reaches_the_share_of_the_budget() -> None:
    world = World()
    shares: list[float] = []
    measured([Fake(world, "a", 50)], None, 1, clock=world.clock, progress=shares.append)
    assert shares == sorted(shares)
    assert 0.8 < shares[-1] <= 1


def test_an_interrupt_leaves_what_is_measured() -> None:
    class Interrupted(Fake):
        def run(self, count: int) -> tuple[float, float]:
            if self.world.order.count(self.name) == 20:
                raise KeyboardInterrupt
            return super().run(count)

    world = World()
    tracks = [Track(Fake(world, "a", 20)), Track(Interrupted(world, "b", 21))]
    with pytest.raises(KeyboardInterrupt):
        rounds.measure(tracks, 0, 1000, clock=world.clock)
    ratio = tracks[1].against(tracks[0])
    assert ratio
    assert 1.04 < ratio.value < 1.06
