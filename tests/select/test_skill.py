"""The skill is what the facts say, its commands run, and it leads to the golden decisions."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.knowledge import load
from executorch_backend_kit.skill import files
from golden import Golden, goldens
from harness import Document, Etbk

SKILL = Path(__file__).parents[2] / "skill" / "backend-selection"
CNN = Path(__file__).parents[2] / "examples" / "cnn.py"
PAGES = sorted(SKILL.rglob("*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SCRIPT = SKILL / "scripts" / "check_backend_imports.py"


def blocks(page: Path, language: str) -> list[str]:
    return [text for name, text in FENCE.findall(page.read_text()) if name == language]


def commands(page: Path) -> list[str]:
    return [line for text in blocks(page, "sh") for line in text.splitlines()]


def test_skill_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: etbk skill skill/backend-selection."""
    monkeypatch.setenv("ETBK_KNOWLEDGE", "")
    written = {SKILL / path: text for path, text in files(load())}
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, path
    kept = {p for p in SKILL.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert kept == set(written)


def test_the_command_writes_it_and_finds_what_differs(etbk: Etbk, tmp_path: Path) -> None:
    folder = tmp_path / "skill"
    assert etbk("skill", folder).code == 0
    assert (folder / "SKILL.md").read_text() == (SKILL / "SKILL.md").read_text()
    assert etbk("skill", folder, "--check").code == 0
    (folder / "references" / "qualcomm.md").write_text("otherwise")
    differing = etbk("skill", folder, "--check")
    assert differing.code == 1
    assert "qualcomm.md" in differing.out


def test_front_matter_and_length() -> None:
    text = (SKILL / "SKILL.md").read_text()
    assert len(text.splitlines()) <= 150
    front = text.split("---\n")[1]
    for field in ("name: backend-selection", "description: ", "license: ", "metadata:"):
        assert re.search(rf"^{re.escape(field)}", front, re.MULTILINE), field


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_into_the_skill(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve()
        assert file.is_file(), target
        assert file.is_relative_to(SKILL), target
        headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
        assert not fragment or fragment in {h.lower().replace(" ", "-") for h in headings}


def test_every_command_runs(tmp_path: Path, cache: Path) -> None:
    """In a copy of the skill's folder alone, as a new user would."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("ETBK_")},
        "ETBK_CACHE": str(cache),
    }
    (tmp_path / "scripts").symlink_to(SKILL / "scripts")
    (tmp_path / "model.py").write_text(CNN.read_text())
    ran = 0
    for page in sorted(PAGES, key=lambda p: p.name != "SKILL.md"):
        for command in commands(page):
            words = shlex.split(command)
            program = [sys.executable]
            if words[0] == "etbk":
                program += ["-m", "executorch_backend_kit"]
            done = subprocess.run(
                [*program, *words[1:]],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode == 0, f"{page.name}: {command}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran >= 12


def test_the_model_that_it_shows_is_one(tmp_path: Path) -> None:
    import torch
    from executorch_backend_kit.compare import model_file

    (text,) = blocks(SKILL / "SKILL.md", "python")
    (tmp_path / "shown.py").write_text(text)
    shown = model_file.load(tmp_path / "shown.py")
    assert isinstance(shown.model()(*shown.input_sets()[0]), torch.Tensor)


def test_import_checker_of_named_backends(
    validate: Callable[[Document], None], tmp_path: Path
) -> None:
    broken = tmp_path / "executorch_hangs.py"
    broken.write_text("import time\ntime.sleep(60)\n")
    (tmp_path / "executorch_crashes.py").write_text("import os\nos.abort()\n")
    script = tmp_path / "check.py"
    table: list[dict[str, Any]] = [
        {
            "name": name,
            "id": "",
            "modules": [{"module": module, "role": "backend", "on_the_plain_wheel": "imports"}],
            "install": [],
        }
        for name, module in (
            ("good", "json"), ("hangs", "executorch_hangs"), ("crashes", "executorch_crashes"),
        )
    ]  # fmt: skip
    source = SCRIPT.read_text()
    begin = source.index("BACKENDS: list[dict[str, Any]] = ")
    end = source.index("\n\n\ndef main")
    script.write_text(
        source[:begin].replace('("torch", "executorch.exir")', "()")
        + f"BACKENDS: list[dict[str, Any]] = {table!r}"
        + source[end:]
    )
    done = subprocess.run(
        [sys.executable, script, "--json", "--timeout", "2"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    document = json.loads(done.stdout)
    validate(document)
    errors = {b["name"]: b["modules"][0]["error"] for b in document["backends"]}
    assert errors["good"] == ""
    assert "2 s" in errors["hangs"]
    assert "status" in errors["crashes"]
    unknown = subprocess.run([sys.executable, script, "nobody"], capture_output=True, check=False)
    assert unknown.returncode == 2


def first_choices() -> dict[str, tuple[str, list[str]]]:
    """Target or alias -> first and others, as a reader of the matrix finds them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for line in (SKILL / "references" / "backend-matrix.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0].startswith("`"):
            aliases = re.search(r"\(([^()]*)\)$", cells[1])
            words = [cells[0].strip("`"), *(aliases[1].split(", ") if aliases else [])]
            others = cells[3].split(", ")
            found |= {word: (cells[2].partition("+")[0], others) for word in words}
    return found


def is_plain(golden: Golden) -> bool:
    return not set(golden.data) & {"flags", "coverage", "failed", "results", "bytes"} and (
        golden.data["kind"] in ("cnn", "transformer", "keyword-spotting")
    )


@pytest.mark.parametrize("golden", [g for g in goldens() if is_plain(g)], ids=lambda g: g.name)
def test_the_matrix_alone_leads_to_the_golden_decision(golden: Golden) -> None:
    assert first_choices()[golden.data["target"]][0] == golden.data["first"]


@pytest.mark.parametrize("golden", goldens(), ids=lambda g: g.name)
def test_the_matrix_offers_whatever_a_golden_decision_puts_first(golden: Golden) -> None:
    first, others = first_choices()[golden.data["target"]]
    elsewhere = {"none", "tensorrt", "mlx"}  # another release, another machine: in the rules
    assert golden.data["first"] in {first, *others} | elsewhere
