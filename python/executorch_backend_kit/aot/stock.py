"""The backends that ship inside ExecuTorch and run on this kind of machine, as descriptors.

The only place in the kit that knows a backend by name.
"""

from __future__ import annotations

from typing import Any

from executorch_backend_kit.aot.descriptor import BackendDescriptor, Option

# Shown when a stock backend's modules are missing.
INSTALL_HINTS = {"openvino": "pip install 'openvino>=2025.1,<2026' nncf==3.1.0"}


def descriptors() -> tuple[BackendDescriptor, ...]:
    """XNNPACK and OpenVINO, whether or not they can be used here."""
    return (_xnnpack(), _openvino())


def _xnnpack() -> BackendDescriptor:
    def partitioner(**options: Any) -> Any:
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return XnnpackPartitioner(**options)

    return BackendDescriptor(
        name="xnnpack",
        id="XnnpackBackend",
        package="executorch",
        version=_executorch(),
        executorch=">=1.1",
        partitioner=partitioner,
        options={
            "per_op_mode": Option(bool, False, "one delegate for each operator"),
            "enable_bf16": Option(bool, False, "also take bfloat16 operators"),
            "force_non_static_weights_for_f32_linear": Option(
                bool, False, "pass float32 weights at run time instead of packing them"
            ),
        },
        targets=("linux-x86-64", "linux-aarch64", "android", "ios", "macos", "windows"),
        fallback=(),
    )


def _openvino() -> BackendDescriptor:
    def partitioner(device: str = "CPU") -> Any:
        from executorch.backends.openvino.partitioner import OpenvinoPartitioner
        from executorch.exir.backend.backend_details import CompileSpec

        return OpenvinoPartitioner([CompileSpec("device", device.encode())])

    return BackendDescriptor(
        name="openvino",
        id="OpenvinoBackend",
        package="executorch",
        version=_executorch(),
        executorch=">=1.1",
        partitioner=partitioner,
        options={"device": Option(str, "CPU", "OpenVINO device", ("CPU", "GPU", "NPU"))},
        targets=("linux-x86-64",),
        requires=("openvino", "nncf"),
    )


def _executorch() -> str:
    from importlib import metadata

    try:
        return metadata.version("executorch")
    except metadata.PackageNotFoundError:
        return "not installed"
