"""Loads what `etbk help` knows: the kit's codes, ExecuTorch's error numbers, error texts.

What a code of the C++ parts means is written once, in their own lists (finding_codes.hpp and
rules.inc); compiling joins it with the cause and the cure from here. Compiled when the wheel is
built; a source checkout reads the sources as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from executorch_backend_kit.knowledge import source
from executorch_backend_kit.knowledge.errors import KnowledgeError

FOLDER = Path(__file__).parent
COMPILED = FOLDER / "compiled.json"

# From the special to the general: of two rules that are equally sure the first one leads.
_RULES = ("vendors", "lowering", "runtime", "imports", "build", "machines")

_HOST_CODE = re.compile(r'X\(\w+,\s*"([A-Z0-9-]+)",\s*"([^"]*)"\)')
_PTE_RULE = re.compile(r'X\((\d+),\s*k\w+,\s*"((?:[^"\\]|\\.)*)"\)')


@cache
def load() -> dict[str, Any]:
    """{"codes": {code: {meaning, cause, next}}, "errors": [...], "rules": [...]}."""
    if not COMPILED.is_file():
        return read_sources()
    try:
        document: dict[str, Any] = json.loads(COMPILED.read_bytes())
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            "KNOWLEDGE-UNREADABLE",
            "The kit's own help file is damaged.",
            evidence=f"{COMPILED}: {error}",
            fix="pip install --force-reinstall --no-deps executorch-backend-kit",
        ) from None
    return document


def read_sources() -> dict[str, Any]:
    """The same from the TOML files and the lists of the C++ parts in this checkout."""
    written: dict[str, dict[str, str]] = {}
    for path in sorted((FOLDER / "codes").glob("*.toml")):
        written |= source.read(path, FOLDER / "schemas" / "codes.schema.json")
    rules: list[dict[str, Any]] = []
    for name in _RULES:
        path = FOLDER / "rules" / f"{name}.toml"
        rules += source.read(path, FOLDER / "schemas" / "rules.schema.json")["rules"]
    errors = source.read(FOLDER / "errors.toml", FOLDER / "schemas" / "errors.schema.json")
    return {"codes": dict(_codes(written)), "errors": errors["errors"], "rules": rules}


def _codes(written: dict[str, dict[str, str]]) -> Iterator[tuple[str, dict[str, str]]]:
    meanings = dict(_meanings())
    for code, page in written.items():
        if "meaning" in page or code in meanings:
            # What to do about a rule for files is written per hundred, unless it is its own.
            group = written.get(code[:5], {}) if code.startswith("PTE-") else {}
            yield code, {**group, "meaning": meanings.get(code, ""), **page}


def _meanings() -> Iterator[tuple[str, str]]:
    """Code and meaning from the lists of the C++ parts."""
    root = FOLDER.parents[2]
    header = "include/executorch_backend_kit/finding_codes.hpp"
    for path in (root / "host" / header, FOLDER.parent / header):
        if path.is_file():
            yield from _HOST_CODE.findall(path.read_text(encoding="utf-8"))
            break
    rules = root / "pte" / "src" / "rules.inc"
    if rules.is_file():
        for number, meaning in _PTE_RULE.findall(rules.read_text(encoding="utf-8")):
            yield f"PTE-{int(number):03d}", meaning
