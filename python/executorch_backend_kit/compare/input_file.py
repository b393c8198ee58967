"""Inputs from a file: what `torch.save` wrote of a tensor, of arguments, or of several sets.

torch.save((x, y), "inputs.pt")            one set of two arguments
torch.save([(x,), (longer_x,)], "sets.pt") two sets: a list of tuples
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.compare.errors import ModelError


def read_sets(path: Path) -> list[tuple[Any, ...]]:
    """The sets of arguments in a .pt file; raises ModelError. No code of the file is run."""
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for damaged files
        raise ModelError(
            "RUN-INPUTS-UNREADABLE",
            f"The inputs {path.name} cannot be read.",
            evidence=summary(error),
            fix="Write them with torch.save: a tensor, a tuple of arguments, or a list of tuples.",
        ) from error
    if isinstance(content, list) and content and all(isinstance(s, tuple) for s in content):
        return content
    if isinstance(content, (list, tuple)):
        return [tuple(content)]
    return [(content,)]


def read(path: Path) -> list[list[Any]]:
    """The sets, each as the flat list of values that a program takes."""
    from torch.utils import _pytree

    return [_pytree.tree_leaves(s) for s in read_sets(path)]
