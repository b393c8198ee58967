"""Reads a knowledge file, TOML, and says file, line and field of whatever is wrong in it."""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path
from typing import Any

from executorch_backend_kit.knowledge.errors import KnowledgeError
from executorch_backend_kit.knowledge.schema_check import Problem, problems, read_schema

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*("[^"]+"|'[^']+'|[A-Za-z0-9_-]+)\s*(?:\.|=)""")


def read(path: Path, schema: Path) -> dict[str, Any]:
    """The checked document in `path`; raises KnowledgeError."""
    text, document = parse(path)
    return check(document, path, schema, text)


def parse(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file and the document it holds, unchecked; raises KnowledgeError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(
            "KNOWLEDGE-UNREADABLE",
            f"The knowledge file {path.name} cannot be read.",
            evidence=f"{path}: {getattr(error, 'strerror', None) or error}",
            fix="Make it a readable UTF-8 file, or remove it.",
        ) from None
    try:
        return text, _plain(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise KnowledgeError(
            "KNOWLEDGE-INVALID",
            f"The knowledge file {path.name} is not valid TOML.",
            evidence=f"{path}: {error}",
            fix="Correct the line.",
        ) from None


def check(document: dict[str, Any], path: Path, schema: Path, text: str = "") -> dict[str, Any]:
    """`document` if its schema allows it; raises KnowledgeError for the first problem."""
    found = sorted(problems(document, read_schema(schema)), key=lambda p: p.text == "is missing")
    for problem in found:  # what is written wrongly says more than what is not written
        line = line_of(text, problem.field)
        raise KnowledgeError(
            "KNOWLEDGE-INVALID",
            f"The knowledge file {path.name} is invalid: field {_field(problem)} {problem.text}.",
            evidence=f"{path}{f':{line}' if line else ''}, field {_field(problem)}",
            fix="Correct the field; docs/contributors/knowledge.md lists them all.",
        )
    return document


def line_of(text: str, field: tuple[str | int, ...]) -> int | None:
    """The line of a field, or of the nearest table around it that the file writes out."""
    lines = _lines_of_fields(text)
    for length in range(len(field), 0, -1):
        if (line := lines.get(field[:length])) is not None:
            return line
    return 1 if text else None


def _lines_of_fields(text: str) -> dict[tuple[str | int, ...], int]:
    lines: dict[tuple[str | int, ...], int] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            path = tuple(part.strip(" \"'") for part in header[2].split("."))
            table = path
            if header[1] == "[[":
                counts[path] = counts.get(path, -1) + 1
                table = (*path, counts[path])
                lines.setdefault(path, number)
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, key[1].strip("\"'")), number)
    return lines


def _field(problem: Problem) -> str:
    text = ""
    for part in problem.field:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "(the whole file)"


def _plain(value: Any) -> Any:
    """TOML's dates as text, so that the document is the same as JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return value
