"""Fixtures for tests that run the installed `etbk` command; a conftest imports those it offers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from harness import Document, Etbk, Result, environment


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests of a session share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def etbk(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Etbk:
    """Runs `etbk` with arguments, free of the tester's own settings."""
    scratch = tmp_path_factory.mktemp("scratch")
    settings = tmp_path_factory.mktemp("settings")

    def run(
        *arguments: str | Path, timeout: float = 300, standard_input: str = "", **changes: str
    ) -> Result:
        fixed = {
            "ETBK_CACHE": str(cache),
            "TMPDIR": str(scratch),
            "XDG_CONFIG_HOME": str(settings),
        }
        done = subprocess.run(
            [sys.executable, "-m", "executorch_backend_kit", *map(str, arguments)],
            env=environment(**{**fixed, **changes}),
            input=standard_input,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert list(scratch.iterdir()) == [], "temporary files were left behind"
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def validate() -> Callable[[Document], None]:
    """Checks a document against the schema that its `schema` field names."""
    import jsonschema

    def check(document: Document) -> None:
        name = document["schema"].replace("/", ".") + ".json"
        files = resources.files("executorch_backend_kit.report") / "schemas"
        schema = json.loads((files / name).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(document)

    return check
