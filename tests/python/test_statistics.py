"""The verdict: right where the truth is known, and a tie for a program against itself."""

from __future__ import annotations

import random

import pytest
from executorch_backend_kit.compare.statistics import Ratio, Verdict, ratio, warm_from


def noisy(center: float, rounds: int, seed: int, spread: float = 0.05) -> list[float]:
    generator = random.Random(seed)
    return [center * generator.lognormvariate(0, spread) for _ in range(rounds)]


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.5, Verdict.WIN), (1.0, Verdict.TIE), (2.0, Verdict.LOSS)]
)
def test_a_plain_difference_is_found(factor: float, verdict: Verdict) -> None:
    found = ratio(noisy(10 * factor, 30, 1), noisy(10, 30, 2))
    assert found
    assert found.verdict is verdict
    assert found.low <= found.value <= found.high


def test_the_same_against_itself_is_a_tie() -> None:
    verdicts = []
    for seed in range(200):
        found = ratio(noisy(10, 25, 2 * seed), noisy(10, 25, 2 * seed + 1))
        assert found
        verdicts.append(found.verdict)
    assert verdicts.count(Verdict.TIE) >= 198


def test_the_interval_covers_the_truth() -> None:
    covered = 0
    for seed in range(200):
        found = ratio(noisy(8, 25, 2 * seed), noisy(10, 25, 2 * seed + 1))
        assert found
        covered += found.low <= 0.8 <= found.high
    assert covered >= 180


def test_drift_of_the_machine_cancels() -> None:
    drift = [1 + r / 10 for r in range(20)]  # the machine becomes three times slower
    found = ratio([9.0 * d for d in drift], [10.0 * d for d in drift])
    assert found
    assert found.value == pytest.approx(0.9)
    assert found.verdict is Verdict.WIN


def test_one_disturbed_round_changes_little() -> None:
    times = noisy(10, 20, 3)
    times[7] *= 50
    found = ratio(times, noisy(10, 20, 4))
    assert found
    assert found.verdict is Verdict.TIE


def test_a_difference_within_the_margin_is_a_tie() -> None:
    assert Ratio(0.97, 0.96, 0.98).verdict is Verdict.TIE
    assert Ratio(0.93, 0.92, 0.94).verdict is Verdict.WIN
    assert Ratio(1.08, 1.06, 1.10).verdict is Verdict.LOSS
    assert Ratio(0.80, 0.60, 0.99).verdict is Verdict.TIE


def test_too_few_rounds_give_no_ratio() -> None:
    assert ratio([1.0, 1.0], [1.0, 1.0]) is None


def test_equal_input_gives_equal_output() -> None:
    times, baseline = noisy(10, 20, 5), noisy(9, 20, 6)
    assert ratio(times, baseline) == ratio(times, baseline)


def test_warm_up_ends_when_times_stop_falling() -> None:
    assert warm_from([90, 70, 50, 20, 10, 10, 10, 10, 10]) == 3
    assert warm_from([10, 10, 10, 10, 10, 10]) == 0
    assert warm_from([90, 70, 50, 30, 20, 10]) is None
    assert warm_from([10, 10]) is None
