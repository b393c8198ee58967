"""Compares recorded facts with what was seen, one check for each fact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from packaging.specifiers import SpecifierSet

from executorch_backend_kit.knowledge.entries import Backend
from executorch_backend_kit.knowledge.verification.observations import Observations


class Result(str, Enum):
    """What became of a check."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_HERE = "not checkable here"


@dataclass(frozen=True)
class Check:
    """A fact, and whether it holds."""

    backend: str
    fact: str  # the field, as in the file: modules[2].error
    result: Result
    recorded: str
    seen: str

    def to_json(self) -> dict[str, str]:
        """The check as JSON data."""
        return {**vars(self), "result": self.result.value}


def compare(backend: Backend, seen: Observations) -> Iterator[Check]:
    """The checks of everything in `backend` that was observed."""
    yield from _modules(backend, seen)
    for role in ("partitioner", "quantizer", "compile_spec"):
        if backend.get(role) is not None:
            yield from _callable(backend, role, seen)
    yield from _options(backend, seen)
    yield from _recipes(backend, seen)
    yield from _runtime(backend, seen)
    yield from _requires(backend, seen)
    yield from _component(backend, seen)
    yield from _snippet(backend, seen)
    yield from _source(backend, seen)


def _check(
    backend: Backend, fact: str, right: bool | None, recorded: object, seen: object
) -> Check:
    result = Result.NOT_HERE if right is None else Result.RIGHT if right else Result.WRONG
    return Check(backend.name, fact, result, str(recorded), str(seen))


def _modules(backend: Backend, seen: Observations) -> Iterator[Check]:
    for index, fact in enumerate(backend.get("modules", default=())):
        field = f"modules[{index}]"
        if not seen.here(fact.get("platforms", ())) and fact["state"] != "absent":
            yield _check(backend, f"{field}.state", None, fact["state"], seen.platform)
            continue
        found = seen.modules.get(fact["module"])
        error = "was not reached" if found is None else found["error"]
        needs = fact.get("needs", ())
        if fact["state"] == "imports" or (needs and seen.has_all(needs)):
            yield _check(backend, f"{field}.state", not error, "imports", error or "imports")
            if found and not error:
                missing = [n for n in fact.get("names", ()) if n in found["missing"]]
                right = not missing
                yield _check(backend, f"{field}.names", right, fact.get("names", []), missing)
        else:
            recorded = fact.get("error", "")
            holds = None if seen.has_any(needs) else bool(error) and error.startswith(recorded)
            yield _check(backend, f"{field}.error", holds, recorded, error or "imports")


def _callable(backend: Backend, role: str, seen: Observations) -> Iterator[Check]:
    fact = backend.get(role)
    parameters = fact.get("parameters")
    found = seen.signatures.get(fact["class"])
    if found is None or not _importable(backend, fact, seen):
        yield _check(backend, f"{role}.class", None, fact["class"], "cannot be imported here")
        return
    yield _check(
        backend, f"{role}.class", "error" not in found, fact["class"], found.get("error", "found")
    )
    if parameters is not None and "parameters" in found:
        right = parameters == found["parameters"]
        yield _check(backend, f"{role}.parameters", right, parameters, found["parameters"])
    if (configuration := fact.get("configuration")) is not None:
        other = seen.signatures.get(configuration, {"error": "was not looked for"})
        yield _check(
            backend,
            f"{role}.configuration",
            "error" not in other,
            configuration,
            other.get("error", "found"),
        )


def _importable(backend: Backend, fact: Mapping[str, Any], seen: Observations) -> bool:
    """False if something it needs is not here, or if its module is recorded not to import."""
    module = fact["class"].partition(":")[0]
    failing = {
        m["module"]
        for m in backend.get("modules", default=())
        if m["state"] != "imports" and not seen.has_all(m.get("needs", ("",)))
    }
    return module not in failing and seen.has_all(fact.get("needs", ()))


def _options(backend: Backend, seen: Observations) -> Iterator[Check]:
    """Options of the partitioner must be among its parameters, or be taken by **."""
    taken = seen.signatures.get(backend.get("partitioner", "class", default=""), {}).get(
        "parameters"
    )
    for index, option in enumerate(backend.get("options", default=())):
        if option["where"] != "partitioner":
            continue
        if taken is None or taken == ["*args", "**kwargs"]:
            right = None
        else:
            right = option["name"] in taken or any(p.startswith("**") for p in taken)
        yield _check(backend, f"options[{index}].name", right, option["name"], taken)


def _recipes(backend: Backend, seen: Observations) -> Iterator[Check]:
    fact = backend.get("recipes")
    if fact is None or not fact["names"]:
        return
    found = seen.signatures.get(f"{fact['module']}:{fact.get('enum', '')}", {})
    right = None if "values" not in found else sorted(found["values"]) == sorted(fact["names"])
    yield _check(backend, "recipes.names", right, fact["names"], found.get("values", found))


def _runtime(backend: Backend, seen: Observations) -> Iterator[Check]:
    platforms = backend.texts("runtime", "registered_in_wheel")
    if not backend.id or seen.slots is None:
        return
    recorded = seen.platform in platforms
    right: bool | None = recorded == (backend.id in seen.slots)
    if not right and backend.id in seen.registered_as_others(backend):
        right = None
    yield _check(backend, "runtime.registered_in_wheel", right, platforms, seen.slots)
    if recorded and backend.get("runtime", "availability") == "always true":
        available = seen.available.get(backend.id)
        yield _check(backend, "runtime.availability", available is True, "always true", available)


def _requires(backend: Backend, seen: Observations) -> Iterator[Check]:
    """Ranges of the extras of the executorch package."""
    for index, need in enumerate(backend.get("requires", default=())):
        if "extra" not in need:
            continue
        declared = seen.extras.get((need["extra"], need["package"]))
        right = declared is not None and SpecifierSet(declared) == SpecifierSet(need["range"])
        yield _check(backend, f"requires[{index}].range", right, need["range"], declared)


def _component(backend: Backend, seen: Observations) -> Iterator[Check]:
    component = backend.get("build", "wheel_component")
    if component is None:
        return
    recorded = seen.platform in backend.texts("build", "wheel_platforms")
    right = None if seen.components is None else recorded == (component in seen.components)
    yield _check(
        backend,
        "build.wheel_component",
        right,
        f"{component} {'is' if recorded else 'is not'} in the wheel of {seen.platform}",
        "cmake was not run" if seen.components is None else sorted(seen.components),
    )


def _snippet(backend: Backend, seen: Observations) -> Iterator[Check]:
    fact: Mapping[str, Any] | None = backend.get("export")
    lowered = seen.lowered.get(backend.name)
    if fact is None:
        return
    if lowered is None:
        yield _check(backend, "export.snippet", None, "", "not run on this kind of machine")
        return
    error = lowered.get("error", "")
    needs = fact.get("needs", ())
    if "error" in fact and not (needs and seen.has_all(needs)):
        right = None if seen.has_any(needs) else error.startswith(fact["error"])
        yield _check(backend, "export.error", right, fact["error"], error or "it works")
        return
    yield _check(backend, "export.snippet", not error, "lowers", error or "lowers")
    if error:
        return
    if "delegates" in fact:
        right = fact["delegates"] == lowered["delegates"]
        yield _check(backend, "export.delegates", right, fact["delegates"], lowered["delegates"])
    if "operators" in fact:
        right = set(fact["operators"]) <= set(lowered["operators"])
        yield _check(backend, "export.operators", right, fact["operators"], lowered["operators"])
    ran = seen.ran.get(backend.name)
    if ran is not None:
        good = ran.get("max_abs_error", float("inf")) <= fact.get("tolerance", 1e-2)
        yield _check(backend, "export.runs", fact.get("runs", False) == good, fact["runs"], ran)


def _source(backend: Backend, seen: Observations) -> Iterator[Check]:
    if seen.source is None or backend.get("kind") == "external":
        return
    for index, flag in enumerate(backend.texts("build", "flags")):
        name = flag.partition("=")[0]
        right = seen.source.has_option(name)
        yield _check(backend, f"build.flags[{index}]", right, name, "found" if right else "absent")
    for index, target in enumerate(backend.texts("build", "targets")):
        right = seen.source.has_target(target)
        found = "found" if right else "absent"
        yield _check(backend, f"build.targets[{index}]", right, target, found)
