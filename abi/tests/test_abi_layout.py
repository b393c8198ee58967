"""The layout of the ABI is the recorded one, for every compiler, language and target here."""

from __future__ import annotations

import copy

import pytest
from abi_header import Header
from abi_layout import Layout, differences, measure, read_record, to_text
from abi_toolchains import Compile, Toolchain

INCLUDE_IT = "#include <executorch_backend_kit/plugin.h>\n"


def as_assertions(record: Layout, pointer_bits: int) -> str:
    """The record as declarations that do not compile where a number is wrong."""
    index = record["pointer_bits"].index(pointer_bits)
    checks = [f"sizeof(void*) == {pointer_bits // 8}"]
    for struct, layout in record["structs"].items():
        checks.append(f"sizeof({struct}) == {layout['size'][index]}")
        for name, member in layout["members"].items():
            checks.append(f"offsetof({struct}, {name}) == {member['offset'][index]}")
            checks.append(f"sizeof((({struct}*)0)->{name}) == {member['size'][index]}")
    for name, value in record["constants"].items():
        if isinstance(value, int):
            checks.append(f"{name} == {value}")
    lines = [f"extern char check_{i}[({check}) ? 1 : -1];" for i, check in enumerate(checks)]
    return INCLUDE_IT + "\n".join(lines) + "\n"


def test_header_agrees_with_the_record(header: Header) -> None:
    found = differences(read_record(), measure(header))
    assert not found, (
        "The ABI changed:\n  "
        + "\n  ".join(found)
        + "\nIf that is meant, raise ETBK_ABI_MINOR (ABI-001, ABI-004) and record it with"
        + "\n  python abi/tools/abi_layout.py --write"
    )


def test_record_is_as_the_command_writes_it(header: Header) -> None:
    assert to_text(read_record()) == to_text(measure(header))


@pytest.mark.parametrize("standard", ["c99", "c17", "c++17", "c++20"])
@pytest.mark.parametrize(
    "flags", [(), ("-fshort-enums", "-funsigned-char"), ("-fsigned-char", "-fpack-struct=8")]
)
def test_every_compiler_agrees(
    compile_text: Compile, toolchain: Toolchain, standard: str, flags: tuple[str, ...]
) -> None:
    source = as_assertions(read_record(), toolchain.pointer_bits)
    # The assertions make each struct's layout needed: only then does clang look for padding.
    result = compile_text(source, standard, "-ffreestanding", "-Wpadded", "-Werror", *flags)
    assert result.returncode == 0, result.stderr


def test_a_wrong_record_does_not_compile(compile_text: Compile, toolchain: Toolchain) -> None:
    record = read_record()
    index = record["pointer_bits"].index(toolchain.pointer_bits)
    record["structs"]["EtbkArgument"]["members"]["count"]["offset"][index] += 4
    source = as_assertions(record, toolchain.pointer_bits)
    assert compile_text(source, "c99", "-ffreestanding").returncode != 0


def test_64_bit_members_have_the_same_place_whatever_their_alignment() -> None:
    """i386 aligns int64_t to 4 and arm to 8: only an offset that suits both is one layout."""
    for struct, layout in read_record()["structs"].items():
        wide = [m for m in layout["members"].values() if m["type"] in ("int64_t", "uint64_t")]
        for member in wide:
            assert all(offset % 8 == 0 for offset in member["offset"]), (struct, member)
        if wide:
            assert all(size % 8 == 0 for size in layout["size"]), struct


def test_differences_tells_growth_from_breakage() -> None:
    old = read_record()

    def after(change: str) -> list[str]:
        new = copy.deepcopy(old)
        execution = new["structs"]["EtbkExecution"]["members"]
        if change == "append":
            size = old["structs"]["EtbkExecution"]["size"]
            execution["extra"] = {"type": "uint64_t", "offset": size, "size": [8, 8]}
        elif change == "insert":
            execution["extra"] = {"type": "uint32_t", "offset": [8, 8], "size": [4, 4]}
        elif change == "remove":
            del execution["changed"]
        elif change == "retype":
            execution["changed"]["type"] = "int32_t"
        elif change == "grow a frozen struct":
            new["structs"]["EtbkString"]["size"] = [24, 12]
        elif change == "renumber":
            new["constants"]["ETBK_STATUS_NOT_FOUND"] = 33
        return differences(old, new)

    assert after("nothing") == []
    assert after("append") == ["EtbkExecution.extra is appended"]
    for change in ("insert", "remove", "retype", "grow a frozen struct", "renumber"):
        assert [text for text in after(change) if text.startswith("BREAKS")], change
