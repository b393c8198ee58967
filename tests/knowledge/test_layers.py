"""Knowledge of vendors and users: laid on top, checked, and never able to stop a command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from executorch_backend_kit.knowledge import KnowledgeError, UnknownNameError, load, source, store

NEW = """\
schema = "etbk.backend/1"
name = "acme"
title = "Acme NPU"
id = "AcmeBackend"
kind = "delegate"
status = "beta"
summary = "An accelerator."
evidence = { level = "read", release = "1.5.1", date = 2026-12-01 }
"""


def write(folder: Path, text: str, kind: str = "backends", name: str = "own.toml") -> Path:
    path = folder / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_user_file_adds_a_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, NEW)
    monkeypatch.setenv("ETBK_KNOWLEDGE", str(tmp_path))
    backend = load().backend("AcmeBackend")
    assert backend.title == "Acme NPU"
    assert backend.origin == str(tmp_path)


def test_user_file_overrides_one_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'name = "xnnpack"\ntitle = "My XNNPACK"\n[shapes]\ndynamic = "no"\n')
    monkeypatch.setenv("ETBK_KNOWLEDGE", str(tmp_path))
    backend = load().backends["xnnpack"]
    assert backend.title == "My XNNPACK"
    assert backend.get("shapes", "dynamic") == "no"
    assert backend.get("shapes", "note")
    assert backend.id == "XnnpackBackend"


def test_configuration_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "executorch-backend-kit" / "knowledge", NEW)
    monkeypatch.delenv("ETBK_KNOWLEDGE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert "acme" in load().backends


def test_vendor_package_is_read_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_pkg"
    write(package / "knowledge", NEW)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    info = tmp_path / "acme_pkg-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-pkg\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[{store.ENTRY_POINT_GROUP}]\nacme = acme_pkg\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load().backends["acme"].origin == "package acme-pkg 1.2"
    assert "acme_pkg" not in sys.modules


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        (NEW.replace('"beta"', '"great"'), 6, "status"),
        (NEW + 'colour = "red"\n', 9, "colour"),
        (
            NEW + '\n[[options]]\nname = "x"\ntype = "bool"\nwhere = "partitioner"\n'
            '\n[[options]]\nname = "y"\ntype = "integer"\nwhere = "partitioner"\n',
            17,
            "options[1].type",
        ),
        (NEW + '\n[shapes]\nnote = "n"\n', 10, "shapes.dynamic"),
        (NEW.replace('title = "Acme NPU"\n', ""), 1, "title"),
    ],
)
def test_broken_file_names_file_line_and_field(
    text: str, line: int, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(KnowledgeError) as caught:
        source.read(path, store.schema_of("backends"))
    assert caught.value.finding.code == "KNOWLEDGE-INVALID"
    assert caught.value.finding.evidence == f"{path}:{line}, field {field}"
    monkeypatch.setenv("ETBK_KNOWLEDGE", str(tmp_path))
    knowledge = load()  # other people's broken files stop nothing
    assert [f.evidence for f in knowledge.findings] == [f"{path}:{line}, field {field}"]
    assert "acme" not in knowledge.backends


def test_what_is_no_toml_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "acme"\nthis is no TOML\n')
    with pytest.raises(KnowledgeError, match="line 2"):
        source.read(path, store.schema_of("backends"))


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(KnowledgeError) as caught:
        source.read(path, store.schema_of("backends"))
    assert caught.value.finding.code == "KNOWLEDGE-UNREADABLE"


def test_damaged_compiled_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "compiled.json"
    damaged.write_text('{"backends": {')
    monkeypatch.setattr(store, "COMPILED", damaged)
    with pytest.raises(KnowledgeError) as caught:
        load()
    assert caught.value.finding.code == "KNOWLEDGE-UNREADABLE"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("xnnpack", "xnnpack"),
        ("XnnpackBackend", "xnnpack"),
        ("CORE-ML", "coreml"),
        ("ane", "coreml"),
        ("VulkanBackend", "vulkan"),
        ("ethos_u", "ethos-u"),
    ],
)
def test_backends_are_found_by_name_alias_and_id(word: str, name: str) -> None:
    assert load().backend(word).name == name


@pytest.mark.parametrize(
    ("word", "name"), [("galaxy-s25", "android-snapdragon-8-elite"), ("RPI5", "raspberry-pi-5")]
)
def test_targets_are_found_by_alias(word: str, name: str) -> None:
    assert load().target(word).name == name


def test_unknown_names_get_the_nearest() -> None:
    knowledge = load()
    with pytest.raises(UnknownNameError) as caught:
        knowledge.backend("vulcan")
    assert "vulkan" in caught.value.finding.evidence
    with pytest.raises(UnknownNameError) as caught:
        knowledge.target("snapdragon")
    assert "android-snapdragon-8" in caught.value.finding.evidence
