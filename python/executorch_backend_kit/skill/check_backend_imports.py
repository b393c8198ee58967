#!/usr/bin/env python3
"""Which Python sides of ExecuTorch backends can be imported here, and what the others lack.

Stand-alone: the standard library only. Every module is imported in a process of its own with a
time limit, so that one that crashes or hangs is a line of the report. That a module can be
imported is no proof that its accelerator works: that takes a run on the device.

    python check_backend_imports.py [--json] [--timeout SECONDS] [BACKEND ...]

Exit code 0: answered. 1: a backend that was named cannot be imported. 2: bad command line.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import select
import signal
import subprocess
import sys
import time
from importlib import metadata
from typing import Any

SCHEMA = "etbk.imports/1"
PRELOADED = ("torch", "executorch.exir")  # imported once; every import that follows shares them
BACKENDS: list[dict[str, Any]] = []


def main() -> int:
    """Checks, prints, returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help="default: all")
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one module")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return serve(given.timeout)
    names = [b["name"] for b in BACKENDS]
    unknown = [name for name in given.backends if name not in names]
    if unknown or given.timeout <= 0:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(names)}" if unknown
                     else "--timeout must be more than 0")  # fmt: skip
    chosen = [b for b in BACKENDS if not given.backends or b["name"] in given.backends]
    report = examine(chosen, given.timeout)
    sys.stdout.write((json.dumps(report, indent=2) if given.json else text(report)) + "\n")
    return int(bool(given.backends) and not all(b["importable"] for b in report["backends"]))


def examine(backends: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    """The report, `etbk.imports/1`."""
    modules = [m["module"] for b in backends for m in b["modules"]]
    seen = check(list(dict.fromkeys(modules)), limit)
    rows = []
    for backend in backends:
        results = [{**m, **seen[m["module"]]} for m in backend["modules"]]
        good = bool(results) and all(m["importable"] for m in results)
        rows.append({**backend, "modules": results, "importable": good})
    return {
        "schema": SCHEMA,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "executorch": version("executorch"),
        "torch": version("torch"),
        "timeout": limit,
        "backends": rows,
    }


def version(package: str) -> str | None:
    """Version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def check(modules: list[str], limit: float) -> dict[str, dict[str, Any]]:
    """What became of each import."""
    seen = forked(modules, limit) if hasattr(os, "fork") else {}
    return {m: seen.get(m) or alone(m, limit) for m in modules}


def forked(modules: list[str], limit: float) -> dict[str, dict[str, Any]]:
    """By a child that imports torch once and forks for each module; what it answered."""
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "--child", "--timeout", str(limit)],  # noqa: PTH100
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        out, _ = child.communicate(json.dumps(modules), timeout=limit * (len(modules) + 2))
    except subprocess.TimeoutExpired:
        child.kill()
        out, _ = child.communicate()
    return dict(json.loads(line) for line in out.splitlines() if line.endswith("]"))


def serve(limit: float) -> int:
    """The child: answers a line per module."""
    modules = json.load(sys.stdin)
    answers = os.dup(1)
    os.dup2(2, 1)
    for name in PRELOADED:  # what is wrong with one, the imports that follow say
        attempt(name)
    for name in modules:
        line = json.dumps([name, in_a_fork(name, limit)]) + "\n"
        os.write(answers, line.encode())
    return 0


def in_a_fork(name: str, limit: float) -> dict[str, Any]:
    """Imports a module in a forked process; ended when its time is up."""
    began = time.monotonic()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        try:
            os.write(writing, (attempt(name) or " ").encode())
        finally:
            os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], limit)
    said = os.read(reading, 1 << 16).decode(errors="replace") if ready else ""
    os.close(reading)
    if not ready:
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not ready:
        error = f"no answer within {limit:g} s"
    else:
        error = said.strip() if said else f"the process ended with status {status}"
    return result(error, began)


def alone(name: str, limit: float) -> dict[str, Any]:
    """Imports a module in a new interpreter, where there is no fork."""
    began = time.monotonic()
    code = (
        f"import sys, importlib\ntry:\n    importlib.import_module({name!r})\n"
        "except BaseException as e:\n    sys.exit(f'{type(e).__name__}: {e}')\n"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return result(f"no answer within {limit:g} s", began)
    lines = done.stderr.strip().splitlines() or [f"the process ended with status {done.returncode}"]
    return result("" if done.returncode == 0 else lines[-1], began)


def attempt(name: str) -> str:
    """The error of an import in one line, empty if there is none."""
    try:
        importlib.import_module(name)
    except BaseException as error:
        return " ".join(f"{type(error).__name__}: {error}".split())[:400]
    return ""


def result(error: str, began: float) -> dict[str, Any]:
    """One module of the report."""
    seconds = round(time.monotonic() - began, 3)
    return {"importable": not error, "error": error, "seconds": seconds}


def text(report: dict[str, Any]) -> str:
    """The report for a terminal."""
    versions = ", ".join(f"{n} {report[n] or 'not installed'}" for n in ("executorch", "torch"))
    lines = [
        f"{versions}, Python {report['python']}, {report['platform']}",
        "An import is no proof that an accelerator works.",
        "",
    ]
    for backend in report["backends"]:
        lines.append(f"{'ok  ' if backend['importable'] else 'FAIL'} {backend['name']}")
        for module in backend["modules"]:
            if not module["importable"]:
                lines.append(f"       {module['module']}: {module['error']}")  # noqa: PERF401
        if not backend["importable"]:
            lines += [f"       do: {line}" for line in backend["install"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
