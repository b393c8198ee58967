"""`etbk run` and `etbk bench`: finished program files, run by etbk-run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.discovery import discover
from executorch_backend_kit.compare import environment, row_facts, runner
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.compare.progress import Progress, Silent
from executorch_backend_kit.compare.rounds import Track, measure
from executorch_backend_kit.compare.workshop import Workshop
from executorch_backend_kit.help import data as help_data
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.report.comparison import Latency
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker
from executorch_backend_kit.workers.scratch import Scratch

RUN_SCHEMA = "etbk.run/1"
BENCH_SCHEMA = "etbk.bench/1"


@dataclass(frozen=True)
class Settings:
    """How programs are loaded and what they are given."""

    inputs: Path | None = None  # a folder with index.json, or a .pt file
    method: str | None = None
    plugins: Sequence[Path] = ()
    data: Sequence[Path] = ()
    load_mode: str | None = None
    threads: int | None = None
    time_limit: float = 900.0


@dataclass(frozen=True)
class Needs:
    """What a file says it needs of the runtime."""

    backends: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()


def needs_of(path: Path, method: str | None) -> Needs:
    """By reading the file; nothing if it cannot be read."""
    try:
        with ProgramFile.open(path) as file:
            methods = file.inspect()["methods"]
    except PteError:
        return Needs()
    used = [m for m in methods if m["name"] == (method or "forward")] or methods
    operators = {
        op["name"] + (f".{op['overload']}" if op["overload"] else "")
        for m in used
        for op in m["operators"]
    }
    return Needs(
        tuple(sorted({d["id"] for m in used for d in m["delegates"]})), tuple(sorted(operators))
    )


def plugins_for(backends: Sequence[str]) -> list[Path]:
    """Runtime libraries of installed packages that bring one of these backends."""
    if not backends:
        return []
    candidates = [c.descriptor for c in discover() if c.descriptor is not None]
    return [
        d.runtime_library for d in candidates if d.id in backends and d.runtime_library is not None
    ]


@contextmanager
def input_folders(inputs: Path | None, limit: float) -> Iterator[list[Path]]:
    """Folders of values: the one that was named, or those made from a .pt file."""
    if inputs is None or inputs.is_dir():
        yield [] if inputs is None else [inputs]
        return
    if not inputs.is_file():
        raise ModelError(
            "RUN-INPUTS-UNREADABLE",
            f"There are no inputs {inputs.name}.",
            evidence=str(inputs),
            fix="Name a .pt file that torch.save wrote, or a folder with index.json.",
        )
    scratch = Scratch("run")
    workshop = Workshop(scratch.path, limit)
    try:
        try:
            answer = workshop.ask("inputs", file=str(inputs.resolve()), folder=str(scratch.path))
        except WorkerError as error:
            raise ModelError.of(error.finding) from error
        yield [scratch.path / "inputs" / str(n) for n in range(answer["sets"])]
    finally:
        workshop.close()
        scratch.remove()


def run(
    program: Path,
    settings: Settings,
    *,
    outputs: Path | None = None,
    etdump: Path | None = None,
) -> tuple[dict[str, Any], int]:
    """Runs one program stage by stage in a child: `etbk.run/1` and the exit code."""
    plugins = [*settings.plugins, *plugins_for(needs_of(program, settings.method).backends)]
    with input_folders(settings.inputs, settings.time_limit) as folders:
        words = ["run", str(program), "--json", "--time-limit", f"{settings.time_limit:f}"]
        words += _options(settings, plugins, folders[:1])
        if outputs is not None:
            words += ["--outputs", str(outputs)]
        if etdump is not None:
            words += ["--etdump", str(etdump)]
        done = subprocess.run(
            runner.command(*words), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise WorkerError(
            "WORKER-EXITED",
            f"etbk-run ended with exit code {done.returncode} and without an answer.",
            evidence=done.stderr.decode(errors="replace")[-500:].strip(),
            fix="Report it with the program file.",
        ) from None
    if document["error"] is not None:
        document["error"] |= _meaning(document)
    return document, done.returncode


def _options(settings: Settings, plugins: Sequence[Path], folders: Sequence[Path]) -> list[str]:
    named: dict[str, Sequence[object]] = {
        "--method": [settings.method] if settings.method else [],
        "--load-mode": [settings.load_mode] if settings.load_mode else [],
        "--threads": [settings.threads] if settings.threads else [],
        "--plugin": plugins,
        "--data": settings.data,
        "--inputs": folders,
    }
    return [word for name, values in named.items() for v in values for word in (name, str(v))]


def _meaning(document: dict[str, Any]) -> dict[str, str]:
    """What the help table says of the error at this stage."""
    stage = document["reached"]["stage"]
    where = {"delegate": "init failed for backend", "method": "load_method"}.get(stage, stage)
    for error in help_data.load()["errors"]:
        if error["number"] == document["error"]["number"]:
            contexts = error.get("contexts", [])
            fitting = [c for c in contexts if re.search(c.get("pattern", ""), where, re.IGNORECASE)]
            best = (fitting or contexts or [{"cause": "", "next": ""}])[0]
            return {"meaning": error["meaning"], "cause": best["cause"], "next": best["next"]}
    return {"meaning": "", "cause": "", "next": ""}


@dataclass(eq=False)
class _Bench:
    """One program in a worker of its own."""

    file: Path
    worker: Worker
    limit: float
    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    shares: dict[str, Any] | None = None
    latency: Latency | None = None
    failure: WorkerError | None = None

    def prepare(self, settings: Settings, folders: Sequence[Path]) -> None:
        """Loads and runs it once."""
        try:
            self.worker.receive()
            needs = needs_of(self.file, settings.method)
            loaded = self.worker.ask(
                "load",
                self.limit,
                program=str(self.file),
                method=settings.method or "forward",
                data=[str(p) for p in settings.data],
                inputs=[str(p) for p in folders],
                backends=needs.backends,
                operators=needs.operators,
                plugins=[str(p) for p in [*settings.plugins, *plugins_for(needs.backends)]],
                discover=True,
                threads=settings.threads or 0,
                **({"load_mode": settings.load_mode} if settings.load_mode else {}),
            )
            self.findings += [Finding.from_json(f) for f in loaded.pop("findings")]
            self.facts = loaded | self.worker.ask("first", self.limit, outputs=[])
        except WorkerError as error:
            self.failure = error

    def run(self, count: int) -> tuple[float, float]:
        """As rounds.Runner."""
        reply = self.worker.ask("time", self.limit, count=count)
        self.facts["cpu_ms"] = reply["cpu_ns"] / 1e6
        return reply["median_ns"] / 1e6, reply["minimum_ns"] / 1e6

    def share(self) -> None:
        """Who used the time of one more run."""
        try:
            self.shares = self.worker.ask("shares", self.limit)
        except WorkerError as error:
            self.failure = error

    def to_json(self) -> dict[str, Any]:
        """A row of `etbk.bench/1`."""
        findings = [*self.findings, *([self.failure.finding] if self.failure else [])]
        try:
            size = self.file.stat().st_size
        except OSError:
            size = None
        return {
            "file": str(self.file),
            "status": "failed" if self.failure else "ok",
            "pte_bytes": size,
            **{key: self.facts.get(key) for key in _BENCH_FACTS},
            "delegates": self.shares["delegates"] if self.shares else None,
            "latency": None if self.latency is None else self.latency.to_json(),
            "findings": [f.to_json() for f in findings],
        }


_BENCH_FACTS = (
    "load_mode",
    "threads",
    "load_ms",
    "first_ms",
    "cpu_ms",
    "rss_mib",
    "anon_rss_mib",
    "file_rss_mib",
    "planned_bytes",
)


def bench(
    programs: Sequence[Path],
    settings: Settings,
    *,
    budget: float,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], int]:
    """Measures programs in interleaved rounds against the first: `etbk.bench/1`, exit code."""
    progress = progress or Silent()
    found = environment.describe([])
    command = runner.command("worker")
    scratch = Scratch("bench")
    rows: list[_Bench] = []
    try:
        with input_folders(settings.inputs, settings.time_limit) as folders:
            for number, program in enumerate(programs):
                progress.update("first runs", number / len(programs), program.name)
                worker = Worker(command, scratch.path / f"{number}.log")
                rows.append(_Bench(program, worker, settings.time_limit))
                rows[-1].prepare(settings, folders)
        good = [row for row in rows if row.failure is None]
        base = 0 if good and good[0] is rows[0] else None
        tracks = [Track(row) for row in good]
        if tracks:
            measure(tracks, base, budget, progress=lambda s: progress.update("measure", s))
        for row, track in zip(good, tracks, strict=True):
            row.failure = track.failure
            if track.failure is None:
                row.latency = row_facts.latency(track, tracks[0] if base == 0 else None)
                row.share()
    finally:
        for row in rows:
            row.worker.stop()
        scratch.remove()
    document = {
        "schema": BENCH_SCHEMA,
        "rows": [row.to_json() for row in rows],
        "environment": found,
    }
    failed = [row for row in rows if row.failure]
    missing = [row for row in failed if not os.access(row.file, os.R_OK)]
    return document, 2 if missing else 3 if len(failed) == len(rows) else 1 if failed else 0
