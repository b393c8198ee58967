"""What is broken around the process: full and closed outputs, a deleted folder, Ctrl-C at any time.

Each ends with a sentence and an exit code, never with a traceback.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "pte" / "programs" / "cnn_portable.pte"
SCRIPT = "from executorch_backend_kit.cli import main; main()"  # as the console script does


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of shell in which $ETBK is the command."""
    environment = {**os.environ, "ETBK": " ".join([sys.executable, "-c", f"'{SCRIPT}'"])}
    line = line.replace("$ETBK", environment["ETBK"])
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    "arguments", ["help 0x20", "help 0x20 --json", f"inspect {PROGRAM} --json", "--help"]
)
def test_a_full_disk(arguments: str, tmp_path: Path) -> None:
    done = shell(f"$ETBK {arguments} > /dev/full", tmp_path)
    assert done.returncode == 3
    assert "OUTPUT-FAILED" in done.stderr
    assert "No space left on device" in done.stderr


def test_no_output_at_all(tmp_path: Path) -> None:
    done = shell("$ETBK help 0x20 >&-", tmp_path)
    assert done.returncode == 3
    assert "OUTPUT-CLOSED" in done.stderr


def test_no_input(tmp_path: Path) -> None:
    done = shell("$ETBK help - <&-", tmp_path)
    assert done.returncode == 2
    assert "HELP-INPUT-EMPTY" in done.stderr


def test_no_place_for_errors(tmp_path: Path) -> None:
    done = shell(f"$ETBK inspect {PROGRAM} --json 2>&-", tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema"] == "etbk.inspect/1"


def test_a_reader_that_goes(tmp_path: Path) -> None:
    done = shell(f"$ETBK inspect {PROGRAM} --json | head -n 1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert done.stdout == "{\n"
    assert done.returncode in (0, 1)
    assert done.stderr == ""


def test_a_deleted_folder(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    prefix = f"mkdir -p {gone}; cd {gone}; rmdir {gone};"
    assert shell(f"{prefix} $ETBK help 0x20", tmp_path).returncode == 0
    done = shell(f"{prefix} $ETBK inspect {PROGRAM} --json", tmp_path)
    assert done.returncode == 0
    done = shell(f"{prefix} $ETBK doctor --fast xnnpack", tmp_path)
    assert done.returncode == 3
    assert "DIRECTORY-GONE" in done.stderr


def test_control_c_at_any_time() -> None:
    """In imports and in the command: nobody wants to read where it was."""
    code = (
        "import sys; sys.argv = ['etbk', 'help', '-']\n"
        "from executorch_backend_kit.cli import surroundings\n"
        "surroundings.prepare(); print('begun', flush=True)\n" + SCRIPT
    )
    for delay in (0.0, 0.05, 0.1, 0.2, 0.4):
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode in (130, -signal.SIGINT), (delay, process.returncode, said)
        assert "Traceback" not in said, (delay, said)


def test_an_error_nobody_foresaw_is_a_sentence(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['etbk', 'help', '0x20', '--json']\n"
        "from executorch_backend_kit import help\n"
        "def broken(text): raise ZeroDivisionError('nobody foresaw this')\n"
        "help.explain = broken\n" + SCRIPT
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["code"] == "INTERNAL-ERROR"
    assert "nobody foresaw this" in finding["evidence"]
    environment = {**os.environ, "ETBK_TRACEBACK": "1"}
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=environment)
    assert "Traceback" in done.stderr
