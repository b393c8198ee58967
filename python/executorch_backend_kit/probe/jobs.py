"""What children can be asked to do. Each job yields results that JSON can carry."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import util
from pathlib import Path
from typing import Any

from executorch_backend_kit import host
from executorch_backend_kit.probe import containment
from executorch_backend_kit.probe.small_model import small_model
from executorch_backend_kit.report.finding import KitError

Job = Callable[..., Iterator[dict[str, Any]]]


def import_modules(modules: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Imports each module and looks for its names: {module, importable, error, missing}."""
    for entry in modules:
        name = entry["module"]
        began = time.monotonic()
        missing: list[str] = []
        error = ""
        yield {"module": name, "begun": True}
        try:
            module = importlib.import_module(name)
            missing = [n for n in entry.get("names", ()) if not hasattr(module, n)]
        except BaseException as raised:
            error = _one_line(raised)
        yield {
            "module": name,
            "importable": not error,
            "error": error,
            "missing": missing,
            "seconds": round(time.monotonic() - began, 3),
        }


def examine(modules: list[dict[str, Any]], snippet: str, file: str) -> Iterator[dict[str, Any]]:
    """Imports a backend's modules and, if all of them can be, lowers the small model for it."""
    good = True
    before = containment.state()
    for result in import_modules(modules):
        good = good and result.get("importable", True)
        yield result
    yield {"changes": containment.changes(before, containment.state())}
    if good and snippet:
        yield {"lowering": True}
        yield from lower(snippet, file)


def study(
    modules: list[dict[str, Any]], targets: list[str], snippet: str, file: str
) -> Iterator[dict[str, Any]]:
    """All that facts say of a backend: its modules, the signatures of `targets`, its lowering."""
    yield from import_modules(modules)
    for target in targets:
        for result in signature(target):
            yield {"target": target, **result}
    if snippet:
        yield {"lowering": True}
        yield from lower(snippet, file)


def registry(load_plugins: bool) -> Iterator[dict[str, Any]]:
    """What the Python runtime has registered, with the plugins that are installed, and what the
    kit's host says of this process."""
    from executorch.runtime import Runtime

    runtime = Runtime.get()
    stock = list(runtime.backend_registry.registered_backend_names)
    yield {"stock": stock, "operators": len(runtime.operator_registry.operator_names)}
    for name in stock:
        yield {"backend": name, "available": bool(runtime.backend_registry.is_available(name))}
    if load_plugins:
        try:
            for plugin in host.load_plugins():
                yield {"plugin": plugin.to_json()}
        except KitError as error:
            yield {"finding": error.finding.to_json()}
    names = list(runtime.backend_registry.registered_backend_names)
    yield {"slots": names, "libraries": _mapped_libraries()}
    for name in names[len(stock) :]:
        yield {"backend": name, "available": bool(runtime.backend_registry.is_available(name))}
    with contextlib.suppress(KitError):  # no host: said above
        for finding in host.audit():
            yield {"finding": finding.to_json()}


def lower(snippet: str, file: str) -> Iterator[dict[str, Any]]:
    """Runs an export snippet on the small model: {delegates, operators, bytes} or {error}."""
    import torch

    torch.set_num_threads(1)
    model, inputs = small_model()
    names: dict[str, Any] = {"model": model, "inputs": inputs, "__name__": "snippet"}
    try:
        exec(compile(snippet, "<export snippet>", "exec"), names)  # noqa: S102 - its purpose
        program = names["program"]
        Path(file).write_bytes(program.buffer)
    except BaseException as raised:
        yield {"error": _one_line(raised), "where": _innermost(raised)}
        return
    yield _program_report(program)


def lower_described(name: str, file: str) -> Iterator[dict[str, Any]]:
    """Lowers the small model for a backend that a package describes: as `lower`."""
    import torch

    from executorch_backend_kit.aot.lowering import lower as lower_for

    torch.set_num_threads(1)
    model, inputs = small_model()
    try:
        program = lower_for(torch.export.export(model, inputs), [name]).to_executorch()
        Path(file).write_bytes(program.buffer)
    except KitError as error:
        yield {"error": error.finding.message, "where": error.finding.evidence}
        return
    except BaseException as raised:
        yield {"error": _one_line(raised), "where": _innermost(raised)}
        return
    yield _program_report(program)


def _program_report(program: Any) -> dict[str, Any]:
    plan = program.executorch_program.execution_plan[0]
    calls = Counter(
        plan.delegates[call.delegate_index].id
        for chain in plan.chains
        for instruction in chain.instructions
        if type(call := instruction.instr_args).__name__ == "DelegateCall"
    )
    operators = [f"{o.name}.{o.overload}" if o.overload else o.name for o in plan.operators]
    return {"delegates": dict(calls), "operators": operators, "bytes": len(program.buffer)}


def run(file: str, plugins: list[str]) -> Iterator[dict[str, Any]]:
    """Runs a program of the small model in the wheel's runtime: {max_abs_error} or {error}."""
    import torch
    from executorch.runtime import Runtime

    model, inputs = small_model()
    try:
        for plugin in plugins:
            host.load_plugin(plugin)
        method = Runtime.get().load_program(Path(file)).load_method("forward")
        assert method is not None
        (output,) = method.execute(list(inputs))
    except BaseException as raised:
        said = host.last_error() if plugins else ""
        yield {"error": _one_line(raised), "said": said}
        return
    expected = model(*inputs)
    yield {"max_abs_error": float(torch.max(torch.abs(output - expected)))}


def signature(target: str) -> Iterator[dict[str, Any]]:
    """Names of the parameters of a callable, or the values of an enum: {parameters, values}."""
    try:
        found = resolve(target)
    except BaseException as raised:
        yield {"error": _one_line(raised)}
        return
    if inspect.isclass(found) and issubclass(found, Enum):
        yield {"values": [member.value for member in found]}
        return
    parameters = inspect.signature(found).parameters.values()
    yield {"parameters": [_prefix(p) + p.name for p in parameters]}


def _prefix(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return "*"
    return "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""


def present(modules: list[str]) -> Iterator[dict[str, Any]]:
    """Which modules can be found, without importing them themselves: {present: [...]}."""
    found = []
    for name in modules:
        with contextlib.suppress(BaseException):  # finding one imports its parents
            if util.find_spec(name) is not None:
                found.append(name)
    yield {"present": found}


def resolve(target: str) -> Any:
    """The object that "module:name" means."""
    module, _, path = target.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _one_line(error: BaseException) -> str:
    """An error as people quote it: its class, and the first line of its text."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _innermost(error: BaseException) -> str:
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    return f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else ""


def _mapped_libraries() -> list[str]:
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        paths = {line.split(maxsplit=5)[5] for line in lines if line.count("/") > 0}
        return sorted(path for path in paths if ".so" in path)
    return sorted(file for m in sys.modules.values() if (file := getattr(m, "__file__", None)))


JOBS: dict[str, Job] = {
    "examine": examine,
    "import_modules": import_modules,
    "registry": registry,
    "lower": lower,
    "lower_described": lower_described,
    "present": present,
    "run": run,
    "study": study,
}
