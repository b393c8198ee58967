"""The golden decisions, and what the rules say of each."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from executorch_backend_kit.knowledge import Knowledge, load
from executorch_backend_kit.select import Measurements, Request, choose
from executorch_backend_kit.select.exclusions import EXCLUSIONS, Exclusion
from executorch_backend_kit.select.measurements import Result
from executorch_backend_kit.select.order import POLICIES, OrderRule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parents[1] / "golden_decisions"
DEFAULTS = {"host": "linux-x86-64", "executorch": "1.5.1"}
FIELDS = {
    "name", "from", "target", "kind", "flags", "first", "unit", "verdict", "tie", "decided_by",
    "excluded", "coverage", "failed", "results", "bytes", "because",
}  # fmt: skip


def plain_request(target: str, **options: Any) -> Request:
    """A request on the machine and for the release that the decisions assume."""
    given: dict[str, Any] = {**DEFAULTS, **options}
    return Request(target=target, **given)


@dataclass(frozen=True)
class Golden:
    """One golden decision."""

    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def request(self) -> Request:
        flags = {**kinds()[self.data["kind"]], **self.data.get("flags", {})}
        flags["needs"] = tuple(flags.get("needs", ()))
        return plain_request(self.data["target"], **flags)

    @property
    def measured(self) -> Measurements:
        return Measurements(
            self.data.get("coverage", {}),
            dict.fromkeys(self.data.get("failed", ()), "an error"),
            self.data.get("bytes", {}),
            {name: Result(*span) for name, span in self.data.get("results", {}).items()},
        )


@cache
def kinds() -> dict[str, dict[str, Any]]:
    """The kinds of models."""
    return tomllib.loads((FOLDER / "kinds.toml").read_text())


@cache
def goldens() -> tuple[Golden, ...]:
    """All golden decisions."""
    found = []
    for file in sorted(FOLDER.glob("*.toml")):
        if file.name != "kinds.toml":
            found += [Golden(d) for d in tomllib.loads(file.read_text())["decision"]]
    return tuple(found)


@cache
def kit_knowledge() -> Knowledge:
    """What is known."""
    return load()


def differences(
    golden: Golden,
    exclusions: Sequence[Exclusion] = EXCLUSIONS,
    policies: Mapping[str | None, Sequence[OrderRule]] = POLICIES,
) -> list[str]:
    """What the rules decide otherwise."""
    decision = choose(
        kit_knowledge(), golden.request, golden.measured, exclusions=exclusions, policies=policies
    )
    first = decision.candidates[0] if decision.candidates else None
    excluded = {e.name: e.rule for e in decision.excluded}
    seen = {
        "first": first.name if first else "none",
        "verdict": decision.verdict,
        "unit": first.contender.unit if first else "",
        "decided_by": first.decided_by if first else None,
        "tie": list(decision.tied),
        "excluded": {name: excluded.get(name) for name in golden.data.get("excluded", {})},
    }
    return [
        f"{field}: {value!r}, not {golden.data[field]!r}"
        for field, value in seen.items()
        if field in golden.data and golden.data[field] != value
    ]
