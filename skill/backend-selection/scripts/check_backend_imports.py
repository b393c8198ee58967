#!/usr/bin/env python3
"""Which Python sides of ExecuTorch backends can be imported here, and what the others lack.

Stand-alone: the standard library only. Every module is imported in a process of its own with a
time limit, so that one that crashes or hangs is a line of the report. That a module can be
imported is no proof that its accelerator works: that takes a run on the device.

    python check_backend_imports.py [--json] [--timeout SECONDS] [BACKEND ...]

Exit code 0: answered. 1: a backend that was named cannot be imported. 2: bad command line.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import select
import signal
import subprocess
import sys
import time
from importlib import metadata
from typing import Any

SCHEMA = "etbk.imports/1"
PRELOADED = ("torch", "executorch.exir")  # imported once; every import that follows shares them
BACKENDS: list[dict[str, Any]] = [{'name': 'cadence',
  'id': '',
  'modules': [{'module': 'executorch.backends.cadence.aot.quantizer.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.cadence.aot.compiler',
               'role': 'lowering',
               'on_the_plain_wheel': 'fails'}],
  'install': []},
 {'name': 'coreai',
  'id': 'CoreAIBackend',
  'modules': [{'module': 'executorch.backends.apple.coreai',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.apple.coreai.recipes',
               'role': 'recipes',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.apple.coreai.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'}],
  'install': ['pip install coreai-torch coreai-opt']},
 {'name': 'coreml',
  'id': 'CoreMLBackend',
  'modules': [{'module': 'executorch.backends.apple.coreml.partition',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.apple.coreml.compiler',
               'role': 'backend',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.apple.coreml.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.apple.coreml.recipes',
               'role': 'recipes',
               'on_the_plain_wheel': 'imports'}],
  'install': ['pip install coremltools==9.0']},
 {'name': 'cortex-m',
  'id': '',
  'modules': [{'module': 'executorch.backends.cortex_m.quantizer.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.cortex_m.passes.cortex_m_pass_manager',
               'role': 'passes',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.cortex_m.target_config',
               'role': 'compile spec',
               'on_the_plain_wheel': 'imports'}],
  'install': ["pip install 'executorch[ethos-u]'"]},
 {'name': 'cuda',
  'id': 'CudaBackend',
  'modules': [{'module': 'executorch.backends.cuda.cuda_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.cuda.cuda_backend',
               'role': 'backend',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.aoti.aoti_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'}],
  'install': ['install the CUDA build of torch; it brings triton']},
 {'name': 'ethos-u',
  'id': 'EthosUBackend',
  'modules': [{'module': 'executorch.backends.arm.ethosu',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.arm.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.arm.tosa.compile_spec',
               'role': 'compile spec',
               'on_the_plain_wheel': 'imports'}],
  'install': ["pip install 'executorch[ethos-u]'"]},
 {'name': 'mediatek',
  'id': 'NeuropilotBackend',
  'modules': [{'module': 'executorch.backends.mediatek',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.mediatek.preprocess',
               'role': 'backend',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.mediatek.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'fails'}],
  'install': ['install the mtk_converter wheel of the NeuroPilot Express SDK (Python 3.10)',
              'install the mtk_neuron wheel of the NeuroPilot Express SDK']},
 {'name': 'metal',
  'id': 'MetalBackend',
  'modules': [{'module': 'executorch.backends.apple.metal.metal_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.apple.metal.metal_backend',
               'role': 'backend',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'mlx',
  'id': 'MLXBackend',
  'modules': [{'module': 'executorch.backends.mlx.partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.mlx',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.mlx.preprocess',
               'role': 'backend',
               'on_the_plain_wheel': 'fails'}],
  'install': []},
 {'name': 'native',
  'id': 'NativeBackend',
  'modules': [{'module': 'executorch.backends.native.partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.native.preprocess',
               'role': 'backend',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'nxp',
  'id': 'NeutronBackend',
  'modules': [{'module': 'executorch.backends.nxp.neutron_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.nxp.nxp_backend',
               'role': 'compile spec',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.nxp.quantizer.neutron_quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'fails'}],
  'install': ["install eiq-neutron-sdk from NXP's package index (examples/nxp/setup.sh of the "
              'ExecuTorch source)']},
 {'name': 'openvino',
  'id': 'OpenvinoBackend',
  'modules': [{'module': 'executorch.backends.openvino.partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.openvino.preprocess',
               'role': 'backend',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.openvino.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'fails'}],
  'install': ["pip install 'openvino>=2025.1,<2026'", 'pip install nncf==3.1.0']},
 {'name': 'portable',
  'id': '',
  'modules': [{'module': 'executorch.exir', 'role': 'lowering', 'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.kernels.quantized',
               'role': 'operators',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'qnn',
  'id': 'QnnBackend',
  'modules': [{'module': 'executorch.backends.qualcomm.partition.qnn_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.qualcomm.quantizer.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.qualcomm.utils.utils',
               'role': 'lowering',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.qualcomm.recipes',
               'role': 'recipes',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'samsung',
  'id': 'EnnBackend',
  'modules': [{'module': 'executorch.backends.samsung.partition.enn_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.samsung.enn_preprocess',
               'role': 'backend',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.samsung.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.samsung.serialization.compile_options',
               'role': 'compile spec',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'tensorrt',
  'id': 'TensorRTBackend',
  'modules': [{'module': 'torch_tensorrt.executorch',
               'role': 'partitioner',
               'on_the_plain_wheel': 'absent'}],
  'install': ['pip install torch-tensorrt-executorch-runtime, next to executorch==1.4.1 and torch '
              '2.14',
              'pip install torch-tensorrt-executorch-runtime']},
 {'name': 'vgf',
  'id': 'VgfBackend',
  'modules': [{'module': 'executorch.backends.arm.vgf',
               'role': 'partitioner',
               'on_the_plain_wheel': 'fails'},
              {'module': 'executorch.backends.arm.quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'fails'}],
  'install': ["pip install 'executorch[vgf]'"]},
 {'name': 'vulkan',
  'id': 'VulkanBackend',
  'modules': [{'module': 'executorch.backends.vulkan.partitioner.vulkan_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.vulkan',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.vulkan.quantizer.vulkan_quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.vulkan.vulkan_preprocess',
               'role': 'backend',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'webgpu',
  'id': 'VulkanBackend',
  'modules': [{'module': 'executorch.backends.webgpu',
               'role': 'backend',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.webgpu.partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'}],
  'install': []},
 {'name': 'xnnpack',
  'id': 'XnnpackBackend',
  'modules': [{'module': 'executorch.backends.xnnpack.partition.xnnpack_partitioner',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.xnnpack',
               'role': 'partitioner',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.xnnpack.quantizer.xnnpack_quantizer',
               'role': 'quantizer',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.xnnpack.recipes',
               'role': 'recipes',
               'on_the_plain_wheel': 'imports'},
              {'module': 'executorch.backends.xnnpack.recipes.xnnpack_recipe_provider',
               'role': 'recipes',
               'on_the_plain_wheel': 'imports'}],
  'install': []}]


def main() -> int:
    """Checks, prints, returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help="default: all")
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one module")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return serve(given.timeout)
    names = [b["name"] for b in BACKENDS]
    unknown = [name for name in given.backends if name not in names]
    if unknown or given.timeout <= 0:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(names)}" if unknown
                     else "--timeout must be more than 0")  # fmt: skip
    chosen = [b for b in BACKENDS if not given.backends or b["name"] in given.backends]
    report = examine(chosen, given.timeout)
    sys.stdout.write((json.dumps(report, indent=2) if given.json else text(report)) + "\n")
    return int(bool(given.backends) and not all(b["importable"] for b in report["backends"]))


def examine(backends: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    """The report, `etbk.imports/1`."""
    modules = [m["module"] for b in backends for m in b["modules"]]
    seen = check(list(dict.fromkeys(modules)), limit)
    rows = []
    for backend in backends:
        results = [{**m, **seen[m["module"]]} for m in backend["modules"]]
        good = bool(results) and all(m["importable"] for m in results)
        rows.append({**backend, "modules": results, "importable": good})
    return {
        "schema": SCHEMA,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "executorch": version("executorch"),
        "torch": version("torch"),
        "timeout": limit,
        "backends": rows,
    }


def version(package: str) -> str | None:
    """Version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def check(modules: list[str], limit: float) -> dict[str, dict[str, Any]]:
    """What became of each import."""
    seen = forked(modules, limit) if hasattr(os, "fork") else {}
    return {m: seen.get(m) or alone(m, limit) for m in modules}


def forked(modules: list[str], limit: float) -> dict[str, dict[str, Any]]:
    """By a child that imports torch once and forks for each module; what it answered."""
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "--child", "--timeout", str(limit)],  # noqa: PTH100
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        out, _ = child.communicate(json.dumps(modules), timeout=limit * (len(modules) + 2))
    except subprocess.TimeoutExpired:
        child.kill()
        out, _ = child.communicate()
    return dict(json.loads(line) for line in out.splitlines() if line.endswith("]"))


def serve(limit: float) -> int:
    """The child: answers a line per module."""
    modules = json.load(sys.stdin)
    answers = os.dup(1)
    os.dup2(2, 1)
    for name in PRELOADED:  # what is wrong with one, the imports that follow say
        attempt(name)
    for name in modules:
        line = json.dumps([name, in_a_fork(name, limit)]) + "\n"
        os.write(answers, line.encode())
    return 0


def in_a_fork(name: str, limit: float) -> dict[str, Any]:
    """Imports a module in a forked process; ended when its time is up."""
    began = time.monotonic()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        try:
            os.write(writing, (attempt(name) or " ").encode())
        finally:
            os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], limit)
    said = os.read(reading, 1 << 16).decode(errors="replace") if ready else ""
    os.close(reading)
    if not ready:
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not ready:
        error = f"no answer within {limit:g} s"
    else:
        error = said.strip() if said else f"the process ended with status {status}"
    return result(error, began)


def alone(name: str, limit: float) -> dict[str, Any]:
    """Imports a module in a new interpreter, where there is no fork."""
    began = time.monotonic()
    code = (
        f"import sys, importlib\ntry:\n    importlib.import_module({name!r})\n"
        "except BaseException as e:\n    sys.exit(f'{type(e).__name__}: {e}')\n"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return result(f"no answer within {limit:g} s", began)
    lines = done.stderr.strip().splitlines() or [f"the process ended with status {done.returncode}"]
    return result("" if done.returncode == 0 else lines[-1], began)


def attempt(name: str) -> str:
    """The error of an import in one line, empty if there is none."""
    try:
        importlib.import_module(name)
    except BaseException as error:
        return " ".join(f"{type(error).__name__}: {error}".split())[:400]
    return ""


def result(error: str, began: float) -> dict[str, Any]:
    """One module of the report."""
    seconds = round(time.monotonic() - began, 3)
    return {"importable": not error, "error": error, "seconds": seconds}


def text(report: dict[str, Any]) -> str:
    """The report for a terminal."""
    versions = ", ".join(f"{n} {report[n] or 'not installed'}" for n in ("executorch", "torch"))
    lines = [
        f"{versions}, Python {report['python']}, {report['platform']}",
        "An import is no proof that an accelerator works.",
        "",
    ]
    for backend in report["backends"]:
        lines.append(f"{'ok  ' if backend['importable'] else 'FAIL'} {backend['name']}")
        for module in backend["modules"]:
            if not module["importable"]:
                lines.append(f"       {module['module']}: {module['error']}")  # noqa: PERF401
        if not backend["importable"]:
            lines += [f"       do: {line}" for line in backend["install"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
