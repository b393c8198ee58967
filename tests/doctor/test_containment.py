"""Modules that misbehave when they are imported: reported, and harmless to everybody else."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from executorch_backend_kit.probe import Outcome, Prober, Reply
from harness import Document, Etbk

MODULES = {
    "good": "Partitioner = 1\n",
    "raises": "raise ValueError('no\\nsecond line')\n",
    "exits": "import sys\nsys.exit(3)\n",
    "ends": "import os\nos._exit(0)\n",
    "crashes": "import os\nos.abort()\n",
    "hangs": "import time\ntime.sleep(1000)\n",
    "logs": "import logging\nlogging.basicConfig(level=logging.DEBUG)\n",
    "calls": "import urllib.request\nurllib.request.urlopen('http://example.org/sdk.zip')\n",
    "spawns": "import subprocess\nsubprocess.Popen(['sleep', '1000'])\n",
    "talks": "print('x' * 100_000)\n",
    "forks": "import os\nos.fork()\n",
    "closes": "import os\nfor n in range(3, 64):\n  try: os.close(n)\n  except OSError: pass\n",
}
BACKEND = """\
schema = "etbk.backend/1"
name = "{name}"
title = "{name}"
id = "{name}Backend"
kind = "delegate"
status = "experimental"
summary = "Misbehaves."
evidence = {{ level = "none", release = "1.5.1", date = 2026-12-01 }}
[[modules]]
module = "bad_{name}"
role = "partitioner"
state = "imports"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    for name, text in MODULES.items():
        (folder / f"bad_{name}.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def prober(folder: Path) -> Iterator[Prober]:
    sys.path.insert(0, str(folder))
    try:
        with Prober() as started:
            yield started
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def replies(prober: Prober) -> dict[str, Reply]:
    numbers = {
        prober.send(
            "import_modules",
            limit=3.0 if name == "hangs" else 60.0,
            modules=[{"module": f"bad_{name}", "names": ["Partitioner"]}],
        ): name
        for name in MODULES
    }
    return {numbers[number]: reply for number, reply in prober.replies()}


def error(reply: Reply) -> str:
    return str(reply.results[-1]["error"])


def test_good(replies: dict[str, Reply]) -> None:
    reply = replies["good"]
    assert (reply.outcome, reply.changes, reply.network) == (Outcome.DONE, (), ())
    assert reply.results[-1]["importable"]
    assert reply.results[-1]["missing"] == []


def test_raises(replies: dict[str, Reply]) -> None:
    assert error(replies["raises"]) == "ValueError: no"


def test_sys_exit(replies: dict[str, Reply]) -> None:
    assert replies["exits"].outcome is Outcome.DONE
    assert error(replies["exits"]) == "SystemExit: 3"


def test_hard_exit(replies: dict[str, Reply]) -> None:
    assert replies["ends"].outcome is Outcome.EXITED
    assert replies["ends"].results[-1] == {"module": "bad_ends", "begun": True}


def test_crash(replies: dict[str, Reply]) -> None:
    assert replies["crashes"].outcome is Outcome.CRASHED
    assert "SIGABRT" in replies["crashes"].detail


def test_hang(replies: dict[str, Reply]) -> None:
    assert replies["hangs"].outcome is Outcome.TIMED_OUT
    assert replies["hangs"].seconds < 30


def test_network(replies: dict[str, Reply]) -> None:
    assert replies["calls"].network == ("example.org",)
    assert "URLError" in error(replies["calls"])


def test_logging(replies: dict[str, Reply]) -> None:
    assert "root logger level: WARNING to DEBUG" in replies["logs"].changes
    assert logging.getLogger().level == logging.WARNING


def test_output_is_kept_short(replies: dict[str, Reply]) -> None:
    assert replies["talks"].outcome is Outcome.DONE
    assert 0 < len(replies["talks"].output) <= 4000


def test_children_of_children_are_ended(replies: dict[str, Reply], folder: Path) -> None:
    assert replies["spawns"].outcome is Outcome.DONE
    sleeping = [
        process
        for process in Path("/proc").iterdir()
        if process.name.isdigit() and _command(process) == b"sleep\x001000\x00"
    ]
    assert sleeping == []


@pytest.mark.parametrize("name", ["forks", "closes"])
def test_whatever_it_does_to_the_process_there_is_a_reply(
    name: str, replies: dict[str, Reply]
) -> None:
    assert replies[name].outcome in Outcome


def test_the_server_goes_on_after_all_of_this(prober: Prober, replies: dict[str, Reply]) -> None:
    assert replies
    reply = prober.ask("import_modules", limit=60, modules=[{"module": "bad_good"}])
    assert reply.results[-1]["importable"]


def test_nothing_leaked_into_this_process(replies: dict[str, Reply]) -> None:
    assert replies
    assert not [name for name in sys.modules if name.startswith("bad_")]


def test_the_doctor_names_each(
    folder: Path, etbk: Etbk, validate: Callable[[Document], None], tmp_path: Path
) -> None:
    (tmp_path / "backends").mkdir()
    for name in ("raises", "exits", "ends", "crashes"):
        (tmp_path / "backends" / f"{name}.toml").write_text(BACKEND.format(name=name))
    (tmp_path / "backends" / "broken.toml").write_text('schema = "etbk.backend/1"\nname = 3\n')
    result = etbk(
        "doctor", "raises", "exits", "ends", "crashes", "--json",
        ETBK_KNOWLEDGE=str(tmp_path), PYTHONPATH=os.pathsep.join([str(folder), *_python_path()]),
        ETBK_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    assert result.code == 1
    validate(result.document)
    states = {b["name"]: b["state"] for b in result.document["backends"]}
    assert set(states.values()) == {"unavailable"}
    codes = {b["name"]: [f["code"] for f in b["findings"]] for b in result.document["backends"]}
    assert codes == {
        "raises": ["BACKEND-IMPORT-FAILED"],
        "exits": ["IMPORT-EXITS"],
        "ends": ["PROBE-EXITED"],
        "crashes": ["PROBE-CRASHED"],
    }
    broken = [f for f in result.document["findings"] if f["code"] == "KNOWLEDGE-INVALID"]
    assert "broken.toml:2, field name" in broken[0]["evidence"]


def _python_path() -> list[str]:
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
