"""Every rule refuses the file that breaks it, and names the rule: one case for each.

If a rule is removed from the library, its case fails; if a rule is added without a case,
test_every_rule_has_a_case does.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.pte import Envelope, Limits, NamedNeed, ProgramFile, rules, seal
from program_editor import PROGRAMS, Parts, take_apart

Edit = Callable[[Parts], object]
CASES: dict[str, tuple[str, Edit]] = {}


def case(code: str, base: str = "cnn_portable.pte") -> Callable[[Edit], Edit]:
    def add(edit: Edit) -> Edit:
        assert code not in CASES
        CASES[code] = (base, edit)
        return edit

    return add


def change(code: str, edit: Edit, base: str = "cnn_portable.pte") -> None:
    case(code, base)(edit)


def drop(container: dict[str, Any], key: str) -> None:
    del container[key]


def tensor(parts: Parts) -> dict[str, Any]:
    """A planned tensor."""
    for value in parts.values:
        if value["val_type"] == "Tensor" and "allocation_info" in value["val"]:
            found: dict[str, Any] = value["val"]
            return found
    raise AssertionError


def constant(parts: Parts) -> dict[str, Any]:
    """A tensor in the constants."""
    for value in parts.values:
        if value["val_type"] == "Tensor" and value["val"]["data_buffer_idx"] > 0:
            found: dict[str, Any] = value["val"]
            return found
    raise AssertionError


def external(parts: Parts) -> dict[str, Any]:
    """A tensor in the .ptd."""
    for value in parts.values:
        extra = value["val"].get("extra_tensor_info", {})
        if extra.get("location") == "EXTERNAL":
            found: dict[str, Any] = value["val"]
            return found
    raise AssertionError


def sealed(parts: Parts, **fields: Any) -> bytes:
    """Makes the XNNPACK program one of a backend with an envelope; gives the blob."""
    given: dict[str, Any] = {"backend_id": "AcmeBackend", "backend_version": "1", "blob_format": 1}
    blob = seal(b"payload", Envelope(**{**given, **fields}))
    parts.plan["delegates"][0]["id"] = "AcmeBackend"
    parts.document["segments"] = [{"offset": 0, "size": 0}, {"offset": 0, "size": len(blob)}]
    parts.document["named_data"] = []
    parts.payload = blob
    return blob


def damage(parts: Parts, at: int) -> Parts:
    blob = bytearray(parts.payload)
    blob[at] ^= 1
    parts.payload = bytes(blob)
    return parts


X = "cnn_xnnpack.pte"
E = "lin_external.pte"

change("PTE-010", lambda p: p.header.update(length=16))
change("PTE-011", lambda p: p.header.update(size=1 << 40))
change("PTE-012", lambda p: p.header.update(bytes=1 << 62))
change("PTE-013", lambda p: p.header.update(base=128, bytes=8))
change("PTE-020", lambda p: p.document.update(version=1))
change("PTE-201", lambda p: p.document.update(execution_plan=[]))
change("PTE-202", lambda p: drop(p.plan, "name"))
change("PTE-203", lambda p: p.document["execution_plan"].append(p.plan))
change("PTE-204", lambda p: p.plan.update(name="for\0ward"))
change("PTE-205", lambda p: p.document.update(constant_buffer=[{"storage": [1]}]))
change("PTE-206", lambda p: drop(p.plan, "delegates"))
change("PTE-207", lambda p: p.plan.update(outputs=[-1]))
change("PTE-208", lambda p: p.plan.update(outputs=[8]))
change("PTE-209", lambda p: p.plan.update(inputs=[0]))
change("PTE-303", lambda p: drop(p.first("IntList"), "items"))
change("PTE-304", lambda p: p.first("IntList").update(items=[1 << 40]))
change("PTE-305", lambda p: p.first("TensorList").update(items=[len(p.values) - 1]), "dyn.pte")
change("PTE-306", lambda p: p.first("IntList").update(items=[0]))
change("PTE-401", lambda p: drop(tensor(p), "sizes"))
change("PTE-402", lambda p: tensor(p)["sizes"].__setitem__(0, -1))
change("PTE-403", lambda p: tensor(p).update(sizes=[2**31 - 1] * 3, dim_order=[0, 1, 2]))
change("PTE-404", lambda p: tensor(p).update(scalar_type=9))
change("PTE-405", lambda p: tensor(p).update(sizes=[1] * 17, dim_order=list(range(17))))
change("PTE-406", lambda p: drop(tensor(p), "dim_order"))
change("PTE-407", lambda p: tensor(p)["dim_order"].__setitem__(0, 1))
change("PTE-408", lambda p: tensor(p).update(sizes=[0, 65536, 65536], dim_order=[0, 1, 2]))
change("PTE-409", lambda p: tensor(p).update(storage_offset=1))
change("PTE-410", lambda p: tensor(p).update(shape_dynamism="DYNAMIC_UNBOUND"))
change("PTE-411", lambda p: constant(p).update(data_buffer_idx=99))
change("PTE-412", lambda p: constant(p)["sizes"].__setitem__(0, 4096))
change("PTE-413", lambda p: tensor(p)["allocation_info"].update(memory_id=0))
change("PTE-414", lambda p: tensor(p)["allocation_info"].update(memory_offset_high=1))
change("PTE-415", lambda p: tensor(p)["allocation_info"].update(memory_offset_low=2))
change("PTE-416", lambda p: p.document["constant_segment"]["offsets"].__setitem__(2, 434))
change("PTE-417", lambda p: drop(external(p)["extra_tensor_info"], "fully_qualified_name"), E)
change("PTE-418", lambda p: tensor(p).update(data_buffer_idx=1))
change("PTE-419", lambda p: tensor(p).update(extra_tensor_info={"device_type": 7}))
change("PTE-420", lambda p: drop(p.values[5]["val"], "allocation_info"))
change("PTE-430", lambda p: p.plan.update(non_const_buffer_sizes=[]))
change("PTE-432", lambda p: p.plan.update(non_const_buffer_device=[{"buffer_idx": 9}]))
change("PTE-501", lambda p: p.plan.update(chains=[]))
change("PTE-502", lambda p: drop(p.plan["chains"][0], "instructions"))
change("PTE-503", lambda p: p.instructions.append({}))
change("PTE-504", lambda p: drop(p.call(), "args"))
change("PTE-505", lambda p: p.call()["args"].__setitem__(0, 1 << 20))
change("PTE-506", lambda p: p.call().update(op_index=77))
change("PTE-507", lambda p: drop(p.plan["operators"][0], "name"))
change("PTE-508", lambda p: p.plan["operators"][0].update(name="x" * 100))
change("PTE-509", lambda p: p.call().update(args=[5] * 80))
change("PTE-510", lambda p: p.call()["args"].pop())
change("PTE-511", lambda p: p.call()["args"].__setitem__(0, 8))
change("PTE-512", lambda p: p.call()["args"].__setitem__(9, 0))
change("PTE-513", lambda p: p.call("JumpFalseCall").update(destination_instruction=99), "cond.pte")
change("PTE-515", lambda p: p.call("JumpFalseCall").update(cond_value_index=0), "cond.pte")
change("PTE-516", lambda p: p.call("MoveCall").update(move_from=2), "cond.pte")
change("PTE-519", lambda p: p.call("DelegateCall").update(delegate_index=3), X)
change("PTE-601", lambda p: drop(p.plan["delegates"][0], "id"), X)
change("PTE-602", lambda p: drop(p.plan["delegates"][0], "processed"), X)
change("PTE-603", lambda p: p.plan["delegates"][0]["processed"].update(location=9), X)
change("PTE-604", lambda p: p.plan["delegates"][0]["processed"].update(location="INLINE"), X)
change("PTE-605", lambda p: p.plan["delegates"][0]["processed"].update(index=99), X)
change("PTE-606", lambda p: p.plan["delegates"][0].update(compile_specs=[{"value": [1]}]), X)
change("PTE-607", lambda p: p.plan["delegates"][0].update(compile_specs=[{"key": "k"}]), X)
change("PTE-608", lambda p: (sealed(p), damage(p, 40)), X)
change("PTE-609", lambda p: sealed(p, backend_id="OtherBackend"), X)
change("PTE-610", lambda p: (sealed(p), damage(p, -1)), X)
change("PTE-611", lambda p: sealed(p, named_data={"weights": NamedNeed(3, 4)}), X)
change("PTE-612", lambda p: p.call("DelegateCall").update(args=[0]), X)
change("PTE-701", lambda p: p.document["segments"][0].update(offset=2**64 - 1, size=2), X)
change("PTE-702", lambda p: p.document["segments"][2].update(offset=0), X)
change("PTE-703", lambda p: p.header.update(base=0, bytes=0))
change("PTE-704", lambda p: p.document["constant_segment"].update(segment_index=5))
change("PTE-705", lambda p: p.document.update(mutable_data_segments=[{"segment_index": 9}]))
change("PTE-706", lambda p: drop(p.document["named_data"][0], "key"), X)
change("PTE-707", lambda p: p.document["named_data"].append(p.document["named_data"][0]), X)
change("PTE-708", lambda p: p.document["named_data"][0].update(segment_index=99), X)
D = "lin_external.ptd"
change("PTE-801", lambda p: p.header.update(length=12), D)
change("PTE-802", lambda p: drop(p.document, "segments"), D)
change("PTE-803", lambda p: drop(p.document["named_data"][0]["tensor_layout"], "sizes"), D)
change("PTE-804", lambda p: p.document["named_data"][0]["tensor_layout"].update(sizes=[99, 99], dim_order=[0, 1]), D)  # fmt: skip # noqa: E501


@case("PTE-302")
@case("PTE-301")
def _value_to_be_damaged(parts: Parts) -> None:
    parts.values.append({"val_type": "Int", "val": {"int_val": 7}})


@case("PTE-514", "cond.pte")
def _endless(parts: Parts) -> None:
    parts.values.append({"val_type": "Bool", "val": {"bool_val": False}})
    jump = {"cond_value_index": len(parts.values) - 1, "destination_instruction": 0}
    parts.instructions.insert(0, {"instr_args_type": "JumpFalseCall", "instr_args": jump})


@case("PTE-517")
def _freed(parts: Parts) -> None:
    free = {"instr_args_type": "FreeCall", "instr_args": {"value_index": 0}}
    parts.instructions.append(free)


@case("PTE-518")
def _stride_zero(parts: Parts) -> None:
    stride = parts.operator("aten::convolution")["args"][3]
    for index in parts.values[stride]["val"]["items"]:
        parts.values[index]["val"]["int_val"] = 0


@case("PTE-613", X)
def _argument_no_tensor(parts: Parts) -> None:
    parts.values.append({"val_type": "Int", "val": {"int_val": 7}})
    parts.call("DelegateCall")["args"][0] = len(parts.values) - 1


def codes(content: bytes, **options: Any) -> list[str]:
    with ProgramFile.of_memory(content, options.pop("limits", None)) as file:
        file.inspect(hash=True)
        return [finding.code for finding in file.verify(hash=True, **options).findings]


@pytest.mark.parametrize("code", sorted(CASES))
def test_rule(code: str, tmp_path: Path, parts_folder: Path) -> None:
    base, edit = CASES[code]
    parts = take_apart(base, parts_folder)
    edit(parts)
    content = parts.build(tmp_path)
    if code in ("PTE-301", "PTE-302"):
        content = damaged_value(content, drop_content=code == "PTE-301")
    assert code in codes(content), codes(content)


def damaged_value(content: bytes, *, drop_content: bool) -> bytes:
    """Takes the content away from the value that is an Int of 7, or gives it an unknown kind."""
    changed = bytearray(content)
    at = content.index(struct.pack("<q", 7))  # the Int's own field
    # The Int's table: an offset to its fields lies 4 bytes before the aligned number.
    for table in range(at - 4, at - 16, -1):
        back = struct.unpack_from("<i", content, table)[0]
        fields = table - back
        if 0 < fields < len(content) - 8 and content[fields : fields + 2] == b"\x06\x00":
            break
    # The value's field `val` leads there.
    for slot in range(table - 4, 0, -4):
        if slot + struct.unpack_from("<I", content, slot)[0] == table:
            for value in range(slot - 4, slot - 16, -4):
                fields = value - struct.unpack_from("<i", content, value)[0]
                size = int.from_bytes(content[fields : fields + 2], "little")
                if size == 8 and value + content[fields + 6] == slot:
                    if drop_content:
                        changed[fields + 6 : fields + 8] = b"\0\0"
                    else:
                        changed[value + content[fields + 4]] = 40
                    return bytes(changed)
    raise AssertionError


@pytest.mark.parametrize("base", ["cnn_portable.pte", "cond.pte", X, E, "dyn.pte", D])
def test_what_the_editor_builds_unchanged_is_accepted(
    base: str, tmp_path: Path, parts_folder: Path
) -> None:
    content = take_apart(base, parts_folder).build(tmp_path)
    assert codes(content) == []


def test_data_file_and_program_must_agree(tmp_path: Path, parts_folder: Path) -> None:
    program = (PROGRAMS / E).read_bytes()

    def with_data(edit: Edit) -> list[str]:
        parts = take_apart(D, parts_folder)
        edit(parts)
        with ProgramFile.of_memory(parts.build(tmp_path)) as data:
            return codes(program, external=data)

    assert with_data(lambda p: None) == []
    with ProgramFile.of_memory(program) as no_data:
        assert codes(program, external=no_data) == ["PTE-801"]
    assert "PTE-805" in with_data(lambda p: p.document["named_data"].pop())
    layout = "tensor_layout"
    assert "PTE-806" in with_data(
        lambda p: [entry[layout].update(scalar_type="INT") for entry in p.document["named_data"]]
    )
    with ProgramFile.open(PROGRAMS / D) as data:
        parts = take_apart(E, parts_folder)
        key = external(parts)["extra_tensor_info"]["fully_qualified_name"]
        parts.document["named_data"] = [{"key": key, "segment_index": 0}]
        assert "PTE-807" in codes(parts.build(tmp_path), external=data)


def test_the_kind_of_a_computed_number_is_the_promised_one(
    tmp_path: Path, parts_folder: Path
) -> None:
    parts = take_apart("map.pte", parts_folder)
    operand = parts.operator("executorch_prim::add")["args"][1]
    parts.values[operand] = {"val_type": "Double", "val": {"double_val": 1.0}}
    assert codes(parts.build(tmp_path)) == ["PTE-511"]
    parts = take_apart("dyn.pte", parts_folder)
    parts.operator("aten::sym_size")["args"][2] = 3  # a tensor
    assert codes(parts.build(tmp_path)) == ["PTE-511"]


def test_rules_about_files(tmp_path: Path) -> None:
    assert first(tmp_path / "absent") == "PTE-001"
    assert first(tmp_path) == "PTE-002"
    os.mkfifo(tmp_path / "pipe")
    assert first(tmp_path / "pipe") == "PTE-002"
    (tmp_path / "empty").touch()
    assert first(tmp_path / "empty") == "PTE-003"
    (tmp_path / "text").write_bytes(b"x" * 100)
    assert first(tmp_path / "text") == "PTE-004"
    whole = (PROGRAMS / "cnn_portable.pte").read_bytes()
    broken = whole[:100] + b"\xff" * 64 + whole[164:]
    assert codes(broken) == ["PTE-101"]


def first(path: Path) -> str:
    with ProgramFile.open(path) as file:
        return file.verify().findings[0].code


def test_rules_about_limits() -> None:
    content = (PROGRAMS / "cnn_portable.pte").read_bytes()
    assert codes(content, limits=Limits(program_bytes=1000)) == ["PTE-014"]
    assert "PTE-015" in codes(content, limits=Limits(work=100))
    assert codes(content, limits=Limits(planned_bytes=100)) == ["PTE-431"]


def test_a_file_that_shrinks_while_it_is_hashed(tmp_path: Path, parts_folder: Path) -> None:
    parts = take_apart(X, parts_folder)
    sealed(parts)
    path = tmp_path / "file.pte"
    path.write_bytes(parts.build(tmp_path))
    with ProgramFile.open(path) as file:
        blob = file.blob("forward", 0)
        os.truncate(path, path.stat().st_size - 5)
        assert bytes(blob[-5:]) == b"\0" * 5
        assert file.shrank
        found = [f.code for f in file.verify(hash=True, level="structure").findings]
        assert found == ["PTE-005"]


def test_every_rule_has_a_case() -> None:
    elsewhere = {
        *("PTE-001", "PTE-002", "PTE-003", "PTE-004", "PTE-005", "PTE-014", "PTE-015", "PTE-101"),
        *("PTE-431", "PTE-805", "PTE-806", "PTE-807"),
    }
    assert {rule["code"] for rule in rules()} == CASES.keys() | elsewhere
