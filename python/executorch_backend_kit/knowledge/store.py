"""Loads the knowledge base: the kit's own files, then vendors' packages, then the user's files.

The kit's own files are compiled when the wheel is built, so that loading takes milliseconds; a
source checkout reads them as they are. Imports no vendor code, no torch, no executorch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import metadata, util
from pathlib import Path
from typing import Any, TypeVar

from executorch_backend_kit.knowledge import source
from executorch_backend_kit.knowledge.entries import Backend, Entry, Target
from executorch_backend_kit.knowledge.errors import KnowledgeError, UnknownNameError
from executorch_backend_kit.knowledge.layers import laid_over
from executorch_backend_kit.report.finding import Finding

ENTRY_POINT_GROUP = "executorch_backend_kit.knowledge"
FOLDER = Path(__file__).parent
COMPILED = FOLDER / "compiled.json"
KINDS = ("backends", "targets")

Kind = TypeVar("Kind", bound=Entry)


@dataclass(frozen=True)
class Knowledge:
    """Everything known, and what was wrong with the files of others."""

    backends: Mapping[str, Backend]
    targets: Mapping[str, Target]
    findings: tuple[Finding, ...] = ()

    def backend(self, text: str) -> Backend:
        """The backend that a name, an alias or a runtime id means; raises UnknownNameError."""
        return _named(text, self.backends, "backend", "BACKEND-UNKNOWN")

    def target(self, text: str) -> Target:
        """The target that a name or an alias means; raises UnknownNameError."""
        return _named(text, self.targets, "target", "TARGET-UNKNOWN")


def schema_of(kind: str) -> Path:
    """The schema of a backend or target file."""
    return FOLDER / "schemas" / f"{kind.removesuffix('s')}.schema.json"


def load() -> Knowledge:
    """The kit's own knowledge with that of vendors and of the user laid over it."""
    documents = kit_documents()
    origins = {kind: dict.fromkeys(documents[kind], "kit") for kind in KINDS}
    findings: list[Finding] = []
    for origin, folder in (*_vendor_folders(), *_user_folders()):
        for kind in KINDS:
            for path in sorted((folder / kind).glob("*.toml")):
                try:
                    document = read_over(path, kind, documents[kind])
                except KnowledgeError as error:
                    findings.append(error.finding)
                    continue
                documents[kind][document["name"]] = document
                origins[kind][document["name"]] = origin
    return Knowledge(
        {n: _entry(Backend, d, origins["backends"][n]) for n, d in documents["backends"].items()},
        {n: _entry(Target, d, origins["targets"][n]) for n, d in documents["targets"].items()},
        tuple(findings),
    )


def kit_documents() -> dict[str, dict[str, dict[str, Any]]]:
    """The kit's own documents, by kind and name."""
    if not COMPILED.is_file():
        return read_sources(FOLDER)
    try:
        document: dict[str, dict[str, dict[str, Any]]] = json.loads(COMPILED.read_bytes())
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            "KNOWLEDGE-UNREADABLE",
            "The kit's own knowledge file is damaged.",
            evidence=f"{COMPILED}: {error}",
            fix="pip install --force-reinstall --no-deps executorch-backend-kit",
        ) from None
    return document


def read_sources(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The documents of a folder with the subfolders backends and targets."""
    documents: dict[str, dict[str, dict[str, Any]]] = {}
    for kind in KINDS:
        documents[kind] = {}
        for path in sorted((folder / kind).glob("*.toml"), key=lambda file: file.stem):
            document = source.read(path, schema_of(kind))
            documents[kind][document["name"]] = document
    return documents


def read_over(path: Path, kind: str, below: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A vendor's or user's file, laid over what is known by its name; raises KnowledgeError."""
    text, document = source.parse(path)
    known = below.get(str(document.get("name")), {})
    return source.check(laid_over(known, document), path, schema_of(kind), text)


def _vendor_folders() -> Iterable[tuple[str, Path]]:
    """The `knowledge` folder of each package named by an entry point; nothing is imported."""
    points = metadata.entry_points(group=ENTRY_POINT_GROUP)
    for point in sorted(points, key=lambda p: (p.name, p.value)):
        spec = util.find_spec(point.module.partition(".")[0])
        if spec is None or not spec.submodule_search_locations:
            continue
        owner = f"package {point.dist.name} {point.dist.version}" if point.dist else point.value
        folder = Path(next(iter(spec.submodule_search_locations)))
        yield owner, folder.joinpath(*point.module.split(".")[1:], "knowledge")


def _user_folders() -> Iterable[tuple[str, Path]]:
    """$ETBK_KNOWLEDGE, or the user's configuration folder."""
    if (named := os.environ.get("ETBK_KNOWLEDGE")) is not None:
        folders = [Path(part) for part in named.split(os.pathsep) if part]
    else:
        base = os.environ.get("XDG_CONFIG_HOME")
        home = Path(base) if base else Path.home() / ".config"
        folders = [home / "executorch-backend-kit" / "knowledge"]
    for folder in folders:
        yield str(folder), folder


def _entry(kind: type[Kind], data: Mapping[str, Any], origin: str) -> Kind:
    return kind(data["name"], data["title"], tuple(data.get("aliases", ())), origin, data)


def _named(text: str, entries: Mapping[str, Kind], what: str, code: str) -> Kind:
    wanted = text.strip().lower()
    meanings: dict[str, Kind] = {}
    for entry in entries.values():
        ids = (entry.data.get("id"), *entry.data.get("ids", ()))
        for word in (entry.title, *(i for i in ids if i), *entry.aliases):
            meanings.setdefault(word.lower(), entry)
    meanings.update({name.lower(): entry for name, entry in entries.items()})
    meanings.pop("", None)
    if wanted in meanings:
        return meanings[wanted]
    near = [meanings[word].name for word in get_close_matches(wanted, meanings, n=5, cutoff=0.55)]
    near += [entry.name for word, entry in meanings.items() if wanted and wanted in word]
    near = list(dict.fromkeys(near))[:5]
    raise UnknownNameError(
        code,
        f"There is no {what} {text!r}.",
        evidence=f"nearest: {', '.join(near)}" if near else f"known: {', '.join(sorted(entries))}",
        fix=f"Use one of these names, or describe it in a file of your own: etbk help {code}",
    )
