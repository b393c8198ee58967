"""Lowers an exported program for an ordered list of backends, in stages.

The first backend lowers from the ATen graph, so that it may keep whole operators; each next one
takes from the edge graph what is left. In one partitioner list, operators that the first keeps
whole would be decomposed again or stop the export. The stock API stays usable beside this.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.aot import delegation
from executorch_backend_kit.aot.configuration import check_distinct, resolve
from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.discovery import discover, executorch_version, unsupported
from executorch_backend_kit.aot.errors import (
    ConfigurationError,
    LoweringError,
    UnusableBackendError,
)


@dataclass(frozen=True)
class Lowered:
    """A lowered program: an ExecuTorch `EdgeProgramManager`, and who took what of it."""

    edge: Any
    report: DelegationReport

    def to_executorch(self, config: Any = None) -> Any:
        """ExecuTorch's `ExecutorchProgramManager`; raises LoweringError."""
        try:
            return self.edge.to_executorch(config)
        except Exception as error:
            raise LoweringError(
                "EMIT-FAILED",
                "The lowered program could not be turned into a program file.",
                evidence=summary(error),
                fix="Write `import executorch.kernels.quantized` in the MODEL: it registers them."
                if "quantized_decomposed::" in str(error)
                else "Operators without an out variant are the usual cause: see the evidence.",
            ) from error


def lower(
    exported_program: Any,
    backends: Sequence[BackendDescriptor | str] = (),
    *,
    options: Mapping[str, Mapping[str, object]] | None = None,
    constant_methods: Mapping[str, Any] | None = None,
    compile_config: Any = None,
) -> Lowered:
    """Lowers `exported_program` (one, or a mapping from method names) for `backends`.

    backends: descriptors, names or runtime ids, in order of priority; none = no delegate
    options:  for each backend's partitioner, by the backend's name
    """
    descriptors = _resolve(backends)
    given = options or {}
    for name in given:
        if name not in {d.name for d in descriptors}:
            raise ConfigurationError(
                "BACKEND-OPTION-UNKNOWN",
                f"Options are given for backend {name!r}, which is not in the list.",
                evidence="backends: " + (", ".join(d.name for d in descriptors) or "none"),
                fix="Add the backend or remove its options.",
            )
    _check_version(descriptors)
    checked = {d.name: d.check_options(given.get(d.name, {})) for d in descriptors}

    from executorch.exir import to_edge_transform_and_lower

    edge: Any = None
    for stage, descriptor in enumerate([*descriptors] or [None]):
        try:
            partitioner = _partitioner(descriptor, checked[descriptor.name]) if descriptor else None
            if stage == 0:
                edge = to_edge_transform_and_lower(
                    exported_program,
                    partitioner=[] if partitioner is None else [partitioner],
                    constant_methods=dict(constant_methods) if constant_methods else None,
                    compile_config=compile_config,
                )
            else:
                edge = edge.to_backend(partitioner)
        except (ConfigurationError, LoweringError):
            raise
        except Exception as error:
            raise _explain(error, descriptor) from error
        if descriptor is not None:
            _check_ids(edge, descriptors[: stage + 1], descriptor)
    return Lowered(edge, delegation.report(edge, descriptors))


def _resolve(backends: Sequence[BackendDescriptor | str]) -> list[BackendDescriptor]:
    candidates = discover() if any(isinstance(b, str) for b in backends) else ()
    descriptors = [resolve(b, candidates) if isinstance(b, str) else b for b in backends]
    check_distinct(descriptors)
    return descriptors


def _check_version(descriptors: Sequence[BackendDescriptor]) -> None:
    version = executorch_version()
    if version is None:
        raise ConfigurationError(
            "EXECUTORCH-MISSING",
            "ExecuTorch is not installed, and lowering needs it.",
            fix="pip install 'executorch>=1.4,<1.6'",
        )
    for descriptor in descriptors:
        if not descriptor.supports(version):
            raise UnusableBackendError.of(unsupported(descriptor, version))


def _partitioner(descriptor: BackendDescriptor, options: Mapping[str, Any]) -> Any:
    from executorch.exir.backend.backend_details import BackendDetails
    from executorch.exir.backend.partitioner import Partitioner

    try:
        partitioner = descriptor.partitioner(**options)
    except Exception as error:
        raise LoweringError(
            "BACKEND-PARTITIONER-FAILED",
            f"Backend {descriptor.name} could not make its partitioner.",
            evidence=summary(error),
            fix=f"Check that {descriptor.package} {descriptor.version} is completely installed.",
        ) from error
    if not isinstance(partitioner, Partitioner):
        raise LoweringError(
            "BACKEND-PARTITIONER-FAILED",
            f"What backend {descriptor.name} returned is not an ExecuTorch Partitioner.",
            evidence=f"it is a {type(partitioner).__name__}",
            fix=f"This is a mistake in {descriptor.package} {descriptor.version}; report it.",
        )
    # ExecuTorch finds a backend's class by its bare name, and takes any if there are several.
    owners = [c for c in BackendDetails.__subclasses__() if c.__name__ == descriptor.id]
    if len(owners) > 1:
        raise LoweringError(
            "BACKEND-CLASS-CLASH",
            f"Two loaded classes are named {descriptor.id}, so ExecuTorch cannot tell which one "
            f"compiles for backend {descriptor.name}.",
            evidence=", ".join(f"{c.__module__}.{c.__qualname__}" for c in owners),
            fix="Import or install only one of these packages.",
        )
    if not owners:
        raise LoweringError(
            "BACKEND-CLASS-MISSING",
            f"Backend {descriptor.name} has no class named {descriptor.id} that compiles for it.",
            evidence="no direct subclass of executorch.exir.backend.backend_details.BackendDetails",
            fix=f"This is a mistake in {descriptor.package} {descriptor.version}; report it.",
        )
    return partitioner


def _check_ids(
    edge: Any, known: Sequence[BackendDescriptor], descriptor: BackendDescriptor
) -> None:
    strangers = set(delegation.delegate_ids(edge)) - {d.id for d in known}
    if strangers:
        raise LoweringError(
            "BACKEND-ID-MISMATCH",
            f"Backend {descriptor.name} made delegates for {', '.join(sorted(strangers))}, "
            f"but describes itself as {descriptor.id}.",
            evidence=f"{descriptor.package} {descriptor.version}",
            fix=f"This is a mistake in {descriptor.package}; report it.",
        )


def _explain(error: Exception, descriptor: BackendDescriptor | None) -> LoweringError:
    """The error, with the part of lowering that it came from and the backend's name."""
    if descriptor is None:
        return LoweringError(
            "LOWERING-FAILED",
            "The exported program could not be turned into an edge program.",
            evidence=summary(error),
            fix="The model uses something that ExecuTorch does not support: see the evidence.",
        )
    calls = _functions(error)
    if calls & {"preprocess", "preprocess_multimethod"}:
        code, what = "BACKEND-COMPILE-FAILED", "could not compile its part of the model"
    elif calls & {"partition", "ops_to_not_decompose"}:
        code, what = "BACKEND-PARTITIONER-FAILED", "failed in choosing its part of the model"
    else:
        code, what = "LOWERING-FAILED", "was given the model and lowering failed"
    return LoweringError(
        code,
        f"Backend {descriptor.name} {what}.",
        evidence=summary(error),
        fix=f"Leave out {descriptor.name}, or report this to {descriptor.package} "
        f"{descriptor.version}.",
    )


def _functions(error: BaseException | None) -> set[str]:
    """Names of the functions that `error` and its causes passed through."""
    names: set[str] = set()
    while error is not None:
        names |= {f.name for f in traceback.extract_tb(error.__traceback__)}
        error = error.__cause__ or error.__context__
    return names


def summary(error: BaseException, limit: int = 600) -> str:
    """One line that says what `error` is, and what it was raised from if that is something else."""
    line, root = _line(error), error
    while root.__cause__ is not None:
        root = root.__cause__
    if root is not error and str(root) not in line:
        line = f"{line[: limit // 2]}; because: {_line(root)}"
    return line[:limit]


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
