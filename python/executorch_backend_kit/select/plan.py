"""A candidate as a plan: chain, needs, snippet, ways to prove it, and how it is known."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.aot.configuration import PORTABLE
from executorch_backend_kit.doctor import facts
from executorch_backend_kit.doctor.environment import Environment
from executorch_backend_kit.knowledge import Backend, Knowledge
from executorch_backend_kit.report.finding import Finding, Severity
from executorch_backend_kit.select import needs
from executorch_backend_kit.select.contender import Contender
from executorch_backend_kit.select.decision import Candidate, Decision
from executorch_backend_kit.select.known import evidence
from executorch_backend_kit.select.snippets import Snippet, compose


@dataclass(frozen=True)
class Plan:
    """What to do to run a model on a candidate."""

    candidate: Candidate
    chain: tuple[Backend, ...]  # in order of priority; portable last
    snippet: Snippet
    settings: Mapping[str, Any]

    @property
    def contender(self) -> Contender:
        """Whom it is for."""
        return self.candidate.contender

    @property
    def name(self) -> str:
        """The chain as people write it: vulkan+xnnpack. What nobody takes runs on portable."""
        names = [b.name for b in self.chain if b.name != PORTABLE]
        return "+".join(names) or PORTABLE

    def to_json(self, coverage: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One element of `candidates` of `etbk.select/1`."""
        c = self.contender
        quantization = c.backend.get("quantization", default={})
        return {
            "backend": c.name,
            "id": c.backend.id,
            "title": c.backend.title,
            "unit": c.unit,
            "status": c.backend.get("status"),
            "chain": [b.name for b in self.chain],
            "settings": dict(self.settings),
            "rules": [
                {
                    "rule": name,
                    "says": place.says,
                    "evidence": place.evidence,
                    "decides": name == self.candidate.decided_by,
                }
                for name, place in self.candidate.places.items()
            ],
            "evidence": evidence(c).to_json(),
            "prerequisites": needs.prerequisites(c, self.chain),
            "install": needs.install(c, self.chain),
            "environment": needs.variables(self.chain),
            "build": needs.build(c, self.chain),
            "quantization": {
                "required": c.quantization_required,
                "quantizer": c.backend.get("quantizer", "class"),
                "flow": quantization.get("flow", "none"),
                "schemes": list(quantization.get("schemes", ())),
                "recipes": [r["name"] for r in quantization.get("recipes", ())],
                "note": quantization.get("note", ""),
            },
            "fallback": {
                "chain": list(c.backend.texts("fallback", "chain")),
                "reasons": list(c.backend.texts("fallback", "reasons")),
                "see": list(c.backend.texts("fallback", "see")),
            },
            "validate": [
                {"how": v["how"], "proves": v["proves"], "needs": list(v.get("needs", ()))}
                for v in c.backend.get("validate", default=())
            ],
            "coverage": None if coverage is None else dict(coverage),
            "snippet": self.snippet.script(f"{c.target.name}.{self.name}.pte"),
            "findings": [finding.to_json() for finding in self.findings()],
        }

    def findings(self) -> Iterator[Finding]:
        """What a person must know before following the plan."""
        c = self.contender
        if c.backend.get("status") != "supported":
            yield Finding(
                "SELECT-EXPERIMENTAL",
                f"{c.backend.title} is {c.backend.get('status')} by its makers.",
                evidence=c.known(),
                fix="Keep a plan without it, and validate on the device.",
                severity=Severity.WARNING,
            )
        if maturity := c.entry.get("maturity"):
            yield Finding(
                "SELECT-NOT-MATURE-HERE",
                f"{c.backend.title} is {maturity} on this kind of device.",
                evidence="; ".join(filter(None, (c.entry.get("note"), c.noted()))),
                fix="Validate on the device before relying on it.",
                severity=Severity.WARNING,
            )
        if c.entry.get("on_some"):
            yield Finding(
                "SELECT-NOT-ON-EVERY-DEVICE",
                f"Not every device of this target can use {c.backend.title}.",
                evidence="; ".join(filter(None, (c.entry.get("note"), c.noted()))),
                fix="Name the device with --target, or ship a file without it too.",
                severity=Severity.WARNING,
            )
        if c.quantization_required and not c.request.quantized:
            yield Finding(
                "SELECT-QUANTIZATION-REQUIRED",
                f"{c.backend.title} takes quantized models only on this device.",
                evidence=c.known("quantization"),
                fix="Quantize with its own quantizer before lowering: --quantize int8.",
                severity=Severity.WARNING,
            )
        if c.request.needs and not self._feature_known():
            yield Finding(
                "SELECT-FEATURE-UNKNOWN",
                f"Whether {c.backend.title} copes with {', '.join(c.request.needs)} is not "
                "recorded, or holds in part.",
                evidence=str(c.backend.get("shapes", "note", default="")) or c.known("shapes"),
                fix="Give the MODEL, so that it is tried.",
                severity=Severity.WARNING,
            )
        if self._no_script():
            yield Finding(
                "SELECT-NO-QUANTIZATION-SCRIPT",
                f"How to quantize to {c.request.quantize} for {c.backend.title} is not recorded "
                "as code.",
                evidence=f"its quantizer: {c.backend.get('quantizer', 'class') or 'none'}",
                fix="Quantize the model by its makers' guide, then lower it with the snippet.",
                severity=Severity.WARNING,
            )
        here = Environment(c.request.host, platform.python_version(), c.request.executorch, {})
        yield from facts.traps(c.backend, here)

    def _feature_known(self) -> bool:
        c = self.contender
        if "dynamic-shapes" in c.request.needs and c.backend.get("shapes", "dynamic") == "partial":
            return False
        return (
            "control-flow" not in c.request.needs
            or c.backend.get("features", "control_flow") == "yes"
        )

    def _no_script(self) -> bool:
        return self.contender.request.quantized and not self.snippet.quantizes


def plans(decision: Decision, knowledge: Knowledge) -> tuple[Plan, ...]:
    """A plan for each candidate, in order."""
    usable = {c.name: c.contender.backend for c in decision.candidates}
    return tuple(_plan(c, usable, decision, knowledge) for c in decision.candidates)


def _plan(
    candidate: Candidate, usable: Mapping[str, Backend], decision: Decision, knowledge: Knowledge
) -> Plan:
    c = candidate.contender
    request = decision.request
    behind = [
        usable[name]
        for name in c.backend.texts("fallback", "chain")
        if name in usable and name not in (c.name, PORTABLE)
    ]
    settings = {**c.entry.get("settings", {}), **_own_settings(c.backend, request.settings)}
    snippet = compose(
        c.backend,
        settings,
        behind,
        quantize=request.quantize or ("int8" if c.quantization_required else None),
        quality=request.policy == "quality",
        dynamic="dynamic-shapes" in request.needs,
        dtype=request.dtype,
    )
    chain = [c.backend, *(b for b in behind if b.name in snippet.stages)]
    if c.name != PORTABLE and PORTABLE in knowledge.backends:
        chain.append(knowledge.backends[PORTABLE].for_release(request.executorch))
    return Plan(candidate, tuple(chain), snippet, settings)


def _own_settings(backend: Backend, given: Sequence[tuple[str, str]]) -> dict[str, str]:
    known = backend.get("export", "settings", default={})
    return {name: value for name, value in given if name in known}
