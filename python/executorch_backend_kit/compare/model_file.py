"""A MODEL file: Python code that defines `model()` and `example_inputs()`.

Optional: `dynamic_shapes()`, as torch.export takes them; `calibration_inputs()`, input sets of
typical data to quantize with; and `describe(outputs)`, which turns the outputs of all input sets
into labels and values that `compare` prints for each configuration.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.compare import exported_file, model_name
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.report.finding import Finding, Severity

# A person's code may raise anything; Ctrl-C itself never reaches a worker.
_ANYTHING = (Exception, SystemExit, KeyboardInterrupt)


@dataclass(frozen=True)
class ModelFile:
    """An imported MODEL file. Its functions are checked when they are called."""

    path: Path
    module: ModuleType

    def model(self) -> Any:
        """A new instance of the model; a torch.nn.Module."""
        import torch

        model = self._call("model")
        if not isinstance(model, torch.nn.Module):
            raise self._wrong_type("model()", "a torch.nn.Module", model)
        return model

    @property
    def exported(self) -> Any:
        """The exported program that this MODEL is; None if it has to be exported."""
        return getattr(self.module, "exported_program", None)

    def input_sets(self) -> list[tuple[Any, ...]]:
        """The example inputs: one tuple of arguments, or several as a list of tuples."""
        return self._sets("example_inputs")

    def calibration_sets(self) -> list[tuple[Any, ...]] | None:
        """What `calibration_inputs()` returns, as a list; None without that function."""
        defined = hasattr(self.module, "calibration_inputs")
        return self._sets("calibration_inputs") if defined else None

    def _sets(self, name: str) -> list[tuple[Any, ...]]:
        returned = self._call(name)
        sets = returned if isinstance(returned, list) else [returned]
        if not sets or not all(isinstance(s, tuple) for s in sets):
            raise self._wrong_type(
                f"{name}()", "a tuple of arguments, or a list of such tuples", returned
            )
        return sets

    def dynamic_shapes(self) -> Any:
        """What `dynamic_shapes()` returns; None without that function."""
        return self._call("dynamic_shapes") if hasattr(self.module, "dynamic_shapes") else None

    def describe(self, outputs: list[list[Any]]) -> dict[str, str] | None:
        """Labels and values for people; None without a function `describe`."""
        if not hasattr(self.module, "describe"):
            return None
        returned = self._call("describe", outputs)
        if not isinstance(returned, dict):
            raise self._wrong_type("describe()", "a dict of labels and values", returned)
        return {str(label): str(value) for label, value in returned.items()}

    def _call(self, name: str, *arguments: Any) -> Any:
        function = getattr(self.module, name, None)
        if not callable(function):
            raise ModelError(
                "MODEL-FUNCTION-MISSING",
                f"{self.path.name} has no function {name}().",
                evidence=str(self.path),
                fix=f"Define {name}() in it; a MODEL file needs model() and example_inputs().",
            )
        try:
            return function(*arguments)
        except _ANYTHING as error:
            raise ModelError(
                "MODEL-FUNCTION-FAILED",
                f"{name}() of {self.path.name} raised an error.",
                evidence=_where(self.path, error),
                fix=f"Correct {name}() until it returns when it is called by itself.",
            ) from error

    def _wrong_type(self, function: str, expected: str, value: object) -> ModelError:
        return ModelError(
            "MODEL-WRONG-TYPE",
            f"{function} of {self.path.name} must return {expected}.",
            evidence=f"it returned {_kind(value)}",
            fix="Return (x,) for one argument x." if "tuple" in expected else "Correct it.",
        )


def to_eval_mode(model: Any, name: str) -> list[Finding]:
    """Calls eval() on a model in training mode, and says so.

    The modules that torch.export makes, as for quantization, refuse eval() and need none.
    """
    import torch

    if not model.training or isinstance(model, torch.fx.GraphModule):
        return []
    model.eval()
    return [
        Finding(
            "MODEL-IN-TRAINING-MODE",
            f"model() of {name} returned the model in training mode; eval() was called on it.",
            fix="Return model.eval().",
            severity=Severity.INFO,
        )
    ]


def load(path: Path | str) -> ModelFile:
    """Imports the file, with its own folder importable; raises ModelError.

    Also takes the other forms of a MODEL: package.module:function and .pt2.
    """
    if model_name.is_function(str(path)):
        return _load_function(str(path))
    path = Path(model_name.absolute(path))
    if not os.path.isfile(path):  # noqa: PTH113 - says no where Path.is_file raises
        raise ModelError(
            "MODEL-FILE-MISSING",
            f"There is no MODEL file {path.name}.",
            evidence=str(path),
            fix="Give the path of a Python file that defines model() and example_inputs().",
        )
    if path.suffix == ".pt2":
        return ModelFile(path, exported_file.load(path))
    name = f"etbk_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise ModelError(
            "MODEL-NOT-PYTHON",
            f"{path.name} is not a Python file.",
            evidence=str(path),
            fix="Give a .py file that defines model() and example_inputs(), or a .pt2 file.",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except _ANYTHING as error:
        fix = "Correct the file until `python FILE` runs through."
        if isinstance(error, ModuleNotFoundError) and error.name:
            fix = f"Install the package that provides the module {error.name}."
        raise ModelError(
            "MODEL-IMPORT-FAILED",
            f"{path.name} cannot be imported.",
            evidence=_where(path, error),
            fix=fix,
        ) from error
    return ModelFile(path, module)


def _load_function(text: str) -> ModelFile:
    """package.module:function, with the current directory importable.

    The function returns the model alone, and the module defines example_inputs(); or it returns
    (model, inputs) or (model, inputs, dynamic shapes).
    """
    module_name, _, name = text.partition(":")
    path = Path(text)
    if os.getcwd() not in sys.path:  # noqa: PTH109 - sys.path holds texts
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        module = importlib.import_module(module_name)
    except _ANYTHING as error:
        raise ModelError(
            "MODEL-IMPORT-FAILED",
            f"The module {module_name} cannot be imported.",
            evidence=summary(error),
            fix=f"Correct it until python -c 'import {module_name}' runs through here.",
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ModelError(
            "MODEL-FUNCTION-MISSING",
            f"{module_name} has no function {name}().",
            evidence=str(module.__file__),
            fix=f"Define {name}() in it, or correct the name after the colon.",
        )
    made = ModelFile(path, module)._call(name)
    parts = made if isinstance(made, tuple) else (made,)
    holder = ModuleType(text)
    for optional in ("describe", "dynamic_shapes", "calibration_inputs", "example_inputs"):
        if hasattr(module, optional):
            setattr(holder, optional, getattr(module, optional))
    holder.model = lambda: parts[0]  # type: ignore[attr-defined]
    if len(parts) > 1:
        holder.example_inputs = lambda: parts[1]  # type: ignore[attr-defined]
    if len(parts) > 2:
        holder.dynamic_shapes = lambda: parts[2]  # type: ignore[attr-defined]
    return ModelFile(path, holder)


def _where(path: Path, error: BaseException) -> str:
    """The error with the last line of the MODEL file that it passed through."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    place = f"{path.name}, line {lines[-1]}: " if lines else ""
    return place + summary(error)


def _kind(value: object) -> str:
    if isinstance(value, (list, tuple)) and value:
        kinds = ", ".join(type(v).__name__ for v in value[:3])
        return f"a {type(value).__name__} of {kinds}"
    return type(value).__name__
