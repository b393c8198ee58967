"""Worker that exports and lowers a MODEL, and finds out why its operators stayed outside.

One after the other: open, lower, emit, survey (all but experiments), experiment, cures. The state
between them lives in this process.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.discovery import executorch_version
from executorch_backend_kit.aot.errors import LoweringError
from executorch_backend_kit.aot.lowering import Lowered, lower
from executorch_backend_kit.compare import model_file, tensor_files
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.explain import recipes
from executorch_backend_kit.explain.cures.catalogue import cures
from executorch_backend_kit.explain.cures.trial import Subject, tried
from executorch_backend_kit.explain.experiments import Laboratory
from executorch_backend_kit.explain.recording import Recorder
from executorch_backend_kit.explain.survey import Survey
from executorch_backend_kit.report.finding import Finding, KitError
from executorch_backend_kit.workers.protocol import serve


@dataclass
class _Session:
    """What this process holds of its one MODEL."""

    file: Any = None
    model: Any = None
    inputs: list[tuple[Any, ...]] = field(default_factory=list)
    exported: Any = None
    recorder: Recorder | None = None
    lowered: Lowered | None = None
    manager: Any = None
    stages: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


_session = _Session()


def forget() -> None:
    """Makes this process ready for another MODEL."""
    vars(_session).update(vars(_Session()))


def hello() -> dict[str, Any]:
    """Imports what every operation needs."""
    import torch

    torch.set_num_threads(1)
    return {"torch": torch.__version__, "executorch": executorch_version()}


def open_model(request: dict[str, Any]) -> dict[str, Any]:
    """Imports the MODEL and exports it, as its author left it."""
    from torch.utils import _pytree

    session, begin = _session, time.monotonic()
    session.file = model_file.load(Path(request["model"]))
    session.model, session.inputs = session.file.model(), session.file.input_sets()
    session.findings.extend(model_file.to_eval_mode(session.model, session.file.path.name))
    session.seconds["model"] = round(time.monotonic() - begin, 3)
    leaves = _pytree.tree_leaves(session.inputs[0])
    try:
        tensor_files.write(Path(request["folder"]) / "inputs", leaves)
    except TypeError as error:
        raise ModelError(
            "MODEL-WRONG-TYPE",
            f"example_inputs() of {session.file.path.name} may hold tensors, numbers, strings and "
            "None only.",
            evidence=str(error),
            fix="Return only such values.",
        ) from error
    begin = time.monotonic()
    try:
        session.exported = recipes.export(
            session.file, session.model, session.inputs[0], request["backends"]
        )
    except KitError as error:
        stage = {"stage": "export", "status": "failed", "error": error.finding.message}
        return {"stages": [stage], "finding_of_stage": error.finding.to_json()}
    session.seconds["export"] = round(time.monotonic() - begin, 3)
    session.stages.append({"stage": "export", "status": "ok", "error": None})
    return {"stages": session.stages}


def lower_model(request: dict[str, Any]) -> dict[str, Any]:
    """Lowers it for the backends, watched."""
    session, begin = _session, time.monotonic()
    backends = recipes.backends(request["backends"])
    options = {b.name: b.check_options(request["options"].get(b.name, {})) for b in backends}
    session.recorder = Recorder(backends, options)
    given = {name: values for name, values in options.items() if values}
    finding = None
    try:
        session.lowered = lower(session.exported, session.recorder.descriptors(), options=given)
        session.stages.append({"stage": "lower", "status": "ok", "error": None})
    except LoweringError as error:
        finding = error.finding
        text = f"{finding.message} {finding.evidence}".strip()
        session.stages.append({"stage": "lower", "status": "failed", "error": text})
    finally:
        session.recorder.release()
    session.seconds["lower"] = round(time.monotonic() - begin, 3)
    return {
        "ok": finding is None,
        "finding_of_stage": finding.to_json() if finding else None,
    }


def emit(request: dict[str, Any]) -> dict[str, Any]:
    """Makes the program file."""
    session, begin = _session, time.monotonic()
    assert session.lowered
    finding = None
    try:
        session.manager = session.lowered.to_executorch()
        Path(request["program"]).write_bytes(session.manager.buffer)
        session.stages.append({"stage": "to_executorch", "status": "ok", "error": None})
    except LoweringError as error:
        finding = error.finding
        stage = {"stage": "to_executorch", "status": "failed", "error": finding.evidence}
        session.stages.append(stage)
    session.seconds["to_executorch"] = round(time.monotonic() - begin, 3)
    return {
        "ok": finding is None,
        "finding_of_stage": finding.to_json() if finding else None,
        "operators": _operators() if finding is None else [],
        "external_data": bool(getattr(session.manager, "_tensor_data", None)),
    }


def _operators() -> list[dict[str, str]]:
    plan = _session.manager.executorch_program.execution_plan[0]
    return [{"op": o.name, "overload": o.overload} for o in plan.operators]


def survey(_request: dict[str, Any]) -> dict[str, Any]:
    """Everything that needs no experiment."""
    return _survey().to_json({})


def experiment(request: dict[str, Any]) -> dict[str, Any]:
    """The survey with the experiments of each backend."""
    session, begin = _session, time.monotonic()
    assert session.recorder
    deadline = begin + request["budget"]
    real = {**session.exported.state_dict, **session.exported.constants}
    laboratories = {
        turn.name: Laboratory(turn, real, deadline) for turn in session.recorder.turns if turn.chose
    }
    document = _survey().to_json(laboratories)
    session.seconds["experiments"] = round(time.monotonic() - begin, 3)
    document["seconds"] = dict(session.seconds)
    return document


def cure(request: dict[str, Any]) -> dict[str, Any]:
    """What is known to help; tried on the whole model if that is asked for."""
    session = _session
    assert session.recorder
    document = request["document"]
    turns = session.recorder.turns
    subject = Subject(
        session.file,
        session.model,
        session.inputs[0],
        session.exported,
        session.lowered,
        [t.descriptor for t in turns],
        {t.name: dict(t.options) for t in turns},
        document["summary"],
    )
    found = cures(document, [t.name for t in turns])
    return {"cures": [tried(one, subject, everything=request["apply"]) for one in found]}


def _survey() -> Survey:
    session = _session
    assert session.recorder
    root = session.file.path.parent
    return Survey(
        turns=session.recorder.turns,
        lowered=session.lowered,
        root=root,
        stages=list(session.stages),
        findings=[f.to_json() for f in session.findings],
        seconds=dict(session.seconds),
    )


OPERATIONS = {
    "open": open_model,
    "lower": lower_model,
    "emit": emit,
    "survey": survey,
    "experiment": experiment,
    "cures": cure,
}

if __name__ == "__main__":
    serve(hello, OPERATIONS)
