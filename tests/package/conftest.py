"""The wheel under test: the one that scripts/install built and installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel() -> Path:
    found = list((REPOSITORY / "dist").glob("executorch_backend_kit-*.whl"))
    assert len(found) == 1, f"expected one wheel in dist/, found {found}: run scripts/install"
    return found[0]


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder
