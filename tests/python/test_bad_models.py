"""A MODEL file that cannot be used ends with exit code 2 and one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from executorch_backend_kit.compare import ModelError, model_file, model_name
from harness import Etbk, codes

GOOD_INPUTS = "import torch\ndef example_inputs(): return (torch.ones(2, 2),)\n"
GOOD_MODEL = "import torch\ndef model(): return torch.nn.Linear(2, 2).eval()\n"
BRANCHY = """
import torch
class M(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1
def model(): return M().eval()
"""
TWO_INPUTS = "import torch\ndef example_inputs(): return torch.ones(2, 2), torch.ones(2, 2)\n"
IN_THE_FILE = [
    ("def model(:\n", "MODEL-IMPORT-FAILED", "model.py, line 1: SyntaxError"),
    ("import no_such_package\n", "MODEL-IMPORT-FAILED", "module no_such_package"),
    ("\nraise SystemExit('stop')\n", "MODEL-IMPORT-FAILED", "line 2: SystemExit: stop"),
    (GOOD_INPUTS, "MODEL-FUNCTION-MISSING", "has no function model()"),
    (GOOD_MODEL, "MODEL-FUNCTION-MISSING", "has no function example_inputs()"),
    (GOOD_INPUTS + "def model(): return 1 / 0\n", "MODEL-FUNCTION-FAILED", "line 3: Zero"),
    (GOOD_INPUTS + "def model(): return 'x'\n", "MODEL-WRONG-TYPE", "it returned str"),
    (
        GOOD_MODEL + "def example_inputs(): return torch.ones(2, 2)\n",
        "MODEL-WRONG-TYPE",
        "Return (x,) for one argument x.",
    ),
    (
        GOOD_MODEL + "def example_inputs(): return [torch.ones(2)]\n",
        "MODEL-WRONG-TYPE",
        "it returned a list of Tensor",
    ),
    (GOOD_MODEL + "def example_inputs(): return []\n", "MODEL-WRONG-TYPE", "it returned list"),
]
IN_RUNNING = [
    (GOOD_MODEL + "def example_inputs(): return ({1},)\n", "MODEL-WRONG-TYPE", "is a set"),
    (GOOD_MODEL + TWO_INPUTS, "MODEL-RUN-FAILED", "fails on its own example inputs"),
    (GOOD_INPUTS + BRANCHY, "EXPORT-FAILED", "although it runs"),
    (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
        "WORKER-KILLED",
        "killed by SIGSEGV in stage 'prepare'",
    ),
]


def use(path: Path) -> None:
    file = model_file.load(path)
    file.model()
    file.input_sets()


@pytest.mark.parametrize(("source", "code", "says"), IN_THE_FILE)
def test_a_bad_file_is_one_sentence(tmp_path: Path, source: str, code: str, says: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(source)
    with pytest.raises(ModelError) as caught:
        use(path)
    assert caught.value.finding.code == code
    assert says in str(caught.value)
    assert caught.value.finding.fix


@pytest.mark.parametrize(
    ("name", "code"), [("nothing.py", "MODEL-FILE-MISSING"), ("text.md", "MODEL-NOT-PYTHON")]
)
def test_a_path_that_is_no_model_file(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "text.md").write_text("# hello")
    with pytest.raises(ModelError, match=code):
        model_file.load(tmp_path / name)


@pytest.mark.parametrize("name", ["loop.py", "x" * 300 + ".py"])
def test_a_path_that_leads_nowhere_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.py").symlink_to("loop.py")
    with pytest.raises(ModelError, match="MODEL-FILE-MISSING"):
        model_file.load(Path(model_name.absolute(name)))


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_model.py").write_text("size = 3\n")
    (tmp_path / "model.py").write_text("import neighbour_of_model as n\nsize = n.size\n")
    assert model_file.load(tmp_path / "model.py").module.size == 3


def test_a_description_that_is_no_dict_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def describe(outputs): return 1\n")
    with pytest.raises(ModelError, match="MODEL-WRONG-TYPE"):
        model_file.load(tmp_path / "model.py").describe([])


@pytest.mark.parametrize(("source", "code", "says"), [IN_THE_FILE[3], *IN_RUNNING])
def test_a_bad_model_is_exit_code_2(
    etbk: Etbk, tmp_path: Path, source: str, code: str, says: str
) -> None:
    file = tmp_path / "model.py"
    file.write_text(source)
    result = etbk("compare", file, "--backends", "portable")
    assert result.code == 2, result.err
    assert result.out == ""
    assert result.err.startswith(f"error[{code}]: ")
    assert says in result.err
    assert "  do:   " in result.err


def test_a_model_that_hangs_is_ended(etbk: Etbk, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("import time\nprint('waiting for a download', flush=True)\ntime.sleep(1000)\n")
    result = etbk("compare", file, "--backends", "portable", "--time-limit", "4")
    assert result.code == 2
    assert "no answer in stage 'prepare' for 4 s" in result.err
    assert "waiting for a download" in result.err


def test_a_bad_model_in_json(etbk: Etbk, tmp_path: Path) -> None:
    result = etbk("compare", tmp_path / "nothing.py", "--backends", "portable", "--json")
    assert result.code == 2
    assert result.document["schema"] == "etbk.error/1"
    assert result.document["findings"][0]["code"] == "MODEL-FILE-MISSING"


def test_training_mode_is_left_and_said(etbk: Etbk, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        GOOD_INPUTS
        + "def model(): return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())\n"
    )
    result = etbk("compare", file, "--backends", "portable", "--budget", "0.1", "--json")
    assert result.code == 0, result.out
    assert codes(result.document) == ["MODEL-IN-TRAINING-MODE"]
