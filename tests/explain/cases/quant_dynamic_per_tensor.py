"""Dynamically quantized linear with per-tensor weights."""

from typing import Any

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> Any:
        return self.a(x)


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 32),)


def model() -> nn.Module:
    torch.manual_seed(0)
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=False, is_dynamic=True))
    graph = torch.export.export(Net().eval(), example_inputs()).module()
    graph = prepare_pt2e(graph, quantizer)
    graph(*example_inputs())
    return convert_pt2e(graph)
