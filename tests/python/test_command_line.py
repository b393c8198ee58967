"""The command itself: quick, helpful, and clear about a bad command line."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import executorch_backend_kit
import pytest
from executorch_backend_kit import sdk
from executorch_backend_kit.report import KitError
from harness import MODEL, Etbk


def test_help_is_quick_and_groups_the_commands(etbk: Etbk) -> None:
    etbk("--help")
    begin = time.process_time(), time.perf_counter()
    result = etbk("--help")
    assert time.perf_counter() - begin[1] < 2  # 0.25 s alone on a quiet machine
    assert result.code == 0
    assert "Understand: for model authors" in result.out
    assert "compare" in result.out


@pytest.mark.parametrize(
    "words", [["--help"], ["help", "REGISTRY-FULL"], ["select", "--target", "raspberry-pi-5"]]
)
def test_quick_commands_import_nothing_heavy(words: list[str]) -> None:
    code = (
        f"import sys; sys.argv = {['etbk', *words]}\n"
        "from executorch_backend_kit.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('jinja2', 'pydantic', 'torch', 'executorch', 'numpy')\n"
        "print('heavy:', [m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("heavy: []")


def test_the_parent_of_a_comparison_never_imports_torch() -> None:
    code = (
        "import sys\n"
        "import executorch_backend_kit.cli.compare\n"
        "import executorch_backend_kit.cli.plugins\n"
        "print([m for m in ('torch', 'executorch', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_printed(etbk: Etbk) -> None:
    assert etbk("--version").out == f"etbk {executorch_backend_kit.__version__}\n"


def test_completion_can_be_installed(etbk: Etbk) -> None:
    assert "--install-completion" in etbk("--help").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backends", "nonsense"], "BACKEND-UNKNOWN"),
        (["--backends", "xnnpack+xnnpack"], "BACKEND-DUPLICATE-NAME"),
        (["--backends", "portable,"], "CONFIGURATION-INVALID"),
        (["--backends", "portable", "--baseline", "nonsense"], "BACKEND-UNKNOWN"),
        (["--backends", "xnnpack", "--option", "xnnpack"], "--option NAME.KEY=VALUE"),
        (["--backends", "xnnpack", "--option", "xnnpack.x=1"], "has no option 'x'"),
        (["--backends", "portable", "--option", "xnnpack.per_op_mode=1"], "no configuration uses"),
        (["--budget", "-1"], "--budget"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_a_bad_command_line_is_exit_code_2(etbk: Etbk, arguments: list[str], says: str) -> None:
    result = etbk("compare", MODEL, *arguments)
    assert result.code == 2
    assert says in result.err
    assert result.out == ""


def test_a_missing_sdk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sdk.py").write_text("")
    monkeypatch.setattr(sdk, "__file__", str(tmp_path / "sdk.py"))
    with pytest.raises(KitError, match="SDK-MISSING"):
        sdk.cmake_prefix()
    (tmp_path / "share" / "cmake" / "ExecuTorchBackendKit").mkdir(parents=True)
    assert sdk.cmake_prefix() == tmp_path.resolve()
