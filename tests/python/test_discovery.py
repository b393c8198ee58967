"""Backends are found, and one vendor's mistake stays that vendor's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from executorch_backend_kit.aot import BackendDescriptor, Candidate, DescriptorError, discover
from executorch_backend_kit.aot import discovery as discovery_module
from executorch_backend_kit.report.finding import Severity


def by_name(name: str) -> Candidate:
    return next(c for c in discover() if c.descriptor and c.descriptor.name == name)


def from_point(name: str) -> Candidate:
    return next(c for c in discover() if c.source.startswith(f"entry point {name} "))


def test_stock_backends_are_found() -> None:
    assert by_name("xnnpack").usable
    assert by_name("xnnpack").descriptor.id == "XnnpackBackend"  # type: ignore[union-attr]


def test_an_entry_point_is_found(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("unregistered")
    candidate = by_name("unregistered")
    assert candidate.usable
    assert candidate.source == "entry point unregistered of toy-vendor 1.0"


@pytest.mark.parametrize(
    ("point", "code", "evidence"),
    [
        ("raises", "DESCRIPTOR-FAILED", "RuntimeError: the licence file is unreadable"),
        ("not_a_descriptor", "DESCRIPTOR-INVALID", "returned str"),
        ("invalid", "DESCRIPTOR-INVALID", "toy-vendor"),
        ("no_such_function", "DESCRIPTOR-FAILED", "AttributeError"),
    ],
)
def test_a_failing_entry_point_is_a_finding_and_harms_no_other(
    toy_vendor: Callable[..., None], point: str, code: str, evidence: str
) -> None:
    toy_vendor(point, "unregistered")
    candidate = from_point(point)
    assert not candidate.usable
    assert candidate.reason
    assert candidate.reason.code == code
    assert evidence in candidate.reason.evidence
    assert by_name("unregistered").usable


def test_two_entry_points_with_one_id_are_both_refused(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("twin_a", "twin_b")
    for name in ("twin-a", "twin-b"):
        reason = by_name(name).reason
        assert reason
        assert reason.code == "BACKEND-DUPLICATE-ID"
        assert "twin_a" in reason.evidence
        assert "twin_b" in reason.evidence


def test_a_stock_id_cannot_be_taken(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("usurper")
    assert by_name("xnnpack").usable
    reason = by_name("usurper").reason
    assert reason
    assert reason.code == "BACKEND-DUPLICATE-ID"


def test_a_backend_for_another_release_is_refused_by_both_versions(
    toy_vendor: Callable[..., None],
) -> None:
    toy_vendor("old")
    reason = by_name("old").reason
    assert reason
    assert reason.code == "BACKEND-VERSION-UNSUPPORTED"
    assert discovery_module.executorch_version() in reason.message  # type: ignore[operator]
    assert ">=0.1,<0.2" in reason.evidence


def test_a_missing_module_is_named_with_the_cure(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("needs_more")
    reason = by_name("needs-more").reason
    assert reason
    assert reason.code == "BACKEND-REQUIREMENT-MISSING"
    assert "no_such_module" in reason.message
    assert reason.fix == "pip install no_such_module"


def test_without_executorch_every_backend_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery_module, "executorch_version", lambda: None)
    assert {c.reason.code for c in discover() if c.reason} == {"EXECUTORCH-MISSING"}
    assert not any(c.usable for c in discover())


def test_a_missing_runtime_library_is_a_warning() -> None:
    descriptor = by_name("xnnpack").descriptor
    assert descriptor
    moved = replace(descriptor, runtime_library=Path("/nowhere/libx.so"))
    candidate = discovery_module._check_environment(Candidate("test", moved), "1.5.1")
    assert candidate.usable
    assert [(f.code, f.severity) for f in candidate.findings] == [
        ("BACKEND-LIBRARY-MISSING", Severity.WARNING)
    ]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": "Acme"}, "its name must be"),
        ({"name": "portable"}, "reserved"),
        ({"id": "acme-backend"}, "Python class name"),
        ({"id": "class"}, "Python class name"),
        ({"executorch": "1.5"}, "version range"),
        ({"partitioner": None}, "not callable"),
    ],
)
def test_a_descriptor_that_breaks_a_rule_is_refused(changes: dict[str, object], says: str) -> None:
    good: dict[str, object] = {
        "name": "acme",
        "id": "AcmeBackend",
        "package": "acme",
        "version": "1",
        "executorch": ">=1.4",
        "partitioner": lambda: None,
    }
    BackendDescriptor(**good)  # type: ignore[arg-type]
    with pytest.raises(DescriptorError, match=says):
        BackendDescriptor(**(good | changes))  # type: ignore[arg-type]


def test_discovery_imports_neither_torch_nor_executorch() -> None:
    code = (
        "import sys; from executorch_backend_kit.aot import discover; discover();"
        "print([m for m in ('torch', 'executorch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
