"""Build flags and CMake targets of an ExecuTorch source tree, read from its CMake files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from executorch_backend_kit.knowledge.errors import UnknownNameError

_OPTION = re.compile(r"\b(EXECUTORCH_[A-Z0-9_]+)\b")
_TARGET = re.compile(r"\badd_(?:library|executable|custom_target)\(\s*\"?([\w.${}-]+)")
_NAMED = re.compile(r"\b(?:LIB_NAME|LIBNAME|NAME)\s+\"?([\w-]+)")
_ALIAS = re.compile(r"\badd_library\(\s*([\w:]+)\s+ALIAS")


@dataclass(frozen=True)
class SourceTree:
    """The names that its CMake files mention."""

    options: frozenset[str]
    targets: frozenset[str]

    @staticmethod
    def read(folder: Path) -> SourceTree:
        """Reads every CMake file below `folder`; raises UnknownNameError if it is no such tree."""
        if not (folder / "CMakeLists.txt").is_file():
            raise UnknownNameError(
                "SOURCE-TREE-MISSING",
                f"{folder} is no source tree of ExecuTorch.",
                evidence=f"no {folder / 'CMakeLists.txt'}",
                fix="--source DIR, the folder of a checkout of pytorch/executorch",
            )
        options: set[str] = set()
        targets: set[str] = set()
        for path in (*folder.rglob("CMakeLists.txt"), *folder.rglob("*.cmake")):
            text = path.read_text(encoding="utf-8", errors="replace")
            options.update(_OPTION.findall(text))
            for pattern in (_TARGET, _NAMED, _ALIAS):
                targets.update(pattern.findall(text))
        return SourceTree(frozenset(options), frozenset(targets))

    def has_option(self, name: str) -> bool:
        """True if a CMake file mentions the option."""
        return name in self.options

    def has_target(self, name: str) -> bool:
        """True if a CMake file makes a target of this name."""
        return name in self.targets
