"""Lays one document over another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By which field the tables of an array are told apart; an array of other tables is replaced.
_KEYS = ("module", "package", "name")


def laid_over(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with what `over` says in its place; tables are merged, other values replaced."""
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[name] = laid_over(below, value)
        elif isinstance(below, list) and (key := _key_of(value)) and key == _key_of(below):
            merged[name] = _arrays(below, value, key)
        else:
            merged[name] = value
    return merged


def _key_of(value: object) -> str | None:
    if not isinstance(value, list) or not value or not isinstance(value[0], Mapping):
        return None
    return next((key for key in _KEYS if all(key in item for item in value)), None)


def _arrays(
    base: list[dict[str, Any]], over: list[dict[str, Any]], key: str
) -> list[dict[str, Any]]:
    merged = {item[key]: item for item in base}
    for item in over:
        merged[item[key]] = laid_over(merged.get(item[key], {}), item)
    return list(merged.values())
