"""The header stands alone: any language version, any target, the strictest warnings as errors."""

from __future__ import annotations

import pytest
from abi_toolchains import STRICT, Compile, Toolchain

ALONE = "#include <executorch_backend_kit/plugin.h>\nextern EtbkStatus etbk_use;\n"
TWICE = "#include <executorch_backend_kit/plugin.h>\n" + ALONE
# What a vendor's own code expands, so that his warnings must be content with our macros.
USES = ALONE + (
    "int has_count(const EtbkArgument* argument);\n"
    "int has_count(const EtbkArgument* argument) {\n"
    "  return ETBK_HAS(argument, EtbkArgument, count) ? 1 : 0;\n"
    "}\n"
)
C_ONLY = ("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat")
CXX_ONLY = ("-Wold-style-cast", "-Wmissing-declarations", "-Wsign-conversion")


@pytest.mark.parametrize("standard", ["c99", "c11", "c17"])
@pytest.mark.parametrize("source", [ALONE, TWICE, USES], ids=["once", "twice", "used"])
def test_c(compile_text: Compile, standard: str, source: str) -> None:
    result = compile_text(source, standard, *STRICT, *C_ONLY)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("source", [ALONE, TWICE, USES], ids=["once", "twice", "used"])
def test_cxx(compile_text: Compile, toolchain: Toolchain, standard: str, source: str) -> None:
    result = compile_text(source, standard, *STRICT, *CXX_ONLY, "-fno-exceptions", "-fno-rtti")
    assert result.returncode == 0, result.stderr
