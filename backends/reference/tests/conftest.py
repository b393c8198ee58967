"""The plugin in the stock runtime, and short ways to lower and run a model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower
from executorch.runtime import Method, Runtime
from executorch_backend_kit import host
from reference_executorch_backend import ReferencePartitioner
from reference_executorch_backend.descriptor import runtime_library

Lower = Callable[..., ExecutorchProgramManager]
Load = Callable[[ExecutorchProgramManager | bytes], Method]
Inputs = Sequence[torch.Tensor]


@pytest.fixture(scope="session", autouse=True)
def plugin() -> None:
    host.load_plugin(str(runtime_library()))
    assert "ReferenceBackend" in Runtime.get().backend_registry.registered_backend_names


@pytest.fixture
def lower() -> Lower:
    def lower(
        model: torch.nn.Module | dict[str, torch.nn.Module],
        inputs: Inputs,
        partitioner: ReferencePartitioner | None = None,
        dynamic_shapes: Any = None,
    ) -> ExecutorchProgramManager:
        models = model if isinstance(model, dict) else {"forward": model}
        exported = {
            name: torch.export.export(m.eval(), tuple(inputs), dynamic_shapes=dynamic_shapes)
            for name, m in models.items()
        }
        chosen = [partitioner or ReferencePartitioner(whole_attention=True)]
        return to_edge_transform_and_lower(exported, partitioner=chosen).to_executorch()

    return lower


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(program: ExecutorchProgramManager | bytes) -> Method:
        # A name of its own: programs that are loaded stay mapped.
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.pte"
        path.write_bytes(program if isinstance(program, bytes) else program.buffer)
        method = Runtime.get().load_program(path).load_method("forward")
        assert method is not None
        return method

    return load


@pytest.fixture
def check(load: Load) -> Callable[..., None]:
    """Runs a lowered model and compares it with eager."""

    def check(model: torch.nn.Module, program: ExecutorchProgramManager, *inputs: Any) -> None:
        method = load(program)
        for values in inputs:
            expected = model(*values)
            got = method.execute(list(values))
            wanted = expected if isinstance(expected, tuple) else (expected,)
            torch.testing.assert_close(
                tuple(got), tuple(wanted), rtol=1e-4, atol=1e-5, equal_nan=True
            )

    return check
