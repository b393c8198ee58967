"""Every package that scripts/setup put into .venv is pinned in the one constraints file."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
OURS = {"executorch-backend-kit", "reference-executorch-backend"}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (REPOSITORY / "constraints.txt").read_text().splitlines():
        requirement, _, marker = line.partition(" ; ")
        if not requirement or requirement.startswith("#"):
            continue
        if marker and ("<" in marker) == (sys.version_info >= (3, 11)):
            continue
        name, version = requirement.split("==")
        assert normalized(name) not in found, f"{name} is pinned twice"
        found[normalized(name)] = version
    return found


def test_everything_installed_is_pinned() -> None:
    expected = pins()
    wrong = []
    for distribution in distributions(path=[p for p in sys.path if p.endswith("site-packages")]):
        name = normalized(distribution.metadata["Name"])
        version = distribution.version.split("+")[0]
        if name not in OURS and expected.get(name) != version:
            wrong.append(f"{name} {version} is installed, {expected.get(name)} is pinned")
    assert wrong == []


def test_hashes_pin_the_executorch_that_is_built_against() -> None:
    for line in ("1.4", "1.5"):
        text = (REPOSITORY / "cmake" / f"executorch-{line}.txt").read_text()
        assert re.search(rf"^executorch=={re.escape(line)}\.\d+ ", text, re.MULTILINE)
        assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", text)) == 2
    assert pins()["executorch"].startswith("1.5.")
