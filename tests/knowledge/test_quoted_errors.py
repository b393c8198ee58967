"""Texts that people quoted in public reports, each with the rule that must explain it."""

from __future__ import annotations

import pytest
from executorch_backend_kit.help import explain

QUOTED = {
    "Failed to load program, error: 0x:23": "load-program-failed",
    "Missing out variants: {'quantized_decomposed::dequantize_per_tensor', "
    "'quantized_decomposed::quantize_per_tensor'}": "missing-out-variants-quantized",
    "Failed to create multiply node 266 with code: "
    "xnn_status_invalid_parameter": "xnnpack-node-parameter",
    "AssertionError: Invalid partition, found dependency cycles": "dependency-cycles",
    "Backend XnnpackBackend is not registered.": "backend-not-registered",
    "Missing operator: [5] executorch_prim::et_view.default": "operator-missing",
    "Re-registering aten::sym_size.int, from ...": "kernel-registered-twice",
    "failed to find ggml_backend_init": "ggml-entry",
    "Stub lib id mismatch: expected (v2.28...), detected (v2.25...)": "qnn-stub-mismatch",
    "ABI mismatch: library reports v10, backend built against v5": "abi-mismatch",
    "Cannot Open QNN library libQnnHtp.so, with error: libc++.so.1: cannot open shared object "
    "file: No such file or directory": "libcxx-missing",
    "symbol not found in flat namespace": "flat-namespace",
    "DLL load failed while importing _portable_lib: "
    "The specified module could not be found.": "dll-portable-lib",
    "Memory address ... is already being tracked by another tensor": "address-tracked",
    "offset 5320704 + size 4198960 > file_size_ 8912896": "file-truncated-segment",
    'Could not find a package configuration file provided by "executorch"': "cmake-executorch",
    "No matching distribution found for executorch": "pip-no-distribution",
    "FLATC_EXECUTABLE must be set when EXECUTORCH_BUILD_FLATC is disabled.": "flatc-executable",
    'cannot locate symbol "_ZTVNSt6__ndk119basic_ostringstream..."': "android-cxx-symbol",
    "RuntimeError: method->execute() failed with error 0x12": "execute-argument",
    "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
    "operation.": "leaf-variable-in-place",
    "error 0x20": "0x20 (32) NotFound",
    "two methods loading at once: error 0x24, 36": "0x24 (36) InvalidExternalData",
    "ModuleNotFoundError: No module named 'mtk_converter'": "import-mtk",
    "Unknown QNN BinaryInfo version 3 … Init failed for backend QnnBackend: 0x1": "qnn-binary-info",
}


@pytest.mark.parametrize(("text", "rule"), QUOTED.items(), ids=[*QUOTED.values()])
def test_quoted_text_gets_a_cause_and_a_next_command(text: str, rule: str) -> None:
    answer = explain(text).answers[0]
    assert answer.id == rule
    assert answer.cause
    assert answer.next
