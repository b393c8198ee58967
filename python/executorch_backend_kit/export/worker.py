"""Worker that prepares a MODEL and lowers it by the snippet of a plan.

The snippet is the very code that `etbk select` prints.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot import delegation
from executorch_backend_kit.aot.errors import LoweringError
from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.compare import export_worker, fingerprint, model_file
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.report.finding import Finding, KitError, Severity
from executorch_backend_kit.workers.protocol import serve

_DATA = "data.pt"


@dataclass(frozen=True)
class _Named:
    name: str
    id: str


def prepare(request: dict[str, Any]) -> dict[str, Any]:
    """Exports the MODEL and runs it; leaves program and calibration data; says what it needs."""
    import torch
    from torch.utils import _pytree

    reply = export_worker.prepare(request)
    folder = Path(request["folder"])
    file = model_file.load(Path(request["model"]))
    program = torch.export.load(folder / "program.pt2")
    sets = file.input_sets()
    calibration, source = _calibration(file, request.get("inputs"), sets)
    torch.save({"inputs": sets[0], "calibration": calibration}, folder / _DATA)
    leaves = [leaf for values in calibration for leaf in _pytree.tree_leaves(values)]
    return {
        **reply,
        "needs": list(_needs(program)),
        "dtype": _dtype(program),
        "nodes": sum(n.op == "call_function" for n in program.graph.nodes),
        "calibration": {
            "source": source,
            "sets": len(calibration),
            "sha256": fingerprint.of_values(leaves),
        },
    }


def _calibration(
    file: model_file.ModelFile, given: str | None, sets: list[tuple[Any, ...]]
) -> tuple[list[tuple[Any, ...]], str]:
    if given is not None:
        return read_inputs(Path(given)), Path(given).name
    own = file.calibration_sets()
    return (own, "calibration_inputs()") if own is not None else (sets, "example_inputs()")


def read_inputs(path: Path) -> list[tuple[Any, ...]]:
    """Input sets from a file that torch.save wrote; raises ModelError."""
    import torch

    try:
        data = torch.load(path, weights_only=True)
    except Exception as error:  # a damaged file may raise anything
        raise ModelError(
            "CALIBRATION-UNREADABLE",
            f"The calibration data in {path.name} cannot be read.",
            evidence=f"{path}: {summary(error)}",
            fix="torch.save([(tensor, ...), ...], FILE): a list with a tuple for each input set.",
        ) from None
    sets = data if isinstance(data, list) else [data]
    sets = [(s,) if isinstance(s, torch.Tensor) else s for s in sets]
    if not sets or not all(isinstance(s, tuple) for s in sets):
        raise ModelError(
            "CALIBRATION-UNREADABLE",
            f"{path.name} holds no list of input sets.",
            evidence=f"it holds a {type(data).__name__}",
            fix="torch.save([(tensor, ...), ...], FILE): a list with a tuple for each input set.",
        )
    return sets


def _needs(program: Any) -> Iterator[str]:
    """Features of the model that not every backend copes with."""
    import torch

    if program.range_constraints:
        yield "dynamic-shapes"
    modules = [m for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)]
    if len(modules) > 1:
        yield "control-flow"


def _dtype(program: Any) -> str:
    """What most of the model's floating-point numbers are."""
    counts: Counter[str] = Counter()
    for tensor in program.state_dict.values():
        if tensor.is_floating_point():
            counts[str(tensor.dtype).removeprefix("torch.")] += tensor.numel()
    if not counts:
        for node in program.graph.nodes:
            value = node.meta.get("val")
            if hasattr(value, "is_floating_point") and value.is_floating_point():
                counts[str(value.dtype).removeprefix("torch.")] += 1
    return counts.most_common(1)[0][0] if counts else "float32"


def lower(request: dict[str, Any]) -> dict[str, Any]:
    """Runs a plan's snippet on the model and writes the program to the first place that takes it.

    The snippet gets the weights that `prepare` saw, also if the MODEL makes new ones each time.
    """
    import torch

    began = time.perf_counter()
    folder = Path(request["folder"])
    file = model_file.load(Path(request["model"]))
    model = file.model().eval()
    model.requires_grad_(False)
    model.load_state_dict(torch.export.load(folder / "program.pt2").state_dict, strict=False)
    data = torch.load(folder / _DATA, weights_only=True)
    names: dict[str, Any] = {
        **data,
        "model": model,
        "dynamic_shapes": file.dynamic_shapes(),
        "__name__": "snippet",
    }
    try:
        exec(compile(request["code"], "<export snippet>", "exec"), names)  # noqa: S102 - its purpose
    except KitError:
        raise
    except Exception as error:
        raise LoweringError(
            "EXPORT-LOWERING-FAILED",
            f"The model could not be lowered for {request['name']}.",
            evidence=summary(error),
            fix="etbk help with the text of the evidence may know it; etbk doctor "
            f"{request['backends'][0]['name']} says whether the backend works here.",
        ) from error
    manager = names["program"]
    if getattr(manager, "_tensor_data", None):
        raise KitError(
            "EXTERNAL-DATA-UNSUPPORTED",
            "The lowered program keeps weights in a separate data file, which is not handled yet.",
            evidence=f"data files: {', '.join(manager._tensor_data)}",
            fix="Use the backend's option that stores the weights inside the program.",
        )
    content = manager.buffer
    path, findings = export_worker.store(content, [Path(p) for p in request["outputs"]])
    report = delegation.report(names["edge"], [_Named(**b) for b in request["backends"]])
    return {
        "path": str(path),
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "delegation": report.to_json(),
        "findings": [f.to_json() for f in findings],
        "seconds": round(time.perf_counter() - began, 3),
    }


def calibration_finding(source: str) -> Finding | None:
    """A warning if a model is quantized with nothing but its example inputs."""
    if source != "example_inputs()":
        return None
    return Finding(
        "CALIBRATION-BY-EXAMPLES",
        "The model was quantized with its example inputs only.",
        evidence="the MODEL defines no calibration_inputs(), and --inputs was not given",
        fix="Define calibration_inputs() in the MODEL: input sets of typical data.",
        severity=Severity.WARNING,
    )


if __name__ == "__main__":
    serve(export_worker.hello, {"prepare": prepare, "lower": lower})
