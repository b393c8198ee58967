"""The forms of a MODEL beside a Python file: a function of a module, .pt2, and finished .pte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from executorch_backend_kit.compare import ModelError, input_file, model_file, model_name
from harness import MODEL, Document, Etbk
from program_editor import PROGRAMS

Validate = Callable[[Document], None]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, exported."""
    path = tmp_path_factory.mktemp("exported") / "mlp.pt2"
    file = model_file.load(MODEL)
    torch.export.save(torch.export.export(file.model(), file.input_sets()[0]), path)
    return path


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("package.module:function", True), ("module:function", True), ("model.py", False),
        ("C:/model.py", False), ("a b:c", False), (":f", False), ("m:", False),
    ],
)  # fmt: skip
def test_a_function_is_known_by_its_colon(text: str, is_one: bool) -> None:
    assert model_name.is_function(text) == is_one


@pytest.mark.parametrize("returns", ["m", "(m, (x,))", "(m, (x,), None)"])
def test_a_function_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: str
) -> None:
    name = f"models_{abs(hash(returns))}"
    (tmp_path / f"{name}.py").write_text(
        "import torch\nm, x = torch.nn.Linear(2, 2).eval(), torch.ones(1, 2)\n"
        f"def make(): return {returns}\ndef example_inputs(): return (x,)\n"
    )
    monkeypatch.chdir(tmp_path)
    file = model_file.load(f"{name}:make")
    assert file.model()(*file.input_sets()[0]).shape == (1, 2)
    assert file.dynamic_shapes() is None
    with pytest.raises(ModelError, match="MODEL-FUNCTION-MISSING"):
        model_file.load(f"{name}:other")
    with pytest.raises(ModelError, match="MODEL-IMPORT-FAILED"):
        model_file.load("no_such_module:make")


def test_an_exported_program_is_taken_as_it_is(exported: Path) -> None:
    file = model_file.load(exported)
    assert file.exported is not None
    assert file.model()(*file.input_sets()[0]).shape == (2, 4)


def test_a_damaged_exported_program_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pt2"
    with pytest.raises(ModelError, match="MODEL-FILE-MISSING"):
        model_file.load(path)
    path.write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(ModelError, match="EXPORTED-FILE-UNUSABLE"):
        model_file.load(path)


def test_inputs_in_a_file_are_one_set_or_several(tmp_path: Path) -> None:
    one, path = torch.ones(2), tmp_path / "inputs.pt"
    for content, sizes in ((one, [1]), ((one, one), [2]), ([(one,), (one,)], [1, 1]), ([one], [1])):
        torch.save(content, path)
        assert [len(values) for values in input_file.read(path)] == sizes
    path.write_bytes(b"no tensors")
    with pytest.raises(ModelError, match="RUN-INPUTS-UNREADABLE"):
        input_file.read(path)


def test_inputs_and_reference_are_chosen(
    etbk: Etbk, validate: Validate, exported: Path, tmp_path: Path
) -> None:
    inputs = tmp_path / "inputs.pt"
    torch.save([(torch.full((2, 8), 0.25),), (torch.zeros(2, 8),)], inputs)
    result = etbk(
        "compare", exported, "--backends", "xnnpack", "--inputs", inputs,
        "--reference", MODEL, "--budget", "0", "--json",
    )  # fmt: skip
    assert result.code == 0, result.out + result.err
    validate(result.document)
    assert len(result.document["inputs"]) == 2
    (row,) = result.document["rows"]
    assert row["numerics"]["reference"] == "eager mlp_model.py"
    assert row["described"] == result.document["described"]


def test_a_finished_program_runs_without_torch(etbk: Etbk, validate: Validate) -> None:
    result = etbk("compare", PROGRAMS / "cnn_xnnpack.pte", "--budget", "0.2", "--json")
    assert result.code == 0, result.out + result.err
    validate(result.document)
    (row,) = result.document["rows"]
    assert (row["numerics"], row["worker"], row["accelerator"]["calls"]) == (None, "etbk-run", 1)
    assert row["delegates"] == [{"name": "xnnpack", "id": "XnnpackBackend", "count": 1}]
    assert row["latency"]["median_ms"] > 0
    assert result.document["seconds"]["total"] < 30


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((PROGRAMS / "none.pte",), "MODEL-FILE-MISSING"),
        ((PROGRAMS / "cnn_xnnpack.pte", "--backends", "xnnpack"), "CONFIGURATION-INVALID"),
    ],
)
def test_what_is_no_model_is_exit_code_2(etbk: Etbk, words: tuple[str, ...], code: str) -> None:
    result = etbk("compare", *words, "--json")
    assert result.code == 2, result.out
    assert result.document["findings"][0]["code"] == code


def test_a_module_that_export_made_is_left_as_it_is() -> None:
    made = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).module()
    made.training = True  # as convert_pt2e leaves it
    with pytest.raises(NotImplementedError):
        made.eval()
    assert model_file.to_eval_mode(made, "quantized.py") == []
    plain = torch.nn.Linear(2, 2)
    assert [f.code for f in model_file.to_eval_mode(plain, "m.py")] == ["MODEL-IN-TRAINING-MODE"]
    assert not plain.training
