"""What the tests of the Python package share: the command, a cache of their own, a toy vendor."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest
from harness import VENDOR, Document, Etbk, Result, environment, install_entry_points


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests share, so that each program is lowered once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def etbk(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Etbk:
    """Runs `etbk` with arguments; temporary files go to a folder that must be empty afterwards."""
    scratch = tmp_path_factory.mktemp("scratch")

    def run(*arguments: str | Path, largest_file: int | None = None, **changes: str) -> Result:
        def limit() -> None:
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        done = subprocess.run(
            [sys.executable, "-m", "executorch_backend_kit", *map(str, arguments)],
            env=environment(**{"ETBK_CACHE": str(cache), "TMPDIR": str(scratch), **changes}),
            capture_output=True,
            text=True,
            timeout=400,
            preexec_fn=limit,
            check=False,
        )
        assert list(scratch.iterdir()) == [], "temporary files were left behind"
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def toy_vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Installs entry points of the toy vendor into this process."""

    def install(*points: str) -> None:
        install_entry_points(tmp_path / "site", points)
        monkeypatch.syspath_prepend(str(VENDOR))
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    yield install
    sys.modules.pop("toy_vendor", None)


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
