"""Values come back from their files as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from executorch_backend_kit.compare import tensor_files

IMAGE = torch.arange(24.0).reshape(1, 2, 3, 4)


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor(3.5),
        torch.arange(6).reshape(2, 3),
        torch.tensor([True, False]),
        torch.randn(3, 4).to(torch.bfloat16),
        torch.randn(3, 4).half(),
        torch.empty(0, 3),
        IMAGE.to(memory_format=torch.channels_last),
        IMAGE.transpose(1, 3),
        torch.ones(1, 3).expand(4, 3),
        torch.arange(10.0)[::2],
    ],
)
def test_tensors_come_back(tmp_path: Path, value: torch.Tensor) -> None:
    tensor_files.write(tmp_path, [value])
    (read,) = tensor_files.read(tmp_path)
    assert read.dtype == value.dtype
    assert read.shape == value.shape
    assert torch.equal(read, value)


def test_memory_format_comes_back(tmp_path: Path) -> None:
    tensor_files.write(tmp_path, [IMAGE.to(memory_format=torch.channels_last)])
    (read,) = tensor_files.read(tmp_path)
    assert read.dim_order() == (0, 2, 3, 1)


@pytest.mark.parametrize("value", [1, 2.5, True, "text", None])
def test_other_values_come_back(tmp_path: Path, value: Any) -> None:
    tensor_files.write(tmp_path, [value])
    assert tensor_files.read(tmp_path) == [value]
    assert type(tensor_files.read(tmp_path)[0]) is type(value)


def test_anything_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="value 1 is a set"):
        tensor_files.write(tmp_path, [1, {2}])
