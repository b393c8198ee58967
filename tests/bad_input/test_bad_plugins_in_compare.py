"""`etbk compare` with plugins that cannot be loaded: rows with the plugin's own finding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from bad_plugins import Run, Workshop, note

HERE = Path(__file__).resolve().parent
NAMES = ("missing", "damaged", "newer", "misnamed")
MAIN_JOB = ("compare", str(HERE / "addition.py"), "--budget", "0.5", "--no-cache")

Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, workshop: Workshop) -> Path:
    """Something like site-packages: the backends, their plugins and their entry points."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(HERE / "faulty_backends.py", folder)
    here = Workshop(folder, workshop.include)
    here.write("libdamaged.so", here.build("whole").read_bytes()[:3000])
    here.build("newer", "MINOR_NEEDED=12", note("NewerBackend"), 'ID="NewerBackend"', abi="0.12")
    here.build("misnamed")  # holds BadBackend, not MisnamedBackend
    info = folder / "faulty_executorch_backends-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: faulty-executorch-backends\nVersion: 1.0.0\n"
    )
    points = "".join(f"{name} = faulty_backends:{name}\n" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[executorch_backend_kit.backends]\n{points}")
    return folder


@pytest.fixture(scope="module")
def compared(etbk: Run, site: Path) -> tuple[Rows, list[str]]:
    """The rows by configuration, and what the command left among temporary files."""
    configurations = ",".join(["portable", *NAMES])
    arguments = [*MAIN_JOB, "--backends", configurations, "--json"]
    result = etbk(*arguments, PYTHONPATH=str(site), TMPDIR=str(site))
    assert result.returncode == 1, result.stderr
    rows = {row["configuration"]: row for row in json.loads(result.stdout)["rows"]}
    return rows, [path.name for path in site.iterdir() if path.name.startswith("etbk")]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("missing", "PLUGIN-FILE-MISSING", "libmissing.so"),
        ("damaged", "PLUGIN-DAMAGED", "libdamaged.so"),
        ("newer", "PLUGIN-ABI-TOO-NEW", "0.12"),
        ("misnamed", "RUNTIME-BACKEND-MISSING", "MisnamedBackend"),
    ],
)
def test_a_row_says_why_its_plugin_is_not_there(
    compared: tuple[Rows, list[str]], name: str, code: str, says: str
) -> None:
    row = compared[0][name]
    assert row["status"] == "failed"
    assert says in row["reason"]
    assert code in [finding["code"] for finding in row["findings"]]
    assert all(finding["fix"] for finding in row["findings"])


def test_the_other_rows_are_as_good_as_ever(compared: tuple[Rows, list[str]]) -> None:
    row = compared[0]["portable"]
    assert row["status"] == "ok"
    assert row["numerics"]["pass"]


def test_nothing_is_left_behind(compared: tuple[Rows, list[str]]) -> None:
    assert compared[1] == []
