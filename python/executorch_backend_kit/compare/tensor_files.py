"""Values in files: a folder with `index.json` and one raw little-endian file per tensor.

Needs no Python to read, so that any worker can take its inputs from here and leave its outputs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

INDEX = "index.json"


def write(folder: Path, values: Sequence[Any]) -> None:
    """Writes tensors, numbers, strings and None; the index comes last and is renamed into place."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    for number, value in enumerate(values):
        if isinstance(value, torch.Tensor):
            order = _dim_order(value)
            data = value.detach().cpu().permute(order).contiguous()
            name = f"{number}.bin"
            (folder / name).write_bytes(data.reshape(-1).view(torch.uint8).numpy().tobytes())
            entries.append(
                {
                    "kind": "tensor",
                    "dtype": str(value.dtype).removeprefix("torch."),
                    "sizes": list(value.shape),
                    "dim_order": order,
                    "file": name,
                }
            )
        elif value is None or isinstance(value, (bool, int, float, str)):
            entries.append({"kind": type(value).__name__, "value": value})
        else:
            raise TypeError(f"value {number} is a {type(value).__name__}")
    temporary = folder / (INDEX + ".part")
    temporary.write_text(json.dumps(entries))
    temporary.replace(folder / INDEX)


def read(folder: Path) -> list[Any]:
    """The values that `write` left in `folder`."""
    import torch

    values: list[Any] = []
    for entry in json.loads((folder / INDEX).read_text()):
        if entry["kind"] != "tensor":
            values.append(entry["value"])
            continue
        dtype = getattr(torch, entry["dtype"])
        order = entry["dim_order"]
        sizes = [entry["sizes"][d] for d in order]
        data = bytearray((folder / entry["file"]).read_bytes())
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        back = [order.index(d) for d in range(len(order))]
        values.append(flat.reshape(sizes).permute(back))
    return values


def describe(values: Sequence[Any]) -> list[dict[str, Any]]:
    """Kind, dtype and sizes of each value, for reports."""
    import torch

    return [
        {
            "kind": "tensor",
            "dtype": str(v.dtype).removeprefix("torch."),
            "sizes": list(v.shape),
        }
        if isinstance(v, torch.Tensor)
        else {"kind": type(v).__name__}
        for v in values
    ]


def _dim_order(tensor: Any) -> list[int]:
    """Dimensions from the slowest to the fastest in memory; of a tensor with gaps, as they are."""
    order = sorted(range(tensor.dim()), key=lambda d: (-tensor.stride(d), d))
    return order if tensor.permute(order).is_contiguous() else list(range(tensor.dim()))
