"""`etbk select` decides as the golden decisions say, and each of its rules is needed for that."""

from __future__ import annotations

from pathlib import Path

import pytest
from executorch_backend_kit.select.exclusions import EXCLUSIONS
from executorch_backend_kit.select.order import POLICIES
from golden import FIELDS, Golden, differences, goldens, kinds, kit_knowledge

ORDER = sorted({rule.name for rules in POLICIES.values() for rule in rules})


@pytest.mark.parametrize("golden", goldens(), ids=lambda g: g.name)
def test_decision(golden: Golden) -> None:
    assert differences(golden) == [], golden.data["because"]


@pytest.mark.parametrize("name", [rule.name for rule in EXCLUSIONS])
def test_some_decision_fails_without_this_exclusion(name: str) -> None:
    left = [rule for rule in EXCLUSIONS if rule.name != name]
    assert any(differences(golden, exclusions=left) for golden in goldens())


@pytest.mark.parametrize("name", ORDER)
def test_some_decision_fails_without_this_order(name: str) -> None:
    left = {
        policy: [rule for rule in rules if rule.name != name] for policy, rules in POLICIES.items()
    }
    assert any(differences(golden, policies=left) for golden in goldens())


def test_there_are_enough_and_they_are_complete() -> None:
    assert len(goldens()) >= 60
    names = [golden.name for golden in goldens()]
    assert len(names) == len(set(names))
    for golden in goldens():
        assert set(golden.data) <= FIELDS, golden.name
        assert {"name", "from", "target", "kind", "first", "verdict", "because"} <= set(golden.data)
        assert golden.data["kind"] in kinds()


def test_every_target_has_a_decision() -> None:
    knowledge = kit_knowledge()
    decided = {knowledge.target(golden.data["target"]).name for golden in goldens()}
    assert sorted(set(knowledge.targets) - decided) == []


def test_every_field_is_explained() -> None:
    readme = (Path(__file__).parents[1] / "golden_decisions" / "README.md").read_text()
    assert [field for field in sorted(FIELDS) if f"`{field}`" not in readme] == []
