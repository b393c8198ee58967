"""Lists plugins: found, and loaded in child processes, so that a bad one is a line in the list."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.discovery import discover
from executorch_backend_kit.host.reports import Outcome, Plugin
from executorch_backend_kit.report.finding import Finding
from executorch_backend_kit.report.plugin_list import PluginList
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker

_MODULE = "executorch_backend_kit.plugins.worker"
DEFAULT_TIME_LIMIT = 30.0


def list_plugins(time_limit: float = DEFAULT_TIME_LIMIT) -> PluginList:
    """All candidates. `time_limit`: seconds that loading one may take.

    Raises WorkerError if there is no runtime or no host to load plugins into.
    """
    folder = Path(tempfile.mkdtemp(prefix="etbk-plugins-"))
    try:
        return _list(folder, time_limit)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _list(folder: Path, time_limit: float) -> PluginList:
    worker = Worker(_MODULE, folder / "all.log")
    try:
        runtime = worker.receive()
        answer = worker.ask("load_all", time_limit)
        plugins = [Plugin.from_json(p) for p in answer["plugins"]]
        registered = answer["registered"]
    except WorkerError as error:
        if worker.stage == "start":
            raise
        plugins, registered = _one_by_one(folder, time_limit, error), None
    finally:
        worker.stop()
    return PluginList(
        runtime=runtime,
        registered=registered,
        plugins=tuple(plugins),
        backends=tuple(c for c in discover() if c.descriptor is not None),
    )


def _one_by_one(folder: Path, time_limit: float, cause: WorkerError) -> list[Plugin]:
    """Loads each candidate in a process of its own, to find the one that brings a process down."""
    worker = Worker(_MODULE, folder / "discover.log")
    try:
        worker.receive()
        found: list[dict[str, Any]] = worker.ask("discover", time_limit)["plugins"]
    finally:
        worker.stop()
    plugins = [_load(Plugin.from_json(p), folder, n, time_limit) for n, p in enumerate(found)]
    if not any(f.code == "PLUGIN-CRASHED" for p in plugins for f in p.findings):
        raise cause  # they get along alone and not together: all that is known is how it ended
    return plugins


def _load(plugin: Plugin, folder: Path, number: int, time_limit: float) -> Plugin:
    if plugin.outcome is not Outcome.CANDIDATE:
        return plugin
    worker = Worker(_MODULE, folder / f"{number}.log")
    try:
        worker.receive()
        loaded = worker.ask("load_one", time_limit, path=plugin.path)["plugin"]
    except WorkerError as error:
        crash = Finding(
            "PLUGIN-CRASHED",
            f"Loading plugin {plugin.name} ends the process.",
            evidence=f"{plugin.path}: {error.finding.message} {error.finding.evidence}".strip(),
            fix=f"Set ETBK_DISABLE={plugin.name}, or update the plugin, and tell its vendor.",
        )
        return replace(plugin, outcome=Outcome.REFUSED, findings=(*plugin.findings, crash))
    finally:
        worker.stop()
    return replace(Plugin.from_json(loaded), origin=plugin.origin, manifest=plugin.manifest)
