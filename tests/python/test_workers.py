"""Whatever a worker process does, its parent learns it in time and in words."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker, wait_any
from harness import HERE


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    worker = Worker("obedient_worker", tmp_path / "log")
    assert worker.receive() == {"hello": True}
    yield worker
    worker.stop()


def failure(worker: Worker, operation: str, limit: float = 20, **request: object) -> WorkerError:
    with pytest.raises(WorkerError) as caught:
        worker.ask(operation, limit, **request)
    return caught.value


def test_a_request_is_answered(worker: Worker) -> None:
    text = "ä" * 100_000
    assert worker.ask("echo", 20, text=text) == {"echo": text}


def test_what_it_prints_does_not_disturb(worker: Worker) -> None:
    assert worker.ask("chat", 20) == {"ok": True}
    assert "noise on stdout | more noise" in worker.log_tail()


def test_an_error_is_a_finding_and_the_worker_lives_on(worker: Worker) -> None:
    assert failure(worker, "fail").finding.fix == "Tell it less."
    error = failure(worker, "raise").finding
    assert (error.code, error.evidence) == ("WORKER-ERROR", "ZeroDivisionError: told to")
    assert "No space left" in failure(worker, "full").finding.evidence
    assert worker.ask("echo", 20, text="alive") == {"echo": "alive"}


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGABRT"])
def test_a_killed_worker_names_signal_stage_and_last_words(worker: Worker, name: str) -> None:
    finding = failure(worker, "die", signal=getattr(signal, name)).finding
    assert finding.code == "WORKER-KILLED"
    assert f"killed by {name} in stage 'die'" in finding.message
    assert ("Too little memory" in finding.message) == (name == "SIGKILL")
    assert "last words" in finding.evidence


def test_a_child_that_the_worker_forked_answers_nothing(worker: Worker) -> None:
    assert worker.ask("fork", 20) == {"forked": True}
    assert worker.ask("echo", 20, text="one answer each") == {"echo": "one answer each"}


def test_a_limit_may_be_longer_than_the_system_can_wait(worker: Worker) -> None:
    assert worker.ask("echo", 1e300, text="soon") == {"echo": "soon"}


def test_a_worker_that_leaves_gives_its_exit_code(worker: Worker) -> None:
    assert "exit code 7" in failure(worker, "leave").finding.message


def test_a_dead_worker_cannot_be_asked_again(worker: Worker) -> None:
    failure(worker, "leave")
    assert worker.ended
    assert failure(worker, "echo", text="?").finding.code == "WORKER-EXITED"


def test_a_worker_that_hangs_is_ended(worker: Worker) -> None:
    begin = time.monotonic()
    finding = failure(worker, "sleep", limit=0.5, seconds=60).finding
    assert time.monotonic() - begin < 5
    assert finding.code == "WORKER-HUNG"
    assert "in stage 'sleep' for 0.5 s" in finding.message
    assert "--time-limit" in finding.fix
    assert worker.ended


def test_the_first_of_several_is_returned(worker: Worker, tmp_path: Path) -> None:
    other = Worker("obedient_worker", tmp_path / "log2")
    other.receive()
    worker.send("sleep", 20, seconds=5)
    other.send("echo", 20, text="first")
    assert wait_any([worker, other]) == (other, {"echo": "first"})
    other.stop()


def test_a_module_that_cannot_start_shows_why(tmp_path: Path) -> None:
    worker = Worker("no_such_worker", tmp_path / "log")
    with pytest.raises(WorkerError) as caught:
        worker.receive()
    assert "No module named no_such_worker" in caught.value.finding.evidence
    worker.stop()


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, time\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "from executorch_backend_kit.workers.process import Worker\n"
        f"w = Worker('obedient_worker', pathlib.Path({str(tmp_path / 'log')!r}))\n"
        "w.receive(); w.send('sleep', 99, seconds=99)\n"
        "print(w._process.pid, flush=True); time.sleep(99)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(HERE)},
    )
    assert parent.stdout
    child = Path("/proc") / parent.stdout.readline().strip()
    assert child.exists()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(50):
        if not child.exists() or "Z" in (child / "stat").read_text().rpartition(")")[2][:3]:
            return
        time.sleep(0.1)
    pytest.fail("the worker is still there")
