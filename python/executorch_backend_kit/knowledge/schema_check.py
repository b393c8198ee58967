"""Checks a document against one of the kit's JSON Schemas.

Understands the part of JSON Schema that those schemas use, so that no command needs a validator
installed; a test holds it against one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


@dataclass(frozen=True)
class Problem:
    """What is wrong, and at which field: ("modules", 2, "state")."""

    field: tuple[str | int, ...]
    text: str


@cache
def read_schema(path: Path) -> dict[str, Any]:
    """A schema file."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def problems(document: object, schema: dict[str, Any]) -> Iterator[Problem]:
    """Everything in `document` that `schema` forbids."""
    yield from _check(document, schema, schema, ())


def _check(
    value: object, rule: dict[str, Any], root: dict[str, Any], field: tuple[str | int, ...]
) -> Iterator[Problem]:
    while "$ref" in rule:
        rule = root["$defs"][rule["$ref"].rpartition("/")[2]]
    if "const" in rule and value != rule["const"]:
        yield Problem(field, f"must be {rule['const']!r}, is {value!r}")
        return
    if "enum" in rule and value not in rule["enum"]:
        yield Problem(field, f"{value!r} is none of {', '.join(map(repr, rule['enum']))}")
        return
    wanted = rule.get("type")
    if wanted is not None and not _is_one_of(value, wanted):
        expected = wanted if isinstance(wanted, str) else " or ".join(wanted)
        yield Problem(field, f"must be of type {expected}, is {_name_of(value)}")
        return
    if isinstance(value, str):
        yield from _check_text(value, rule, field)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(item, rule.get("items", {}), root, (*field, index))
    elif isinstance(value, dict):
        yield from _check_table(value, rule, root, field)


def _check_text(
    value: str, rule: dict[str, Any], field: tuple[str | int, ...]
) -> Iterator[Problem]:
    if len(value) < rule.get("minLength", 0):
        yield Problem(field, "must not be empty")
    if "pattern" in rule and not re.search(rule["pattern"], value):
        yield Problem(field, f"{value!r} does not have the form {rule['pattern']}")
    if rule.get("format") == "version-range" and not _is_range(value):
        yield Problem(field, f"{value!r} is not a version range such as '>=1.4,<1.6'")


def _check_table(
    value: dict[str, Any], rule: dict[str, Any], root: dict[str, Any], field: tuple[str | int, ...]
) -> Iterator[Problem]:
    known = rule.get("properties", {})
    for name in rule.get("required", ()):
        if name not in value:
            yield Problem((*field, name), "is missing")
    others = rule.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            yield from _check(item, known[name], root, (*field, name))
        elif others is False:
            yield Problem((*field, name), f"is not a field; known are {', '.join(sorted(known))}")
        elif isinstance(others, dict):
            yield from _check(item, others, root, (*field, name))


def _is_one_of(value: object, wanted: str | list[str]) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _name_of(value: object) -> str:
    return next((name for name in _TYPES if _is_one_of(value, name)), type(value).__name__)


def _is_range(text: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True
