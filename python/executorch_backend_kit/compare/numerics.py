"""Compares the outputs of a configuration with those of the eager model.

An element of a floating-point output is right if |got - want| <= rtol |want| + atol max|want|,
where max|want| is the largest magnitude of that output. Other outputs must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# By the dtype of the output: (rtol, atol), both relative. float64 outputs are held to float32's.
DEFAULT_TOLERANCE = {"float16": (1e-2, 1e-3), "bfloat16": (5e-2, 1e-2)}
FLOAT32_TOLERANCE = (1e-3, 1e-4)


@dataclass(frozen=True)
class Numerics:
    """How far a configuration is from the reference, over all outputs and input sets.

    max_rel_error looks at elements of at least a thousandth of their output's largest magnitude.
    An error that is not a finite number is None.
    """

    passed: bool
    reason: str
    max_abs_error: float | None
    max_rel_error: float | None
    cosine: float | None
    tolerance: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The fields of `etbk.compare/1`."""
        return {
            "pass": self.passed,
            "reason": self.reason,
            "max_abs_error": self.max_abs_error,
            "max_rel_error": self.max_rel_error,
            "cosine": self.cosine,
            "reference": "eager",
            "tolerance": self.tolerance,
        }


@dataclass(frozen=True)
class _Difference:
    reason: str = ""
    absolute: float = 0.0
    relative: float = 0.0
    cosine: float = 1.0


def compare(
    got: Sequence[Sequence[Any]],
    want: Sequence[Sequence[Any]],
    tolerance: tuple[float, float] | None = None,
) -> Numerics:
    """Compares output lists, one for each input set. `tolerance` replaces the defaults."""
    differences: list[_Difference] = []
    used = tolerance or FLOAT32_TOLERANCE
    for number, (g, w) in enumerate(zip(got, want, strict=True)):
        where = f" for input set {number}" if len(want) > 1 else ""
        if len(g) != len(w):
            differences.append(_wrong(f"{len(g)} outputs instead of {len(w)}{where}"))
            continue
        for index, (a, b) in enumerate(zip(g, w, strict=True)):
            limits = tolerance or _limits(b)
            used = (max(used[0], limits[0]), max(used[1], limits[1]))
            differences.append(_one(a, b, limits, f"output {index}{where}"))
    failed = [d for d in differences if d.reason]
    return Numerics(
        passed=not failed,
        reason=failed[0].reason if failed else "",
        max_abs_error=_finite(max((d.absolute for d in differences), default=0.0)),
        max_rel_error=_finite(max((d.relative for d in differences), default=0.0)),
        cosine=None
        if any(math.isnan(d.cosine) for d in differences)
        else min((d.cosine for d in differences), default=1.0),
        tolerance={"rtol": used[0], "atol": used[1]},
    )


def _limits(want: Any) -> tuple[float, float]:
    name = str(getattr(want, "dtype", "")).removeprefix("torch.")
    return DEFAULT_TOLERANCE.get(name, FLOAT32_TOLERANCE)


def _one(got: Any, want: Any, limits: tuple[float, float], where: str) -> _Difference:
    import torch

    if type(want) is not type(got):
        return _wrong(f"{where} is a {type(got).__name__}, not a {type(want).__name__}")
    if isinstance(want, float):
        got, want = torch.tensor([got]), torch.tensor([want])
    if not isinstance(want, torch.Tensor):
        return _Difference() if got == want else _wrong(f"{where} is {got!r}, not {want!r}")
    if got.dtype != want.dtype:
        return _wrong(f"{where} has dtype {_name(got.dtype)}, not {_name(want.dtype)}")
    if got.shape != want.shape:
        return _wrong(f"{where} has shape {list(got.shape)}, not {list(want.shape)}")
    return (_floats if want.is_floating_point() else _integers)(got, want, limits, where)


def _integers(got: Any, want: Any, _limits: tuple[float, float], where: str) -> _Difference:
    import torch

    wrong = int((got != want).sum())
    if not wrong:
        return _Difference()
    apart = (got.to(torch.float64) - want.to(torch.float64)).abs().max()
    return _Difference(
        f"{wrong} of {want.numel()} elements of {where} ({_name(want.dtype)}) differ",
        absolute=float(apart),
    )


def _floats(got: Any, want: Any, limits: tuple[float, float], where: str) -> _Difference:
    import torch

    got, want = got.to(torch.float64).flatten(), want.to(torch.float64).flatten()
    if want.numel() == 0:
        return _Difference()
    same = (got == want) | (got.isnan() & want.isnan())  # equal infinities and NaN count as right
    strange = ~same & ~(got.isfinite() & want.isfinite())
    if strange.any():
        position = int(strange.nonzero()[0])
        value, expected = float(got[position]), float(want[position])
        return _Difference(
            f"{where} has {int(strange.sum())} elements such as {value} instead of {expected:.6g}",
            *(math.inf, math.inf, math.nan),
        )
    finite = want.isfinite()
    got, want = got[finite], want[finite]
    error, size = (got - want).abs(), want.abs()
    largest = float(size.max()) if size.numel() else 0.0
    rtol, atol = limits
    wrong = error > rtol * size + atol * largest
    counted = size >= largest / 1000
    relative = float((error / size)[counted & (size > 0)].max()) if (size > 0).any() else 0.0
    reason = ""
    if wrong.any():
        position = int((error - rtol * size).argmax())
        reason = (
            f"{int(wrong.sum())} of {want.numel()} elements of {where} are outside the tolerance, "
            f"the worst is {float(got[position]):.6g} instead of {float(want[position]):.6g}"
        )
    norm = float(got.norm() * want.norm())
    cosine = float(got @ want) / norm if norm else float(bool(got.norm() == want.norm()))
    return _Difference(reason, float(error.max()) if error.numel() else 0.0, relative, cosine)


def _wrong(reason: str) -> _Difference:
    return _Difference(reason, math.inf, math.inf, math.nan)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
