"""Worker that needs torch's export: prepares a MODEL, lowers it, judges outputs.

Each operation reads and writes files, so that a new worker can go on where another died.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.configuration import resolve
from executorch_backend_kit.aot.discovery import discover, executorch_version
from executorch_backend_kit.aot.lowering import lower, summary
from executorch_backend_kit.compare import (
    input_file,
    model_file,
    numerics,
    program_cut,
    tensor_files,
)
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.compare.fingerprint import fingerprint
from executorch_backend_kit.compare.patient_file import PatientFile
from executorch_backend_kit.report.finding import Finding, KitError, Severity
from executorch_backend_kit.workers.protocol import serve

_imported: dict[str, model_file.ModelFile] = {}


def _model_file(path: str) -> model_file.ModelFile:
    if path not in _imported:
        _imported[path] = model_file.load(Path(path))
    return _imported[path]


def prepare(request: dict[str, Any]) -> dict[str, Any]:
    """Imports the MODEL, exports it, runs it eagerly; leaves program, inputs and reference."""
    import torch
    from torch.utils import _pytree

    folder = Path(request["folder"])
    findings: list[Finding] = []
    clock = _Clock()
    file = _model_file(request["model"])
    clock.lap("import")
    model, shapes = file.model(), file.dynamic_shapes()
    given = request.get("input_sets")
    sets = input_file.read_sets(Path(given)) if given else file.input_sets()
    source = Path(given).name if given else "example_inputs()"
    findings.extend(model_file.to_eval_mode(model, file.path.name))
    model.requires_grad_(False)
    clock.lap("model")
    flat_sets = [_pytree.tree_leaves(s) for s in sets]
    for number, values in enumerate(flat_sets):
        _write(file, folder / "inputs" / str(number), values, source)
    program = file.exported
    if program is None:
        try:
            with torch.no_grad():
                program = torch.export.export(model, sets[0], dynamic_shapes=shapes, strict=False)
        except Exception as error:
            raise _export_error(file, model, sets[0], error) from error
    key = fingerprint(program)
    _save(program, folder / "program.pt2")  # before running: a model may change itself
    clock.lap("export")
    judge = _model_file(request["reference"]) if request.get("reference") else file
    outputs = _reference(judge, model if judge is file else judge.model().eval(), sets, folder)
    clock.lap("eager")
    findings += _strange_reference(outputs)
    described = judge.describe(outputs)
    return {
        "fingerprint": key,
        "inputs": [tensor_files.describe(values) for values in flat_sets],
        "described": described,
        "findings": [f.to_json() for f in findings],
        "seconds": clock.laps,
    }


def _reference(
    file: model_file.ModelFile, model: Any, sets: list[tuple[Any, ...]], folder: Path
) -> list[list[Any]]:
    """Runs the model that others are held against; leaves its outputs."""
    from torch.utils import _pytree

    outputs = []
    for number, arguments in enumerate(sets):
        result = _pytree.tree_leaves(_run(file, model, arguments))
        _write(file, folder / "reference" / str(number), result, "the model")
        outputs.append(result)
    return outputs


def prepare_reference(request: dict[str, Any]) -> dict[str, Any]:
    """For a finished program: inputs, and the outputs of the model that it is held against."""
    from torch.utils import _pytree

    folder = Path(request["folder"])
    file = _model_file(request["reference"])
    given = request.get("input_sets")
    sets = input_file.read_sets(Path(given)) if given else file.input_sets()
    flat_sets = [_pytree.tree_leaves(s) for s in sets]
    for number, values in enumerate(flat_sets):
        _write(file, folder / "inputs" / str(number), values, "example_inputs()")
    outputs = _reference(file, file.model().eval(), sets, folder)
    return {
        "inputs": [tensor_files.describe(values) for values in flat_sets],
        "described": file.describe(outputs),
        "findings": [f.to_json() for f in _strange_reference(outputs)],
    }


def _save(program: Any, path: Path) -> None:
    import torch

    try:
        with PatientFile(path) as file:
            torch.export.save(program, file)
    except OSError as error:
        free = shutil.disk_usage(path.parent).free / 2**20
        raise KitError(
            "PROGRAM-NOT-WRITTEN",
            "The exported program could not be saved.",
            evidence=f"{path.parent}, {free:.0f} MiB free: {error.strerror or error}",
            fix="Free disk space there, or name another temporary folder in TMPDIR.",
        ) from error


def _run(file: model_file.ModelFile, model: Any, arguments: tuple[Any, ...]) -> Any:
    import torch
    from torch.utils import _pytree

    def copy(value: Any) -> Any:  # the model may change its arguments
        return value.clone() if isinstance(value, torch.Tensor) else value

    try:
        with torch.no_grad():
            result = model(*_pytree.tree_map(copy, arguments))
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise ModelError(
            "MODEL-RUN-FAILED",
            f"The model of {file.path.name} fails on its own example inputs.",
            evidence=summary(error),
            fix="Correct model() or example_inputs() until model()(*example_inputs()) runs.",
        ) from error
    leaves = _pytree.tree_leaves(result)
    kinds = [type(v).__name__ for v in leaves if not isinstance(v, torch.Tensor)]
    strange = [kind for kind in kinds if kind != "NoneType"]
    if strange or len(kinds) == len(leaves):
        raise ModelError(
            "MODEL-WRONG-TYPE",
            f"The model of {file.path.name} must return tensors: one, or a structure of them.",
            evidence="it returned " + (", ".join(kinds) or "nothing"),
            fix="Return tensors only, for example torch.tensor(x) for a number x.",
        )
    return result


def _strange_reference(outputs: list[list[Any]]) -> list[Finding]:
    """A warning if there is little to compare with."""
    values = [v for values in outputs for v in values]
    floats = [v for v in values if hasattr(v, "isfinite") and v.is_floating_point()]
    elements = sum(v.numel() for v in floats)
    strange = sum(int((~v.isfinite()).sum()) for v in floats)
    if not strange:
        return []
    return [
        Finding(
            "REFERENCE-NOT-FINITE",
            f"{strange} of {elements} elements that the eager model gives are NaN or infinite: "
            "agreeing on them says nothing.",
            evidence="counted over the floating-point outputs of all input sets",
            fix="Give example inputs for which the model computes finite numbers.",
            severity=Severity.WARNING,
        )
    ]


def _export_error(
    file: model_file.ModelFile, model: Any, arguments: tuple[Any, ...], error: Exception
) -> ModelError:
    try:
        _run(file, model, arguments)
    except ModelError as cause:
        return cause
    return ModelError(
        "EXPORT-FAILED",
        f"torch.export cannot export the model of {file.path.name}, although it runs.",
        evidence=summary(error),
        fix="Change the model until torch.export.export(model(), example_inputs()) works.",
    )


def _write(file: model_file.ModelFile, folder: Path, values: list[Any], source: str) -> None:
    try:
        tensor_files.write(folder, values)
    except TypeError as error:
        raise ModelError(
            "MODEL-WRONG-TYPE",
            f"{source} of {file.path.name} may hold tensors, numbers, strings and None only.",
            evidence=str(error),
            fix="Return only such values.",
        ) from error


def read_inputs(request: dict[str, Any]) -> dict[str, Any]:
    """Turns a .pt file into folders of values."""
    sets = input_file.read(Path(request["file"]))
    for number, values in enumerate(sets):
        tensor_files.write(Path(request["folder"]) / "inputs" / str(number), values)
    return {"sets": len(sets), "inputs": [tensor_files.describe(values) for values in sets]}


def lower_program(request: dict[str, Any]) -> dict[str, Any]:
    """Lowers the prepared program and writes the program file to the first place that takes it."""
    import torch

    clock = _Clock()
    _model_file(request["model"])  # for operators that it registers
    program = torch.export.load(Path(request["folder"]) / "program.pt2")
    candidates = discover()
    backends = [resolve(name, candidates) for name in request["backends"]]
    lowered = lower(program, backends, options=request["options"])
    manager = lowered.to_executorch()
    if getattr(manager, "_tensor_data", None):
        raise KitError(
            "EXTERNAL-DATA-UNSUPPORTED",
            "The lowered program keeps weights in a separate data file, which compare cannot run.",
            evidence=f"data files: {', '.join(manager._tensor_data)}",
            fix="Use the backend's option that stores the weights inside the program.",
        )
    content = manager.buffer
    path, findings = store(content, [Path(p) for p in request["outputs"]])
    clock.lap("lower")
    return {
        "path": str(path),
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "delegation": lowered.report.to_json(),
        "findings": [f.to_json() for f in findings],
        "seconds": clock.laps["lower"],
    }


def store(content: bytes, places: list[Path]) -> tuple[Path, list[Finding]]:
    """Writes to the first place that takes it; what went wrong with others is a finding."""
    findings: list[Finding] = []
    for path in places:
        problem = _try_to_store(content, path)
        if problem is None:
            return path, findings
        findings.append(problem)
    raise KitError.of(findings[-1])


def _try_to_store(content: bytes, path: Path) -> Finding | None:
    try:
        path.write_bytes(content)
    except OSError as error:
        path.unlink(missing_ok=True)
        return Finding(
            "PROGRAM-NOT-WRITTEN",
            f"A program file of {len(content)} bytes could not be written.",
            evidence=f"{path.parent}: {error.strerror or error}",
            fix="Free disk space there, or name another cache folder in ETBK_CACHE and another "
            "temporary folder in TMPDIR.",
            severity=Severity.WARNING,
        )
    return None


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Compares the outputs that a run left with the eager ones."""
    count = request["sets"]
    got = [tensor_files.read(Path(request["outputs"]) / str(n)) for n in range(count)]
    want = [tensor_files.read(Path(request["folder"]) / "reference" / str(n)) for n in range(count)]
    tolerance = request["tolerance"]
    result = numerics.compare(got, want, tuple(tolerance) if tolerance else None)
    described = _model_file(request["model"]).describe(got) if request["describe"] else None
    numbers = {**result.to_json(), "reference": request.get("reference_name", "eager")}
    return {"numerics": numbers, "described": described}


def nodes(request: dict[str, Any]) -> dict[str, Any]:
    """What the prepared program computes, in order."""
    import torch

    program = torch.export.load(Path(request["folder"]) / "program.pt2")
    return {"nodes": program_cut.computed(program)}


def cut(request: dict[str, Any]) -> dict[str, Any]:
    """Makes a part of the prepared program a prepared program of its own."""
    import torch

    folder, into, name = Path(request["folder"]), Path(request["into"]), request["node"]
    program = torch.export.load(folder / "program.pt2")
    node = next(n for n in program.module().graph.nodes if n.name == name)
    sets = [tuple(tensor_files.read(folder / "inputs" / str(n))) for n in range(request["sets"])]
    given = [
        program_cut.alone(program, name, arguments)
        if request["form"] == "alone"
        else (program_cut.prefix(program, name), arguments)
        for arguments in sets
    ]
    with torch.no_grad():
        exported = torch.export.export(given[0][0], given[0][1], strict=False)
        for number, (part, arguments) in enumerate(given):
            tensor_files.write(into / "inputs" / str(number), list(arguments))
            tensor_files.write(into / "reference" / str(number), [part(*arguments)])
    _save(exported, into / "program.pt2")
    return {"operator": str(node.target)}


def hello() -> dict[str, Any]:
    """Imports what every operation needs."""
    import torch

    return {"torch": torch.__version__, "executorch": executorch_version()}


class _Clock:
    """Wall time between laps, in seconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(now - self._last, 3)
        self._last = now


if __name__ == "__main__":
    serve(
        hello,
        {
            "prepare": prepare,
            "prepare_reference": prepare_reference,
            "lower": lower_program,
            "check": check,
            "inputs": read_inputs,
            "nodes": nodes,
            "cut": cut,
        },
    )
