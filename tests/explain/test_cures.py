"""Each cure, applied to a whole model: equal numbers, and more of it delegated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.explain.cures import expressions
from executorch_backend_kit.explain.cures.catalogue import REWRITES

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = Path(__file__).parent / "cases"

Document = dict[str, Any]
Explained = Callable[..., Document]

# Cure, and the case that it is for.
TRIED = [
    ("keep-dims", "mean_drops_dims"),
    ("spell-out-alpha", "add_alpha"),
    ("multiply-powers", "power_not_square"),
    ("reshape-unsqueezed", "unsqueeze_front"),
    ("pad-first", "avgpool_counts_padding"),
    ("option-enable_bf16", "bf16_mlp"),
    ("float32", "float64_input"),
    ("fixed-sizes", "view_two_symbolic_dims"),
]


@pytest.mark.parametrize(("name", "case"), TRIED)
def test_a_cure_helps_the_whole_model(name: str, case: str, explained: Explained) -> None:
    document = explained(CASES / f"{case}.py")
    (cure,) = (c for c in document["cures"] if c["name"] == name)
    assert cure["verified"] is True, cure
    measured = cure["measured"]
    before, after = measured["delegated_arithmetic"]
    assert after > before or measured["delegates"][1] < measured["delegates"][0]
    assert measured["max_abs_error"] < 1e-3


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("freeze-parameters", "kv_cache_index_put"),
        ("import-quantized-kernels", "quant_dynamic_per_tensor"),
    ],
)
def test_a_cure_for_a_failing_stage_is_always_tried(
    name: str, case: str, explained: Explained
) -> None:
    (cure,) = (c for c in explained(CASES / f"{case}.py")["cures"] if c["name"] == name)
    assert cure["verified"] is True, cure


def test_weights_per_channel_are_proposed(explained: Explained) -> None:
    cures = explained(CASES / "quant_dynamic_per_tensor.py")["cures"]
    assert "per-channel-weights" in [c["name"] for c in cures]


def test_nothing_is_claimed_that_was_not_tried(explained: Explained) -> None:
    (cure,) = explained(CASES / "channels_last_input_reduction.py")["cures"]
    assert cure["name"] == "keep-dims"
    assert cure["verified"] is None
    assert cure["measured"] is None


def test_every_rewrite_has_a_case(explained: Explained) -> None:
    assert {r.name for r in REWRITES} <= {name for name, _ in TRIED}


def test_a_rewrite_that_finds_nothing_claims_nothing(explained: Explained) -> None:
    for name in ("per_op_baseline_control", "mean_keeps_dims_control"):
        assert explained(CASES / f"{name}.py")["cures"] == []


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (
            expressions.keep_dims,
            "return self.fc(x.mean(dim=(2, 3)))",
            "return self.fc(torch.flatten(x.mean(dim=(2, 3), keepdim=True), 1))",
        ),
        (expressions.spell_out_alpha, "y = torch.add(x, z, alpha=0.5)", "y = x + 0.5 * z"),
        (expressions.spell_out_alpha, "y = x.sub(z, alpha=2)", "y = x - 2 * z"),
        (expressions.multiply_powers, "return torch.pow(x, 3)", "return x * x * x"),
        (
            expressions.multiply_powers,
            "return torch.pow(self.a(x), 3)",
            "return (p := self.a(x)) * p * p",
        ),
        (expressions.multiply_powers, "return x ** 3", "return x * x * x"),
        (expressions.reshape_unsqueezed, "y = x.unsqueeze(0)", "y = x.reshape(1, *x.shape)"),
    ],
)
def test_the_authors_expression_is_rewritten(
    change: Callable[[ast.AST], bool], before: str, after: str
) -> None:
    shown = expressions.diff(before, change)
    assert shown is not None
    removed, added = shown.splitlines()
    assert removed == "-" + ast.unparse(ast.parse(before))
    assert added == "+" + ast.unparse(ast.parse(after))


@pytest.mark.parametrize(
    "expression", ["return x.mean(dim=2, keepdim=True)", "return x ** 0.5", "not ( python"]
)
def test_what_does_not_fit_has_no_diff(expression: str) -> None:
    for change in (expressions.keep_dims, expressions.multiply_powers):
        assert expressions.diff(expression, change) is None
