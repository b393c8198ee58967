"""Surroundings that are broken: an answer all the same, and the harm named."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness import Etbk, Result


def test_a_descriptor_that_raises_is_a_finding(etbk: Etbk, tmp_path: Path) -> None:
    info = tmp_path / "faulty-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[executorch_backend_kit.backends]\nfaulty = faulty_vendor:describe\n"
    )
    (tmp_path / "faulty_vendor.py").write_text("def describe():\n    raise SystemExit('no')\n")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    result = etbk("doctor", "--fast", "--json", PYTHONPATH=path)
    assert result.code == 0
    assert "DESCRIPTOR-FAILED" in codes(result)


def codes(result: Result) -> list[str]:
    return [f["code"] for f in json.loads(result.out)["findings"]]


def test_a_torch_that_ends_the_process_is_a_finding(etbk: Etbk, tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import os; os._exit(3)\n")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    result = etbk("doctor", "xnnpack", "--no-cache", "--json", PYTHONPATH=path)
    assert result.code == 3
    assert codes(result) == ["PROBE-SERVER-FAILED"]
    assert "status 3" in result.err


def test_unwritable_cache_costs_only_time(etbk: Etbk, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = etbk("doctor", "mps", "--json", ETBK_CACHE=str(tmp_path / "file"))
    assert result.code == 1
    assert "CACHE-NOT-WRITABLE" in codes(result)


def test_damaged_cache_is_made_again(etbk: Etbk, tmp_path: Path) -> None:
    etbk("doctor", "mps", "--json", ETBK_CACHE=str(tmp_path))
    (file,) = (tmp_path / "doctor").iterdir()
    file.write_text("{")
    assert "CACHE-DAMAGED" in codes(etbk("doctor", "mps", "--json", ETBK_CACHE=str(tmp_path)))
    assert "CACHE-DAMAGED" not in codes(etbk("doctor", "mps", "--json", ETBK_CACHE=str(tmp_path)))


def test_bundle_is_written_or_refused(etbk: Etbk, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert etbk("doctor", "--fast", "--bundle", file).code == 0
    assert json.loads(file.read_text())["schema"] == "etbk.doctor/1"
    refused = etbk("doctor", "--fast", "--bundle", tmp_path / "no" / "report.json")
    assert refused.code == 3
    assert "FILE-NOT-WRITTEN" in refused.err
