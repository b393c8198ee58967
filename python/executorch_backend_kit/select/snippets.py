"""Writes the Python that lowers a model for a chain of backends, from the snippets of the facts.

A snippet has `model` and `inputs`, and sets `edge` and `program`. One that quantizes has
`calibration`, a list of such inputs; one with dynamic shapes has `dynamic_shapes`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.knowledge import Backend

_END = "program = edge.to_executorch()\n"
_EXPORT = "torch.export.export(model, inputs)"
_EXPORT_DYNAMIC = "torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes)"
_ONE_SAMPLE = "prepared(*inputs)\n"
_CALIBRATE = "for sample in calibration:\n    prepared(*sample)\n"


@dataclass(frozen=True)
class Snippet:
    """The code, empty if the facts have none, and what it does."""

    code: str
    quantizes: bool = False
    dynamic: bool = False
    stages: tuple[str, ...] = ()  # backends after the first that it lowers for

    def script(self, file: str) -> str:
        """A script: what must be there before, the code, and writing the file."""
        if not self.code:
            return ""
        needs = ["# model: a torch.nn.Module in eval mode; inputs: a tuple of example arguments"]
        if self.quantizes:
            needs.append("# calibration: a list of such tuples, of typical data")
        if self.dynamic:
            needs.append("# dynamic_shapes: as torch.export.export takes them")
        write = f'with open("{file}", "wb") as file:\n    program.write_to_file(file)\n'
        return "\n".join(needs) + "\n" + self.code + write


def compose(
    backend: Backend,
    settings: Mapping[str, Any],
    fallbacks: Sequence[Backend],
    *,
    quantize: str | None = None,
    quality: bool = False,
    dynamic: bool = False,
    dtype: str = "float32",
) -> Snippet:
    """The snippet for a backend with the settings of a target, and those behind it."""
    recipe: Mapping[str, Any] = next(
        (r for r in backend.get("quantization", "recipes", default=()) if r["name"] == quantize), {}
    )
    code = str(recipe.get("snippet") or backend.get("export", "snippet", default="")).lstrip("\n")
    if not code:
        return Snippet("")
    setup = str(recipe.get("setup", "")).lstrip("\n")
    chosen = {**settings, **(backend.get("export", "quality", default={}) if quality else {})}
    code = _for_dtype(_with_settings(code, backend, chosen), backend, dtype)
    quantizes = bool(setup) or _ONE_SAMPLE in code or "snippet" in recipe
    if setup:
        code = _quantization(_with_settings(setup, backend, settings), recipe) + "\n" + code
    code = code.replace(_ONE_SAMPLE, _CALIBRATE)
    if dynamic:
        code = code.replace(_EXPORT, _EXPORT_DYNAMIC)
    stages = []
    if code.endswith(_END) and "edge = " in code:
        for fallback in fallbacks:
            stage = str(fallback.get("export", "stage", default="")).lstrip("\n")
            if stage:
                code = code.removesuffix(_END) + _for_dtype(stage, fallback, dtype) + _END
                stages.append(fallback.name)
    dynamic = dynamic and _EXPORT_DYNAMIC in code
    return Snippet(_imports_first(code), quantizes, dynamic, tuple(stages))


def _imports_first(code: str) -> str:
    """The parts were written one by one; imports of all go to the top, each once."""
    lines = code.splitlines()
    imports: list[str] = []
    for node in ast.parse(code).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            place = slice(node.lineno - 1, node.end_lineno)
            text = "\n".join(lines[place])
            lines[place] = [""] * len(lines[place])
            if text not in imports:
                imports.append(text)
    rest = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return "\n".join(imports) + "\n" * 2 * bool(imports) + rest + "\n"


def _with_settings(code: str, backend: Backend, settings: Mapping[str, Any]) -> str:
    for name, default in backend.get("export", "settings", default={}).items():
        if name in settings:
            wanted = str(settings[name])
            code = re.sub(rf"(?<![\w-]){re.escape(default)}(?![\w-])", lambda _: wanted, code)  # noqa: B023
    return code


def _for_dtype(code: str, backend: Backend, dtype: str) -> str:
    for text, instead in backend.get("export", "dtypes", dtype, default={}).items():
        code = code.replace(text, instead)
    return code


def _quantization(setup: str, recipe: Mapping[str, Any]) -> str:
    """Quantizes `model` as the recipe says; torchao's recipes change it in place."""
    if "quantizer" not in setup:
        return setup
    convert = f", {recipe['convert']}" if "convert" in recipe else ""
    return (
        "import executorch.kernels.quantized  # for what stays outside of delegates\n"
        "import torch\n"
        "from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e\n"
        f"{setup}\n"
        f"exported = {_EXPORT}\n"
        "prepared = prepare_pt2e(exported.module(check_guards=False), quantizer)\n"
        f"{_CALIBRATE}"
        f"model = convert_pt2e(prepared{convert})\n"
    )
