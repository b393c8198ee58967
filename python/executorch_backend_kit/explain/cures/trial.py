"""Applies a cure to the whole model: equal numbers, and more arithmetic inside of delegates?"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.lowering import lower, summary
from executorch_backend_kit.explain.cures.catalogue import Cure
from executorch_backend_kit.explain.cures.rewrites import rewritten
from executorch_backend_kit.explain.recording import Recorder
from executorch_backend_kit.explain.worth import Map

_CHEAP = ("freeze", "import")  # need no second lowering


@dataclass(frozen=True)
class Subject:
    """The model as it was lowered."""

    file: Any
    model: Any
    inputs: tuple[Any, ...]
    exported: Any
    lowered: Any
    backends: Sequence[BackendDescriptor]
    options: Mapping[str, Mapping[str, Any]]
    before: dict[str, Any] | None  # the summary


def tried(cure: Cure, subject: Subject, *, everything: bool) -> dict[str, Any]:
    """The cure in the fields of `etbk.explain/1`; tried if that is cheap or asked for."""
    row: dict[str, Any] = {
        "name": cure.name,
        "kind": cure.kind,
        "text": cure.text,
        "nodes": list(cure.nodes),
        "diff": cure.diff,
        "verified": None,
        "measured": None,
        "problem": None,
    }
    if cure.action in _CHEAP:
        return {**row, **_cheap(cure, subject)}
    if not everything or not (cure.rewrite or cure.options or cure.action):
        return row
    try:
        return {**row, **_whole(cure, subject)}
    except Exception as error:  # whatever stops it, the cure does not help
        return {**row, "verified": False, "problem": summary(error)}


def _cheap(cure: Cure, subject: Subject) -> dict[str, Any]:
    """Makes the program file once more."""
    try:
        if cure.action == "import":
            importlib.import_module(cure.detail)
        if cure.action == "freeze":
            _freeze(subject.lowered.edge)
        subject.lowered.to_executorch()
    except Exception as error:  # it does not help then
        return {"verified": False, "problem": summary(error)}
    return {"verified": True, "measured": {"stage": "to_executorch", "status": "ok"}}


def _freeze(edge: Any) -> None:
    """Makes the lowered program what it would be with parameters that ask for no gradients."""
    import torch
    from torch.utils import _pytree

    def frozen(value: Any) -> Any:
        return value.detach() if isinstance(value, torch.Tensor) else value

    for name in edge.methods:
        program = edge.exported_program(name)
        for parameter in program.parameters():
            parameter.requires_grad_(False)
        for node in program.graph.nodes:
            if "val" in node.meta:
                node.meta["val"] = _pytree.tree_map(frozen, node.meta["val"])


def _whole(cure: Cure, subject: Subject) -> dict[str, Any]:
    exported, inputs, count = _applied(cure, subject)
    if count == 0:
        return {"verified": False, "problem": "the form of the operator in the model is another"}
    error = _difference(subject, exported, inputs)
    backends = list(subject.backends)
    if cure.action == "order":
        wanted = cure.detail.split("+")
        backends = [b for name in wanted for b in backends if b.name == name]
    options = {**subject.options}
    for name, settings in (cure.options or {}).items():
        descriptor = next(b for b in backends if b.name == name)
        given = descriptor.parse_options({k: str(v) for k, v in settings.items()})
        options[name] = {**options.get(name, {}), **given}
    after = measure(exported, backends, options)
    before = subject.before or {"arithmetic": {"delegated": 0}, "delegates": 0, "boundary_bytes": 0}
    gained = after["arithmetic"] - before["arithmetic"]["delegated"]
    fewer = after["delegates"] < before["delegates"] and gained >= 0
    return {
        "verified": bool(error["equal"] and (gained > 0 or fewer or cure.action == "order")),
        "measured": {
            "max_abs_error": error["max_abs_error"],
            "delegated_arithmetic": [before["arithmetic"]["delegated"], after["arithmetic"]],
            "delegates": [before["delegates"], after["delegates"]],
            "boundary_bytes": [before["boundary_bytes"], after["boundary_bytes"]],
            "delegated_nodes": after["nodes"],
        },
    }


def _applied(cure: Cure, subject: Subject) -> tuple[Any, tuple[Any, ...], int]:
    """The exported program with the cure, the inputs for it, and how many places were changed."""
    import torch
    from torch.utils import _pytree

    if cure.rewrite is not None:
        changed, count = rewritten(subject.exported, cure.rewrite)
        return changed, subject.inputs, count
    if cure.action == "fixed sizes":
        return torch.export.export(subject.model, subject.inputs, strict=False), subject.inputs, 1
    if cure.action == "float32":

        def single(value: Any) -> Any:
            floating = isinstance(value, torch.Tensor) and value.is_floating_point()
            return value.float() if floating else value

        model = subject.file.model().float()
        inputs = _pytree.tree_map(single, subject.inputs)
        exported = torch.export.export(model, inputs, strict=False)
        return exported, inputs, 1
    return subject.exported, subject.inputs, 1


def _difference(subject: Subject, exported: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """How far the results of the changed program are from the model's."""
    import torch
    from torch.utils import _pytree

    def copies(values: Any) -> Any:
        return _pytree.tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, values)

    with torch.no_grad():
        want = _pytree.tree_leaves(subject.exported.module()(*copies(subject.inputs)))
        got = _pytree.tree_leaves(exported.module()(*copies(inputs)))
    largest, equal = 0.0, len(want) == len(got)
    for a, b in zip(want, got, strict=False):
        if isinstance(a, torch.Tensor):
            a, b = a.double(), b.double()  # noqa: PLW2901 - the same values
            equal = equal and a.shape == b.shape
            equal = equal and bool(torch.allclose(a, b, rtol=1e-3, atol=1e-5))
            if equal and a.numel():
                largest = max(largest, float((a - b).abs().max()))
    return {"equal": equal, "max_abs_error": largest}


def measure(
    exported: Any,
    backends: Sequence[BackendDescriptor],
    options: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Lowers for real: delegated arithmetic, delegates, bytes over boundaries, delegated nodes."""
    recorder = Recorder(backends, options)
    given = {name: dict(values) for name, values in options.items() if values}
    try:
        lower(exported, recorder.descriptors(), options=given)
    finally:
        recorder.release()
    turns = recorder.turns
    delegate_of: dict[str, str] = {}
    for turn in turns:
        for name, tag in turn.tags.items():
            delegate_of.setdefault(name, f"{turn.name}:{tag}")
    graph = Map(turns[0].program, delegate_of)
    return {
        "arithmetic": graph.total_arithmetic(inside=True),
        "outside": graph.total_arithmetic(inside=False),
        "delegates": len(graph.delegates()),
        "boundary_bytes": graph.boundary_bytes(),
        "nodes": graph.share()["nodes"],
    }
