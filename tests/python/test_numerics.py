"""Right and wrong outputs are told apart, for every kind of output."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from executorch_backend_kit.compare.numerics import Numerics, compare


def judge(got: Any, want: Any, tolerance: tuple[float, float] | None = None) -> Numerics:
    return compare([[got]], [[want]], tolerance)


WANT = torch.tensor([1.0, -2.0, 0.001, 0.0])


def test_equal_outputs_pass() -> None:
    result = judge(WANT.clone(), WANT)
    assert result.passed
    assert (result.max_abs_error, result.max_rel_error) == (0, 0)
    assert result.cosine == pytest.approx(1)


def test_small_errors_pass_and_are_reported() -> None:
    result = judge(WANT + 1e-4, WANT)
    assert result.passed
    assert result.max_abs_error == pytest.approx(1e-4, rel=1e-3)


def test_one_percent_in_one_element_fails() -> None:
    got = WANT.clone()
    got[0] *= 1.01
    result = judge(got, WANT)
    assert not result.passed
    assert "1 of 4 elements of output 0 are outside" in result.reason
    assert "1.01 instead of 1" in result.reason


def test_noise_around_zero_is_judged_by_the_largest() -> None:
    assert judge(WANT + torch.tensor([0, 0, 0, 1e-4]), WANT).passed
    assert not judge(WANT + torch.tensor([0, 0, 0, 1e-2]), WANT).passed


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_fails(bad: float) -> None:
    got = WANT.clone()
    got[2] = bad
    result = judge(got, WANT)
    assert not result.passed
    assert str(bad) in result.reason
    assert (result.max_abs_error, result.cosine) == (None, None)


def test_equal_infinities_and_nans_pass() -> None:
    want = torch.tensor([float("inf"), float("nan"), 1.0])
    assert judge(want.clone(), want).passed


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (WANT.reshape(2, 2), "shape [2, 2], not [4]"),
        (WANT.double(), "dtype float64, not float32"),
        (1.0, "is a float, not a Tensor"),
    ],
)
def test_other_shapes_dtypes_and_kinds_fail(got: Any, says: str) -> None:
    result = judge(got, WANT)
    assert not result.passed
    assert says in result.reason


def test_a_missing_output_fails() -> None:
    assert "1 outputs instead of 2" in compare([[WANT]], [[WANT, WANT]]).reason


def test_integers_must_be_equal() -> None:
    want = torch.tensor([1, 2, 3])
    assert judge(want.clone(), want).passed
    result = judge(want + torch.tensor([0, 0, 5]), want)
    assert "1 of 3 elements" in result.reason
    assert result.max_abs_error == 5


def test_plain_numbers_are_compared() -> None:
    assert judge(3, 3).passed
    assert not judge(3, 4).passed
    assert judge(0.5, 0.50001).passed
    assert judge(None, None).passed


def test_half_precision_outputs_have_their_own_tolerance() -> None:
    want = torch.linspace(-1, 1, 9).to(torch.bfloat16)
    assert judge(want * 1.01, want).passed
    assert not judge(want.float() * 1.01, want.float()).passed


def test_a_given_tolerance_replaces_the_default() -> None:
    assert judge(WANT * 1.05, WANT, (0.1, 0.0)).passed
    assert judge(WANT * 1.05, WANT, (0.1, 0.0)).tolerance == {"rtol": 0.1, "atol": 0.0}


def test_the_failing_input_set_is_named() -> None:
    result = compare([[WANT], [WANT + 1]], [[WANT], [WANT]])
    assert "input set 1" in result.reason


def test_empty_outputs_pass() -> None:
    assert judge(torch.empty(0), torch.empty(0)).passed
