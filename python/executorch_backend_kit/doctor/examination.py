"""Tries every backend in child processes: imports it, lowers a small model for it, runs that."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.doctor.environment import Environment
from executorch_backend_kit.knowledge import Backend
from executorch_backend_kit.probe import Prober, Reply

IMPORT_LIMIT = 90.0
RUN_LIMIT = 30.0

# What a trial saw, as JSON data, so that it can be kept in the cache.
Observation = dict[str, Any]
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Trials:
    """What is to be tried."""

    backends: tuple[Backend, ...]
    described: tuple[BackendDescriptor, ...]  # by packages, not in the knowledge base


def examine(
    trials: Trials, environment: Environment, progress: Progress
) -> tuple[Observation, dict[str, Observation]]:
    """What the runtime has, and what became of each backend, by name."""
    with Prober() as prober, tempfile.TemporaryDirectory(prefix="etbk-doctor-") as folder:
        files = {b.name: str(Path(folder) / f"{b.name}.pte") for b in _all(trials)}
        jobs = {prober.send("registry", limit=RUN_LIMIT, load_plugins=True): ""}
        # What takes long goes first, so that it does not run alone at the end.
        for backend in sorted(trials.backends, key=lambda b: b.fails_early):
            jobs[
                prober.send(
                    "examine",
                    limit=IMPORT_LIMIT,
                    modules=_modules(backend, environment),
                    snippet=_snippet(backend, environment),
                    file=files[backend.name],
                )
            ] = backend.name
        for descriptor in trials.described:
            jobs[
                prober.send(
                    "lower_described",
                    limit=IMPORT_LIMIT,
                    name=descriptor.name,
                    file=files[descriptor.name],
                )
            ] = descriptor.name
        replies: dict[str, Reply] = {}
        for number, reply in prober.replies():
            replies[jobs[number]] = reply
            progress(jobs[number] or "runtime", len(replies) / (len(jobs) + 1))
        libraries = {
            d.name: [str(d.runtime_library)] for d in trials.described if d.runtime_library
        }
        runs = _run(prober, replies, files, libraries)
    runtime = {**_facts_of(replies.pop("")), "preloaded": prober.preloaded}
    return runtime, {
        name: {**_facts_of(reply), "run": _facts_of(runs[name]) if name in runs else None}
        for name, reply in replies.items()
    }


def _all(trials: Trials) -> Iterable[Backend | BackendDescriptor]:
    return (*trials.backends, *trials.described)


def _modules(backend: Backend, environment: Environment) -> list[dict[str, Any]]:
    return [
        {"module": fact["module"], "names": list(fact.get("names", ()))}
        for fact in backend.get("modules", default=())
        if environment.is_one_of(tuple(fact.get("platforms", ()))) or fact["state"] == "absent"
    ]


def _snippet(backend: Backend, environment: Environment) -> str:
    """The export snippet, empty where lowering is known not to work on this kind of machine."""
    platforms = backend.texts("export", "platforms")
    return (
        str(backend.get("export", "snippet", default=""))
        if (environment.is_one_of(platforms))
        else ""
    )


def _run(
    prober: Prober,
    replies: Mapping[str, Reply],
    files: Mapping[str, str],
    libraries: Mapping[str, list[str]],
) -> dict[str, Reply]:
    numbers = {
        prober.send("run", limit=RUN_LIMIT, file=files[name], plugins=libraries.get(name, [])): name
        for name, reply in replies.items()
        if name and any("bytes" in result for result in reply.results)
    }
    return {numbers[number]: reply for number, reply in prober.replies()}


def _facts_of(reply: Reply) -> Observation:
    return {
        "outcome": reply.outcome.value,
        "results": list(reply.results),
        "detail": reply.detail,
        "output": reply.output[-600:],
        "seconds": reply.seconds,
        "network": list(reply.network),
    }
