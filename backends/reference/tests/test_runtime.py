"""The device: memory, threads, options, and what it says when something does not fit."""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from executorch.runtime import Runtime
from executorch_backend_kit import host
from reference_executorch_backend import ReferencePartitioner, blob
from reference_executorch_backend.descriptor import runtime_library
from torch import nn
from torch.export import Dim

BACKEND = "ReferenceBackend"
WIDE = nn.Linear(512, 512)  # a MiB of weights
WIDE_INPUTS = (torch.ones(1, 512),)


def blob_of(program: bytes) -> int:
    """Where the only blob in a program begins."""
    assert program.count(blob.MAGIC) == 1
    return program.index(blob.MAGIC)


def patch(program: Any, offset: int, value: bytes) -> bytes:
    start = blob_of(program.buffer) + offset
    return bytes(program.buffer[:start]) + value + bytes(program.buffer[start + len(value) :])


def memory_used() -> int:
    used = host.get_option(BACKEND, "memory_used_kib", "int")
    assert isinstance(used, int)
    return used


def refused(load: Any, program: Any) -> str:
    with pytest.raises(RuntimeError):
        load(program)
    return host.last_error()


def field(name: str) -> int:
    """The offset of a field of the header."""
    formats = dict.fromkeys(("oldest", "format"), "I") | dict.fromkeys(("size", "offset"), "Q")
    names = "magic format oldest size offset weights alignment registers symbols values inputs"
    before = names.split()[: names.split().index(name)]
    kinds = {"magic": "8s", "weights": "Q"} | formats
    return struct.calcsize("<" + "".join(kinds.get(n, "I") for n in before))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("magic", b"REFBLOC\0", "REFERENCE-BLOB: the blob is none of this backend's"),
        ("format", b"\x02\0\0\0\x02\0\0\0", "REFERENCE-FORMAT: the blob has format 2"),
        ("format", b"\0\0\0\0", "REFERENCE-FORMAT: the blob has a format that is no longer read"),
        ("size", b"\xff", "REFERENCE-BLOB: the blob has"),
        ("offset", b"\xff" * 8, "its weights lie outside"),
        ("weights", b"\xff" * 8, "its weights lie outside"),
        ("weights", bytes(8), "a weight lies outside"),
        ("registers", b"\xff" * 4, "it has 4294967295 registers"),
        ("values", b"\xff" * 4, "it ends within its 4294967295 values"),
        ("inputs", b"\xff" * 4, "it ends within its 4294967295 inputs"),
    ],
)
def test_damaged_header(name: str, value: bytes, text: str, lower: Any, load: Any) -> None:
    assert text in refused(load, patch(lower(WIDE, WIDE_INPUTS), field(name), value))


def test_damaged_blobs_never_crash(tmp_path: Path) -> None:
    """Mutated blobs are refused or run, under the sanitizers."""
    root = Path(__file__).parents[1]
    kit = [sys.executable, "-m", "executorch_backend_kit", "--cmake-prefix"]
    prefix = subprocess.run(kit, check=True, capture_output=True, text=True).stdout.strip()
    names = ("blob.cpp", "device.cpp", "kernels.cpp", "model.cpp")
    sources = [root / "runtime" / name for name in names]
    flags = ["-std=c++17", "-O1", "-g", "-pthread", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize-recover=all", f"-I{prefix}/include", f"-I{root}/runtime"]
    fuzzer = tmp_path / "fuzz"
    compiler = os.environ.get("CXX", "c++")
    fuzz = root / "tests" / "fuzz_blob.cpp"
    subprocess.run([compiler, *flags, fuzz, *sources, "-o", fuzzer], check=True)
    seed = tmp_path / "seed"
    seed.write_bytes(small_dynamic_blob())
    result = subprocess.run([fuzzer, "8000", seed], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    ran, rejected = map(int, result.stdout.split())
    assert ran > 50
    assert rejected > 1000


def small_dynamic_blob() -> bytes:
    size = (blob.Size(1, (0,)), blob.Size(3, ()))
    program = blob.Program(registers=3, symbols=[blob.Symbol(0, 0, 1, 1, 4)])
    program.values = [
        blob.Value(False, 0, size),
        blob.Value(True, 0, (blob.Size(3, ()), blob.Size(3, ()))),
        blob.Value(True, 64, (blob.Size(3, ()),)),
        blob.Value(False, 1, size),
        blob.Value(False, 2, size),
        blob.Value(False, 0, size[::-1]),
    ]
    program.inputs, program.outputs = [0, blob.NONE], [5]
    program.operations = [
        blob.Operation(blob.Opcode.MATMUL, "matmul", (0, 1, 2), 3),
        blob.Operation(blob.Opcode.ADD, "add", (3, 0), 4),
        blob.Operation(blob.Opcode.RELU, "relu", (4,), 3),
        blob.Operation(blob.Opcode.SOFTMAX, "softmax", (3,), 4, axis=1, zero_if_masked=True),
        blob.Operation(blob.Opcode.PERMUTE, "permute", (4,), 5, order=(1, 0)),
    ]
    return blob.encode(program, bytes(64 + 12))


@pytest.mark.parametrize("weights", ["blob", "named"])
def test_weights_are_used_in_place(weights: str, lower: Any, load: Any, check: Any) -> None:
    program = lower(WIDE, WIDE_INPUTS, ReferencePartitioner(weights))
    before = memory_used()
    method = load(program)
    assert memory_used() - before < 64
    del method
    assert memory_used() == before
    check(WIDE, program, WIDE_INPUTS)


def test_weights_are_copied_if_they_are_not_aligned(lower: Any) -> None:
    content = bytes(lower(WIDE, WIDE_INPUTS).buffer)
    is_aligned = (id(content) + bytes.__basicsize__ - 1) % blob.ALIGNMENT == 0
    before = memory_used()
    program = Runtime.get().load_program(content)
    method = program.load_method("forward")
    assert (memory_used() - before < 1024) == is_aligned
    torch.testing.assert_close(method.execute(list(WIDE_INPUTS))[0], WIDE(*WIDE_INPUTS))
    del method, program


def test_named_weights_are_stored_once(lower: Any) -> None:
    methods = {"first": WIDE, "second": WIDE}
    program = lower(methods, WIDE_INPUTS, ReferencePartitioner("named"))
    assert len(program.buffer) < 1.5 * 4 * 512 * 512


def test_missing_named_weights(lower: Any, load: Any) -> None:
    program = lower(WIDE, WIDE_INPUTS, ReferencePartitioner("named"))
    start = bytes(program.buffer).index(b"reference/1/", blob_of(program.buffer))
    text = refused(load, patch(program, start - blob_of(program.buffer), b"x"))
    assert "REFERENCE-WEIGHTS: the weights 'xeference/1/" in text


def test_sizes_the_model_was_not_exported_for(lower: Any, load: Any) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    shapes = ({0: Dim("batch", max=8), 1: Dim("length", max=16)},)
    method = load(lower(model, (torch.ones(2, 3, 4),), dynamic_shapes=shapes))
    method.execute([torch.ones(8, 16, 4)])
    with pytest.raises(RuntimeError):
        method.execute([torch.ones(16, 8, 4)])  # as many elements: the runtime lets it pass
    expected = "REFERENCE-SIZE: dimension 0 of input 0 is 16, the model was exported for 1 to 8"
    assert expected in host.last_error()
    method.execute([torch.ones(1, 2, 4)])


def test_two_methods_on_two_threads(lower: Any, load: Any) -> None:
    models = [nn.Sequential(nn.Linear(512, width), nn.ReLU()) for width in (64, 33)]
    methods = [load(lower(model, WIDE_INPUTS)) for model in models]

    def run(index: int) -> None:
        for step in range(50):
            inputs = [WIDE_INPUTS[0] * step]
            expected = models[index](*inputs)
            got = methods[index].execute(inputs)[0]
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-3)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))


def test_device_is_off(lower: Any, load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = lower(WIDE, WIDE_INPUTS)
    monkeypatch.setenv("REFERENCE_DEVICE", "off")
    assert not Runtime.get().backend_registry.is_available(BACKEND)
    assert 'REFERENCE_DEVICE is "off"' in refused(load, program)


def test_memory_limit(lower: Any, load: Any) -> None:
    limit = host.get_option(BACKEND, "memory_limit_mib", "int")
    host.set_option(BACKEND, "memory_limit_mib", 0)
    try:
        assert "REFERENCE-MEMORY" in refused(load, lower(WIDE, WIDE_INPUTS))
    finally:
        host.set_option(BACKEND, "memory_limit_mib", limit)
    load(lower(WIDE, WIDE_INPUTS))


def test_options_that_are_refused() -> None:
    with pytest.raises(host.OptionRefusedError, match="REFERENCE-OPTION: there is no option 'nix'"):
        host.set_option(BACKEND, "nix", 1)
    with pytest.raises(host.OptionRefusedError, match="memory_limit_mib must be from 0"):
        host.set_option(BACKEND, "memory_limit_mib", -1)
    with pytest.raises(host.OptionRefusedError, match="is of kind string"):
        host.set_option(BACKEND, "memory_limit_mib", "much")


LIFE = """
import gc, os, sys, torch
from executorch.runtime import Runtime
from executorch_backend_kit import host

library, path = sys.argv[1:]
host.load_plugin(library)
runtime, inputs = Runtime.get(), [torch.ones(1, 512)]

def load(source):
    program = runtime.load_program(source)
    method = program.load_method("forward")
    method.execute(inputs)
    return program, method

program, method = load(path)
del program
method.execute(inputs)
del method
gc.collect()

program, method = load(open(path, "rb").read())
del method
del program
gc.collect()

program, method = load(path)
child = os.fork()
if child == 0:
    try:
        method.execute(inputs)
    except RuntimeError:
        os._exit(0 if "REFERENCE-FORK" in host.last_error() else 3)
    os._exit(4)
assert os.waitpid(child, 0)[1] == 0
method.execute(inputs)
print("done")  # and the method outlives the interpreter
"""


def test_lives_and_ends(lower: Any, tmp_path: Path) -> None:
    """Orders of destruction, a forked child, a method that is alive when the process ends."""
    path = tmp_path / "model.pte"
    path.write_bytes(lower(WIDE, WIDE_INPUTS).buffer)
    command = [sys.executable, "-c", LIFE, str(runtime_library()), str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
