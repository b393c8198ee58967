"""Asks child processes what is really there."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from executorch_backend_kit.knowledge.entries import Backend
from executorch_backend_kit.knowledge.verification import wheel
from executorch_backend_kit.knowledge.verification.source_tree import SourceTree
from executorch_backend_kit.probe import Prober, Reply

_LIMIT = 120.0
_PYTHON = re.compile(r"python(?P<range>[<>=!~].+)")

Progress = Callable[[str, float], None]


@dataclass
class Observations:
    """What was seen of everything that the facts speak of."""

    platform: str
    modules: dict[str, dict[str, Any]] = field(default_factory=dict)
    signatures: dict[str, dict[str, Any]] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    slots: tuple[str, ...] | None = None
    available: dict[str, bool] = field(default_factory=dict)
    lowered: dict[str, dict[str, Any]] = field(default_factory=dict)
    ran: dict[str, dict[str, Any]] = field(default_factory=dict)
    extras: dict[tuple[str, str], str] = field(default_factory=dict)
    components: frozenset[str] | None = None
    source: SourceTree | None = None
    backends: tuple[Backend, ...] = ()

    def here(self, platforms: Sequence[str]) -> bool:
        """True if this platform is among those; none or "any" means all."""
        return not platforms or "any" in platforms or self.platform in platforms

    def has_all(self, needs: Iterable[str]) -> bool:
        """True if all these modules, or this Python, are here."""
        return all(
            SpecifierSet(found["range"]).contains(".".join(map(str, sys.version_info[:3])))
            if (found := _PYTHON.fullmatch(need))
            else need in self.present
            for need in needs
        )

    def has_any(self, needs: Iterable[str]) -> bool:
        """True if one of them is here: then an error recorded without them says nothing."""
        return any(self.has_all((need,)) for need in needs)

    def registered_as_others(self, backend: Backend) -> set[str]:
        """Ids of other backends that are recorded as registered here: Vulkan's is WebGPU's too."""
        return {
            b.id
            for b in self.backends
            if b.name != backend.name and self.platform in b.texts("runtime", "registered_in_wheel")
        }


def observe(
    backends: Sequence[Backend], platform: str, source: Path | None, progress: Progress
) -> Observations:
    """Looks at everything that the facts of `backends` speak of."""
    seen = Observations(platform, backends=tuple(backends))
    seen.extras = wheel.extras()
    seen.components = wheel.components()
    seen.source = SourceTree.read(source) if source else None
    with Prober() as prober, tempfile.TemporaryDirectory(prefix="etbk-verify-") as folder:
        files = {b.name: str(Path(folder) / f"{b.name}.pte") for b in backends}
        needs = {n for b in backends for n in _needs(b) if not _PYTHON.fullmatch(n)}
        _take_registry(seen, prober.ask("registry", limit=_LIMIT, load_plugins=False))
        reply = prober.ask("present", limit=_LIMIT, modules=sorted(needs))
        seen.present = frozenset(_only(reply)["present"])
        # What takes long goes first, so that it does not run alone at the end.
        ordered = sorted(backends, key=lambda b: b.fails_early)
        names = {_study(prober, b, seen, files[b.name]): b.name for b in ordered}
        for done, (number, reply) in enumerate(prober.replies(), start=1):
            _take_study(seen, names[number], reply)
            progress(names[number], done / (len(names) + 1))
        runs = {
            prober.send("run", limit=_LIMIT, file=files[name], plugins=[]): name
            for name, lowered in seen.lowered.items()
            if "bytes" in lowered
        }
        seen.ran = {runs[number]: _only(reply) for number, reply in prober.replies()}
    return seen


def _study(prober: Prober, backend: Backend, seen: Observations, file: str) -> int:
    lowers_here = seen.here(backend.texts("export", "platforms"))
    return prober.send(
        "study",
        limit=_LIMIT,
        modules=[
            {"module": m["module"], "names": list(m.get("names", ()))}
            for m in backend.get("modules", default=())
        ],
        targets=sorted(_targets(backend)),
        snippet=backend.get("export", "snippet", default="") if lowers_here else "",
        file=file,
    )


def _take_registry(seen: Observations, reply: Reply) -> None:
    for result in reply.results:
        if "stock" in result:
            seen.slots = tuple(result["stock"])
        elif "available" in result:
            seen.available[result["backend"]] = result["available"]


def _take_study(seen: Observations, name: str, reply: Reply) -> None:
    lowering = False
    for result in reply.results:
        if "importable" in result:
            known = seen.modules.setdefault(result["module"], result)
            known["missing"] = sorted({*known["missing"], *result["missing"]})
        elif "target" in result:
            seen.signatures[result["target"]] = result
        elif "lowering" in result:
            lowering = True
        elif lowering:
            seen.lowered[name] = result
    if not reply.ended_badly:
        return
    if lowering:
        seen.lowered[name] = {"error": reply.ended_badly}
    elif begun := [r["module"] for r in reply.results if "begun" in r]:
        seen.modules.setdefault(begun[-1], {"error": reply.ended_badly, "missing": []})


def _needs(backend: Backend) -> set[str]:
    needs = {n for m in backend.get("modules", default=()) for n in m.get("needs", ())}
    for part in ("partitioner", "quantizer", "compile_spec", "export"):
        needs.update(backend.texts(part, "needs"))
    return needs


def _targets(backend: Backend) -> set[str]:
    targets = set()
    for part in ("partitioner", "quantizer", "compile_spec"):
        for name in ("class", "configuration"):
            if target := backend.get(part, name):
                targets.add(str(target))
    if enum := backend.get("recipes", "enum"):
        targets.add(f"{backend.get('recipes', 'module')}:{enum}")
    return targets


def _only(reply: Reply) -> dict[str, Any]:
    """The one result of a job, or why there is none."""
    if reply.results:
        return dict(reply.results[-1])
    return {"error": reply.ended_badly or "no answer"}
