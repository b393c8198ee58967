"""Lowering in stages: who takes what, and every way in which it fails, with the backend's name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from executorch_backend_kit.aot import ConfigurationError, LoweringError, discover, lower
from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.lowering import Lowered

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and executorch warn a lot


@pytest.fixture(scope="module")
def program() -> Any:
    import mlp_model
    import torch

    return torch.export.export(mlp_model.model(), mlp_model.example_inputs()[0])


@pytest.fixture
def toy(toy_vendor: Callable[..., None]) -> Callable[[str], BackendDescriptor]:
    def get(point: str) -> BackendDescriptor:
        toy_vendor(point)
        return next(c.descriptor for c in discover() if c.descriptor and point in c.source)

    return get


def error_of(program: Any, *backends: BackendDescriptor | str, **options: Any) -> Any:
    with pytest.raises((LoweringError, ConfigurationError)) as caught:
        lower(program, backends, **options)
    return caught.value.finding


def test_no_backend_leaves_every_operator(program: Any) -> None:
    report = lower(program).report
    assert report.delegates == ()
    assert report.operators_left["aten.addmm.default"] == 2
    assert report.node_share == 0


def test_a_stock_backend_takes_all(program: Any) -> None:
    lowered = lower(program, ["xnnpack"])
    assert [(d.name, d.id, d.count) for d in lowered.report.delegates] == [
        ("xnnpack", "XnnpackBackend", 1)
    ]
    assert lowered.report.operators_left == {}
    assert lowered.report.node_share == 1
    assert b"XnnpackBackend" in lowered.to_executorch().buffer


def test_the_first_backend_chooses_first(program: Any, toy: Any) -> None:
    report = lower(program, [toy("unregistered"), "xnnpack"]).report
    assert {d.name: d.count for d in report.delegates} == {"unregistered": 1, "xnnpack": 1}
    assert report.operators_left == {}


def test_the_second_backend_finds_nothing_left(program: Any, toy: Any) -> None:
    report = lower(program, ["xnnpack", toy("unregistered")]).report
    assert [d.name for d in report.delegates] == ["xnnpack"]


@pytest.mark.parametrize(
    ("point", "code", "says"),
    [
        ("throws", "BACKEND-PARTITIONER-FAILED", ("Backend throws", "no such operator table")),
        (
            "cannot_compile",
            "BACKEND-COMPILE-FAILED",
            ("cannot-compile could not", "toy compiler"),
        ),
        ("misnamed", "BACKEND-ID-MISMATCH", ("UnregisteredBackend", "toy-vendor 1.0")),
        ("clash", "BACKEND-CLASS-CLASH", ("Two loaded classes", "toy_vendor.backends")),
    ],
)
def test_a_failing_backend_is_named(
    program: Any, toy: Any, point: str, code: str, says: tuple[str, str]
) -> None:
    finding = error_of(program, toy(point))
    assert finding.code == code
    assert says[0] in finding.message
    assert says[1] in finding.evidence
    assert finding.fix


def test_a_failing_second_backend_is_named(program: Any, toy: Any) -> None:
    assert "Backend throws" in error_of(program, "xnnpack", toy("throws")).message


def test_duplicates_are_refused(program: Any, toy: Any) -> None:
    descriptor = toy("unregistered")
    twin = replace(descriptor, name="twin")
    assert error_of(program, descriptor, descriptor).code == "BACKEND-DUPLICATE-NAME"
    finding = error_of(program, descriptor, twin)
    assert finding.code == "BACKEND-DUPLICATE-ID"
    assert "unregistered" in finding.evidence
    assert "twin" in finding.evidence


def test_another_release_is_refused(program: Any, toy: Any) -> None:
    finding = error_of(program, toy("old"))
    assert finding.code == "BACKEND-VERSION-UNSUPPORTED"
    assert ">=0.1,<0.2" in finding.evidence


def test_options_are_checked(program: Any, toy: Any) -> None:
    descriptor = toy("unregistered")
    assert lower(program, [descriptor], options={"unregistered": {"greedy": False}})
    for options, code in (
        ({"unregistered": {"greedy": "yes"}}, "BACKEND-OPTION-INVALID"),
        ({"unregistered": {"hungry": True}}, "BACKEND-OPTION-UNKNOWN"),
        ({"xnnpack": {}}, "BACKEND-OPTION-UNKNOWN"),
    ):
        assert error_of(program, descriptor, options=options).code == code


def test_a_partitioner_function_that_fails_is_named(program: Any, toy: Any) -> None:
    def missing(**_: object) -> None:
        raise ImportError("no module named acme_compiler")

    finding = error_of(program, replace(toy("unregistered"), partitioner=missing))
    assert finding.code == "BACKEND-PARTITIONER-FAILED"
    assert "acme_compiler" in finding.evidence


def test_something_else_than_a_partitioner_is_refused(program: Any, toy: Any) -> None:
    finding = error_of(program, replace(toy("unregistered"), partitioner=lambda **_: "hello"))
    assert finding.code == "BACKEND-PARTITIONER-FAILED"
    assert "str" in finding.evidence


def test_an_id_without_a_class_is_refused(program: Any, toy: Any) -> None:
    finding = error_of(program, replace(toy("unregistered"), id="NobodysBackend"))
    assert finding.code == "BACKEND-CLASS-MISSING"
    assert "NobodysBackend" in finding.message


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        (
            "Missing out variants: {'quantized_decomposed::add'}",
            "import executorch.kernels.quantized",
        ),
        ("Missing out variants: {'mine::add'}", "Operators without an out variant"),
    ],
)
def test_a_program_without_out_variants_is_refused_with_the_cure(said: str, fix: str) -> None:
    class Edge:
        def to_executorch(self, config: object) -> None:
            raise RuntimeError(said)

    with pytest.raises(LoweringError) as caught:
        Lowered(Edge(), None).to_executorch()  # type: ignore[arg-type]
    assert caught.value.finding.code == "EMIT-FAILED"
    assert fix in caught.value.finding.fix
