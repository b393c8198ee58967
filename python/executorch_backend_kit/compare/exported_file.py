"""A MODEL that was exported before: a .pt2 file of torch.export.save.

Operators of other packages must be registered before such a file can be read: the packages that
people use are imported when the file needs them.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.compare.errors import ModelError

# Namespace of operators -> the module whose import registers them.
_PROVIDERS = {
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
    "torchao": "torchao",
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "llama": "executorch.extension.llm.custom_ops.custom_ops",
    "dim_order_ops": "executorch.exir.passes.dim_order_ops_registry",
    "edge": "executorch.exir.dialects._ops",
}


def load(path: Path) -> ModuleType:
    """What a MODEL file would define, made from the exported program; raises ModelError."""
    program = _read(path)
    arguments, keywords = program.example_inputs or (None, None)
    if keywords:
        raise ModelError(
            "EXPORTED-FILE-UNUSABLE",
            f"{path.name} was exported with keyword arguments, which a program file cannot take.",
            evidence=f"keywords: {', '.join(keywords)}",
            fix="Export it with positional arguments.",
        )
    module = ModuleType(f"etbk_model_{path.stem}")
    module.exported_program = program  # type: ignore[attr-defined]
    module.model = program.module  # type: ignore[attr-defined]
    if arguments is not None:
        module.example_inputs = lambda: tuple(arguments)  # type: ignore[attr-defined]
    return module


def _read(path: Path) -> Any:
    tried: set[str] = set()
    while True:
        program, error = _attempt(path)
        if error is None:
            return program
        name = next((n for n in _PROVIDERS if n in str(error) and n not in tried), None)
        if name is None:
            raise _unreadable(path, error, tried) from error
        tried.add(name)
        _import_provider(path, name, error)


def _attempt(path: Path) -> tuple[Any, Exception | None]:
    import torch

    try:
        return torch.export.load(path), None
    except Exception as error:  # torch raises many kinds for damaged and foreign files
        return None, error


def _import_provider(path: Path, name: str, reason: Exception) -> None:
    try:
        importlib.import_module(_PROVIDERS[name])
    except ImportError:
        raise ModelError(
            "EXPORTED-FILE-UNUSABLE",
            f"{path.name} uses operators of {name}, which are not registered here.",
            evidence=summary(reason),
            fix=f"Install the package that provides the module {_PROVIDERS[name]}.",
        ) from reason


def _unreadable(path: Path, error: Exception, tried: set[str]) -> ModelError:
    found = re.search(r"['\"]?(\w+)(?:\.|::)(\w+)", str(error))
    operator = f" such as {found[1]}::{found[2]}" if found and "op" in str(error).lower() else ""
    imported = f"; imported for it: {', '.join(_PROVIDERS[n] for n in tried)}" if tried else ""
    return ModelError(
        "EXPORTED-FILE-UNUSABLE",
        f"{path.name} cannot be read as an exported program.",
        evidence=summary(error) + imported,
        fix="Export it with the installed torch; if it uses operators of a package"
        f"{operator}, load it in a MODEL file that imports the package first.",
    )
