"""A backend that an installed package describes is a candidate for the targets that it names."""

from __future__ import annotations

import pytest
from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.discovery import Candidate
from executorch_backend_kit.knowledge import load
from executorch_backend_kit.select import choose, vendors
from executorch_backend_kit.select.plan import plans
from golden import plain_request


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = BackendDescriptor(
        name="acme",
        id="AcmeBackend",
        package="acme-executorch-backend",
        version="1.0",
        executorch=">=1.4",
        partitioner=lambda: None,
        targets=("pixel-9", "ios"),
    )
    monkeypatch.setattr(vendors, "discover", lambda: (Candidate("entry point", descriptor),))


@pytest.mark.usefixtures("acme")
def test_it_is_listed_with_nothing_claimed() -> None:
    knowledge = vendors.with_described(load())
    decision = choose(knowledge, plain_request("android-tensor-g4"))
    names = [c.name for c in decision.candidates]
    assert names[0] == "vulkan"
    plan = next(p for p in plans(decision, knowledge) if p.contender.name == "acme")
    document = plan.to_json()
    assert document["evidence"]["level"] == "none"
    assert document["chain"] == ["acme", "xnnpack", "portable"]
    assert 'lower(exported, ["acme"])' in document["snippet"]
    assert {f["code"] for f in document["findings"]} >= {
        "SELECT-EXPERIMENTAL",
        "SELECT-NOT-MATURE-HERE",
    }


@pytest.mark.usefixtures("acme")
def test_a_system_names_all_its_devices_and_others_exclude_it() -> None:
    knowledge = vendors.with_described(load())
    assert "acme" in [c.name for c in choose(knowledge, plain_request("iphone-a17")).candidates]
    excluded = choose(knowledge, plain_request("web-browser")).excluded
    assert ("acme", "os") in [(e.name, e.rule) for e in excluded]
    required = choose(knowledge, plain_request("ios", require="AcmeBackend"))
    assert (required.candidates[0].name, required.verdict) == ("acme", "unknown")
