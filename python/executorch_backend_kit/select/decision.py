"""Applies the rules: who is out, who comes first, and whether that is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from executorch_backend_kit.knowledge import Backend, Knowledge, Target
from executorch_backend_kit.select.contender import Contender
from executorch_backend_kit.select.exclusions import EXCLUSIONS, Exclusion
from executorch_backend_kit.select.measurements import Measurements
from executorch_backend_kit.select.order import POLICIES, OrderRule, Place
from executorch_backend_kit.select.request import Request


@dataclass(frozen=True)
class Excluded:
    """A backend that cannot be used, by the first rule that says so."""

    name: str
    rule: str
    reason: str


@dataclass(frozen=True)
class Candidate:
    """A backend that can be used, with its place by each rule of the policy."""

    contender: Contender
    places: Mapping[str, Place]
    decided_by: str | None  # the rule that puts it before the next one; None for a tie

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.contender.name


@dataclass(frozen=True)
class Decision:
    """The answer to a request."""

    request: Request
    target: Target
    candidates: tuple[Candidate, ...]
    excluded: tuple[Excluded, ...]
    verdict: str  # "one", "tie" or "unknown"

    @property
    def tied(self) -> tuple[str, ...]:
        """Who ties for the first place."""
        names = []
        for candidate in self.candidates:
            names.append(candidate.name)
            if candidate.decided_by is not None:
                break
        return tuple(dict.fromkeys(names)) if self.verdict == "tie" else ()

    @property
    def requirement_failed(self) -> Excluded | None:
        """The required backend, if it cannot be used."""
        wanted = self.request.require
        return next((e for e in self.excluded if e.name == wanted), None)


def choose(
    knowledge: Knowledge,
    request: Request,
    measured: Measurements | None = None,
    *,
    exclusions: Sequence[Exclusion] = EXCLUSIONS,
    policies: Mapping[str | None, Sequence[OrderRule]] = POLICIES,
) -> Decision:
    """Decides; raises UnknownNameError for a target or a required backend that is not known."""
    target = knowledge.target(request.target)
    if request.require is not None:
        request = replace(request, require=knowledge.backend(request.require).name)
    kept, excluded = [], []
    for contender in _contenders(knowledge, target, request, measured or Measurements()):
        out = _first_reason(contender, exclusions)
        if out is None:
            kept.append(contender)
        elif out.rule:
            excluded.append(out)
    if request.require in {e.name for e in excluded} - {c.name for c in kept}:
        kept = []
    candidates = _ordered(kept, policies[request.policy])
    return Decision(request, target, candidates, tuple(excluded), _verdict(target, candidates))


def _contenders(
    knowledge: Knowledge, target: Target, request: Request, measured: Measurements
) -> list[Contender]:
    """What the target's file lists, in its order; then every other backend."""
    backends = {n: b.for_release(request.executorch) for n, b in knowledge.backends.items()}
    listed = [
        Contender(backends[entry["name"]], target, index, request, measured)
        for index, entry in enumerate(target.get("backends", default=()))
        if entry["name"] in backends
    ]
    names = {c.name for c in listed}
    others: list[Backend] = [b for n, b in backends.items() if n not in names]
    return [*listed, *(Contender(b, target, None, request, measured) for b in others)]


def _first_reason(contender: Contender, exclusions: Sequence[Exclusion]) -> Excluded | None:
    for rule in exclusions:
        reason = rule.reason(contender)
        if reason is not None:
            return Excluded(contender.name, rule.name, reason)
    # Only what the target's file lists can be a candidate.
    return None if contender.index is not None else Excluded(contender.name, "", "")


def _ordered(kept: Sequence[Contender], rules: Sequence[OrderRule]) -> tuple[Candidate, ...]:
    placed = [(c, {rule.name: rule.place(c, kept) for rule in rules}) for c in kept]
    placed.sort(key=lambda item: [place.rank for place in item[1].values()])
    return tuple(
        Candidate(c, places, _first_difference(places, placed[n][1] if n < len(placed) else None))
        for n, (c, places) in enumerate(placed, start=1)
    )


def _first_difference(places: Mapping[str, Place], then: Mapping[str, Place] | None) -> str | None:
    if then is None:
        return "nothing else is left"
    return next((name for name, place in places.items() if place.rank != then[name].rank), None)


def _verdict(target: Target, candidates: Sequence[Candidate]) -> str:
    if not candidates:
        return "unknown"
    first = candidates[0]
    if first.contender.entry.get("maturity") == "unverified":
        return "unknown"
    if first.contender.entry.get("on_some") and target.get("questions"):
        return "unknown"
    return "tie" if first.decided_by is None else "one"
