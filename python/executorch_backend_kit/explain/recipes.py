"""Which backends can be explained, and how a MODEL is exported for them.

Beside the backends that can be compared here, those that the facts have an export snippet for: what
that snippet does before lowering, such as quantizing the model, is done to the MODEL, and the
partitioner that it makes is the backend's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from executorch_backend_kit.aot.configuration import check_distinct, resolve
from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.discovery import Candidate, discover, executorch_version
from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.knowledge import Backend, load

_SNIPPETS: dict[str, _Captured] = {}


class _Captured(BaseException):
    """Ends a snippet where it would lower, with what it would lower."""

    def __init__(self, exported: Any, partitioner: Any) -> None:
        super().__init__()
        self.exported = exported
        self.partitioner = partitioner


def candidates() -> tuple[Candidate, ...]:
    """Every backend that can be explained here."""
    found = discover()
    names = {c.descriptor.name for c in found if c.descriptor}
    return (*found, *(c for c in _from_facts() if c.descriptor and c.descriptor.name not in names))


def _from_facts() -> list[Candidate]:
    version = executorch_version()
    made = []
    for backend in load().backends.values():
        facts = backend.for_release(version)
        if facts.id.isidentifier() and facts.get("export", "snippet"):
            made.append(Candidate("facts", _descriptor(facts, version or "")))
    return made


def _descriptor(facts: Backend, version: str) -> BackendDescriptor:
    def partitioner() -> Any:
        return _captured(facts).partitioner

    return BackendDescriptor(
        name=facts.name,
        id=facts.id,
        package="executorch",
        version=version,
        executorch=">=1.4",
        partitioner=partitioner,
        fallback=(),
    )


def backends(names: Sequence[str]) -> list[BackendDescriptor]:
    """The descriptors with these names; raises ConfigurationError."""
    known = candidates()
    found = [resolve(name, known) for name in names]
    check_distinct(found)
    return found


def export(file: Any, model: Any, inputs: tuple[Any, ...], names: Sequence[str]) -> Any:
    """The exported program, made as the first backend's facts say; raises ModelError."""
    import torch

    facts = _facts_of(names[0]) if names else None
    if facts is not None:
        captured = _run(facts, model, inputs)
        _SNIPPETS[facts.name] = captured
        return captured.exported
    try:
        return torch.export.export(
            model, inputs, dynamic_shapes=file.dynamic_shapes(), strict=False
        )
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            "EXPORT-FAILED",
            f"torch.export cannot export the model of {file.path.name}.",
            evidence=summary(error),
            fix="Change the model until torch.export.export(model(), example_inputs()) works.",
        ) from error


def _facts_of(name: str) -> Backend | None:
    """The facts of a backend that is known from its facts alone."""
    if any(c.descriptor and name in (c.descriptor.name, c.descriptor.id) for c in discover()):
        return None
    version = executorch_version()
    for backend in load().backends.values():
        facts = backend.for_release(version)
        if name in (facts.name, facts.id) and facts.get("export", "snippet"):
            return facts
    return None


def _captured(facts: Backend) -> _Captured:
    if facts.name not in _SNIPPETS:
        from executorch_backend_kit.probe.small_model import small_model

        _SNIPPETS[facts.name] = _run(facts, *small_model())
    return _SNIPPETS[facts.name]


def _run(facts: Backend, model: Any, inputs: tuple[Any, ...]) -> _Captured:
    """Runs the export snippet up to where it lowers."""
    import executorch.exir

    def stop(exported: Any, *_: Any, partitioner: Any = None, **__: Any) -> Any:
        raise _Captured(exported, partitioner[0] if partitioner else None)

    names: dict[str, Any] = {"model": model, "inputs": inputs, "__name__": "snippet"}
    real = executorch.exir.to_edge_transform_and_lower
    executorch.exir.to_edge_transform_and_lower = stop
    try:
        exec(compile(str(facts.get("export", "snippet")), "<export snippet>", "exec"), names)  # noqa: S102
    except _Captured as captured:
        if captured.partitioner is not None:
            return captured
    except Exception as error:
        raise ConfigurationError(
            "BACKEND-LOWERING-FAILED",
            f"Backend {facts.name} cannot be used here: its export fails before lowering.",
            evidence=summary(error),
            fix=f"etbk doctor {facts.name}",
        ) from error
    finally:
        executorch.exir.to_edge_transform_and_lower = real
    raise ConfigurationError(
        "BACKEND-LOWERING-FAILED",
        f"Backend {facts.name} cannot be explained: its export does not use a partitioner.",
        evidence=f"export snippet of {facts.name}",
        fix="Name another backend with --backends.",
    )
