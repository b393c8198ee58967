"""Where in the author's code an operator comes from."""

from __future__ import annotations

import ast
import linecache
import re
from functools import cache
from pathlib import Path
from typing import Any

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
_LIBRARIES = ("/torch/", "/torchao/", "/executorch/")


def place(node: Any, root: Path | None = None) -> dict[str, Any] | None:
    """{file, line, module, expression, debug_handle} of a node; None if nothing is known."""
    file, line = _frame(node)
    module = _module(node)
    handle = node.meta.get("debug_handle")
    if file is None and module is None and handle is None:
        return None
    return {
        "file": None if file is None else _short(file, root),
        "line": line,
        "module": module,
        "expression": _expression(file, line) if file and line else None,
        "debug_handle": list(handle) if isinstance(handle, (list, tuple)) else handle,
    }


def _frame(node: Any) -> tuple[str | None, int | None]:
    """The innermost frame that is not in torch itself; the innermost of all if every one is."""
    seen = _FRAME.findall(node.meta.get("stack_trace") or "")
    frames: list[tuple[str, int]] = [(f, int(line)) for f, line in seen if not f.startswith("<")]
    own = [f for f in frames if not any(library in f[0] for library in _LIBRARIES)]
    if own:
        return own[-1]
    return frames[-1] if frames else (None, None)


def _module(node: Any) -> str | None:
    """The path of the module that the operator was called in: layers.0.norm."""
    stack = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    names = [str(path) for path in stack if path]
    return names[-1].removeprefix("L['self'].") if names else ("" if stack else None)


def _short(file: str, root: Path | None) -> str:
    """Relative to the MODEL's folder if the file is in there; else from site-packages on."""
    path = Path(file)
    if root is not None and path.is_relative_to(root):
        return str(path.relative_to(root))
    _, found, rest = file.partition("/site-packages/")
    return rest if found else file


@cache
def _expression(file: str, line: int) -> str | None:
    """The source of the statement on that line, on one line."""
    text = "".join(linecache.getlines(file))
    if not text:
        return None
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    best: ast.stmt | None = None
    for found in ast.walk(tree):
        if (
            isinstance(found, ast.stmt)
            and not hasattr(found, "body")
            and found.lineno <= line <= (found.end_lineno or found.lineno)
        ):
            best = found
    source = ast.get_source_segment(text, best) if best is not None else None
    return " ".join(source.split()) if source else linecache.getline(file, line).strip() or None
