"""Shared by the tests of program files."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def parts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="session")
def validate() -> Callable[[dict[str, Any]], None]:
    """Checks a document against the stored schema that its `schema` field names."""
    import jsonschema

    def check(document: dict[str, Any]) -> None:
        name = document["schema"].replace("/", ".") + ".json"
        files = resources.files("executorch_backend_kit.report") / "schemas"
        schema = json.loads((files / name).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(document)

    return check
