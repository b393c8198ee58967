"""What the knowledge base holds: backends and targets, each a document with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from executorch_backend_kit.knowledge.layers import laid_over


@dataclass(frozen=True)
class Evidence:
    """How a fact is known."""

    level: str
    release: str
    date: str
    where: str = ""

    def to_text(self) -> str:
        """In one line, for people."""
        where = f", {self.where}" if self.where else ""
        return f"{self.level} (ExecuTorch {self.release}, {self.date}{where})"


@dataclass(frozen=True)
class Entry:
    """A document of the knowledge base."""

    name: str
    title: str
    aliases: tuple[str, ...]
    origin: str  # "kit", "package NAME VERSION", "descriptor of PACKAGE VERSION" or a file
    data: Mapping[str, Any]

    def get(self, *path: str | int, default: Any = None) -> Any:
        """The value at a path of fields."""
        value: Any = self.data
        try:
            for part in path:
                value = value[part]
        except (KeyError, IndexError, TypeError):
            return default
        return value

    def evidence(self, *path: str | int) -> Evidence:
        """How the fact at a path is known: its own evidence, or that of the table around it."""
        for length in range(len(path), -1, -1):
            table = self.get(*path[:length])
            if isinstance(table, Mapping) and "evidence" in table:
                return Evidence(**table["evidence"])
        raise AssertionError("the schema asks for evidence at the top")

    def texts(self, *path: str | int) -> tuple[str, ...]:
        """The list of texts at a path, empty if it is absent."""
        return tuple(self.get(*path, default=()))


@dataclass(frozen=True)
class Backend(Entry):
    """A backend."""

    @property
    def id(self) -> str:
        """What the runtime calls it; empty for kernel libraries."""
        return str(self.data.get("id", ""))

    @property
    def fails_early(self) -> bool:
        """True if its export snippet is not expected to work on the plain wheel."""
        return "error" in self.data.get("export", {"error": ""})

    def for_release(self, version: str | None) -> Backend:
        """The facts that hold for a release of ExecuTorch, such as "1.4.1"."""
        if version is None:
            return self
        data = dict(self.data)
        line = ".".join(version.split(".")[:2])
        overlay = data.pop("releases", {}).get(line)
        if overlay is not None:
            data = laid_over(data, _with_own_evidence(overlay))
        return replace(self, data=data)

    def removed_from(self, version: str) -> bool:
        """True if this release no longer has the backend."""
        removed = self.data.get("removed_in")
        return removed is not None and _numbers(version) >= _numbers(removed)

    def before_its_time(self, version: str) -> bool:
        """True if this release does not have the backend yet."""
        since = self.data.get("since")
        return since is not None and _numbers(version) < _numbers(since)


@dataclass(frozen=True)
class Target(Entry):
    """A device, or a class of devices."""


def _with_own_evidence(overlay: Mapping[str, Any]) -> dict[str, Any]:
    """An overlay whose tables carry its evidence, since the facts around them keep theirs."""
    own = overlay.get("evidence")

    def marked(value: Any) -> Any:
        if isinstance(value, Mapping) and own is not None:
            return {"evidence": own, **value}
        return [marked(item) for item in value] if isinstance(value, list) else value

    return {name: marked(value) for name, value in overlay.items() if name != "evidence"}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("+")[0].split(".") if part.isdigit())
