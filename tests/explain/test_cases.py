"""Every given case: what was seen of XNNPACK, and a true reason for each operator that it left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and executorch warn a lot

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.py"))

Document = dict[str, Any]
Explained = Callable[..., Document]


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest, explained: Explained) -> tuple[str, Document]:
    return request.param, explained(CASES / f"{request.param}.py")


def left(document: Document) -> list[Document]:
    return [n for n in document["nodes"] if not n["delegated"]]


def test_the_operators_that_are_left_are_those_that_were_seen(
    case: tuple[str, Document], observed: dict[str, Document]
) -> None:
    name, document = case
    found = Counter(
        n["op"] if n["kind"] == "tensor" else "scalar arithmetic" for n in left(document)
    )
    assert found == Counter(observed[name]["undelegated"])
    assert document["summary"]["delegates"] == observed[name]["delegates"]
    assert document["summary"]["nodes"]["delegated"] >= 1 or observed[name]["ops_inside"] == 0


def test_every_tensor_operator_that_is_left_has_a_reason(case: tuple[str, Document]) -> None:
    for node in left(case[1]):
        reason = node["reason"]
        assert reason["message"], node
        assert reason["code"].startswith("FALLBACK-")
        assert reason["hint"] or reason["code"] in ("FALLBACK-UNIT", "FALLBACK-UNKNOWN")


def test_what_the_backend_said_is_stated(
    case: tuple[str, Document], observed: dict[str, Document]
) -> None:
    name, document = case
    said = {(r["op"], r["reason"]) for r in observed[name]["reasons"]}
    stated = {
        (n["op"], n["reason"]["message"])
        for n in left(document)
        if n["reason"]["provenance"] == "stated"
    }
    # What was said of operators that were then decomposed, such as linear, is no node of the graph.
    ops = {n["op"] for n in document["nodes"]}
    assert stated == {(op, reason) for op, reason in said if op in ops}


def test_a_failing_stage_is_named(
    case: tuple[str, Document], observed: dict[str, Document]
) -> None:
    name, document = case
    status = observed[name]["status"]
    failed = [s["stage"] for s in document["stages"] if s["status"] == "failed"]
    expected = status.partition("@")[2]
    assert failed == ([expected] if expected and expected != "execute" else [])


def test_at_most_a_tenth_is_unknown(explained: Explained) -> None:
    counts: Counter[str] = Counter()
    for name in NAMES:
        counts.update(explained(CASES / f"{name}.py")["summary"]["reasons"])
    assert counts["unknown"] <= 0.1 * sum(counts.values()), counts


def test_every_answer_was_really_lowered(explained: Explained) -> None:
    answers = [
        (name, node["name"], node["reason"])
        for name in NAMES
        for node in left(explained(CASES / f"{name}.py"))
        if node["reason"]["would_delegate_if"]
    ]
    assert len(answers) >= 20
    assert [a for a in answers if a[2]["experiment"]["confirmed"] != "lowered"] == []


def test_words_and_experiments_agree_or_the_difference_is_explained(explained: Explained) -> None:
    differing = {}
    for name in NAMES:
        for node in left(explained(CASES / f"{name}.py")):
            reason = node["reason"]
            if reason["provenance"] == "stated":
                assert reason["agreement"].startswith(("agrees", "differs")), (name, reason)
                if reason["agreement"].startswith("differs"):
                    differing[name] = reason["agreement"]
    # XNNPACK's check of dtypes refuses arguments that are sizes, and calls that an invalid dtype.
    assert set(differing) == {"view_two_symbolic_dims"}
    assert "dynamic" in differing["view_two_symbolic_dims"]


def test_no_rule_is_said_only_after_experiments(explained: Explained) -> None:
    for name in NAMES:
        for node in left(explained(CASES / f"{name}.py")):
            reason = node["reason"]
            if reason["code"] == "FALLBACK-NO-RULE":
                assert reason["provenance"] == "derived"
                assert reason["experiment"]["tried"] > 0


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("mean_drops_dims", "keepdim were True"),
        ("add_alpha", "alpha were 1"),
        ("power_not_square", "exponent were 2"),
        ("avgpool_counts_padding", "padding were [0, 0]"),
        ("bf16_mlp", "enable_bf16 were True"),
        ("float64_input", "float32"),
        ("conv3d_rank", "rank were 4"),
        ("upsample_bilinear_dynamic", "every size were fixed"),
        ("view_two_symbolic_dims", "every size were fixed"),
        ("unsqueeze_front", "dim were 2"),
        ("quant_dynamic_per_tensor", "one for each output channel"),
    ],
)
def test_what_would_change_it(name: str, answer: str, explained: Explained) -> None:
    answers = [n["reason"]["would_delegate_if"] for n in left(explained(CASES / f"{name}.py"))]
    assert any(answer in (text or "") for text in answers), answers


def test_the_place_in_the_source_is_named(explained: Explained) -> None:
    (node,) = left(explained(CASES / "mean_drops_dims.py"))
    source = node["source"]
    assert source["file"] == "mean_drops_dims.py"
    assert "mean(dim=(2, 3))" in source["expression"]
    assert isinstance(source["debug_handle"], int)
    line = (CASES / "mean_drops_dims.py").read_text().splitlines()[source["line"] - 1]
    assert "mean(" in line
