"""Shared by the tests of program files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def parts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")
