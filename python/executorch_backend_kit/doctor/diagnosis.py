"""Puts a diagnosis together: environment, facts, SDKs, trials, plugins."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.discovery import Candidate, discover
from executorch_backend_kit.doctor import cache, environment, facts, runtime, sdk
from executorch_backend_kit.doctor.environment import Environment
from executorch_backend_kit.doctor.examination import Progress, Trials, examine
from executorch_backend_kit.doctor.runtime import Runtime
from executorch_backend_kit.doctor.sdk import Sdk
from executorch_backend_kit.doctor.verdict import State, Subject, Verdict, judge
from executorch_backend_kit.knowledge import Backend, Knowledge, UnknownNameError, load
from executorch_backend_kit.report.finding import Finding, Severity

SCHEMA = "etbk.doctor/1"
_TOLERANCE = 1e-2  # for backends that compute in lower precision


@dataclass(frozen=True)
class Diagnosed:
    """A backend with its verdict."""

    subject: Subject
    origin: str
    status: str
    verdict: Verdict
    sdks: tuple[Sdk, ...]
    registered: bool | None
    available: bool | None

    def to_json(self) -> dict[str, Any]:
        """One element of `backends`."""
        return {
            "name": self.subject.name,
            "title": self.subject.title,
            "id": self.subject.id,
            "origin": self.origin,
            "status": self.status,
            "state": self.verdict.state.value,
            "evidence": self.verdict.evidence,
            "registered": self.registered,
            "available": self.available,
            "delegates": None if self.verdict.delegates is None else dict(self.verdict.delegates),
            "max_abs_error": self.verdict.max_abs_error,
            "sdks": [found.to_json() for found in self.sdks],
            "findings": [finding.to_json() for finding in self.verdict.findings],
        }


@dataclass(frozen=True)
class Diagnosis:
    """What works here, and why the rest does not."""

    environment: Environment
    backends: tuple[Diagnosed, ...]
    runtime: Runtime
    findings: tuple[Finding, ...]
    named: bool  # backends were asked for by name
    fast: bool
    cached_seconds_ago: float | None
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """1 if a backend was asked for by name and is not usable."""
        bad = any(b.verdict.state is not State.USABLE for b in self.backends)
        return int(self.named and bad)

    def to_json(self) -> dict[str, Any]:
        """The document `etbk.doctor/1`."""
        modules = [
            {
                "module": module["module"],
                "backend": backend.subject.name,
                "importable": module["importable"],
                "error": module["error"],
            }
            for backend in self.backends
            for module in backend.verdict.modules
        ]
        return {
            "schema": SCHEMA,
            "kit": executorch_backend_kit.__version__,
            "fast": self.fast,
            "cached_seconds_ago": self.cached_seconds_ago,
            "seconds": round(self.seconds, 2),
            "environment": {
                "platform": self.environment.platform,
                "python": self.environment.python,
                "executorch": self.environment.executorch,
                "torch": self.environment.version("torch"),
                "torchao": self.environment.version("torchao"),
            },
            "backends": [backend.to_json() for backend in self.backends],
            "modules": modules,
            "slots": self.runtime.to_json(),
            "plugins": list(self.runtime.plugins),
            "findings": [finding.to_json() for finding in self.findings],
        }


@dataclass(frozen=True)
class _World:
    """What everything is judged against."""

    knowledge: Knowledge
    environment: Environment
    candidates: tuple[Candidate, ...]
    described: dict[str, BackendDescriptor] = field(default_factory=dict)


def diagnose(
    names: Sequence[str] = (), *, fast: bool, use_cache: bool, progress: Progress
) -> Diagnosis:
    """The diagnosis of these backends, or of all; raises UnknownNameError."""
    began = time.monotonic()
    world = _look_around()
    chosen, described = _chosen(names, world)
    kept: cache.Kept | None = None
    findings = [*world.knowledge.findings, *environment.findings(world.environment)]
    findings += [f for c in world.candidates if c.source != "stock" for f in c.findings]
    if not fast:
        kept, more = _tried(Trials(chosen, described), world, use_cache, progress)
        findings += more
    seen_runtime = runtime.judge(kept.runtime if kept else None)
    backends = [_diagnosed(b, world, kept, seen_runtime) for b in chosen]
    backends += [_diagnosed_plugin(d, world, kept, seen_runtime) for d in described]
    age = (
        time.time() - kept.made
        if kept and kept.made < time.time() - (time.monotonic() - began)
        else None
    )
    return Diagnosis(
        environment=world.environment,
        backends=tuple(backends),
        runtime=seen_runtime,
        findings=(*findings, *seen_runtime.findings),
        named=bool(names),
        fast=fast,
        cached_seconds_ago=None if age is None else round(age, 1),
        seconds=time.monotonic() - began,
    )


def _look_around() -> _World:
    found = environment.read()
    knowledge = load()
    at_release = {n: b.for_release(found.executorch) for n, b in knowledge.backends.items()}
    candidates = discover()
    described = {
        c.descriptor.name: c.descriptor
        for c in candidates
        if c.descriptor and c.source != "stock" and c.descriptor.name not in at_release
    }
    return _World(replace(knowledge, backends=at_release), found, candidates, described)


def _chosen(
    names: Sequence[str], world: _World
) -> tuple[tuple[Backend, ...], tuple[BackendDescriptor, ...]]:
    if not names:
        return tuple(world.knowledge.backends.values()), tuple(world.described.values())
    backends: dict[str, Backend] = {}
    described: dict[str, BackendDescriptor] = {}
    by_word = {w: d for d in world.described.values() for w in (d.name, d.id)}
    for name in names:
        if name in by_word:
            described[by_word[name].name] = by_word[name]
            continue
        try:
            backend = world.knowledge.backend(name)
        except UnknownNameError as error:
            more = ", ".join(world.described)
            if more:
                raise UnknownNameError.of(
                    replace(
                        error.finding, evidence=f"{error.finding.evidence}; from packages: {more}"
                    )
                ) from None
            raise
        backends[backend.name] = backend
    return tuple(backends.values()), tuple(described.values())


def _tried(
    trials: Trials, world: _World, use_cache: bool, progress: Progress
) -> tuple[cache.Kept, tuple[Finding, ...]]:
    """What trials saw, from the cache as far as it goes."""
    files = [str(d.runtime_library) for d in world.described.values() if d.runtime_library]
    key = cache.fingerprint(world.knowledge, files)
    kept, findings = cache.read(key) if use_cache else (None, ())
    known = kept.backends if kept else {}
    missing = Trials(
        tuple(b for b in trials.backends if b.name not in known and _can_be_tried(b, world)),
        tuple(d for d in trials.described if d.name not in known),
    )
    if kept and not missing.backends and not missing.described:
        return kept, findings
    made = time.time()
    seen_runtime, seen = examine(missing, world.environment, progress)
    fresh = cache.Kept(made, seen_runtime, {**known, **seen})
    return fresh, (*findings, *cache.write(key, fresh.runtime, fresh.backends))


def _can_be_tried(backend: Backend, world: _World) -> bool:
    release = world.environment.executorch or "0"
    return not backend.removed_from(release) and not backend.before_its_time(release)


def _diagnosed(
    backend: Backend, world: _World, kept: cache.Kept | None, seen_runtime: Runtime
) -> Diagnosed:
    subject = Subject(
        backend.name,
        backend.title,
        backend.id,
        float(backend.get("export", "tolerance", default=_TOLERANCE)),
        backend.texts("export", "operators"),
        backend.get("runtime", "availability") == "checked",
    )
    against = tuple(facts.findings(backend, world.environment))
    sdks: tuple[Sdk, ...] = ()
    seen = kept.backends.get(backend.name) if kept else None
    if not _can_be_tried(backend, world):
        removed = backend.removed_from(world.environment.executorch or "0")
        state = State.REMOVED if removed else State.UNAVAILABLE
        verdict = Verdict(state, against[0].message, against)
    else:
        sdks = tuple(sdk.look_up(fact) for fact in backend.get("sdk", default=()))
        verdict = judge(subject, seen, seen_runtime) if seen else _without_trial(backend, against)
        more = (*against, *verdict.findings, *(f for s in sdks for f in s.findings))
        verdict = _limited_by(replace(verdict, findings=more), against)
        verdict = _with_availability(verdict, subject, seen_runtime)
        verdict = replace(
            verdict, findings=(*verdict.findings, *facts.traps(backend, world.environment))
        )
    return Diagnosed(
        subject,
        backend.origin,
        str(backend.get("status")),
        verdict,
        sdks,
        _registered(subject, seen_runtime),
        seen_runtime.available.get(subject.id),
    )


def _registered(subject: Subject, seen: Runtime) -> bool | None:
    return subject.id in seen.slots if seen.examined and subject.id else None


def _without_trial(backend: Backend, against: tuple[Finding, ...]) -> Verdict:
    """What can be said without importing anything."""
    to_import = {
        need["package"]
        for need in backend.get("requires", default=())
        if need.get("needed_to", "import") == "import"
    }
    for finding in against:
        if finding.code == "DEPENDENCY-MISSING" and finding.message.split()[0] in to_import:
            return Verdict(State.UNAVAILABLE, finding.message, ())
    wrong = f"; {against[0].message}" if against else ""
    return Verdict(State.UNKNOWN, f"nothing was imported (--fast){wrong}", ())


def _limited_by(verdict: Verdict, against: tuple[Finding, ...]) -> Verdict:
    """A version outside of the declared range is no basis for trust, whatever a small run said."""
    wrong = next((f for f in against if f.code == "DEPENDENCY-VERSION"), None)
    if wrong is None or verdict.state is not State.USABLE:
        return verdict
    return replace(
        verdict, state=State.COMPILES, evidence=f"{verdict.evidence}; but {wrong.message}"
    )


def _with_availability(verdict: Verdict, subject: Subject, seen: Runtime) -> Verdict:
    if not subject.availability_is_real and seen.available.get(subject.id):
        finding = Finding(
            "AVAILABILITY-NOT-CHECKED",
            f"{subject.id} says that it is available without looking for its device or libraries.",
            evidence="is_available() returns true in every case in this release",
            fix="Believe a run, not the list.",
            severity=Severity.INFO,
        )
        return replace(verdict, findings=(*verdict.findings, finding))
    return verdict


def _diagnosed_plugin(
    descriptor: BackendDescriptor,
    world: _World,
    kept: cache.Kept | None,
    seen_runtime: Runtime,
) -> Diagnosed:
    subject = Subject(descriptor.name, descriptor.name, descriptor.id, _TOLERANCE, (), True)
    candidate = next(c for c in world.candidates if c.descriptor is descriptor)
    seen = kept.backends.get(descriptor.name) if kept else None
    if seen:
        verdict = judge(subject, seen, seen_runtime)
    elif reason := candidate.reason:
        verdict = Verdict(State.UNAVAILABLE, reason.evidence or reason.message, ())
    else:
        verdict = Verdict(State.UNKNOWN, "nothing was imported (--fast)", ())
    return Diagnosed(
        subject,
        f"package {descriptor.package} {descriptor.version}",
        "external",
        replace(verdict, findings=(*candidate.findings, *verdict.findings)),
        (),
        _registered(subject, seen_runtime),
        seen_runtime.available.get(subject.id),
    )
