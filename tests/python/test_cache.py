"""The cache never answers with something damaged, and never fails a comparison."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from executorch_backend_kit.aot.delegation import DelegateUse, DelegationReport
from executorch_backend_kit.compare.cache import Cache, Program, default_folder, key_of
from executorch_backend_kit.compare.export_worker import store
from executorch_backend_kit.report.finding import Finding, KitError

REPORT = DelegationReport((DelegateUse("toy", "ToyBackend", 2),), 5, 1, {"aten.erf.default": 1})


def staged(cache: Cache, content: bytes) -> Program:
    path = cache.staging_file()
    assert isinstance(path, Path)
    path.write_bytes(content)
    return Program(path, hashlib.sha256(content).hexdigest(), len(content), REPORT, 1.5)


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_kept_program_is_found(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept, finding = cache.keep("k", staged(cache, b"program"))
    assert finding is None
    assert cache.find("k") == kept
    assert kept.path.read_bytes() == b"program"
    assert kept.delegation == REPORT


def test_an_unknown_key_is_not_found(tmp_path: Path) -> None:
    assert Cache(tmp_path).find("k") is None


@pytest.mark.parametrize("content", [b"", b"progran", b"program and more"])
def test_a_damaged_program_is_a_finding(tmp_path: Path, content: bytes) -> None:
    cache = Cache(tmp_path)
    kept, _ = cache.keep("k", staged(cache, b"program"))
    kept.path.write_bytes(content)
    found = cache.find("k")
    assert isinstance(found, Finding)
    assert found.code == "CACHE-DAMAGED"
    cache.keep("k", staged(cache, b"program"))
    assert isinstance(cache.find("k"), Program)


@pytest.mark.parametrize("place", ["keys/k.json", "programs/{sha256}.pte"])
def test_a_folder_in_the_place_of_a_file_is_a_finding_and_heals(tmp_path: Path, place: str) -> None:
    cache = Cache(tmp_path)
    kept, _ = cache.keep("k", staged(cache, b"program"))
    path = tmp_path / place.format(sha256=kept.sha256)
    path.unlink()
    (path / "inside").mkdir(parents=True)
    found = cache.find("k")
    assert isinstance(found, Finding)
    assert found.code == "CACHE-DAMAGED"
    assert cache.keep("k", staged(cache, b"program"))[1] is None
    assert isinstance(cache.find("k"), Program)


def test_strangers_in_the_staging_folder_are_left_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    staged(cache, b"program")
    stranger = tmp_path / "staging" / "folder"
    stranger.mkdir()
    os.utime(stranger, (0, 0))
    assert isinstance(cache.staging_file(), Path)
    assert stranger.is_dir()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"sha256": 1}', "[" * 200_000, '{"delegation": []}']
)
def test_a_damaged_entry_is_a_finding(tmp_path: Path, text: str) -> None:
    cache = Cache(tmp_path)
    cache.keep("k", staged(cache, b"program"))
    (tmp_path / "keys" / "k.json").write_text(text)
    assert isinstance(cache.find("k"), Finding)


def test_a_removed_program_is_not_found(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept, _ = cache.keep("k", staged(cache, b"program"))
    kept.path.unlink()
    assert cache.find("k") is None


def test_nothing_but_whole_files_is_left(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    program = staged(cache, b"program")
    cache.keep("k", program)
    assert files(tmp_path) == ["keys/k.json", f"programs/{program.sha256}.pte"]


def test_a_folder_that_cannot_be_made_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = Cache(tmp_path / "file" / "cache").staging_file()
    assert isinstance(found, Finding)
    assert found.code == "CACHE-NOT-WRITABLE"
    assert "ETBK_CACHE" in found.fix


def test_a_full_disk_leaves_the_program_usable_and_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    program = staged(cache, b"program")

    def full(self: Path, text: str) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    kept, finding = cache.keep("k", program)
    assert kept.path.read_bytes() == b"program"
    assert finding
    assert finding.code == "CACHE-NOT-WRITABLE"
    assert "No space left" in finding.evidence
    assert files(tmp_path) == [f"programs/{program.sha256}.pte"]
    assert cache.find("k") is None


def test_many_writers_of_one_key_leave_a_whole_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    contents = [f"program {n}".encode() * 1000 for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: cache.keep("k", staged(cache, content)), contents))
    found = cache.find("k")
    assert isinstance(found, Program)
    assert found.path.read_bytes() in contents


def test_the_key_depends_on_every_part() -> None:
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1, "b": 2}) != key_of({"a": 1, "b": 3})


def test_the_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETBK_CACHE", "/somewhere")
    assert default_folder() == Path("/somewhere")
    monkeypatch.delenv("ETBK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_folder() == Path("/caches/executorch-backend-kit")


def test_a_kept_entry_holds_no_path(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep("k", staged(cache, b"program"))
    assert str(tmp_path) not in (tmp_path / "keys" / "k.json").read_text()
    assert json.loads((tmp_path / "keys" / "k.json").read_text())["bytes"] == 7


def test_a_program_goes_to_the_first_place_that_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full_or_not(self: Path, content: bytes) -> int:
        if self.parent.name == "full":
            write(self, content[:3])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(self, content)

    for name in ("full", "free"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(Path, "write_bytes", full_or_not)
    full, free = tmp_path / "full" / "a.pte", tmp_path / "free" / "a.pte"
    path, (finding,) = store(b"program", [full, free])
    assert path == free
    assert finding.code == "PROGRAM-NOT-WRITTEN"
    assert "No space left" in finding.evidence
    with pytest.raises(KitError, match="PROGRAM-NOT-WRITTEN"):
        store(b"program", [full])
    assert files(tmp_path) == ["free/a.pte"]


def test_files_of_a_killed_process_are_removed_after_a_day(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    old, new = staged(cache, b"old").path, staged(cache, b"new").path
    a_day_ago = time.time() - 25 * 3600
    os.utime(old, (a_day_ago, a_day_ago))
    cache.staging_file()
    assert not old.exists()
    assert new.exists()
